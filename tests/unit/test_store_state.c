/* A model fed with the state at T equals one fed with every row up to T: for any T, after silences, gaps, kills, eviction. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "feed.h"
#include "store/subject.h"
#include "store_file.h"
#include "store_load.h"

#define T0 LOAD_T0
#define MINUTE INT64_C(60000)

/* --- a front: the model stamps and fills in, the writer records what it says --- */

struct front {
	struct model model;
	struct writer *writer;
	struct record **row; /* what was recorded, in order */
	size_t rows, cap;
	struct load load;
	int64_t run_since[LOAD_RANKS], run_count[LOAD_RANKS];
};

static void observe(void *context, const struct observation *o)
{
	struct front *f = context;
	const struct observation *kept = model_observe(&f->model, o);

	assert_non_null(kept);
	if (f->rows == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 1024;
		f->row = mem_array(f->row, f->cap, sizeof *f->row);
	}
	f->row[f->rows++] = record_new(kept);
	writer_add(f->writer, kept);
}

static void front_start(struct front *f, const char *name)
{
	memset(f, 0, sizeof *f);
	model_init(&f->model);
	f->writer = store_writer(name);
	assert_non_null(f->writer);
	f->load.each = observe;
	f->load.context = f;
	f->load.seed = 11;
}

static void front_end(struct front *f)
{
	for (size_t i = 0; i < f->rows; i++)
		record_free(f->row[i]);
	free(f->row);
	model_release(&f->model);
}

static void say(struct front *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct front *f, const char *format, ...)
{
	struct record *record;
	va_list args;
	char *text;

	va_start(args, format);
	assert_true(vasprintf(&text, format, args) > 0);
	va_end(args);
	record = feed_record("%s", text);
	observe(f, &record->o);
	record_free(record);
	free(text);
}

/* A stack as a source sends it: the front fills in the run. Now and then one without frames. */
static void stack(struct front *f, int64_t t, int rank)
{
	struct load *l = &f->load;

	if (load_random(l, 5) == 0)
		say(f, "{'t':%lld,'node':'gpu-node-17','kind':'stack','pid':%d,'error':'gone','threads':[]}",
			(long long)t, 41200 + rank);
	else
		say(f,
			"{'t':%lld,'node':'gpu-node-17','kind':'stack','pid':%d,'how':'py-spy','threads':[{'tid':%d,'"
			"name':'MainThread',"
			"'state':'idle','gil':false,'frames':['f%d (a.py:%d)','g (a.py:2)']}]}",
			(long long)t, 41200 + rank, rank, (int)load_random(l, 2), (int)load_random(l, 9));
}

static void odds_and_ends(struct front *f, int64_t t, int i)
{
	struct load *l = &f->load;
	long long at = (long long)t;

	if (load_random(l, 3) == 0)
		say(f, "{'t':%lld,'node':'gpu-node-17','kind':'log','class':'%s','text':'line %d'}", at,
			load_random(l, 9) ? "request" : "fault", i);
	if (load_random(l, 4) == 0)
		load_progress(l, t);
	if (load_random(l, 7) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'requests','via':'log','open':%d}", at, (int)load_random(l, 3));
	if (load_random(l, 20) == 0)
		say(f, "{'t':%lld,'node':'','kind':'verdict','state':'IDLE','since':%d}", at, i);
	if (load_random(l, 9) == 0)
		say(f, "{'t':%lld,'node':'','kind':'finding','rule':'r%d','active':%d}", at, (int)load_random(l, 6),
			(int)load_random(l, 2));
	if (load_random(l, 30) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'process','pid':%d,'ended':0}", at, (int)load_random(l, 40));
	/* Subjects that speak once or seldom. */
	if (load_random(l, 15) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'process_sample','pid':%d,'state':'S'}", at,
			(int)load_random(l, 25));
	if (load_random(l, 40) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'gpu','gpu':%d,'busy_pct':%d,'name':'x'}", at,
			(int)load_random(l, 3), i % 100);
	if (load_random(l, 40) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'gpu_process','pid':%d,'gpu':-1}", at, (int)load_random(l, 5));
	if (load_random(l, 60) == 0)
		say(f, "{'t':%lld,'node':'n2','kind':'server','http':200}", at);
}

/* Seconds of a session from t on. Between `quiet` seconds only the server on another node speaks now and then. */
static int64_t play(struct front *f, int64_t t, int seconds, int quiet_from, int quiet_to)
{
	for (int i = 0; i < seconds; i++, t += 1000) {
		if (i >= quiet_from && i < quiet_to) {
			if (i % 50 == 0)
				say(f, "{'t':%lld,'node':'n3','kind':'server','url':'http://x/','http':503}",
					(long long)t);
			continue;
		}
		if (i % 2 == 0)
			load_tick(&f->load, t + (int64_t)load_random(&f->load, 300));
		odds_and_ends(f, t + 300 + (int64_t)load_random(&f->load, 300), i);
		for (int rank = 0; rank < LOAD_RANKS && i % 10 == 3; rank++)
			stack(f, t + 700, rank);
	}
	writer_wait(f->writer, 0);
	return t;
}

/* --- comparing --- */

static void feed(void *context, const struct observation *o)
{
	model_observe(context, o);
}

static void dump_state(struct reader *r, int64_t t, struct buf *out)
{
	struct error error;
	struct model m;

	model_init(&m);
	if (reader_state_at(r, t, feed, &m, &error) < 0)
		fail_msg("state at %lld: %s", (long long)t, error.text);
	model_dump(&m, out);
	model_release(&m);
}

static void show_difference(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (n != m || memcmp(a, b, n) != 0)
			break;
		a += n + (a[n] != 0);
		b += m + (b[m] != 0);
	}
	fprintf(stderr, "# all rows: %.*s\n# seek:     %.*s\n", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

/* At `n` moments spread over [from, to], in order. */
static void expect_equal_states(struct front *f, const char *name, int64_t from, int64_t to, int n)
{
	struct reader *r = store_reader(name);
	struct buf played, sought;
	struct model m;
	size_t at = 0;

	assert_non_null(r);
	model_init(&m);
	buf_init(&played, 0);
	buf_init(&sought, 0);
	for (int i = 0; i <= n; i++) {
		int64_t t = from + (to - from) * i / n;

		while (at < f->rows && f->row[at]->o.t <= t)
			model_observe(&m, &f->row[at++]->o);
		buf_clear(&played);
		buf_clear(&sought);
		model_dump(&m, &played);
		dump_state(r, t, &sought);
		/* A model's clock is its newest row; the seek has the same. */
		if (strcmp(buf_string(&played), buf_string(&sought)) != 0) {
			show_difference(buf_string(&played), buf_string(&sought));
			fail_msg("the states at %lld (%lld s) differ", (long long)t, (long long)(t - T0) / 1000);
		}
	}
	buf_release(&played);
	buf_release(&sought);
	model_release(&m);
	reader_close(r);
}

/* --- tests --- */

static void seek_equals_play(void **state)
{
	struct front f;
	int64_t end;

	(void)state;
	front_start(&f, "seek.db");
	end = play(&f, T0, 1500, 400, 1000);
	/* While it is being written, and after. */
	expect_equal_states(&f, "seek.db", T0 - 1000, end + MINUTE, 97);
	writer_close(f.writer);
	expect_equal_states(&f, "seek.db", T0 - 1000, end + MINUTE, 53);
	front_end(&f);
}

static void seek_equals_play_over_a_gap(void **state)
{
	struct front f;
	int64_t end;

	(void)state;
	front_start(&f, "gap.db");
	end = play(&f, T0, 200, 0, 0);
	writer_close(f.writer);
	/* The next day. */
	f.writer = store_writer("gap.db");
	assert_non_null(f.writer);
	end = play(&f, end + 1440 * MINUTE, 200, 100, 150);
	writer_close(f.writer);
	expect_equal_states(&f, "gap.db", T0, T0 + 201000, 23);
	expect_equal_states(&f, "gap.db", T0 + 201000, end, 31);
	expect_equal_states(&f, "gap.db", end - 205000, end, 31);
	front_end(&f);
}

/* Who spoke last before a kill is still known: the notes of silence are made from the file. */
static void seek_equals_play_after_a_kill(void **state)
{
	struct front f;
	int64_t end;
	pid_t child;
	int status;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		front_start(&f, "kill.db");
		play(&f, T0, 300, 0, 0);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	/* The same again in memory only, then on in the file. */
	front_start(&f, "kill-twin.db");
	play(&f, T0, 300, 0, 0);
	writer_close(f.writer);
	f.writer = store_writer("kill.db");
	assert_non_null(f.writer);
	end = play(&f, T0 + 310 * 1000, 300, 0, 250);
	expect_equal_states(&f, "kill.db", T0 + 250 * 1000, end, 61);
	writer_close(f.writer);
	front_end(&f);
}

/* Four hours in a file that holds about one; a verdict after the first hour. */
static void old_samples_go_but_not_those_around_a_verdict(void **state)
{
	struct writer_options options = {.path = store_path("evict.db"), .size_cap = 4 << 20};
	const int64_t verdict = T0 + 60 * MINUTE;
	struct writer_status status;
	int64_t t = T0, end, kept;
	struct front f;

	(void)state;
	front_start(&f, "unused.db");
	writer_close(f.writer);
	assert_int_equal(writer_open(&f.writer, &options, NULL), 0);
	say(&f, "{'t':%lld,'node':'n','kind':'source','source':'gpu','state':'ok'}", (long long)t);
	say(&f, "{'t':%lld,'node':'n','kind':'gpu','gpu':7,'busy_pct':3}", (long long)t);
	for (int i = 0; i < 4 * 3600; i += 2, t += 2000) {
		load_tick(&f.load, t);
		if (i % 10 == 0)
			for (int rank = 0; rank < LOAD_RANKS; rank++)
				stack(&f, t + 100, rank);
		if (t == verdict)
			say(&f, "{'t':%lld,'node':'n','kind':'verdict','state':'HUNG'}", (long long)t);
		if (i % 100 == 0) {
			writer_wait(f.writer, 0);
			usleep(1000); /* a turn of the thread between batches, as it is live */
		}
	}
	end = t;
	writer_wait(f.writer, 0);
	/* Until nothing more is to be done. */
	for (int i = 0; i < 600; i++) {
		writer_flush(f.writer);
		usleep(10000);
		writer_status(f.writer, &status);
		if (store_number("evict.db", "PRAGMA page_count") * 4096 <= 4 << 20)
			break;
	}
	assert_true(status.ok);
	writer_close(f.writer);
	assert_true(store_number("evict.db", "PRAGMA page_count") * 4096 <= 4 << 20);
	assert_true(
		store_number("evict.db", "SELECT min(t) FROM process_sample WHERE node='gpu-node-17' AND NOT t BETWEEN"
				       " 1764577200000-300000 AND 1764577200000+60000") > T0 + 100 * MINUTE);
	/* Every row from five minutes before to one minute after. */
	kept = store_number("evict.db",
		"SELECT count(*) FROM process_sample WHERE t BETWEEN 1764577200000-300000 AND 1764577200000+60000");
	assert_int_equal(kept, (300 + 60) / 2 * 13 + 13);
	assert_int_equal(
		store_number("evict.db", "SELECT count(*) FROM stack_thread WHERE stack NOT IN(SELECT id FROM stack)"),
		0);
	assert_int_equal(
		store_number("evict.db",
			"SELECT count(*) FROM stack WHERE t BETWEEN 1764577200000-300000 AND 1764577200000+60000"),
		(300 + 60) / 10 * 8);
	/* What is left is as if nothing had gone. */
	kept = store_number("evict.db", "SELECT min(t) FROM process_sample WHERE t>1764577200000+120000");
	assert_true(kept < end - 10 * MINUTE);
	expect_equal_states(&f, "evict.db", kept + 130000, end, 23);
	expect_equal_states(&f, "evict.db", verdict - 2 * MINUTE, verdict + MINUTE, 5);
	front_end(&f);
}

static void silence_is_noted_once(void **state)
{
	struct front f;

	(void)state;
	front_start(&f, "once.db");
	play(&f, T0, 2, 0, 0);
	play(&f, T0 + 2000, 600, 0, 600);
	writer_close(f.writer);
	assert_int_equal(
		store_number("once.db", "SELECT count(*) FROM silent WHERE kind='gpu' AND node='gpu-node-17'"), 8);
	assert_int_equal(
		store_number("once.db", "SELECT count(*) FROM silent WHERE kind='gpu_process' AND node='gpu-node-17'"),
		8);
	front_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seek_equals_play),
		cmocka_unit_test(seek_equals_play_over_a_gap),
		cmocka_unit_test(seek_equals_play_after_a_kill),
		cmocka_unit_test(silence_is_noted_once),
		cmocka_unit_test(old_samples_go_but_not_those_around_a_verdict),
	};

	return cmocka_run_group_tests(tests, store_setup, store_teardown);
}
