/* test_triage.c - each rule: fires, does not fire just below, stays quiet without its data. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "feed.h"
#include "model/triage.h"

#define NOW 100000000     /* every time below is counted back from here, in seconds */
#define S(ago) (NOW - (ago) * 1000)
#define NONE (-1)

#define GPU_WAIT "'synchronize (torch/cuda/__init__.py:9)','forward (atom/r.py:2)'"
#define COLLECTIVE "'synchronize (torch/cuda/__init__.py:9)','all_reduce (torch/distributed/d.py:5)','forward (atom/r.py:2)'"
#define PARKED "'acquire_read (aiter/dist/shm_broadcast.py:1)','dequeue (aiter/dist/shm_broadcast.py:2)','busy_loop (atom/a.py:3)'"
#define LOCKED "'acquire (threading.py:1)','run_model (atom/r.py:2)'"
#define HOST "'copy_kv (atom/r.py:9)','forward (atom/r.py:2)'"

/* What is known of a server with four ranks. Ages in seconds; NONE: not observed at all. */
struct world {
	const char *what;
	int progress;                  /* age of the last progress */
	int open, open_age;            /* requests, since when */
	double busy, mem;              /* of the GPUs; NONE unknown */
	double busy3;                  /* of GPU 3, when it differs (else NONE) */
	const char *stack, *stack3;    /* of the ranks and of rank 3; NULL none */
	int stack_age, stack_before;   /* ages of the two samples; before NONE: only one */
	const char *http;              /* class; NULL none */
	int ready, loading, fault, fatal, start; /* ages of log lines */
	int dead3, api_dead;           /* ages */
	const char *state3;            /* of rank 3's process, NULL S */
	enum state state;
	const char *where, *candidates;
	const char *rule;              /* NULL any */
	const char *via;               /* who counts the requests; NULL the log */
	const char *how;               /* where the stacks are from; NULL py-spy */
};

#define LINES .ready = 600, .loading = NONE, .fault = NONE, .fatal = NONE, .start = NONE, .dead3 = NONE, .api_dead = NONE
#define NO_GPUS .busy = NONE, .mem = NONE, .busy3 = NONE

static const struct world world[] = {
	{ "nothing at all", NONE, NONE, NONE, NO_GPUS, .http = NULL, .ready = NONE, .loading = NONE, .fault = NONE, .fatal = NONE,
		.start = NONE, .dead3 = -2, .api_dead = NONE, .state = STATE_UNKNOWN },
	{ "works", 1, 5, 3, 95, 40, NONE, NULL, NULL, 0, 0, "ok", LINES, .state = STATE_HEALTHY },
	{ "works between batches, nothing open", 2, 0, 2, 0, 0, NONE, NULL, NULL, 0, 0, "ok", LINES, .state = STATE_HEALTHY },
	{ "idle: nothing open", 300, 0, 300, 0, 0, NONE, PARKED, PARKED, 1, 31, "ok", LINES, .state = STATE_IDLE },
	{ "idle: open unknown, workers parked", NONE, NONE, 0, 0, 0, NONE, PARKED, PARKED, 1, 31, "ok", LINES, .state = STATE_IDLE },
	{ "first request after a long idle time is not a stall", 400, 1, 5, 100, 0, NONE, NULL, NULL, 0, 0, "ok", LINES,
		.state = STATE_HEALTHY },
	{ "nothing known but HTTP: that proves nothing", NONE, NONE, 0, NO_GPUS, NULL, NULL, 0, 0, "ok", LINES, .state = STATE_UNKNOWN },
	{ "loading: port closed, lines", NONE, NONE, 0, 2, 0, NONE, NULL, NULL, 0, 0, "refused", .ready = NONE, .loading = 400,
		.fault = NONE, .fatal = NONE, .start = 500, .dead3 = NONE, .api_dead = NONE, .state = STATE_LOADING },
	{ "loading: port closed, no log", NONE, NONE, 0, NO_GPUS, NULL, NULL, 0, 0, "refused", .ready = NONE, .loading = NONE,
		.fault = NONE, .fatal = NONE, .start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_LOADING },
	{ "compiling while a request is open", 100, 2, 90, 0, 0, NONE, HOST, HOST, 2, 12, "ok", .ready = 600, .loading = 70,
		.fault = NONE, .fatal = NONE, .start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_LOADING },
	{ "no stall below its share", 11, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES, .state = STATE_HEALTHY },
	{ "stall: suspect", 13, 5, 100, 100, 0, NONE, NULL, NULL, 0, 0, "ok", LINES, .state = STATE_SUSPECT },
	{ "long generations: GPUs move memory", 300, 5, 400, 100, 45, NONE, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES, .state = STATE_HEALTHY },
	{ "silence without a request", 300, NONE, 0, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES, .state = STATE_UNKNOWN },
	{ "livelock: kernel", 30, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES, .state = STATE_HUNG, .where = "kernel" },
	{ "livelock: collective", 30, 5, 100, 100, 0, NONE, COLLECTIVE, COLLECTIVE, 1, 9, "ok", LINES, .state = STATE_HUNG,
		.where = "collective" },
	{ "one stack sample is not enough", 26, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, NONE, "ok", LINES, .state = STATE_SUSPECT },
	{ "two samples too close", 26, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, 6, "ok", LINES, .state = STATE_SUSPECT },
	{ "samples from before the stall do not count", 30, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 35, 45, "ok", LINES,
		.state = STATE_HUNG, .where = "kernel", .rule = "hung-shallow" },
	{ "one rank behind", 30, 5, 100, 100, 0, 0, COLLECTIVE, HOST, 1, 9, "ok", LINES, .state = STATE_HUNG, .where = "host",
		.candidates = "TP3" },
	{ "host deadlock", 30, 5, 100, 0, 0, NONE, LOCKED, LOCKED, 1, 9, "ok", LINES, .state = STATE_HUNG, .where = "host" },
	{ "engine gives no work, by the log alone", 30, 5, 100, 0, 0, NONE, PARKED, PARKED, 1, 9, "ok", LINES, .state = STATE_SUSPECT },
	{ "engine gives no work, by its counters", 30, 5, 100, 0, 0, NONE, PARKED, PARKED, 1, 9, "ok", LINES, .via = "metrics",
		.state = STATE_HUNG, .where = "host" },
	{ "no stacks, GPUs spin", 30, 5, 100, 100, 0, NONE, NULL, NULL, 0, 0, "ok", LINES, .state = STATE_HUNG, .where = "kernel" },
	{ "only the kernel's view of stacks, GPUs spin", 30, 5, 100, 100, 0, NONE, "'hrtimer_nanosleep (kernel)'", "'hrtimer_nanosleep (kernel)'",
		1, 9, "ok", LINES, .state = STATE_HUNG, .where = "kernel", .rule = "hung-shallow", .how = "proc" },
	{ "only the kernel's view of stacks, GPUs idle: it proves nothing", 60, 5, 100, 0, 0, NONE, "'futex_wait (kernel)'", "'futex_wait (kernel)'",
		1, 9, "ok", LINES, .state = STATE_SUSPECT, .how = "proc" },
	{ "no stacks, memory activity unknown: not hung", 60, 5, 100, 100, NONE, NONE, NULL, NULL, 0, 0, "ok", LINES,
		.state = STATE_SUSPECT },
	{ "no GPU readings: equal stacks must last", 60, 5, 100, NO_GPUS, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES, .state = STATE_SUSPECT },
	{ "no GPU readings: a long generation waits for the GPU just so", 95, 5, 100, NO_GPUS, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES,
		.state = STATE_SUSPECT },
	{ "no GPU readings: ranks in a lock have lasted", 95, 5, 100, NO_GPUS, LOCKED, LOCKED, 1, 9, "ok", LINES,
		.state = STATE_HUNG, .where = "host" },
	{ "hung before we came: open requests without any progress seen prove nothing yet", NONE, 5, 8, 100, 0, NONE, NULL, NULL, 0, 0, "ok",
		LINES, .state = STATE_UNKNOWN },
	{ "attached late: loading and ready lines become known together", NONE, NONE, 0, NO_GPUS, NULL, NULL, 0, 0, "timeout", .ready = 5,
		.loading = 5, .fault = NONE, .fatal = NONE, .start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_SUSPECT },
	{ "a fatal line that work goes on behind", 5, 5, 100, 95, 40, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE,
		.fault = NONE, .fatal = 30, .start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_HEALTHY },
	{ "stuck in the driver", 30, 5, 100, 100, 0, NONE, NULL, NULL, 0, 0, "ok", LINES, .state3 = "D", .state = STATE_HUNG, .where = "host",
		.candidates = "TP3" },
	{ "idle engine of several ranks, by the log: the head parked, the others in a broadcast", 60, 5, 100, 0, 0, NONE, COLLECTIVE, PARKED, 1, 9,
		"ok", LINES, .state = STATE_SUSPECT },
	{ "fault line", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE, .fault = 4, .fatal = NONE,
		.start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_FAULT },
	{ "fault of an earlier run", 1, 5, 3, 95, 40, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE, .fault = 700,
		.fatal = NONE, .start = 650, .dead3 = NONE, .api_dead = NONE, .state = STATE_HEALTHY },
	{ "fault and death: the fault is the cause", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE,
		.fault = 4, .fatal = 3, .start = NONE, .dead3 = 3, .api_dead = NONE, .state = STATE_FAULT },
	{ "worker died", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE, .fault = NONE, .fatal = NONE,
		.start = NONE, .dead3 = 2, .api_dead = NONE, .state = STATE_DEAD, .candidates = "TP3" },
	{ "API server died", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "refused", .ready = 600, .loading = NONE, .fault = NONE,
		.fatal = NONE, .start = NONE, .dead3 = NONE, .api_dead = 2, .state = STATE_DEAD },
	{ "fatal line", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "ok", .ready = 600, .loading = NONE, .fault = NONE, .fatal = 2,
		.start = NONE, .dead3 = NONE, .api_dead = NONE, .state = STATE_DEAD },
	{ "rank stopped", 5, 5, 100, 0, 0, NONE, NULL, NULL, 0, 0, "ok", LINES, .state3 = "T", .state = STATE_SUSPECT, .candidates = "TP3" },
	{ "HTTP silent", 1, 5, 3, 95, 40, NONE, NULL, NULL, 0, 0, "timeout", LINES, .state = STATE_SUSPECT },
};

static void log_line(struct model *m, const char *class, int ago)
{
	if (ago >= 0)
		FEED(m, "{'t':%d,'node':'n','kind':'log_mark','class':'%s','text':'a line of class %s'}", S(ago), class, class);
}

static void process(struct model *m, int pid, const char *role, const char *rank, int ended_ago)
{
	FEED(m, "{'t':%d,'node':'n','kind':'process','pid':%d,'start':%d,'role':'%s'%s%s%s,'ended':%d}",
		S(ended_ago >= 0 ? ended_ago : 900), pid, S(900), role, rank ? ",'rank':'" : "", rank ? rank : "", rank ? "'" : "",
		ended_ago >= 0 ? 1 : 0);
}

static void gpu(struct model *m, int i, double busy, double mem)
{
	if (mem >= 0)
		FEED(m, "{'t':%d,'node':'n','kind':'gpu','gpu':%d,'busy_pct':%g,'mem_activity_pct':%g,'vram_used':90,'vram_total':100}",
			S(1), i, busy, mem);
	else
		FEED(m, "{'t':%d,'node':'n','kind':'gpu','gpu':%d,'busy_pct':%g,'vram_used':90,'vram_total':100}", S(1), i, busy);
}

static void rank(struct model *m, const struct world *w, int i)
{
	const char *frames = i == 3 ? w->stack3 : w->stack;
	const char *how = w->how ? w->how : "py-spy";
	char name[8];

	snprintf(name, sizeof name, "TP%d", i);
	process(m, 100 + i, "worker", name, i == 3 ? w->dead3 : NONE);
	FEED(m, "{'t':%d,'node':'n','kind':'process_sample','pid':%d,'state':'%s','state_since':%d}", S(1), 100 + i,
		i == 3 && w->state3 ? w->state3 : "S", S(25));
	if (!frames)
		return;
	if (w->stack_before >= 0)
		FEED(m, "{'t':%d,'node':'n','kind':'stack','pid':%d,'how':'%s','threads':[{'tid':1,'name':'MainThread','frames':[%s]}]}",
			S(w->stack_before), 100 + i, how, frames);
	FEED(m, "{'t':%d,'node':'n','kind':'stack','pid':%d,'how':'%s','threads':[{'tid':1,'name':'MainThread','frames':[%s]}]}",
		S(w->stack_age), 100 + i, how, frames);
}

static void build(struct model *m, const struct world *w)
{
	model_init(m);
	if (w->dead3 == -2)
		return;
	process(m, 90, "api", NULL, w->api_dead);
	process(m, 91, "engine", NULL, NONE);
	for (int i = 0; i < 4; i++) {
		rank(m, w, i);
		if (w->busy >= 0)
			gpu(m, i, i == 3 && w->busy3 >= 0 ? w->busy3 : w->busy, w->mem);
	}
	log_line(m, "fault", w->fault);
	log_line(m, "start", w->start);
	log_line(m, "loading", w->loading);
	log_line(m, "ready", w->ready);
	log_line(m, "fatal", w->fatal);
	if (w->open > 0)
		FEED(m, "{'t':%d,'node':'n','kind':'requests','via':'%s','open':%d}", S(w->open_age), w->via ? w->via : "log", w->open);
	else if (w->open == 0)
		FEED(m, "{'t':%d,'node':'n','kind':'requests','via':'log','open':0}", S(w->open_age));
	if (w->progress >= 0)
		FEED(m, "{'t':%d,'node':'n','kind':'progress','counter':'log:atom','value':10,'delta':1}", S(w->progress));
	if (w->http)
		FEED(m, "{'t':%d,'node':'n','kind':'server','url':'u','class':'%s','total_ms':3}", S(1), w->http);
}

static void worlds(void **state)
{
	struct triage_options options = { .stall_ms = 30000 };
	struct ranks *ranks = mem_alloc(sizeof *ranks);

	(void)state;
	for (size_t i = 0; i < sizeof world / sizeof world[0]; i++) {
		const struct world *w = &world[i];
		struct verdict v;
		struct model m;

		build(&m, w);
		triage(&v, &m, ranks, &options, NOW);
		if (v.state != w->state || strcmp(v.where, w->where ? w->where : "") != 0 ||
			(w->candidates && strcmp(v.candidates, w->candidates) != 0) || (w->rule && strcmp(v.rule, w->rule) != 0))
			fail_msg("%s: %s %s [%s] by rule %s: %s", w->what, state_word(v.state), v.where, v.candidates, v.rule, v.reason);
		assert_true(v.grade >= 'A' && v.grade <= 'D');
		assert_true(*v.reason);
		assert_true(v.since > 0 && v.since <= NOW);
		model_release(&m);
	}
	free(ranks);
}

static void stall_option_scales(void **state)
{
	struct triage_options options = { .stall_ms = 100000 };
	struct ranks *ranks = mem_alloc(sizeof *ranks);
	struct world w = { "x", 30, 5, 100, 100, 0, NONE, GPU_WAIT, GPU_WAIT, 1, 9, "ok", LINES };
	struct verdict v;
	struct model m;

	(void)state;
	build(&m, &w);
	triage(&v, &m, ranks, &options, NOW);
	assert_int_equal(v.state, STATE_HEALTHY);
	options.stall_ms = 30000;
	triage(&v, &m, ranks, &options, NOW);
	assert_int_equal(v.state, STATE_HUNG);
	model_release(&m);
	free(ranks);
}

static void change_is_about_state_and_place(void **state)
{
	struct verdict v = { .state = STATE_HUNG, .where = "host", .grade = 'A', .since = 5, .candidates = "TP3", .rule = "hung" };
	struct observation o;
	struct record *record;
	struct buf arena;

	(void)state;
	assert_true(verdict_changed(NULL, &v));
	buf_init(&arena, 0);
	verdict_observation(&v, &o, "n", 10, &arena);
	record = record_new(&o);
	assert_false(verdict_changed(&record->o, &v));
	v.grade = 'C';
	assert_false(verdict_changed(&record->o, &v));
	snprintf(v.candidates, sizeof v.candidates, "TP4");
	assert_true(verdict_changed(&record->o, &v));
	snprintf(v.candidates, sizeof v.candidates, "TP3");
	snprintf(v.where, sizeof v.where, "kernel");
	assert_true(verdict_changed(&record->o, &v));
	record_free(record);
	buf_release(&arena);
}

static void wanting_stacks(void **state)
{
	struct verdict v = { .state = STATE_SUSPECT };
	struct ranks *ranks = mem_alloc(sizeof *ranks);

	(void)state;
	assert_true(triage_wants_stacks(&v, ranks, NOW));
	ranks->newest_stack = NOW - 3000;
	assert_false(triage_wants_stacks(&v, ranks, NOW));
	ranks->newest_stack = NOW - 7000;
	assert_true(triage_wants_stacks(&v, ranks, NOW));
	v.state = STATE_HEALTHY;
	assert_false(triage_wants_stacks(&v, ranks, NOW));
	free(ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worlds),
		cmocka_unit_test(stall_option_scales),
		cmocka_unit_test(change_is_about_state_and_place),
		cmocka_unit_test(wanting_stacks),
	};

	return cmocka_run_group_tests_name("triage", tests, NULL, NULL);
}
