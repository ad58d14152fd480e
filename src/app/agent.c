/* agent.c - start the sources, write what they see, read what is asked. */
#include "config.h"

#include "app/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>

#include "app/agent_snapshot.h"
#include "app/profiles.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "source/source.h"
#include "transport/frame.h"

#define OUT_MAX (16 << 20)      /* bytes waiting for a reader that does not read */
#define ALIVE_MS 3000           /* a sign of life at least this often */
#define HOLD_MS 400             /* everyday rows of the log wait so long for others: each write wakes the front */
#define SOURCES_MAX 16

struct agent {
	uv_loop_t loop;
	const struct app_options *options;
	struct profile_set profiles;
	struct target target;
	struct source_env env;
	const struct source_class *class[SOURCES_MAX];
	struct source *source[SOURCES_MAX];
	int sources, open_sources;
	struct agent_snapshot *snapshot; /* NULL in the device agent */
	char *node;
	char name[24];                 /* agent-device or agent-host */
	struct buf out;
	bool out_polls;                /* stdout is a pipe or socket: written when it takes bytes */
	uint64_t rows, dropped;
	struct frame in;
	uv_poll_t in_poll, out_poll;
	bool in_open, out_open, writing, urgent, stopping;
	uv_signal_t term, intr;
	uv_timer_t alive, hold;
	uv_prepare_t flush;
};

/* --- out --- */

static void out_write(struct agent *a)
{
	while (a->out.len) {
		ssize_t n = write(STDOUT_FILENO, a->out.at, a->out.len);

		if (n > 0) {
			buf_drop(&a->out, (size_t)n);
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else {
			if (n < 0 && errno != EAGAIN)
				buf_clear(&a->out); /* nobody reads any more; the end of stdin will tell */
			break;
		}
	}
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
	struct agent *a = poll->data;

	(void)status;
	(void)events;
	out_write(a);
	if (!a->out.len && a->writing) {
		uv_poll_stop(&a->out_poll);
		a->writing = false;
	}
}

static void on_hold(uv_timer_t *timer)
{
	struct agent *a = timer->data;

	a->urgent = true;
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct agent *a = prepare->data;

	if (!a->out.len || a->writing)
		return;
	if (!a->urgent) {
		if (!uv_is_active((uv_handle_t *)&a->hold))
			uv_timer_start(&a->hold, on_hold, HOLD_MS, 0);
		return;
	}
	a->urgent = false;
	uv_timer_stop(&a->hold);
	out_write(a);
	if (a->out.len && a->out_polls && a->out_open) {
		uv_poll_start(&a->out_poll, UV_WRITABLE, on_writable);
		a->writing = true;
	}
}

static bool can_wait(const struct observation *o)
{
	return o->kind == KIND_progress || o->kind == KIND_requests ||
	       (o->kind == KIND_log && (observation_text_is(o, LOG_class, "progress") || observation_text_is(o, LOG_class, "request")));
}

static void emit(void *context, const struct observation *o)
{
	struct agent *a = context;

	if (a->out.len > OUT_MAX) {
		a->dropped++;
		return;
	}
	observation_encode(o, &a->out);
	buf_char(&a->out, '\n');
	a->urgent = a->urgent || !can_wait(o);
	a->rows++;
}

static void say_hello(struct agent *a)
{
	struct observation o;
	struct utsname u;
	char host[200] = "";

	if (uname(&u) == 0)
		snprintf(host, sizeof host, "%s %s %s", u.sysname, u.release, u.machine);
	observation_init(&o, KIND_hello, a->node, clock_wall_ms());
	observation_text(&o, HELLO_agent, a->name);
	observation_int(&o, HELLO_protocol, OBSERVATION_PROTOCOL);
	observation_text(&o, HELLO_version, PACKAGE_VERSION);
	observation_int(&o, HELLO_pid, getpid());
	observation_int(&o, HELLO_clock, o.t);
	observation_text(&o, HELLO_sources, a->options->sources);
	observation_text(&o, HELLO_host, host);
	emit(a, &o);
}

static void on_alive(uv_timer_t *timer)
{
	struct agent *a = timer->data;
	char detail[200];

	snprintf(detail, sizeof detail, "pid %d, %d sources, %llu rows%s", (int)getpid(), a->sources, (unsigned long long)a->rows,
		a->dropped ? ", some dropped: the reader is slow" : "");
	source_health(&a->env, a->name, a->dropped ? "late" : "ok", detail, NULL, -1);
}

/* --- the end --- */

static void close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void source_closed(void *context)
{
	struct agent *a = context;

	a->open_sources--;
}

static void stop(struct agent *a)
{
	if (a->stopping)
		return;
	a->stopping = true;
	for (int i = 0; i < a->sources; i++)
		a->class[i]->stop(a->source[i], source_closed, a);
	if (a->snapshot)
		agent_snapshot_stop(a->snapshot);
	if (a->in_open)
		close_handle((uv_handle_t *)&a->in_poll);
	if (a->out_open)
		close_handle((uv_handle_t *)&a->out_poll);
	close_handle((uv_handle_t *)&a->term);
	close_handle((uv_handle_t *)&a->intr);
	close_handle((uv_handle_t *)&a->alive);
	close_handle((uv_handle_t *)&a->hold);
	close_handle((uv_handle_t *)&a->flush);
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	stop(handle->data);
}

/* --- in --- */

static void ask_sources(void *context, struct span line)
{
	struct agent *a = context;

	for (int i = 0; i < a->sources; i++)
		if (a->class[i]->request)
			a->class[i]->request(a->source[i], line);
}

static void on_request(void *context, struct span line)
{
	struct agent *a = context;

	debug_log("agent", "request %.*s", (int)(line.len < 200 ? line.len : 200), line.at);
	ask_sources(a, line);
	if (a->snapshot)
		agent_snapshot_request(a->snapshot, line);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct agent *a = poll->data;
	char block[4096];
	ssize_t n;

	(void)events;
	if (status < 0) {
		stop(a);
		return;
	}
	n = read(STDIN_FILENO, block, sizeof block);
	if (n > 0)
		frame_feed(&a->in, span_make(block, (size_t)n), on_request, a);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		stop(a);
}

/* --- the start --- */

static void start_sources(struct agent *a)
{
	struct span rest = span_of(a->options->sources), name;
	bool device = false, host = false;

	while (span_cut(&rest, ',', &name) && a->sources < SOURCES_MAX) {
		const struct source_class *class = NULL;

		for (int i = 0; source_table[i]; i++)
			if (span_is(span_trim(name), source_table[i]->name))
				class = source_table[i];
		if (!class)
			continue;
		device = device || strcmp(class->agent, "device") == 0;
		host = host || strcmp(class->agent, "host") == 0;
		a->class[a->sources++] = class;
	}
	snprintf(a->name, sizeof a->name, "%s", device && !host ? "agent-device" : "agent-host");
	say_hello(a);
	on_alive(&a->alive);
	for (int i = 0; i < a->sources; i++) {
		a->source[i] = a->class[i]->start(&a->env);
		a->open_sources++;
	}
	if (host)
		a->snapshot = agent_snapshot_start(&a->env, a->options, ask_sources, a);
}

static void start_streams(struct agent *a)
{
	uv_prepare_init(&a->loop, &a->flush);
	a->flush.data = a;
	uv_prepare_start(&a->flush, on_prepare);
	uv_unref((uv_handle_t *)&a->flush);
	if (uv_poll_init(&a->loop, &a->out_poll, STDOUT_FILENO) == 0) {
		a->out_polls = a->out_open = true;
		a->out_poll.data = a;
	}
	if (uv_poll_init(&a->loop, &a->in_poll, STDIN_FILENO) == 0) {
		a->in_open = true;
		a->in_poll.data = a;
		uv_poll_start(&a->in_poll, UV_READABLE, on_readable);
	}
	uv_signal_init(&a->loop, &a->term);
	uv_signal_init(&a->loop, &a->intr);
	a->term.data = a->intr.data = a;
	uv_signal_start(&a->term, on_signal, SIGTERM);
	uv_signal_start(&a->intr, on_signal, SIGINT);
	uv_timer_init(&a->loop, &a->hold);
	a->hold.data = a;
	uv_timer_init(&a->loop, &a->alive);
	a->alive.data = a;
	uv_timer_start(&a->alive, on_alive, ALIVE_MS, ALIVE_MS);
}

char *node_name(const struct app_options *options)
{
	char name[256] = "";
	size_t size = sizeof name;

	if (options->node)
		return mem_text(options->node);
	if (uv_os_gethostname(name, &size) != 0 || !*name)
		return mem_text("localhost");
	name[strcspn(name, ".")] = 0;
	return mem_text(name);
}

static void report_trouble(struct agent *a, struct buf *trouble)
{
	struct span rest = buf_as_span(trouble), line;

	while (span_line(&rest, &line)) {
		char *text = mem_text_n(line.at, line.len);

		source_health(&a->env, "profiles", "failed", text, "correct or remove the profile file", -1);
		free(text);
	}
}

int cmd_agent(const struct app_options *options)
{
	struct agent *a = mem_alloc(sizeof *a);
	struct buf trouble;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strstr(options->sources, "gpu"))
		setenv("UV_THREADPOOL_SIZE", "40", 0); /* a stuck driver read holds its thread for good */
	a->options = options;
	a->node = node_name(options);
	buf_init(&a->out, OUT_MAX + OBSERVATION_LINE_MAX);
	buf_init(&trouble, 64 * 1024);
	frame_init(&a->in, 64 * 1024);
	uv_loop_init(&a->loop);
	profiles_load(&a->profiles, options->source.profile_dir, &trouble);
	target_init(&a->target, &a->profiles);
	a->env = (struct source_env){ &a->loop, &options->source, a->node, &a->target, emit, a };
	start_streams(a);
	start_sources(a);
	report_trouble(a, &trouble);
	buf_release(&trouble);
	uv_run(&a->loop, UV_RUN_DEFAULT);
	out_write(a);
	status = uv_loop_close(&a->loop);
	debug_log("agent", "end: loop %s", status == 0 ? "empty" : uv_strerror(status));
	frame_release(&a->in);
	buf_release(&a->out);
	target_release(&a->target);
	profile_set_release(&a->profiles);
	free(a->node);
	free(a);
	return 0;
}
