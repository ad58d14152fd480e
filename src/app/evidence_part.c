/* evidence_part.c - the parent's side: fork, frames, deadline. */
#include "config.h"

#include "app/evidence_part.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "parse/proc_files.h"
#include "source/proc_tree.h"

#define AFTER_KILL_MS 500

/* --- items --- */

static void end_item(struct part *p, enum evidence_state state, bool lost, const char *why)
{
	struct item *item = &p->item[p->next++];

	item->ended = true;
	item->at = clock_wall_ms();
	item->state = state;
	item->lost = lost;
	snprintf(item->why, sizeof item->why, "%s", why);
	p->item_done(p, item);
	buf_release(&item->text);
}

/* The child has ended or will not: what it was reading is cut, what was to come is missing. */
static void end_items(struct part *p, const char *why)
{
	char words[sizeof p->item->why], name[80] = "";

	if (p->next < p->items) {
		const struct item *item = &p->item[p->next];
		const char *slash = strrchr(item->path, '/');

		snprintf(name, sizeof name, "%.70s", slash ? slash + 1 : item->path);
		end_item(p, item->text.len ? EVIDENCE_CUT : EVIDENCE_MISSING, true, why);
	}
	snprintf(words, sizeof words, "not asked: %s before it was not had", name);
	while (p->next < p->items)
		end_item(p, EVIDENCE_MISSING, true, words);
}

static void on_closed(uv_handle_t *handle)
{
	struct part *p = handle->data;

	if (--p->handles)
		return;
	buf_release(&p->in);
	if (p->closed)
		p->closed(p);
}

static void finish(struct part *p, const char *why)
{
	if (p->over)
		return;
	p->over = true;
	end_items(p, why);
	if (p->fd >= 0) {
		uv_close((uv_handle_t *)&p->poll, on_closed);
		close(p->fd);
	}
	uv_close((uv_handle_t *)&p->timer, on_closed);
	if (p->pid > 0)
		waitpid(p->pid, NULL, WNOHANG); /* what is in state D stays; it is init's when we end */
	p->done(p);
}

/* --- frames --- */

static void take_frame(struct part *p, const struct part_frame *f, struct span bytes)
{
	struct item *item;
	char text[PATH_MAX];

	if (p->next >= p->items)
		return;
	item = &p->item[p->next];
	snprintf(text, sizeof text, "%.*s", (int)(bytes.len < sizeof text - 1 ? bytes.len : sizeof text - 1), bytes.at);
	if (f->type == FRAME_BYTES)
		buf_span(&item->text, bytes);
	else if (f->type == FRAME_FROM)
		snprintf(item->from, sizeof item->from, "%s", text);
	else if (f->type == FRAME_SECRET && p->secret)
		p->secret(p, bytes);
	else if (f->type == FRAME_END)
		end_item(p, f->state <= EVIDENCE_NONE ? f->state : EVIDENCE_MISSING, f->lost, text);
}

static void take_frames(struct part *p)
{
	struct part_frame f;
	size_t used = 0;

	while (p->in.len - used >= sizeof f) {
		memcpy(&f, p->in.at + used, sizeof f);
		if (f.len > PART_FRAME_MAX || p->in.len - used - sizeof f < f.len)
			break;
		take_frame(p, &f, span_make(p->in.at + used + sizeof f, f.len));
		used += sizeof f + f.len;
	}
	buf_drop(&p->in, used);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct part *p = poll->data;
	char block[65536];
	ssize_t n;

	(void)events;
	n = status < 0 ? 0 : read(p->fd, block, sizeof block);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		buf_add(&p->in, block, (size_t)n);
		take_frames(p);
	} else {
		finish(p, p->late ? "reading it did not end in time" : "its reader ended early");
	}
}

/* --- the deadline --- */

/* "reading it did not end within 5 s (reader in state D, waits in kfd_ioctl)". */
static void where_it_hangs(const struct part *p, char *out, size_t size)
{
	struct proc_stat stat = { .state = '?' };
	struct buf text;
	int n;

	buf_init(&text, 4096);
	if (proc_read("/proc", p->pid, "stat", &text, 4095))
		proc_stat_parse(buf_as_span(&text), &stat);
	n = snprintf(out, size, "reading it did not end within %.1f s (reader in state %c", p->deadline_ms / 1000.0, stat.state);
	if (proc_read("/proc", p->pid, "wchan", &text, 100) && text.len > 1 && (size_t)n < size)
		n += snprintf(out + n, size - (size_t)n, ", waits in %s", buf_string(&text));
	if ((size_t)n < size)
		snprintf(out + n, size - (size_t)n, ")");
	buf_release(&text);
}

static void on_deadline(uv_timer_t *timer)
{
	struct part *p = timer->data;

	if (p->late) { /* it was killed and still holds the pipe */
		finish(p, "reading it did not end, and its reader cannot be killed");
		return;
	}
	p->late = true;
	if (p->next < p->items) {
		char why[sizeof p->item->why];

		where_it_hangs(p, why, sizeof why);
		debug_log("evidence", "%s: %s: %s", p->label, p->item[p->next].path, why);
		end_items(p, why);
	}
	kill(p->pid, SIGKILL);
	uv_timer_start(&p->timer, on_deadline, AFTER_KILL_MS, 0);
}

void part_stop(struct part *p, const char *why)
{
	if (p->over)
		return;
	if (p->pid > 0)
		kill(p->pid, SIGKILL);
	finish(p, why);
}

/* --- the start --- */

static pid_t fork_child(struct part *p, int fd)
{
	pid_t parent = getpid(), pid;
	int null;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	setpgid(0, 0);
	/* It must not hold our output open when it sleeps for ever: who started us waits for the end of that. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	for (int i = STDERR_FILENO + 1; i < 1024; i++)
		if (i != fd && i != null)
			close(i);
	part_child(p, fd);
}

static void on_not_started(uv_timer_t *timer)
{
	finish(timer->data, "no reader could be started");
}

void part_start(struct part *p, uv_loop_t *loop)
{
	int ends[2] = { -1, -1 };

	p->fd = -1;
	p->handles = 1;
	buf_init(&p->in, PART_FRAME_MAX * 4);
	for (int i = 0; i < p->items; i++)
		buf_init(&p->item[i].text, p->item[i].cap ? p->item[i].cap : EVIDENCE_FILE_MAX);
	uv_timer_init(loop, &p->timer);
	p->timer.data = p->poll.data = p;
	if (pipe2(ends, O_CLOEXEC) == 0) {
		p->pid = fork_child(p, ends[1]);
		close(ends[1]);
		p->fd = ends[0];
	}
	if (ends[0] >= 0 && (p->pid < 0 || uv_poll_init(loop, &p->poll, p->fd) < 0)) {
		close(p->fd);
		p->fd = -1;
	}
	if (p->fd < 0) {
		uv_timer_start(&p->timer, on_not_started, 0, 0);
		return;
	}
	p->handles = 2;
	uv_poll_start(&p->poll, UV_READABLE, on_readable);
	uv_timer_start(&p->timer, on_deadline, (uint64_t)p->deadline_ms, 0);
}
