/* What goes into a session file comes out of it: every kind, every field, stacks byte for byte, in order of time. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "feed.h"
#include "store_file.h"
#include "store_load.h"

#define T0 LOAD_T0

/* --- small helpers --- */

static void expect_lines(const char *name, int64_t from, int64_t to, const char *expected)
{
	struct reader *r = store_reader(name);
	struct error error;
	struct buf out;

	assert_non_null(r);
	buf_init(&out, 0);
	assert_int_equal(reader_between(r, from, to, store_line, &out, &error), 0);
	assert_string_equal(buf_string(&out), expected);
	buf_release(&out);
	reader_close(r);
}

/* --- tests --- */

/* Three rows of each kind: all fields, none but the subject, and odd values. */
static void fill_kind(struct observation *o, enum kind kind, int64_t t, int variant)
{
	static const char *const text[] = {"a'b\"c\\d", "", "\xe6\x97\xa5\xe6\x9c\xac \x1b[31m\xff\n"};
	const struct kind_info *info = &kind_table[kind];

	observation_init(o, kind, variant == 1 ? "" : "node\xc3\xa9", t);
	o->lag = variant == 0 ? 17 : 0;
	for (int i = 0; i < info->fields; i++) {
		if (variant == 1 && i >= info->subjects)
			continue;
		switch (info->field[i].type) {
		case FIELD_INT:
			observation_int(o, i, variant == 2 ? INT64_MIN + i : i + 5);
			break;
		case FIELD_REAL:
			observation_real(o, i, variant == 2 ? -1.0 / 3 : i);
			break;
		case FIELD_TEXT:
			observation_text(o, i, i < info->subjects ? "subject" : text[variant]);
			break;
		case FIELD_JSON:
			observation_text(o, i, variant == 2 ? "[{\"a\":[1,2.50]}]" : "[]");
			break;
		}
	}
}

static void every_kind_comes_back(void **state)
{
	struct writer *w = store_writer("kinds.db");
	struct buf expected;
	struct observation o;
	int64_t t = T0;

	(void)state;
	assert_non_null(w);
	buf_init(&expected, 0);
	for (int k = 0; k < KIND_COUNT; k++)
		for (int variant = 0; variant < 3; variant++) {
			fill_kind(&o, (enum kind)k, t++, variant);
			store_line(&expected, &o);
			writer_add(w, &o);
		}
	writer_close(w);
	expect_lines("kinds.db", T0 - 1, t, buf_string(&expected));
	buf_release(&expected);
}

/* A subject that is not known is part of the key all the same, and comes back as unknown. */
static void null_subjects_come_back_as_null(void **state)
{
	struct writer *w = store_writer("null.db");
	struct observation o;

	(void)state;
	observation_init(&o, KIND_server, "n", T0);
	observation_int(&o, SERVER_http, 200);
	writer_add(w, &o);
	observation_init(&o, KIND_gpu_process, "n", T0 + 1);
	observation_int(&o, GPU_PROCESS_pid, 7);
	writer_add(w, &o);
	observation_init(&o, KIND_progress, "n", T0 + 2);
	writer_add(w, &o);
	writer_close(w);
	expect_lines("null.db", 0, T0 + 9,
		"{\"t\":1764573600000,\"node\":\"n\",\"kind\":\"server\",\"http\":200}\n"
		"{\"t\":1764573600001,\"node\":\"n\",\"kind\":\"gpu_process\",\"pid\":7}\n"
		"{\"t\":1764573600002,\"node\":\"n\",\"kind\":\"progress\"}\n");
}

static const char *const threads_text[] = {
	("[{\"tid\":41,\"name\":\"MainThread\",\"state\":\"active\",\"gil\":true,\"frames\":[\"f (a.py:1)\",\"g "
	 "(a.py:2)\"]},"
	 "{\"tid\":42,\"name\":\"T\",\"state\":\"idle\",\"gil\":false,\"frames\":[\"g (a.py:2)\",\"f (a.py:1)\",\"g "
	 "(a.py:2)\"]}]"),
	"[{\"frames\":[]}]",
	"[{\"tid\":-9223372036854775808,\"frames\":[\"\"]}]",
	"[{\"name\":\"\xc3\xa4 \\\"x\\\" \\\\ \\u0001\\n\\t\",\"frames\":[\"\\u001b[0m (\xe2\x82\xac.py:3)\"]}]",
	"[{\"tid\":1,\"gil\":true,\"frames\":[\"f\"]},{\"tid\":1,\"frames\":[\"f\"]}]",
	/* Not as our agents write it: kept as it came. */
	"[]",
	"{}",
	"[{\"tid\":1,\"name\":null,\"state\":\"idle\",\"gil\":false,\"frames\":[]}]",
	"[ {\"tid\":1,\"frames\":[\"f\"]}]",
	"[{\"frames\":[\"f\"],\"tid\":1}]",
	"[{\"tid\":1,\"extra\":2,\"frames\":[\"f\"]}]",
	"[{\"tid\":1.5,\"frames\":[\"f\"]}]",
	"[{\"tid\":1,\"frames\":[1]}]",
	"[{\"tid\":1,\"frames\":[\"f\"]},7]",
	"[{\"tid\":1,\"frames\":[\"\\u0041\"]}]",
	"[{\"tid\":1,\"frames\":[\"a\\u0000b\"]}]",
	"[{\"tid\":1",
	"",
};
#define THREADS_WHOLE 5 /* index of the first that is not taken apart */
#define THREADS_N ((int)(sizeof threads_text / sizeof threads_text[0]))

static void keep_threads(void *context, const struct observation *o)
{
	struct buf *out = context;
	struct span text;

	assert_true(observation_get_text(o, STACK_threads, &text));
	buf_span(out, text);
	buf_char(out, '\0');
}

static void threads_come_back_byte_for_byte(void **state)
{
	struct writer *w = store_writer("threads.db");
	struct observation o;
	struct reader *r;
	struct buf expected, seen;

	(void)state;
	buf_init(&expected, 0);
	buf_init(&seen, 0);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < THREADS_N; i++) {
			observation_init(&o, KIND_stack, "n", T0 + round * 100 + i);
			observation_int(&o, STACK_pid, i);
			observation_text(&o, STACK_threads, threads_text[i]);
			keep_threads(&expected, &o);
			writer_add(w, &o);
		}
	writer_close(w);
	r = store_reader("threads.db");
	assert_int_equal(reader_between(r, 0, T0 + 1000, keep_threads, &seen, NULL), 0);
	assert_int_equal(seen.len, expected.len);
	assert_memory_equal(seen.at, expected.at, seen.len);
	reader_close(r);
	buf_release(&expected);
	buf_release(&seen);
	/* The canonical ones are taken apart, each frame and each list once; the others are not. */
	assert_int_equal(
		store_number("threads.db", "SELECT count(*) FROM stack WHERE threads IS NULL"), 2 * THREADS_WHOLE);
	assert_int_equal(store_number("threads.db", "SELECT count(*) FROM frame"), 5);
	assert_int_equal(store_number("threads.db", "SELECT count(*) FROM frame_list"), 6);
	assert_int_equal(
		store_number("threads.db", "SELECT count(*) FROM stack_frame WHERE frame='f (a.py:1)' AND pid=0"), 4);
}

static void rows_come_in_order_of_time(void **state)
{
	struct writer *w = store_writer("order.db");
	static const char *const line[] = {
		"'node':'b','kind':'log','text':'1'",
		"'node':'a','kind':'note','text':'2'",
		"'node':'a','kind':'log','text':'3'",
		"'node':'a','kind':'gpu','gpu':1",
		"'node':'a','kind':'gpu','gpu':0",
	};
	struct record *record;

	(void)state;
	/* A gap of a year in between. */
	for (int i = 0; i < 5; i++) {
		record = feed_record("{'t':%lld,%s}", (long long)T0, line[i]);
		writer_add(w, &record->o);
		record_free(record);
	}
	record = feed_record("{'t':%lld,'node':'a','kind':'mark','name':'x','at':1}", (long long)T0 + 31536000000LL);
	writer_add(w, &record->o);
	record_free(record);
	writer_close(w);
	expect_lines("order.db", INT64_MIN, INT64_MAX,
		"{\"t\":1764573600000,\"node\":\"a\",\"kind\":\"gpu\",\"gpu\":0}\n"
		"{\"t\":1764573600000,\"node\":\"a\",\"kind\":\"gpu\",\"gpu\":1}\n"
		"{\"t\":1764573600000,\"node\":\"b\",\"kind\":\"log\",\"text\":\"1\"}\n"
		"{\"t\":1764573600000,\"node\":\"a\",\"kind\":\"log\",\"text\":\"3\"}\n"
		"{\"t\":1764573600000,\"node\":\"a\",\"kind\":\"note\",\"text\":\"2\"}\n"
		"{\"t\":1796109600000,\"node\":\"a\",\"kind\":\"mark\",\"name\":\"x\",\"at\":1}\n");
	/* from is outside, to is inside. */
	expect_lines("order.db", T0, T0 + 5, "");
	expect_lines("order.db", T0 - 1, T0 - 1, "");
}

static void a_sample_of_the_same_moment_replaces(void **state)
{
	struct writer *w = store_writer("same.db");
	struct record *record;

	(void)state;
	for (int i = 0; i < 2; i++) {
		record = feed_record("{'t':%lld,'node':'a','kind':'gpu','gpu':1,'busy_pct':%d}", (long long)T0, i);
		writer_add(w, &record->o);
		record_free(record);
	}
	writer_close(w);
	expect_lines(
		"same.db", 0, T0, "{\"t\":1764573600000,\"node\":\"a\",\"kind\":\"gpu\",\"gpu\":1,\"busy_pct\":1.0}\n");
}

static void stops_range_and_meta(void **state)
{
	static const char *const line[] = {
		"{'t':1000,'node':'a','kind':'gpu','gpu':0}",
		"{'t':2000,'node':'a','kind':'verdict','state':'IDLE'}",
		"{'t':3000,'node':'a','kind':'log','class':'request','text':'x'}",
		"{'t':4000,'node':'a','kind':'log','class':'fault','text':'x'}",
		"{'t':4500,'node':'a','kind':'worker_death','rank':'3','exitcode':-9}",
		"{'t':5000,'node':'a','kind':'gpu','gpu':0}",
	};
	struct writer *w = store_writer("stops.db");
	struct reader *r;
	struct buf text;
	int64_t first, last, t;

	(void)state;
	r = store_reader("stops.db");
	assert_non_null(r);
	assert_false(reader_range(r, &first, &last));
	for (int i = 0; i < 6; i++) {
		struct record *record = feed_record("%s", line[i]);

		writer_add(w, &record->o);
		record_free(record);
	}
	writer_meta(w, "node", "n1");
	writer_meta(w, "node", "n2");
	writer_wait(w, 0);
	writer_close(w);
	buf_init(&text, 100);
	assert_true(reader_meta(r, "node", &text));
	assert_string_equal(buf_string(&text), "n2");
	assert_false(reader_meta(r, "absent", &text));
	assert_true(reader_range(r, &first, &last));
	assert_int_equal(first, 1000);
	assert_int_equal(last, 5000);
	assert_true(reader_next_event(r, 0, 1, &t));
	assert_int_equal(t, 2000);
	assert_true(reader_next_event(r, 2000, 1, &t));
	assert_int_equal(t, 4000);
	assert_true(reader_next_event(r, 4000, 1, &t));
	assert_int_equal(t, 4500);
	assert_false(reader_next_event(r, 4500, 1, &t));
	assert_true(reader_next_event(r, 4000, -1, &t));
	assert_int_equal(t, 2000);
	assert_true(reader_next_sample(r, 1000, 1, &t));
	assert_int_equal(t, 3000);
	assert_true(reader_next_sample(r, 3000, -1, &t));
	assert_int_equal(t, 1000);
	assert_false(reader_next_sample(r, 1000, -1, &t));
	buf_release(&text);
	reader_close(r);
}

static void minutes_are_rolled_up_once(void **state)
{
	struct load load = {.each = store_add, .seed = 3};
	struct writer *w;

	(void)state;
	/* In two sittings that meet in the middle of a minute. */
	for (int part = 0; part < 2; part++) {
		w = store_writer("roll.db");
		load.context = w;
		for (int i = 0; i < 90; i++)
			load_gpu(&load, T0 + (part * 90 + i) * INT64_C(1000), 0);
		writer_close(w);
	}
	assert_int_equal(store_number("roll.db", "SELECT count(*) FROM roll WHERE series='gpu.power_w'"), 3);
	assert_int_equal(
		store_number("roll.db",
			"SELECT count(*) FROM roll r WHERE series='gpu.power_w' AND n=60 AND subject="
			"'gpu-node-17/gpu/0' AND (lo,hi)=(SELECT min(power_w),max(power_w) FROM gpu WHERE t>=r.minute "
			"AND t<r.minute+60000)"
			" AND last=(SELECT power_w FROM gpu WHERE t=r.minute+59000)"
			" AND abs(total-(SELECT sum(power_w) FROM gpu WHERE t>=r.minute AND t<r.minute+60000))<0.01"),
		3);
}

static void the_file_is_private(void **state)
{
	struct writer_options options = {.path = store_path("new/deep/s.db")};
	struct writer *w;
	struct stat st;

	(void)state;
	assert_int_equal(writer_open(&w, &options, NULL), 0);
	assert_int_equal(stat(store_path("new/deep/s.db"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(store_path("new/deep"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(store_path("new/deep/s.db.ballast"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	writer_close(w);
	/* One plain file is left. */
	assert_int_equal(access(store_path("new/deep/s.db.ballast"), F_OK), -1);
	assert_int_equal(access(store_path("new/deep/s.db-wal"), F_OK), -1);
	assert_int_equal(access(store_path("new/deep/s.db-shm"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back),
		cmocka_unit_test(null_subjects_come_back_as_null),
		cmocka_unit_test(threads_come_back_byte_for_byte),
		cmocka_unit_test(rows_come_in_order_of_time),
		cmocka_unit_test(a_sample_of_the_same_moment_replaces),
		cmocka_unit_test(stops_range_and_meta),
		cmocka_unit_test(minutes_are_rolled_up_once),
		cmocka_unit_test(the_file_is_private),
	};

	return cmocka_run_group_tests(tests, store_setup, store_teardown);
}
