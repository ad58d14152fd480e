/* stack.c - the stack source: py-spy dumps of every process of the server, one at a time per process.
 *
 * A round asks all workers, then (when asked for, or where there are no workers) engine and api. Rounds start on request ("key",
 * "suspect") and in the background; requests that come while a round is running make one more round after it. py-spy runs with --nonblocking: it never stops the process.
 * When py-spy is missing or denied the kernel's view from /proc stands in: state, wait channel, system call, kernel stack.
 */
#include "config.h"

#include "source/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "transport/child.h"

#define AT_ONCE_ASKED 4
#define AT_ONCE_BACKGROUND 1    /* gently */
#define HEALTH_MS 10000
#define ALONE_MS 120000         /* a server that still has no workers has none */

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
	if (!found || !s->py_spy || strcmp(found, s->py_spy) != 0)
		s->text_only = false;
	free(s->py_spy);
	s->py_spy = found;
}

/* --- what is said --- */

/* One row a round: the command as it was run, with all pids. */
static void emit_action(struct stack_source *s)
{
	struct observation o;
	struct json_write w;
	struct buf argv;
	char result[80];

	buf_init(&argv, 64 * 1024);
	jw_start(&w, &argv);
	jw_array(&w, NULL);
	jw_string(&w, NULL, s->py_spy ? s->py_spy : "py-spy");
	jw_string(&w, NULL, "dump");
	jw_string(&w, NULL, "--nonblocking");
	if (!s->text_only)
		jw_string(&w, NULL, "--json");
	jw_string(&w, NULL, "--pid");
	for (int i = 0; i < s->jobs; i++)
		jw_string(&w, NULL, s->job[i].number);
	jw_end_array(&w);
	observation_init(&o, KIND_action, s->env->node, clock_wall_ms());
	snprintf(result, sizeof result, "%d ok, %d failed", s->now.ok, s->now.failed);
	observation_text(&o, ACTION_what, "stacks");
	observation_text(&o, ACTION_who, s->why);
	observation_span(&o, ACTION_argv, buf_as_span(&argv));
	observation_int(&o, ACTION_started, s->round_wall);
	observation_real(&o, ACTION_took_ms, s->now.took_ms);
	observation_text(&o, ACTION_result, s->now.failed ? result : "ok");
	s->env->emit(s->env->context, &o);
	buf_release(&argv);
}

/* --nonblocking never stops a process. If one is stopped all the same, that is the loudest thing to say, as long as it is. */
static bool say_stopped(struct stack_source *s)
{
	char detail[200], remedy[60];
	int64_t tracer;

	if (!s->stopped_pid)
		return false;
	if (stack_state_of(s, s->stopped_pid, &tracer) != 'T') {
		s->stopped_pid = 0;
		return false;
	}
	snprintf(detail, sizeof detail, "process %lld is STOPPED after its stack was taken", (long long)s->stopped_pid);
	snprintf(remedy, sizeof remedy, "kill -CONT %lld", (long long)s->stopped_pid);
	source_health(s->env, "stack", "failed", detail, remedy, -1);
	return true;
}

/* How the last whole round went. */
static void health(struct stack_source *s)
{
	const struct round_result *r = &s->last;
	char detail[500];

	s->healthy = clock_mono_ms();
	if (say_stopped(s))
		return;
	if (!s->py_spy) {
		source_health(s->env, "stack", "failed", "py-spy not found: stacks are the kernel's view only (/proc)",
			"pip install py-spy, or give its path with --py-spy", -1);
	} else if (*r->trouble) {
		snprintf(detail, sizeof detail, "%s (%d of %d)", r->trouble, r->failed, r->ok + r->failed);
		source_health(s->env, "stack", r->ok ? "late" : "failed", detail, *r->remedy ? r->remedy : NULL, r->took_ms);
	} else if (r->ok) {
		snprintf(detail, sizeof detail, "%d process%s, %s", r->ok, r->ok == 1 ? "" : "es", s->py_spy);
		source_health(s->env, "stack", "ok", detail, NULL, r->took_ms);
	} else {
		source_health(s->env, "stack", "ok", s->py_spy, NULL, -1);
	}
}

/* --- rounds --- */

static void add_jobs(struct stack_source *s, const char *role)
{
	const struct target *target = s->env->target;

	for (int i = 0; i < target->processes && s->jobs < STACK_JOBS_MAX; i++) {
		const struct target_process *p = &target->process[i];
		struct job *j = &s->job[s->jobs];

		if (p->ended || p->pid == target->held_pid || strcmp(p->role, role) != 0)
			continue;
		memset(j, 0, sizeof *j);
		j->source = s;
		j->pid = p->pid;
		j->start = p->start;
		j->as_text = s->text_only;
		snprintf(j->rank, sizeof j->rank, "%s", p->rank);
		snprintf(j->number, sizeof j->number, "%lld", (long long)p->pid);
		s->jobs++;
	}
}

static void start_round(struct stack_source *s, const char *why)
{
	s->jobs = s->next = 0;
	memset(&s->now, 0, sizeof s->now);
	snprintf(s->why, sizeof s->why, "%s", why);
	s->round_started = clock_mono_ms();
	s->round_wall = clock_wall_ms();
	s->round_open = true;
	s->round++;
	if (!s->py_spy || s->round_started - s->looked > 60000)
		look_for_py_spy(s);
	add_jobs(s, "worker");
	if (!s->jobs || strcmp(why, "background") != 0) { /* who gives the work is asked when it matters */
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
	while (s->next < s->jobs && s->running < at_once) {
		struct job *j = &s->job[s->next++];

		if (j->pid != s->env->target->held_pid)
			s->running += stack_job_start(j);
	}
	s->env->target->stacks_running = s->running;
	if (!s->round_open || s->running || s->next < s->jobs)
		return;
	s->round_open = false;
	s->now.took_ms = (double)(clock_mono_ms() - s->round_started);
	if (s->jobs) {
		s->last = s->now;
		emit_action(s);
		health(s);
	}
	if (s->wanted) {
		s->wanted = false;
		start_round(s, s->wanted_why);
	}
}

void stack_job_done(struct job *j)
{
	struct stack_source *s = j->source;
	int64_t tracer;

	j->child = NULL;
	s->running--;
	if (!s->stopping && !j->was_stopped && stack_state_of(s, j->pid, &tracer) == 'T') {
		s->stopped_pid = j->pid;
		health(s);
	}
	go_on(s);
}

/* Is there anybody to ask in the background? Workers; without any, a server that has run for long enough to have them. */
static bool has_ranks(const struct target *target)
{
	for (int i = 0; i < target->processes; i++) {
		const struct target_process *p = &target->process[i];

		if (!p->ended && (strcmp(p->role, "worker") == 0 ||
			(strcmp(p->role, "api") == 0 && clock_wall_ms() - p->start > ALONE_MS)))
			return true;
	}
	return false;
}

static void on_timer(uv_timer_t *timer)
{
	struct stack_source *s = timer->data;
	int64_t mono = clock_mono_ms();
	int every = s->env->options->stacks_every_ms;

	if (every > 0 && !s->round_open && mono - s->round_started >= every && has_ranks(s->env->target))
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
	const char *why = span_contains(request, "\"why\":\"suspect\"") ? "suspect"
			  : span_contains(request, "\"why\":\"snapshot\"") ? "snapshot" : "key";

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
