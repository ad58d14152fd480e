/* test_source_log.c - the log source on files that grow, shrink, move and go. */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/source_bed.h"

extern const struct source_class source_log;

static char folder[] = "/tmp/hangtop-log-XXXXXX", path[200];

static void put(const char *mode, const void *at, size_t len)
{
	FILE *file = fopen(path, mode);

	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, len, file), len);
	fclose(file);
}

static void append(const char *text)
{
	put("ae", text, strlen(text));
}

static void write_new(const char *text)
{
	put("we", text, strlen(text));
}

static void begin(struct bed *b)
{
	bed_init(b, &source_log);
	b->options.log = path;
	b->options.engine = "atom";
}

static void end(struct bed *b)
{
	assert_int_equal(bed_release(b), 0);
	unlink(path);
}

static bool followed(struct bed *b)
{
	return BED_UNTIL(b, bed_count(b, KIND_source) > 0 && strcmp(bed_text(b, KIND_source, SOURCE_state), "ok") == 0);
}

/* Log rows of a class so far. */
static int rows(const struct bed *b, const char *class)
{
	int n = 0;

	for (int i = 0; i < b->records; i++)
		n += b->record[i]->o.kind == KIND_log && observation_text_is(&b->record[i]->o, LOG_class, class);
	return n;
}

static bool total_is(struct bed *b, double value)
{
	bool is = BED_UNTIL(b, bed_number(b, KIND_progress, PROGRESS_value) >= value);

	return is && bed_number(b, KIND_progress, PROGRESS_value) == value;
}

static void test_work_is_counted(void **state)
{
	struct bed b;
	double sum = 0;

	(void)state;
	write_new("[atom 09:00:00] Engine Core: output send 100 reqs\n");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	assert_int_equal(bed_count(&b, KIND_progress), 0); /* old lines are no progress */
	append("[atom 09:12:01] Request 1 arrived, input tokens: 1001, pending requests: 1\r\n");
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 1));
	append("[atom 09:12:02] Request 2 arrived, input tokens: 1002, pending requests: 2\n"
		"[atom 09:12:06] Scheduled prefill batch: 2 reqs, 5015 new tokens (cached: [0], new: [1]), req_ids: (1, 2)\n");
	assert_true(total_is(&b, 2));
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 2)); /* prefill does not end them */
	append("[atom 09:12:19] Engine Core: output send 1 reqs\nINFO:     1.2.3.4:1 - \"GET /v1/models HTTP/1.1\" 200 OK\n");
	assert_true(total_is(&b, 3));
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 1));
	append("[atom 09:12:20] Engine Core: output send 5 reqs\n");
	assert_true(total_is(&b, 8));
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 0)); /* never below */
	assert_true(bed_number(&b, KIND_requests, REQUESTS_arrived) == 2);
	assert_true(bed_number(&b, KIND_requests, REQUESTS_finished) == 6);
	assert_true(bed_number(&b, KIND_requests, REQUESTS_running) == -99);
	assert_string_equal(bed_text(&b, KIND_requests, REQUESTS_via), "log");
	assert_string_equal(bed_text(&b, KIND_progress, PROGRESS_counter), "log:atom");
	for (int i = 0; i < bed_count(&b, KIND_progress); i++)
		sum += bed_get(&b, KIND_progress, i)->value[PROGRESS_delta].real;
	assert_true(sum == 8);
	assert_int_equal(rows(&b, "request"), 2);
	assert_int_equal(rows(&b, "ignore"), 0);
	end(&b);
}

static void test_rows(void **state)
{
	const struct observation *o;
	int64_t offset;
	struct bed b;

	(void)state;
	write_new("xxxx\n");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	append("noise\n\x1b[31m[atom 11:30:04] [ModelRunner3/8] proc died unexpectedly\x1b[0m\t(exitcode=-6)\x07\n");
	assert_true(BED_UNTIL(&b, rows(&b, "fatal") == 1));
	o = bed_get(&b, KIND_log, -1);
	assert_string_equal(o->node, "n1");
	assert_true(observation_text_is(o, LOG_file, path));
	assert_true(observation_get_int(o, LOG_offset, &offset) && offset == 11);
	assert_true(observation_text_is(o, LOG_rank, "3"));
	assert_true(observation_text_is(o, LOG_text, "[atom 11:30:04] [ModelRunner3/8] proc died unexpectedly (exitcode=-6)^G"));
	assert_true(bed_number(&b, KIND_log, LOG_repeats) == 0);
	end(&b);
}

/* The state of the server from before we came: this run's, and no progress. */
static void test_look_back(void **state)
{
	struct bed b;

	(void)state;
	write_new("HW Exception by GPU node-9 of the run before\n[atom 08:00:00] Request 1 arrived, x, pending requests: 9\n"
		" ATOM Server Launcher\nLoading safetensors shards: 1%\nModel load done: x\n"
		"[atom 09:00:00] Server started successfully and ready to accept requests\n"
		"[atom 09:12:01] Request 1 arrived, input tokens: 1001, pending requests: 3\n"
		"[atom 09:12:19] Engine Core: output send 1 reqs\n"
		"Memory access fault by GPU node-5 first\nHW Exception by GPU node-5 second\nHSA_STATUS_ERROR last\n"
		"[atom 09:12:21] Request 3 arr");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 2));
	assert_true(bed_number(&b, KIND_requests, REQUESTS_arrived) == 0);
	assert_int_equal(rows(&b, "start"), 1);
	assert_int_equal(rows(&b, "loading"), 1);
	assert_int_equal(rows(&b, "ready"), 1);
	assert_int_equal(rows(&b, "fault"), 2);
	assert_int_equal(rows(&b, "request"), 0);
	assert_int_equal(bed_count(&b, KIND_log), 5);
	assert_true(observation_text_is(bed_get(&b, KIND_log, 0), LOG_class, "start"));
	assert_true(observation_text_is(bed_get(&b, KIND_log, 1), LOG_text, "Model load done: x"));
	assert_true(observation_text_is(bed_get(&b, KIND_log, 3), LOG_text, "Memory access fault by GPU node-5 first"));
	assert_true(observation_text_is(bed_get(&b, KIND_log, 4), LOG_text, "HSA_STATUS_ERROR last"));
	assert_int_equal(bed_count(&b, KIND_progress), 0);
	append("ived, input tokens: 1, pending requests: 7\n"); /* the torn line is whole again */
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 7));
	assert_int_equal(rows(&b, "fault"), 2);
	end(&b);
}

/* Only the last 256 KiB are looked at, from the first whole line on, and open requests are unknown, not 0, when nothing tells. */
static void test_look_back_is_bounded(void **state)
{
	static const char torn[] = "[atom 08:00:00] HW Exception by GPU node-9\n", ready[] = "[atom 1] Server started successfully and "
		"ready to accept requests\n";
	struct buf text;
	struct bed b;

	(void)state;
	buf_init(&text, 0);
	buf_printf(&text, "[atom 08:00:00] Request 1 arrived, x, pending requests: 9\n%s", torn);
	for (size_t n = (256 << 10) - (sizeof torn - 1 - 10) - (sizeof ready - 1); n; n--)
		buf_char(&text, n % 100 == 1 ? '\n' : 'x');
	buf_text(&text, ready);
	write_new(buf_string(&text));
	buf_release(&text);
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	assert_int_equal(rows(&b, "ready"), 1);
	assert_int_equal(rows(&b, "fault"), 0);
	assert_int_equal(bed_count(&b, KIND_requests), 0);
	end(&b);
}

static void test_from_start_and_from_offset(void **state)
{
	static const char first[] = "[atom 1] Engine Core: output send 1 reqs\n", second[] = "[atom 2] Engine Core: output send 2 reqs\n";
	struct bed b;

	(void)state;
	write_new(first);
	append(second);
	begin(&b);
	b.options.log_from_start = true;
	bed_start(&b);
	assert_true(total_is(&b, 3));
	assert_int_equal(bed_release(&b), 0);

	begin(&b);
	b.options.log_offset = sizeof first - 1;
	bed_start(&b);
	assert_true(total_is(&b, 2));
	assert_int_equal(bed_release(&b), 0);

	begin(&b); /* the file is shorter now: another one */
	b.options.log_offset = 100000;
	bed_start(&b);
	assert_true(followed(&b));
	assert_int_equal(bed_count(&b, KIND_progress), 0);
	append(first);
	assert_true(total_is(&b, 1));
	end(&b);
}

static void test_truncation(void **state)
{
	struct bed b;

	(void)state;
	write_new("a long line that was there before, longer than what comes after it in this test of truncation......\n");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	append("[atom 1] Engine Core: output send 1 reqs\n[atom 2] unfin");
	assert_true(total_is(&b, 1));
	write_new("[atom 3] Engine Core: output send 4 reqs\n");
	assert_true(total_is(&b, 5));
	/* a hole of NULs, as a writer leaves that kept its offset */
	put("we", "", 0);
	assert_int_equal(truncate(path, 300000), 0);
	append("[atom 4] Engine Core: output send 10 reqs\n");
	assert_true(total_is(&b, 15));
	end(&b);
}

static void test_rotation(void **state)
{
	char old[250];
	FILE *file;
	struct bed b;

	(void)state;
	snprintf(old, sizeof old, "%s.1", path);
	write_new("x\n");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	/* the writer still holds the old file when the new one appears */
	file = fopen(path, "ae");
	assert_int_equal(rename(path, old), 0);
	fputs("[atom 1] Engine Core: output send 1 reqs\n", file);
	fflush(file);
	assert_true(total_is(&b, 1));
	fputs("[atom 2] Engine Core: output send 2 reqs\n[atom 3] Engine Core: output send 4 reqs", file);
	fclose(file);
	write_new("[atom 4] Engine Core: output send 8 reqs\n");
	assert_true(total_is(&b, 15));
	unlink(old);
	end(&b);
}

static void test_late_file(void **state)
{
	struct bed b;

	(void)state;
	begin(&b);
	bed_start(&b);
	assert_true(BED_UNTIL(&b, bed_count(&b, KIND_source) > 0));
	assert_string_equal(bed_text(&b, KIND_source, SOURCE_state), "late");
	assert_non_null(strstr(bed_text(&b, KIND_source, SOURCE_detail), path));
	assert_non_null(strstr(bed_text(&b, KIND_source, SOURCE_remedy), "--log"));
	write_new("[atom 1] Engine Core: output send 3 reqs\n"); /* it came after us: read from its start */
	assert_true(total_is(&b, 3));
	assert_true(followed(&b));
	unlink(path);
	write_new("[atom 1] Engine Core: output send 4 reqs\n");
	assert_true(total_is(&b, 7));
	end(&b);
}

static void test_not_a_file(void **state)
{
	struct bed b;

	(void)state;
	begin(&b);
	b.options.log = folder;
	bed_start(&b);
	assert_true(BED_UNTIL(&b, bed_count(&b, KIND_source) > 0));
	assert_string_equal(bed_text(&b, KIND_source, SOURCE_state), "failed");
	assert_non_null(strstr(bed_text(&b, KIND_source, SOURCE_detail), "not a regular file"));
	end(&b);

	/* a pipe whose writer waits for a reader is left alone: with a reader that goes again it would end */
	assert_int_equal(mkfifo(path, 0600), 0);
	begin(&b);
	bed_start(&b);
	assert_true(BED_UNTIL(&b, bed_count(&b, KIND_source) > 0));
	assert_string_equal(bed_text(&b, KIND_source, SOURCE_state), "failed");
	end(&b);
}

static void test_progress_bars(void **state)
{
	struct bed b;

	(void)state;
	write_new("");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	append("\rLoading safetensors shards: 0%|\rLoading safetensors shards: 12%|\rLoading safetensors shards: 49%|");
	/* the last state has no end yet, and counts */
	assert_true(BED_UNTIL(&b, strcmp(bed_text(&b, KIND_log, LOG_text), "Loading safetensors shards: 49%|") == 0));
	assert_int_equal(rows(&b, "loading"), 3);
	append("\n");
	append("Memory access fault by GPU node-5: the last words, without an end");
	assert_true(BED_UNTIL(&b, rows(&b, "fault") == 1));
	append(", and more\n[atom 1] Engine Core: output send 1 reqs");
	append("\n[atom 2] Server started successfully and ready to accept requests\n");
	assert_true(total_is(&b, 1));
	assert_true(BED_UNTIL(&b, rows(&b, "ready") == 1));
	assert_int_equal(rows(&b, "fault"), 1);
	assert_int_equal(rows(&b, "loading"), 3);
	end(&b);
}

/* An unfinished line of work counts once, when it is whole. */
static void test_unfinished_work(void **state)
{
	struct bed b;

	(void)state;
	write_new("");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	append("HW Exception by GPU node-1\n[atom 1] Engine Core: output send 1 reqs");
	assert_true(BED_UNTIL(&b, rows(&b, "fault") == 1));
	append(" x\nHW Exception by GPU node-2\n");
	assert_true(BED_UNTIL(&b, rows(&b, "fault") == 2));
	assert_true(total_is(&b, 1));
	end(&b);
}

static void test_long_lines(void **state)
{
	static char line[3 << 20];
	struct bed b;

	(void)state;
	write_new("");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	memset(line, 'y', sizeof line);
	memcpy(line, "HW Exception by GPU node-1", 26);
	for (size_t i = 70000; i < sizeof line - 100; i += 1000)
		memcpy(line + i, "Engine Core: output send 1000 reqs", 34); /* in what is skipped */
	line[sizeof line - 1] = '\n';
	put("ae", line, sizeof line);
	append("[atom 2] Engine Core: output send 2 reqs\n");
	assert_true(total_is(&b, 2));
	assert_int_equal(rows(&b, "fault"), 1);
	assert_int_equal(strlen(bed_text(&b, KIND_log, LOG_text)) > 0, 1);
	for (int i = 0; i < b.records; i++)
		if (b.record[i]->o.kind == KIND_log)
			assert_true(b.record[i]->o.value[LOG_text].text.len <= 2048);
	end(&b);
}

static void test_rate_of_rows(void **state)
{
	struct buf text;
	struct bed b;
	double swallowed = 0;
	int shown = 0;

	(void)state;
	buf_init(&text, 0);
	for (int i = 1; i <= 1000; i++)
		buf_printf(&text, "[atom 1] Request %d arrived, input tokens: 1, pending requests: %d\n", i, i);
	for (int i = 1; i <= 20; i++)
		buf_printf(&text, "[atom 1] [ModelRunner%d/20] proc died unexpectedly\n", i);
	write_new("");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	put("ae", text.at, text.len);
	/* the last of a burst is told, and none is lost from the counts */
	assert_true(BED_UNTIL(&b, strcmp(bed_text(&b, KIND_requests, REQUESTS_via), "log") == 0));
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 1000));
	assert_true(BED_UNTIL(&b, rows(&b, "request") >= 6));
	assert_int_equal(rows(&b, "fatal"), 20);
	for (int i = 0; i < b.records; i++)
		if (b.record[i]->o.kind == KIND_log && observation_text_is(&b.record[i]->o, LOG_class, "request")) {
			swallowed += (double)b.record[i]->o.value[LOG_repeats].number;
			shown++;
		}
	assert_int_equal((int)swallowed + shown, 1000);
	assert_true(shown <= 7);
	buf_release(&text);
	end(&b);
}

static void test_engine_statistics(void **state)
{
	static const char stats[] = "INFO [loggers.py:259] Engine %03d: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: %s "
		"tokens/s, Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: 1%%\n";
	char line[400];
	struct bed b;

	(void)state;
	write_new("");
	begin(&b);
	b.options.engine = "vllm";
	bed_start(&b);
	assert_true(followed(&b));
	snprintf(line, sizeof line, stats, 0, "0.0", 2, 1);
	append(line);
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 3));
	assert_int_equal(bed_count(&b, KIND_progress), 0); /* no token moved */
	snprintf(line, sizeof line, stats, 1, "0.1", 4, 0);
	append(line);
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 7)); /* engines are added up */
	assert_true(total_is(&b, 1));
	snprintf(line, sizeof line, stats, 0, "0.0", 0, 0);
	append(line);
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 4));
	assert_true(bed_number(&b, KIND_requests, REQUESTS_running) == 4);
	assert_true(bed_number(&b, KIND_requests, REQUESTS_waiting) == 0);
	append("INFO vLLM API server version 0.11\n"); /* another run: unknown what it has, but nothing of the old */
	assert_true(BED_UNTIL(&b, bed_number(&b, KIND_requests, REQUESTS_open) == 0));
	assert_true(bed_number(&b, KIND_requests, REQUESTS_running) == -99);
	end(&b);
}

/* Found through the API process; the engine is known later than the log. */
static void test_found_by_process(void **state)
{
	char root[250], link[350];
	struct bed b;

	(void)state;
	snprintf(root, sizeof root, "%s/proc", folder);
	mkdir(root, 0700);
	snprintf(link, sizeof link, "%s/77", root);
	mkdir(link, 0700);
	snprintf(link, sizeof link, "%s/77/fd", root);
	mkdir(link, 0700);
	snprintf(link, sizeof link, "%s/77/fd/1", root);
	assert_int_equal(symlink("/dev/null", link), 0);
	snprintf(link, sizeof link, "%s/77/fd/2", root);
	assert_int_equal(symlink(path, link), 0);
	write_new("[atom 1] Server started successfully and ready to accept requests\nHW Exception by GPU node-1\n");
	bed_init(&b, &source_log);
	b.options.proc_root = root;
	bed_start(&b);
	assert_true(BED_UNTIL(&b, bed_count(&b, KIND_source) > 0));
	assert_string_equal(bed_text(&b, KIND_source, SOURCE_state), "late");
	b.target.api_pid = 77;
	target_changed(&b.target);
	assert_true(BED_UNTIL(&b, rows(&b, "fault") == 1));
	assert_string_equal(bed_text(&b, KIND_log, LOG_file), path);
	assert_int_equal(rows(&b, "ready"), 0);
	assert_string_equal(bed_text(&b, KIND_source, SOURCE_state), "late");
	assert_non_null(strstr(bed_text(&b, KIND_source, SOURCE_remedy), "--engine"));
	b.target.profile = profile_find(&b.profiles, "atom");
	target_changed(&b.target);
	assert_true(followed(&b));
	assert_int_equal(rows(&b, "ready"), 1);
	assert_int_equal(rows(&b, "fault"), 1); /* not twice */
	append("[atom 1] Engine Core: output send 1 reqs\n");
	assert_true(total_is(&b, 1));
	/* the process goes, the log stays */
	unlink(link);
	b.target.api_pid = 0;
	target_changed(&b.target);
	append("[atom 1] Engine Core: output send 1 reqs\n");
	assert_true(total_is(&b, 2));
	end(&b);
	snprintf(link, sizeof link, "rm -rf '%s'", root);
	assert_int_equal(system(link), 0);
}

/* A file that grows fast while it is read: every line counts, whatever the blocks and turns cut. */
static void test_nothing_is_lost(void **state)
{
	struct buf text;
	struct bed b;
	int n = 0;

	(void)state;
	buf_init(&text, 0);
	write_new("");
	begin(&b);
	bed_start(&b);
	assert_true(followed(&b));
	for (int round = 0; round < 40; round++) {
		buf_clear(&text);
		for (int i = 0; i < 5000; i++, n++)
			buf_printf(&text, "%.*s[atom 1] Engine Core: output send 1 reqs\n", n % 97,
				"-------------------------------------------------------------------------------------------------");
		put("ae", text.at, text.len - (round % 2)); /* cut lines in two, too */
		uv_run(&b.loop, UV_RUN_NOWAIT);
		if (round % 2)
			append("\n");
	}
	assert_true(total_is(&b, n));
	buf_release(&text);
	end(&b);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/server.log", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_is_counted),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_look_back),
		cmocka_unit_test(test_look_back_is_bounded),
		cmocka_unit_test(test_from_start_and_from_offset),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_late_file),
		cmocka_unit_test(test_not_a_file),
		cmocka_unit_test(test_progress_bars),
		cmocka_unit_test(test_unfinished_work),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_rate_of_rows),
		cmocka_unit_test(test_engine_statistics),
		cmocka_unit_test(test_found_by_process),
		cmocka_unit_test(test_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
