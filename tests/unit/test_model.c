/* test_model.c - the model: latest, events, runs of equal stacks, any order of subjects. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "feed.h"
#include "model/ranks.h"

static char *dump(const struct model *m)
{
	struct buf out;

	buf_init(&out, 0);
	model_dump(m, &out);
	return buf_take(&out);
}

static void latest_wins(void **state)
{
	const struct observation *o;
	struct model m;
	double busy;

	(void)state;
	model_init(&m);
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu','gpu':3,'busy_pct':7}");
	FEED(&m, "{'t':2000,'node':'n','kind':'gpu','gpu':3,'busy_pct':9}");
	FEED(&m, "{'t':2000,'node':'n','kind':'gpu','gpu':4}");
	o = model_latest(&m, "n/gpu/3");
	assert_non_null(o);
	assert_true(observation_get_real(o, GPU_busy_pct, &busy));
	assert_true(busy == 9);
	assert_false(observation_get_real(model_latest(&m, "n/gpu/4"), GPU_busy_pct, &busy));
	assert_null(model_latest(&m, "n/gpu/5"));
	model_release(&m);
}

static void histories(void **state)
{
	float point[3];
	struct model m;

	(void)state;
	model_init(&m);
	FEED(&m, "{'t':10000,'node':'n','kind':'progress','counter':'c','value':5,'delta':2}");
	FEED(&m, "{'t':11999,'node':'n','kind':'progress','counter':'c','value':8,'delta':3}");
	FEED(&m, "{'t':14000,'node':'n','kind':'progress','counter':'c','value':9,'delta':1}");
	history_points(model_history(&m, "n/progress"), 14500, point, 3);
	assert_true(point[0] == 5 && isnan(point[1]) && point[2] == 1);
	history_points(model_history(&m, "n/progress"), 18000, point, 3);
	assert_true(point[0] == 1 && isnan(point[1]) && isnan(point[2]));
	history_points(model_history(&m, "n/nothing"), 18000, point, 3);
	assert_true(isnan(point[0]));
	assert_int_equal(m.progress_t, 14000);
	model_release(&m);
}

static void event_ring(void **state)
{
	struct model m;
	int64_t offset;

	(void)state;
	model_init(&m);
	for (int i = 0; i < MODEL_EVENTS_MAX + 7; i++)
		FEED(&m, "{'t':%d,'node':'n','kind':'log','offset':%d}", 1000 + i, i);
	assert_true(observation_get_int(model_event(&m, KIND_log, 0), LOG_offset, &offset));
	assert_int_equal(offset, MODEL_EVENTS_MAX + 6);
	assert_true(observation_get_int(model_event(&m, KIND_log, MODEL_EVENTS_MAX - 1), LOG_offset, &offset));
	assert_int_equal(offset, 7);
	assert_null(model_event(&m, KIND_log, MODEL_EVENTS_MAX));
	model_release(&m);
}

static void stack(struct model *m, int t, int pid, const char *frames)
{
	FEED(m, "{'t':%d,'node':'n','kind':'stack','pid':%d,'threads':[{'tid':1,'name':'MainThread','state':'active','gil':true,"
		"'frames':[%s]}]}", t, pid, frames);
}

static void equal_stacks(void **state)
{
	const struct stack_pair *pair;
	struct model m;

	(void)state;
	model_init(&m);
	stack(&m, 1000, 7, "'copy_kv (runner.py:10)','forward (runner.py:20)'");
	stack(&m, 8000, 7, "'copy_kv (runner.py:11)','forward (runner.py:20)'");
	pair = model_stack(&m, "n", 7);
	assert_int_equal(pair->same_since, 1000);
	assert_int_equal(pair->same_count, 2);
	stack(&m, 9000, 7, "'other (runner.py:11)','forward (runner.py:20)'");
	pair = model_stack(&m, "n", 7);
	assert_int_equal(pair->same_since, 9000);
	assert_int_equal(pair->same_count, 1);
	/* A sample without frames says nothing. */
	FEED(&m, "{'t':9500,'node':'n','kind':'stack','pid':7,'error':'gone'}");
	assert_int_equal(model_stack(&m, "n", 7)->last->o.t, 9000);
	model_release(&m);
}

static void open_since(void **state)
{
	struct model m;
	int64_t since;

	(void)state;
	model_init(&m);
	FEED(&m, "{'t':1000,'node':'n','kind':'requests','via':'log','open':0}");
	FEED(&m, "{'t':2000,'node':'n','kind':'requests','via':'log','open':1}");
	FEED(&m, "{'t':3000,'node':'n','kind':'requests','via':'log','open':4}");
	assert_true(observation_get_int(model_latest(&m, "n/requests/log"), REQUESTS_open_since, &since));
	assert_int_equal(since, 2000);
	FEED(&m, "{'t':4000,'node':'n','kind':'requests','via':'log','open':0}");
	FEED(&m, "{'t':5000,'node':'n','kind':'requests','via':'log','open':2}");
	assert_true(observation_get_int(model_latest(&m, "n/requests/log"), REQUESTS_open_since, &since));
	assert_int_equal(since, 5000);
	model_release(&m);
}

static void marks(void **state)
{
	struct observation mark;
	struct record *line;
	struct model m;

	(void)state;
	model_init(&m);
	line = feed_record("{'t':1000,'node':'n','kind':'log','class':'fault','text':'first'}");
	assert_true(model_log_mark(&m, &line->o, &mark));
	model_observe(&m, &mark);
	record_free(line);
	/* The first fault of a run is the cause: a second one does not replace it. */
	line = feed_record("{'t':2000,'node':'n','kind':'log','class':'fault','text':'second'}");
	assert_false(model_log_mark(&m, &line->o, &mark));
	record_free(line);
	line = feed_record("{'t':3000,'node':'n','kind':'log','class':'start','text':'again'}");
	assert_true(model_log_mark(&m, &line->o, &mark));
	model_observe(&m, &mark);
	record_free(line);
	line = feed_record("{'t':4000,'node':'n','kind':'log','class':'fault','text':'of the second run'}");
	assert_true(model_log_mark(&m, &line->o, &mark));
	record_free(line);
	line = feed_record("{'t':5000,'node':'n','kind':'log','class':'progress','text':'x'}");
	assert_false(model_log_mark(&m, &line->o, &mark));
	record_free(line);
	model_release(&m);
}

/* Observations of different subjects in any order give the same model. */
static void any_order(void **state)
{
	static const char *const line[] = {
		"{'t':1000,'node':'n','kind':'gpu','gpu':0,'busy_pct':7}",
		"{'t':1000,'node':'n','kind':'gpu','gpu':1,'busy_pct':8}",
		"{'t':1000,'node':'n','kind':'process','pid':5,'role':'worker','rank':'TP0'}",
		"{'t':1000,'node':'n','kind':'progress','counter':'a','value':1,'delta':1}",
		"{'t':1000,'node':'n','kind':'server','url':'u','http':200,'class':'ok'}",
		"{'t':1000,'node':'n','kind':'log','class':'ready','text':'ready'}",
	};
	int order[6] = { 0, 1, 2, 3, 4, 5 };
	char *first = NULL;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct model m;
		char *now;

		model_init(&m);
		for (int i = 0; i < 6; i++)
			FEED(&m, "%s", line[order[i]]);
		now = dump(&m);
		if (!first)
			first = mem_text(now);
		assert_string_equal(now, first);
		free(now);
		model_release(&m);
		for (int i = 5; i > 0; i--) { /* the next of a fixed series of permutations */
			int j = (round * 7 + i * 3) % (i + 1), swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
	}
	free(first);
}

static void worker(struct model *m, int pid, const char *rank)
{
	FEED(m, "{'t':500,'node':'n','kind':'process','pid':%d,'role':'worker','rank':'%s','start':100}", pid, rank);
}

static void classes(void **state)
{
	struct ranks *r = mem_alloc(sizeof *r);
	struct model m;

	(void)state;
	model_init(&m);
	for (int i = 7; i >= 0; i--) {
		char rank[8];

		snprintf(rank, sizeof rank, "TP%d", i);
		worker(&m, 100 + i, rank);
		if (i == 3)
			stack(&m, 1000, 100 + i, "'copy_kv (atom/runner.py:10)','forward (atom/runner.py:20)'");
		else
			stack(&m, 1000, 100 + i, "'synchronize (torch/cuda/__init__.py:9)','Group.all_reduce (torch/distributed/d.py:5)',"
				"'forward (atom/runner.py:20)'");
	}
	ranks_build(r, &m);
	assert_int_equal(r->count, 8);
	assert_string_equal(r->rank[0].name, "TP0");
	assert_int_equal(r->classes, 2);
	assert_true(r->class[0].odd);
	assert_string_equal(r->class[0].ranges, "TP3");
	assert_int_equal(r->class[0].wait, WAIT_HOST_CODE);
	assert_string_equal(r->class[0].where, "copy_kv (atom/runner.py:10)");
	assert_string_equal(r->class[1].ranges, "TP[0-2,4-7]");
	assert_int_equal(r->class[1].wait, WAIT_COLLECTIVE);
	assert_string_equal(r->class[1].top, "synchronize <- Group.all_reduce");
	assert_string_equal(r->class[1].where, "forward (atom/runner.py:20)");
	model_release(&m);
	free(r);
}

static void frames(void **state)
{
	static const struct { const char *frame, *function, *file, *line; } row_of[] = {
		{ "f (a.py:12)", "f", "a.py", "12" },
		{ "f (a.py)", "f", "a.py", "" },
		{ "std::f(int) (x.so)", "std::f(int)", "x.so", "" },
		{ "bare", "bare", "", "" },
		{ "", "", "", "" },
		{ ")", ")", "", "" },
		{ "(a:1)", "(a:1)", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row_of / sizeof row_of[0]; i++) {
		struct span function, file, line;

		frame_split(span_of(row_of[i].frame), &function, &file, &line);
		assert_true(span_is(function, row_of[i].function));
		assert_true(span_is(file, row_of[i].file));
		assert_true(span_is(line, row_of[i].line));
	}
}

static void fold(void **state)
{
	static const struct { const char *name[6], *text; } row_of[] = {
		{ { "0", "1", "2", "4" }, "[0-2,4]" },
		{ { "TP0", "TP1" }, "TP[0,1]" },
		{ { "DP0_TP0", "DP0_TP1", "DP1_TP0" }, "DP0_TP[0,1] DP1_TP0" },
		{ { "pid 7" }, "pid 7" },
		{ { "x" }, "x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row_of / sizeof row_of[0]; i++) {
		struct rank rank[6] = { 0 };
		int member[6], n = 0;
		char out[64];

		for (; n < 6 && row_of[i].name[n]; n++) {
			snprintf(rank[n].name, sizeof rank[n].name, "%s", row_of[i].name[n]);
			member[n] = n;
		}
		ranks_fold(rank, member, n, out, sizeof out);
		assert_string_equal(out, row_of[i].text);
	}
}

/* A rank opens every GPU of the node; its own is the one that holds most of its memory. */
static void gpu_of_a_rank(void **state)
{
	static struct ranks ranks;
	struct model m;

	(void)state;
	model_init(&m);
	FEED(&m, "{'t':1000,'node':'n','kind':'process','pid':10,'start':1,'role':'worker','rank':'TP0'}");
	FEED(&m, "{'t':1000,'node':'n','kind':'process','pid':11,'start':1,'role':'worker','rank':'TP1'}");
	FEED(&m, "{'t':1000,'node':'n','kind':'process','pid':12,'start':1,'role':'worker','rank':'TP2'}");
	FEED(&m, "{'t':1000,'node':'n','kind':'process','pid':13,'start':1,'role':'worker','rank':'TP3','gpu':5}");
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu_process','pid':10,'gpu':0,'vram':2000}");
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu_process','pid':10,'gpu':4,'vram':9000}");
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu_process','pid':11,'gpu':7}");
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu_process','pid':12,'gpu':-1,'vram':9000}");
	FEED(&m, "{'t':1000,'node':'n','kind':'gpu_process','pid':13,'gpu':1,'vram':9000}");
	FEED(&m, "{'t':1000,'node':'other','kind':'gpu_process','pid':10,'gpu':2,'vram':99000}");
	ranks_build(&ranks, &m);
	assert_int_equal(ranks.count, 4);
	assert_int_equal(ranks.rank[0].gpu, 4);
	assert_int_equal(ranks.rank[1].gpu, 7);
	assert_int_equal(ranks.rank[2].gpu, -1); /* the tool does not say which */
	assert_int_equal(ranks.rank[3].gpu, 5); /* said outright */
	model_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latest_wins),
		cmocka_unit_test(histories),
		cmocka_unit_test(event_ring),
		cmocka_unit_test(equal_stacks),
		cmocka_unit_test(open_since),
		cmocka_unit_test(marks),
		cmocka_unit_test(any_order),
		cmocka_unit_test(classes),
		cmocka_unit_test(frames),
		cmocka_unit_test(fold),
		cmocka_unit_test(gpu_of_a_rank),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
