/* stack.c - the stack source: py-spy dumps of every process of the server, one at a time per process.
 *
 * A round asks all workers, then (when asked for) engine and api. Rounds start on request ("key", "suspect") and in the background; requests
 * that come while a round is running make one more round after it. py-spy runs with --nonblocking: it never stops the process.
 * When py-spy is missing or denied the kernel's view from /proc stands in: state, wait channel, system call, kernel stack.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/proc_files.h"
#include "parse/pyspy.h"
#include "source/proc_tree.h"
#include "source/source.h"
#include "transport/child.h"

#define DEADLINE_MS 10000
#define OUTPUT_MAX (4 << 20)
#define AT_ONCE_ASKED 4
#define AT_ONCE_BACKGROUND 1    /* gently */
#define HEALTH_MS 10000
#define PROC_THREADS_MAX 64
#define JOBS_MAX 512

struct stack_source;

/* One process of a round. */
struct job {
	struct stack_source *source;
	int64_t pid, start;
	char rank[32];
	bool was_stopped;              /* state T before us */
	bool as_text, again;           /* --json is not understood; second try after a torn read */
	struct child *child;
	char number[24];
};

struct stack_source {
	struct source_env *env;
	uv_timer_t timer;
	char *py_spy;                  /* NULL when there is none */
	struct job job[JOBS_MAX];
	int jobs, next, running;       /* of this round: next to start, in flight */
	char why[24];
	bool round_open, wanted;       /* a round is running; another is asked for */
	char wanted_why[24];
	int64_t round;                 /* number */
	int64_t round_started, last_round, healthy, looked; /* mono */
	int64_t round_wall;
	int ok, failed;                /* of the round */
	char trouble[200], remedy[260];
	bool stopping;
	void (*closed)(void *);
	void *context;
};

static void go_on(struct stack_source *s);

/* --- finding py-spy --- */

static char *beside_us(void)
{
	char exe[4000], path[4200];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n <= 0)
		return NULL;
	exe[n] = 0;
	*strrchr(exe, '/') = 0;
	snprintf(path, sizeof path, "%s/venv/bin/py-spy", exe);
	return child_find(path);
}

static void look_for_py_spy(struct stack_source *s)
{
	const char *env = getenv("HANGTOP_PY_SPY");
	char *found = NULL;

	s->looked = clock_mono_ms();
	if (s->env->options->py_spy)
		found = child_find(s->env->options->py_spy);
	else if (env && *env)
		found = child_find(env);
	else if (!(found = child_find("py-spy")))
		found = beside_us();
	free(s->py_spy);
	s->py_spy = found;
}

/* --- rows --- */

static void emit_stack(struct job *j, const char *how, double took, const char *error, const char *remedy, struct span threads)
{
	struct stack_source *s = j->source;
	struct observation o;

	observation_init(&o, KIND_stack, s->env->node, clock_wall_ms());
	observation_int(&o, STACK_pid, j->pid);
	observation_int(&o, STACK_start, j->start);
	observation_text(&o, STACK_rank, *j->rank ? j->rank : NULL);
	observation_text(&o, STACK_how, how);
	observation_real(&o, STACK_took_ms, took);
	observation_text(&o, STACK_error, error && *error ? error : NULL);
	observation_text(&o, STACK_remedy, remedy && *remedy ? remedy : NULL);
	if (threads.len)
		observation_span(&o, STACK_threads, threads);
	observation_text(&o, STACK_why, s->why);
	observation_int(&o, STACK_round, s->round);
	s->env->emit(s->env->context, &o);
}

static void emit_action(struct stack_source *s)
{
	struct observation o;
	char argv[300], result[80];

	observation_init(&o, KIND_action, s->env->node, clock_wall_ms());
	snprintf(argv, sizeof argv, "[\"py-spy\",\"dump\",\"--nonblocking\",\"--json\",\"--pid\",\"%d processes\"]", s->jobs);
	snprintf(result, sizeof result, "%d ok, %d failed", s->ok, s->failed);
	observation_text(&o, ACTION_what, "stacks");
	observation_text(&o, ACTION_who, s->why);
	observation_text(&o, ACTION_argv, argv);
	observation_int(&o, ACTION_started, s->round_wall);
	observation_real(&o, ACTION_took_ms, (double)(clock_mono_ms() - s->round_started));
	observation_text(&o, ACTION_result, s->failed ? result : "ok");
	s->env->emit(s->env->context, &o);
}

static void health(struct stack_source *s)
{
	char detail[300];

	s->healthy = clock_mono_ms();
	if (!s->py_spy) {
		source_health(s->env, "stack", "failed", "py-spy not found: stacks are the kernel's view only (/proc)",
			"pip install py-spy, or give its path with --py-spy", -1);
	} else if (*s->trouble) {
		snprintf(detail, sizeof detail, "%s (%d of %d)", s->trouble, s->failed, s->ok + s->failed);
		source_health(s->env, "stack", s->ok ? "late" : "failed", detail, *s->remedy ? s->remedy : NULL, -1);
	} else if (s->round) {
		snprintf(detail, sizeof detail, "%d processes, %s", s->ok, s->py_spy);
		source_health(s->env, "stack", "ok", detail, NULL, (double)(s->last_round - s->round_started));
	} else {
		source_health(s->env, "stack", "ok", s->py_spy, NULL, -1);
	}
}

/* --- the kernel's view --- */

static void proc_frames(const char *root, int64_t pid, const char *tid, struct json_write *w, struct buf *text)
{
	static const char *const symbol_file[] = { "stack", "wchan", "syscall" };
	char name[64];
	bool any = false;

	jw_array(w, "frames");
	for (size_t i = 0; i < sizeof symbol_file / sizeof symbol_file[0] && !any; i++) {
		struct span rest, line;

		snprintf(name, sizeof name, "task/%.20s/%s", tid, symbol_file[i]);
		if (!proc_read(root, pid, name, text, 4000))
			continue;
		rest = buf_as_span(text);
		while (span_line(&rest, &line)) {
			char frame[200];
			long close = span_find(line, "] "); /* "[<0>] futex_wait_queue+0x6d/0xb0" */

			if (i == 0 && close >= 0)
				line = span_sub(line, (size_t)close + 2, line.len);
			line = span_sub(line, 0, strcspn(line.len ? line.at : "", "+\n "));
			line = span_trim(line);
			if (!line.len || span_is(line, "0") || span_is(line, "running"))
				continue;
			if (i == 2)
				snprintf(frame, sizeof frame, "syscall %.*s (kernel)", (int)(line.len < 20 ? line.len : 20), line.at);
			else
				snprintf(frame, sizeof frame, "%.*s (kernel)", (int)(line.len < 120 ? line.len : 120), line.at);
			jw_string(w, NULL, frame);
			any = true;
		}
	}
	jw_end_array(w);
}

static bool proc_threads(struct stack_source *s, int64_t pid, struct buf *out)
{
	const char *root = s->env->options->proc_root;
	char path[4200], name[64];
	struct dirent **list = NULL;
	struct json_write w;
	struct buf text;
	int n, threads = 0;

	snprintf(path, sizeof path, "%.4000s/%lld/task", root, (long long)pid);
	n = scandir(path, &list, NULL, versionsort);
	buf_init(&text, 8192);
	jw_start(&w, out);
	jw_array(&w, NULL);
	for (int i = 0; i < n; i++) {
		struct proc_stat stat;

		snprintf(name, sizeof name, "task/%.20s/stat", list[i]->d_name);
		if (isdigit((unsigned char)list[i]->d_name[0]) && threads < PROC_THREADS_MAX &&
			proc_read(root, pid, name, &text, 4000) && proc_stat_parse(buf_as_span(&text), &stat)) {
			char state[2] = { stat.state, 0 };
			struct buf comm;

			buf_init(&comm, 128);
			text_scrub(&comm, span_of(stat.comm));
			jw_object(&w, NULL);
			jw_int(&w, "tid", stat.pid);
			jw_text(&w, "name", buf_as_span(&comm));
			jw_string(&w, "state", state);
			jw_bool(&w, "gil", false);
			proc_frames(root, pid, list[i]->d_name, &w, &text);
			jw_end_object(&w);
			buf_release(&comm);
			threads++;
		}
		free(list[i]);
	}
	free(list);
	jw_end_array(&w);
	buf_release(&text);
	return threads > 0;
}

/* No Python frames: say why, and give what /proc tells. */
static void fall_back(struct job *j, double took, const char *error, const char *remedy)
{
	struct stack_source *s = j->source;
	struct buf threads;

	s->failed++;
	snprintf(s->trouble, sizeof s->trouble, "%s", error);
	snprintf(s->remedy, sizeof s->remedy, "%s", remedy ? remedy : "");
	buf_init(&threads, 1 << 20);
	if (proc_threads(s, j->pid, &threads))
		emit_stack(j, "proc", took, error, remedy, buf_as_span(&threads));
	else
		emit_stack(j, "proc", took, "the process is gone", NULL, span_make("", 0));
	buf_release(&threads);
}

/* --- one process --- */

static char state_of(struct stack_source *s, int64_t pid, int64_t *tracer)
{
	struct proc_status status;
	struct proc_stat stat;
	struct buf text;
	char state = 0;

	buf_init(&text, 8192);
	*tracer = 0;
	if (proc_read(s->env->options->proc_root, pid, "stat", &text, 4000) && proc_stat_parse(buf_as_span(&text), &stat))
		state = stat.state;
	if (proc_read(s->env->options->proc_root, pid, "status", &text, 8000)) {
		proc_status_parse(buf_as_span(&text), &status);
		*tracer = status.tracer > 0 ? status.tracer : 0;
	}
	buf_release(&text);
	return state;
}

static void job_ended(struct job *j)
{
	struct stack_source *s = j->source;
	int64_t tracer;
	char detail[200], remedy[60];

	j->child = NULL;
	s->running--;
	/* --nonblocking never stops a process. If one is stopped all the same, that is the loudest thing to say. */
	if (!j->was_stopped && state_of(s, j->pid, &tracer) == 'T') {
		snprintf(detail, sizeof detail, "process %lld is STOPPED after its stack was taken", (long long)j->pid);
		snprintf(remedy, sizeof remedy, "kill -CONT %lld", (long long)j->pid);
		source_health(s->env, "stack", "failed", detail, remedy, -1);
	}
	go_on(s);
}

static void run_py_spy(struct job *j);

static void read_dump(struct job *j, const struct child_result *r)
{
	struct error error;
	struct buf threads;
	int n;

	buf_init(&threads, OBSERVATION_LINE_MAX / 2);
	n = j->as_text ? pyspy_text(r->out, &threads, &error) : pyspy_json(r->out, &threads, &error);
	if (n > 0) {
		j->source->ok++;
		emit_stack(j, j->as_text ? "py-spy-text" : "py-spy", r->took_ms, NULL, NULL, buf_as_span(&threads));
	} else {
		fall_back(j, r->took_ms, n == 0 ? "py-spy saw no thread" : error.text, NULL);
	}
	buf_release(&threads);
}

static void on_dump(void *context, const struct child_result *r)
{
	struct job *j = context;
	struct stack_source *s = j->source;
	const char *words, *remedy;
	char text[200];
	struct error error;
	struct buf scratch;
	enum pyspy_trouble trouble;

	if (s->stopping) {
		s->running--;
		go_on(s);
		return;
	}
	if (r->exit == 0 && !r->timed_out) {
		buf_init(&scratch, OBSERVATION_LINE_MAX);
		if (!j->as_text && pyspy_json(r->out, &scratch, &error) < 0) {
			buf_release(&scratch);
			j->as_text = true; /* an old or odd py-spy: ask for text */
			run_py_spy(j);
			return;
		}
		buf_release(&scratch);
		read_dump(j, r);
	} else if (r->timed_out) {
		snprintf(text, sizeof text, "py-spy did not finish within %d s%s", DEADLINE_MS / 1000, r->stuck ? " and cannot be killed" : "");
		fall_back(j, r->took_ms, text, "look at the process' state: a thread in state D makes readers wait");
	} else if (r->not_started) {
		fall_back(j, r->took_ms, "py-spy cannot be run", "pip install py-spy");
	} else {
		trouble = pyspy_error(r->err, &words, &remedy);
		if (trouble == PYSPY_RACE && !j->again) {
			j->again = true;
			run_py_spy(j);
			return;
		}
		fall_back(j, r->took_ms, words, remedy);
	}
	job_ended(j);
}

static void run_py_spy(struct job *j)
{
	struct stack_source *s = j->source;
	const char *argv[] = { s->py_spy, "dump", "--nonblocking", "--pid", j->number, j->as_text ? NULL : "--json", NULL };
	struct child_options options = { .argv = argv, .deadline_ms = DEADLINE_MS, .cap = OUTPUT_MAX, .done = on_dump, .context = j };

	j->child = child_run(s->env->loop, &options);
}

static void start_job(struct stack_source *s, struct job *j)
{
	char words[120];
	int64_t tracer;
	char state = state_of(s, j->pid, &tracer);

	j->was_stopped = state == 'T' || state == 't';
	s->running++;
	if (!state || state == 'Z') {
		fall_back(j, 0, "the process is gone", NULL);
		s->running--;
	} else if (tracer) {
		snprintf(words, sizeof words, "held by a debugger (pid %lld)", (long long)tracer);
		fall_back(j, 0, words, "wait until it has let go");
		s->running--;
	} else if (!s->py_spy) {
		fall_back(j, 0, "py-spy not found", "pip install py-spy");
		s->running--;
	} else {
		run_py_spy(j);
	}
}

/* --- rounds --- */

static void add_jobs(struct stack_source *s, const char *role)
{
	const struct target *target = s->env->target;

	for (int i = 0; i < target->processes && s->jobs < JOBS_MAX; i++) {
		const struct target_process *p = &target->process[i];
		struct job *j = &s->job[s->jobs];

		if (p->ended || strcmp(p->role, role) != 0)
			continue;
		memset(j, 0, sizeof *j);
		j->source = s;
		j->pid = p->pid;
		j->start = p->start;
		snprintf(j->rank, sizeof j->rank, "%s", p->rank);
		snprintf(j->number, sizeof j->number, "%lld", (long long)p->pid);
		s->jobs++;
	}
}

static void start_round(struct stack_source *s, const char *why)
{
	s->jobs = s->next = s->ok = s->failed = 0;
	s->trouble[0] = s->remedy[0] = 0;
	snprintf(s->why, sizeof s->why, "%s", why);
	s->round_started = clock_mono_ms();
	s->round_wall = clock_wall_ms();
	s->round_open = true;
	s->round++;
	if (!s->py_spy || s->round_started - s->looked > 60000)
		look_for_py_spy(s);
	add_jobs(s, "worker");
	if (strcmp(why, "background") != 0) { /* who gives the work is asked when it matters */
		add_jobs(s, "engine");
		add_jobs(s, "api");
	}
	go_on(s);
}

static void finish_stop(struct stack_source *s);

/* Start what may be started; close the round when all have come back. */
static void go_on(struct stack_source *s)
{
	int at_once = strcmp(s->why, "background") == 0 && !s->wanted ? AT_ONCE_BACKGROUND : AT_ONCE_ASKED;

	if (s->stopping) {
		if (!s->running)
			finish_stop(s);
		return;
	}
	while (s->next < s->jobs && s->running < at_once)
		start_job(s, &s->job[s->next++]);
	if (!s->round_open || s->running || s->next < s->jobs)
		return;
	s->round_open = false;
	s->last_round = clock_mono_ms();
	if (s->jobs) {
		emit_action(s);
		health(s);
	}
	if (s->wanted) {
		s->wanted = false;
		start_round(s, s->wanted_why);
	}
}

static bool has_worker(const struct target *target)
{
	for (int i = 0; i < target->processes; i++)
		if (!target->process[i].ended && strcmp(target->process[i].role, "worker") == 0)
			return true;
	return false;
}

static void on_timer(uv_timer_t *timer)
{
	struct stack_source *s = timer->data;
	int64_t mono = clock_mono_ms();
	int every = s->env->options->stacks_every_ms;

	if (every > 0 && !s->round_open && mono - s->round_started >= every && has_worker(s->env->target))
		start_round(s, "background");
	if (mono - s->healthy >= HEALTH_MS)
		health(s);
}

/* --- the source --- */

static struct source *stack_start(struct source_env *env)
{
	struct stack_source *s = mem_alloc(sizeof *s);

	s->env = env;
	/* The first background round soon after the start, when the ranks are known. */
	s->round_started = clock_mono_ms() - env->options->stacks_every_ms + 3000;
	look_for_py_spy(s);
	uv_timer_init(env->loop, &s->timer);
	s->timer.data = s;
	uv_timer_start(&s->timer, on_timer, 500, 500);
	health(s);
	return (struct source *)s;
}

static void stack_request(struct source *source, struct span request)
{
	struct stack_source *s = (struct stack_source *)source;
	const char *why = span_contains(request, "\"why\":\"suspect\"") ? "suspect" : "key";

	if (!span_contains(request, "\"do\":\"stacks\"") || s->stopping)
		return;
	if (s->round_open) {
		s->wanted = true;
		snprintf(s->wanted_why, sizeof s->wanted_why, "%s", why);
		go_on(s);
	} else {
		start_round(s, why);
	}
}

static void on_closed(uv_handle_t *handle)
{
	struct stack_source *s = handle->data;

	free(s->py_spy);
	if (s->closed)
		s->closed(s->context);
	free(s);
}

static void finish_stop(struct stack_source *s)
{
	if (!uv_is_closing((uv_handle_t *)&s->timer))
		uv_close((uv_handle_t *)&s->timer, on_closed);
}

static void stack_stop(struct source *source, void (*closed)(void *), void *context)
{
	struct stack_source *s = (struct stack_source *)source;

	s->stopping = true;
	s->closed = closed;
	s->context = context;
	uv_timer_stop(&s->timer);
	for (int i = 0; i < s->next; i++)
		if (s->job[i].child)
			child_cancel(s->job[i].child);
	if (!s->running)
		finish_stop(s);
}

extern const struct source_class source_stack;
const struct source_class source_stack = { "stack", "host", stack_start, stack_request, stack_stop };
