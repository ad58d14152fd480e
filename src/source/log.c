/* log.c - the log source: finds the server's log, follows it, and says what its lines mean.
 *
 * Where the log is: --log; else what the API process has as its standard output or error, when that is a regular file (opened
 * through /proc, so that a container's or a deleted file is found too); else the paths of the profile. Looked for every two
 * seconds while there is none, and again when the server changes.
 * Where reading begins: at the start (--log-from-start, or a file that came to be after us), at the offset asked for, else at the
 * end, after a look at the last 256 KiB to learn the state of the server.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/scan.h"
#include "source/follow.h"
#include "source/log_rows.h"
#include "source/reading_say.h"
#include "source/source.h"

#define POLL_MS 120
#define FIND_MS 2000
#define HEALTH_MS 5000
#define LOOK_BACK_BYTES (256 * 1024)

struct source {
	struct source_env *env;
	uv_timer_t poll;
	uv_idle_t more;
	int open_handles;
	void (*closed)(void *);
	void *closed_context;

	struct follow follow;
	struct log_rows rows;
	struct log_classifier *classifier;
	struct scan *scan;      /* what GPUs and runtimes print: waves, faults, queues */
	int64_t scanned;        /* lines before this offset have been shown to it */
	uint64_t scan_lines;    /* lines told at the last poll: none new means quiet */
	const struct profile *profile;
	char file[PATH_MAX];    /* as shown */
	char trouble[500];      /* why nothing is followed; "" when something is */
	bool failed;            /* it is not that it may still come */
	bool blind;             /* options->log was not there when we first looked: it will be read from 0 */
	bool begun;             /* something has been followed */
	int64_t find_t, health_t, rate_t;
	uint64_t rate_lines;
	double lines_per_s, turn_ms;
	char state[8], told[500]; /* the health told last */
};

/* --- health --- */

static void tell_health(struct source *s, int64_t now)
{
	const char *state = "ok", *remedy = NULL, *slow = log_classifier_slow(s->classifier);
	char detail[PATH_MAX + 600], key[sizeof s->told];

	if (*s->trouble) {
		state = s->failed ? "failed" : "late";
		remedy = "give its path with --log FILE, or start the server with its output in a file";
	} else if (!s->profile) {
		state = "late";
		remedy = "name the engine with --engine NAME";
	}
	snprintf(key, sizeof key, "%.200s|%.200s|%s", s->trouble, s->file, s->profile ? s->profile->name : "");
	if (strcmp(key, s->told) == 0 && strcmp(state, s->state) == 0 && now - s->health_t < HEALTH_MS)
		return;
	if (now - s->rate_t >= 1000) {
		s->lines_per_s = (double)(s->follow.lines - s->rate_lines) * 1000 / (double)(now - s->rate_t);
		s->rate_lines = s->follow.lines;
		s->rate_t = now;
	}
	if (*s->trouble)
		snprintf(detail, sizeof detail, "%s", s->trouble);
	else
		snprintf(detail, sizeof detail, "%s at %lld of %lld bytes, %.0f lines/s%s%s%s", s->file, (long long)s->follow.offset,
			(long long)s->follow.size, s->lines_per_s,
			s->profile ? "" : "; the engine is not known: only faults and ends are understood", slow ? "; " : "",
			slow ? slow : "");
	source_health(s->env, "log", state, detail, remedy, *s->trouble ? -1 : s->turn_ms);
	snprintf(s->told, sizeof s->told, "%s", key);
	snprintf(s->state, sizeof s->state, "%s", state);
	s->health_t = now;
}

/* --- finding the file --- */

static bool is_regular(const char *path, struct stat *st)
{
	return stat(path, st) == 0 && S_ISREG(st->st_mode);
}

/* Output and error of the API process: when they are two files, the one that was written last. */
static bool find_by_process(struct source *s, char *path, size_t size)
{
	struct stat st, best = { 0 };
	char link[PATH_MAX];
	bool found = false;

	if (!s->env->target->api_pid)
		return false;
	for (int fd = 1; fd <= 2; fd++) {
		snprintf(link, sizeof link, "%s/%lld/fd/%d", s->env->options->proc_root, (long long)s->env->target->api_pid, fd);
		if (!is_regular(link, &st) || (found && st.st_mtime <= best.st_mtime))
			continue;
		best = st;
		found = true;
		snprintf(path, size, "%s", link);
	}
	return found;
}

static bool find(struct source *s, char *path, size_t size)
{
	const struct profile *p = s->profile;
	struct stat st;

	if (s->env->options->log) {
		snprintf(path, size, "%s", s->env->options->log);
		return true;
	}
	if (find_by_process(s, path, size))
		return true;
	for (int i = 0; p && i < p->log_path.count; i++) {
		snprintf(path, size, "%s", p->log_path.item[i]);
		if (is_regular(path, &st))
			return true;
	}
	return false;
}

/* A link in /proc is shown as what it leads to; names of files are foreign text. */
static void show_as(struct source *s, const char *path)
{
	static const char gone[] = " (deleted)";
	char target[PATH_MAX];
	ssize_t n = s->env->options->log ? -1 : readlink(path, target, sizeof target - 1);
	struct span name = n > 0 ? span_make(target, (size_t)n) : span_of(path);
	struct buf plain;

	if (n > 0 && span_ends(name, gone))
		name.len -= sizeof gone - 1;
	buf_init(&plain, sizeof s->file - 1);
	text_scrub(&plain, name);
	snprintf(s->file, sizeof s->file, "%s", buf_string(&plain));
	buf_release(&plain);
}

static void look_back(struct source *s)
{
	log_rows_look_back_begin(&s->rows);
	follow_look_back(&s->follow, LOOK_BACK_BYTES);
	log_rows_look_back_end(&s->rows);
}

static void trouble(struct source *s, bool failed, const char *words, const char *what)
{
	s->failed = failed;
	snprintf(s->trouble, sizeof s->trouble, "%s%.400s", words, what);
}

static int64_t first_offset(struct source *s, const char *path)
{
	const struct source_options *options = s->env->options;
	struct stat st;

	if (s->begun)
		return -1;
	if (options->log_from_start || s->blind)
		return 0;
	if (options->log_offset >= 0 && is_regular(path, &st) && st.st_size >= options->log_offset)
		return options->log_offset;
	return -1;
}

static bool begin(struct source *s, const char *path)
{
	struct error error;
	int64_t offset = first_offset(s, path);

	switch (follow_open(&s->follow, path, offset, &error)) {
	case FOLLOW_IDLE:
	case FOLLOW_MORE:
		break;
	case FOLLOW_ABSENT:
		s->blind = s->env->options->log != NULL;
		trouble(s, false, "no such file yet: ", path);
		return false;
	case FOLLOW_FAILED:
		trouble(s, true, "", error.text);
		return false;
	}
	s->begun = true;
	s->trouble[0] = 0;
	show_as(s, path);
	log_rows_restart(&s->rows, s->file);
	scan_next_file(s->scan);
	s->scanned = 0;
	debug_log("log", "%s from %lld of %lld", s->file, (long long)s->follow.offset, (long long)s->follow.size);
	if (s->follow.offset > 0)
		look_back(s);
	return true;
}

/* Open what is to be followed now, unless it is open already. True when something was opened. */
static bool seek_file(struct source *s)
{
	char path[PATH_MAX];
	struct stat st;

	s->find_t = clock_mono_ms();
	if (!find(s, path, sizeof path)) {
		if (s->follow.fd < 0)
			trouble(s, false, "no log found: ", s->env->target->api_pid ? "the server's output goes to no file" : "the server is not known yet");
		return false;
	}
	if (s->follow.fd >= 0 && is_regular(path, &st) && st.st_ino == s->follow.ino && st.st_dev == s->follow.dev) {
		/* The same file of a new process: from now on this is its name. */
		if (strcmp(path, s->follow.path) != 0) {
			free(s->follow.path);
			s->follow.path = mem_text(path);
		}
		return false;
	}
	if (s->follow.fd >= 0 && strcmp(path, s->follow.path) == 0)
		return false; /* rotated: follow_turn() sees to it */
	return begin(s, path);
}

/* --- the engine --- */

static const struct profile *wanted_profile(struct source *s)
{
	const struct profile *p = profile_find(s->env->target->profiles, s->env->options->engine);

	return p ? p : s->env->target->profile;
}

static void use_profile(struct source *s, const struct profile *profile)
{
	struct error error;
	struct log_classifier *c = log_classifier_new(profile, &error);

	if (!c) {
		debug_log("log", "%s", error.text);
		profile = NULL;
		c = log_classifier_new(NULL, &error);
	}
	if (!c)
		mem_fatal(error.text);
	log_classifier_free(s->classifier);
	s->classifier = s->rows.classifier = c;
	s->rows.name = profile ? profile->name : NULL;
	s->profile = profile;
}

/* True when the engine has become known, or is another one. */
static bool check_profile(struct source *s)
{
	const struct profile *profile = wanted_profile(s);

	if (!profile || profile == s->profile)
		return false;
	use_profile(s, profile);
	return true;
}

/* What was read without knowing the engine is read again. */
static void understand_anew(struct source *s, bool first)
{
	if (s->follow.fd < 0)
		return;
	if (first && s->env->options->log_from_start)
		follow_rewind(&s->follow);
	else
		look_back(s);
}

/* --- turns --- */

static void on_line(void *context, struct span line, int64_t offset, bool unfinished)
{
	struct source *s = context;
	struct log_match m;

	if (log_classify(s->classifier, line, &m) != LOG_NONE)
		log_rows_line(&s->rows, &m, offset, unfinished);
	/* Lines are told again when they were not understood; a dump is read once. */
	if (unfinished || offset < s->scanned)
		return;
	s->scanned = offset + 1;
	scan_line(s->scan, line, (uint64_t)offset);
}

static void on_reading(void *context, const struct reading *r)
{
	struct source *s = context;
	struct observation o;

	if (reading_observation(r, s->env->node, clock_wall_ms(), s->file, &o))
		s->env->emit(s->env->context, &o);
}

static void on_restarted(void *context)
{
	struct source *s = context;

	log_rows_restart(&s->rows, s->file);
	scan_next_file(s->scan);
	s->scanned = 0;
}

static void on_more(uv_idle_t *idle);

static void turn(struct source *s)
{
	struct error error;
	uint64_t from = uv_hrtime();
	enum follow_state state = follow_turn(&s->follow, &error);

	s->turn_ms = (double)(uv_hrtime() - from) / 1e6;
	if (state == FOLLOW_FAILED) {
		trouble(s, true, "", error.text);
		follow_close(&s->follow);
	}
	if (state == FOLLOW_MORE)
		uv_idle_start(&s->more, on_more);
	else
		uv_idle_stop(&s->more);
	log_rows_flush(&s->rows, clock_mono_ms());
}

static void on_more(uv_idle_t *idle)
{
	turn(idle->data);
}

static void on_poll(uv_timer_t *timer)
{
	struct source *s = timer->data;
	int64_t now = clock_mono_ms();

	if (s->follow.fd < 0 && now - s->find_t >= (s->env->options->log ? POLL_MS : FIND_MS))
		seek_file(s);
	if (s->follow.fd >= 0 && !uv_is_active((uv_handle_t *)&s->more))
		turn(s);
	/* A dump that stopped growing is as whole as it gets. */
	if (s->scan_lines == s->follow.lines)
		scan_flush(s->scan, false);
	s->scan_lines = s->follow.lines;
	tell_health(s, now);
}

static void on_target(void *context)
{
	struct source *s = context;
	bool first = !s->profile, changed = check_profile(s);
	bool opened = !s->env->options->log && seek_file(s);

	if (changed && !opened)
		understand_anew(s, first);
	tell_health(s, clock_mono_ms());
}

/* --- start and stop --- */

static struct source *log_start(struct source_env *env)
{
	struct source *s = mem_alloc(sizeof *s);
	struct scan_options scan = { .sink = { on_reading, s }, .gpu_only = true };

	s->env = env;
	s->scan = scan_new(&scan);
	follow_init(&s->follow, on_line, on_restarted, s);
	log_rows_init(&s->rows, env);
	use_profile(s, wanted_profile(s));
	uv_timer_init(env->loop, &s->poll);
	uv_idle_init(env->loop, &s->more);
	s->poll.data = s->more.data = s;
	s->open_handles = 2;
	target_listen(env->target, on_target, s);
	seek_file(s);
	s->rate_t = clock_mono_ms();
	tell_health(s, s->rate_t);
	uv_timer_start(&s->poll, on_poll, 0, POLL_MS);
	return s;
}

static void on_close(uv_handle_t *handle)
{
	struct source *s = handle->data;
	void (*closed)(void *) = s->closed;
	void *context = s->closed_context;

	if (--s->open_handles)
		return;
	follow_release(&s->follow);
	log_rows_release(&s->rows);
	log_classifier_free(s->classifier);
	scan_free(s->scan);
	free(s);
	if (closed)
		closed(context);
}

static void log_stop(struct source *s, void (*closed)(void *context), void *context)
{
	target_unlisten(s->env->target, s);
	s->closed = closed;
	s->closed_context = context;
	uv_close((uv_handle_t *)&s->poll, on_close);
	uv_close((uv_handle_t *)&s->more, on_close);
}

extern const struct source_class source_log;
const struct source_class source_log = { "log", "host", log_start, NULL, log_stop };
