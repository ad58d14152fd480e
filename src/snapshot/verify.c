/* verify.c - looking at a target until it is fine or the time is over. */
#include "config.h"

#include "snapshot/verify.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "parse/proc_files.h"

#define LOOK_MS 20
#define CONFIRM_MS 150          /* so long it must be fine: a signal takes a moment to arrive */
#define SETTLE_MS 300           /* a stop that is younger may be the end of a detach */
#define THREADS_MAX 20000

static struct span read_text(const char *path, char *block, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, block, size);

	if (fd >= 0)
		close(fd);
	return span_make(block, n > 0 ? (size_t)n : 0);
}

static void look_at_threads(const char *root, int64_t pid, struct verify_state *out)
{
	char path[4200], block[1024];
	struct dirent *entry;
	struct proc_stat stat;
	DIR *dir;

	snprintf(path, sizeof path, "%s/%lld/task", root, (long long)pid);
	dir = opendir(path);
	while (dir && out->threads < THREADS_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%lld/task/%.20s/stat", root, (long long)pid, entry->d_name);
		if (!proc_stat_parse(read_text(path, block, sizeof block), &stat))
			continue; /* it ended meanwhile */
		out->threads++;
		out->stopped += stat.state == 'T' || stat.state == 't';
		out->cpu_ticks += stat.utime + stat.stime;
	}
	if (dir)
		closedir(dir);
}

void verify_look(const char *proc_root, int64_t pid, struct verify_state *out)
{
	char path[4200], block[4096];
	struct proc_stat stat;
	struct proc_status status;

	memset(out, 0, sizeof *out);
	out->tracer = -1;
	snprintf(path, sizeof path, "%s/%lld/stat", proc_root, (long long)pid);
	if (!proc_stat_parse(read_text(path, block, sizeof block), &stat))
		return;
	out->exists = true;
	out->state = stat.state;
	out->start_ticks = stat.start;
	snprintf(path, sizeof path, "%s/%lld/status", proc_root, (long long)pid);
	proc_status_parse(read_text(path, block, sizeof block), &status);
	out->tracer = status.tracer;
	look_at_threads(proc_root, pid, out);
}

static bool is_dead(const struct verify_state *s)
{
	return !s->exists || s->state == 'Z' || s->state == 'X';
}

/* What it is if it stays so. */
static enum verify_result judge(const struct verify_state *before, const struct verify_state *now)
{
	if (is_dead(now))
		return VERIFY_DEAD;
	if (before->exists && now->start_ticks != before->start_ticks)
		return VERIFY_REUSED;
	if (now->tracer > 0)
		return VERIFY_TRACED;
	if (now->tracer < 0 || !now->threads)
		return VERIFY_UNKNOWN;
	return now->stopped && !before->stopped ? VERIFY_STOPPED : VERIFY_OK;
}

static void describe(struct verify *v, bool ours)
{
	const struct verify_state *b = &v->before, *a = &v->after;

	switch (v->result) {
	case VERIFY_OK:
		snprintf(v->detail, sizeof v->detail, "state %c, no tracer, threads %d (before: %c, %d)%s", a->state, a->threads,
			b->state ? b->state : '?', b->threads, v->cpu_moved ? ", has used CPU since" : "");
		break;
	case VERIFY_REPAIRED:
		snprintf(v->detail, sizeof v->detail, "was left stopped by the attach: SIGCONT sent, runs again (state %c, %d threads)", a->state, a->threads);
		break;
	case VERIFY_STOPPED:
		snprintf(v->detail, sizeof v->detail, "STOPPED: %d of %d threads, no tracer%s", a->stopped, a->threads,
			ours ? "; SIGCONT did not help" : "; the debugger ended regularly, so somebody else stopped it");
		break;
	case VERIFY_TRACED:
		snprintf(v->detail, sizeof v->detail, "still TRACED by pid %lld, state %c", (long long)a->tracer, a->state);
		break;
	case VERIFY_DEAD:
		snprintf(v->detail, sizeof v->detail, a->exists ? "DEAD: a zombie" : "DEAD: the process is gone");
		break;
	case VERIFY_REUSED:
		snprintf(v->detail, sizeof v->detail, "DEAD: its pid belongs to another process now");
		break;
	case VERIFY_UNKNOWN:
		snprintf(v->detail, sizeof v->detail, "cannot be told: /proc does not say its state");
		break;
	}
}

static void pause_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

void verify_after(const char *proc_root, int64_t pid, bool ours, struct verify *out)
{
	int64_t began = clock_mono_ms(), stopped_since = 0, fine_since = 0;
	bool continued = false;

	for (;;) {
		int64_t now = clock_mono_ms();

		verify_look(proc_root, pid, &out->after);
		out->result = judge(&out->before, &out->after);
		if (out->result != VERIFY_STOPPED)
			stopped_since = 0;
		else if (!stopped_since)
			stopped_since = now;
		if (out->result != VERIFY_OK)
			fine_since = 0;
		else if (!fine_since)
			fine_since = now;
		if ((fine_since && now - fine_since >= CONFIRM_MS) || out->result == VERIFY_DEAD || out->result == VERIFY_REUSED ||
			now - began >= VERIFY_MS)
			break;
		if (stopped_since && now - stopped_since >= SETTLE_MS && ours && !continued) {
			continued = true;
			kill((pid_t)pid, SIGCONT);
		}
		pause_ms(LOOK_MS);
	}
	if (out->result == VERIFY_OK && continued)
		out->result = VERIFY_REPAIRED;
	out->cpu_moved = out->after.cpu_ticks > out->before.cpu_ticks;
	describe(out, ours);
}

const char *verify_word(enum verify_result result)
{
	static const char *const word[] = { [VERIFY_OK] = "ok", [VERIFY_REPAIRED] = "repaired", [VERIFY_STOPPED] = "stopped",
		[VERIFY_TRACED] = "traced", [VERIFY_DEAD] = "dead", [VERIFY_REUSED] = "reused", [VERIFY_UNKNOWN] = "unknown" };

	return word[result];
}
