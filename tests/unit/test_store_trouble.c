/* Files that are not ours, not whole, not writable, older, newer or gone: words, never a crash, and nothing is changed. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "feed.h"
#include "store_file.h"
#include "store_load.h"

#define T0 LOAD_T0

static void sql(const char *name, const char *text)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(store_path(name), &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", text, why);
	sqlite3_close(db);
}

static void write_bytes(const char *name, const void *at, size_t len)
{
	FILE *f = fopen(store_path(name), "we");

	assert_non_null(f);
	assert_int_equal(fwrite(at, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static size_t read_bytes(const char *name, char **out)
{
	FILE *f = fopen(store_path(name), "re");
	size_t len;

	assert_non_null(f);
	*out = malloc(8 << 20);
	len = fread(*out, 1, 8 << 20, f);
	fclose(f);
	return len;
}

static void say(struct writer *w, const char *line)
{
	struct record *record = feed_record("%s", line);

	writer_add(w, &record->o);
	record_free(record);
}

/* --- not ours --- */

static void make_odd_files(void)
{
	sql("other.db", "CREATE TABLE mine(a);INSERT INTO mine VALUES(1)");
	sql("other-version.db", "CREATE TABLE mine(a);PRAGMA user_version=1");
	write_bytes("text.db",
		"2026-12-01 10:00:00 INFO nothing to see here, but long enough to be a header of some kind\n", 90);
	writer_close(store_writer("newer.db"));
	sql("newer.db", "PRAGMA user_version=99");
	writer_close(store_writer("unversioned.db"));
	sql("unversioned.db", "PRAGMA user_version=0");
	sql("hollow.db", "CREATE TABLE x(a);PRAGMA application_id=0x68616e67;PRAGMA user_version=1");
	mkdir(store_path("folder.db"), 0755);
	mkfifo(store_path("fifo.db"), 0600);
	write_bytes("empty.db", "", 0);
}

static const struct {
	const char *name, *reader, *writer;
} refused[] = {
	{"other.db", "not a session of hangtop", "not a session of hangtop"},
	{"other-version.db", "not a session of hangtop", "not a session of hangtop"},
	{"text.db", "is not a session file", "is not a session file"},
	{"newer.db", "newer hangtop", "newer hangtop"},
	{"unversioned.db", "damaged", "damaged"},
	{"hollow.db", "damaged", "no such table"},
	{"folder.db", "is not a file", "cannot write the session file"},
	{"fifo.db", "is not a file", "not a regular file"},
	{"empty.db", "is an empty file", NULL},
	{"absent.db", "No such file", NULL},
};

static void what_is_not_ours_is_refused_in_words(void **state)
{
	(void)state;
	make_odd_files();
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		struct writer_options options = {.path = store_path(refused[i].name)};
		struct error error;
		struct reader *r;
		struct writer *w;

		assert_int_equal(reader_open(&r, options.path, &error), -1);
		assert_null(r);
		if (!strstr(error.text, refused[i].reader) || !strstr(error.text, refused[i].name))
			fail_msg("reading %s: %s", refused[i].name, error.text);
		if (!refused[i].writer)
			continue;
		assert_int_equal(writer_open(&w, &options, &error), -1);
		assert_null(w);
		if (!strstr(error.text, refused[i].writer))
			fail_msg("writing %s: %s", refused[i].name, error.text);
	}
}

static void a_foreign_file_is_not_changed(void **state)
{
	static const char *const name[] = {"foreign.db", "foreign.txt"};

	(void)state;
	sql("foreign.db", "CREATE TABLE mine(a);INSERT INTO mine VALUES(1)");
	write_bytes("foreign.txt", "precious", 8);
	for (int i = 0; i < 2; i++) {
		struct writer_options options = {.path = store_path(name[i])};
		char *before, *after, beside[520];
		size_t n = read_bytes(name[i], &before);
		struct writer *w;

		assert_int_equal(writer_open(&w, &options, NULL), -1);
		assert_int_equal(read_bytes(name[i], &after), n);
		assert_memory_equal(before, after, n);
		snprintf(beside, sizeof beside, "%s.ballast", options.path);
		assert_int_equal(access(beside, F_OK), -1);
		free(before);
		free(after);
	}
}

static void an_unwritable_place_is_said_with_a_remedy(void **state)
{
	static const char *const path[] = {"/proc/nowhere/s.db", "/dev/null/s.db"};
	struct error error;
	struct writer *w;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct writer_options options = {.path = path[i]};

		assert_int_equal(writer_open(&w, &options, &error), -1);
		assert_non_null(strstr(error.text, i ? "cannot write the session file" : "cannot make the folder"));
		assert_non_null(strstr(error.fix, "--db"));
	}
}

/* --- older --- */

static void an_older_file_is_read_and_written_on(void **state)
{
	struct writer *w = store_writer("older.db");
	struct reader *r;
	struct buf out;

	(void)state;
	writer_close(w);
	/* Before most columns of gpu and the table of marks were thought of. */
	sql("older.db",
		"DROP TABLE gpu;DROP TABLE mark;CREATE TABLE gpu(t INTEGER NOT NULL,lag INTEGER,node TEXT NOT NULL,"
		"gpu INTEGER,busy_pct REAL,PRIMARY KEY(t,node,gpu)) WITHOUT ROWID;INSERT INTO gpu "
		"VALUES(5,NULL,'n',3,50.5)");
	buf_init(&out, 0);
	r = store_reader("older.db");
	assert_non_null(r);
	assert_int_equal(reader_state_at(r, 10, store_line, &out, NULL), 0);
	reader_close(r);
	w = store_writer("older.db");
	assert_non_null(w);
	say(w, "{'t':6,'node':'n','kind':'gpu','gpu':3,'busy_pct':1,'power_w':2}");
	say(w, "{'t':7,'node':'n','kind':'mark','name':'m'}");
	writer_close(w);
	r = store_reader("older.db");
	assert_int_equal(reader_between(r, 5, 10, store_line, &out, NULL), 0);
	reader_close(r);
	assert_string_equal(buf_string(&out),
		"{\"t\":5,\"node\":\"n\",\"kind\":\"gpu\",\"gpu\":3,\"busy_pct\":50.5}\n"
		"{\"t\":6,\"node\":\"n\",\"kind\":\"gpu\",\"gpu\":3,\"busy_pct\":1.0,\"power_w\":2.0}\n"
		"{\"t\":7,\"node\":\"n\",\"kind\":\"mark\",\"name\":\"m\"}\n");
	buf_release(&out);
}

/* --- in use, gone, in the future --- */

static void two_recordings_into_one_file_are_refused(void **state)
{
	struct writer *w = store_writer("lock.db"), *second;
	struct writer_options options = {.path = store_path("lock.db")};
	struct error error;

	(void)state;
	assert_non_null(w);
	assert_int_equal(writer_open(&second, &options, &error), -1);
	assert_non_null(strstr(error.text, "another hangtop records into"));
	writer_close(w);
	assert_int_equal(writer_open(&second, &options, &error), 0);
	writer_close(second);
}

static void a_clock_that_was_set_back_is_noticed(void **state)
{
	struct writer_options options = {.path = store_path("future.db")};
	struct writer *w = store_writer("future.db");
	struct error error;

	(void)state;
	say(w, "{'t':99999999999999,'node':'n','kind':'note','text':'x'}");
	writer_close(w);
	assert_int_equal(writer_open(&w, &options, &error), -1);
	assert_non_null(strstr(error.text, "in the future"));
}

static void wait_for_status(struct writer *w, bool ok, struct writer_status *status)
{
	for (int i = 0; i < 2000; i++) {
		writer_status(w, status);
		if (status->ok == ok)
			return;
		usleep(5000);
	}
	fail_msg("the status stays %d: %s", !ok, status->detail);
}

static void a_removed_file_is_said(void **state)
{
	struct writer *w = store_writer("removed.db");
	struct writer_status status;

	(void)state;
	wait_for_status(w, true, &status);
	unlink(store_path("removed.db"));
	wait_for_status(w, false, &status);
	assert_non_null(strstr(status.detail, "removed or replaced"));
	writer_close(w);
}

/* A program that reads for ever keeps the log from being folded in: said, and samples stop before the disk is full. */
static void a_reader_that_does_not_end_is_said(void **state)
{
	struct writer_options options = {.path = store_path("held.db"), .size_cap = 6 << 20};
	struct writer_status status;
	struct writer *w;
	struct load load = {.each = store_add, .seed = 5};
	sqlite3 *db;
	int64_t t = T0;

	(void)state;
	assert_int_equal(writer_open(&w, &options, NULL), 0);
	load.context = w;
	assert_int_equal(sqlite3_open(options.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN;SELECT count(*) FROM gpu", NULL, NULL, NULL), SQLITE_OK);
	writer_status(w, &status);
	for (int i = 0; i < 20000 && status.ok; i++) {
		load_tick(&load, t += 1000);
		if (i % 4 == 0)
			writer_wait(w, 0);
		writer_status(w, &status);
	}
	assert_false(status.ok);
	assert_non_null(strstr(status.detail, "does not end"));
	/* What matters is written all the same. */
	say(w, "{'t':1799999999999,'node':'n','kind':'note','text':'x'}");
	writer_wait(w, 0);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	wait_for_status(w, true, &status);
	assert_true(status.dropped > 0);
	writer_close(w);
}

/* --- a folder that cannot be written --- */

static int read_as_nobody(const char *name, char *why, size_t size)
{
	int channel[2], status;
	struct error error = {.text = ""};
	struct reader *r;
	pid_t child;
	int rows = 0;

	assert_int_equal(pipe(channel), 0);
	child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(77);
		status = reader_open(&r, store_path(name), &error);
		if (status == 0) {
			status = reader_between(r, INT64_MIN, INT64_MAX, store_count, &rows, &error);
			reader_close(r);
		}
		snprintf(why, size, "%.300s|%.200s", error.text, error.fix);
		if (write(channel[1], why, size) < 0)
			_exit(78);
		_exit(status < 0 ? 1 : rows);
	}
	close(channel[1]);
	if (read(channel[0], why, size) != (ssize_t)size)
		*why = 0;
	close(channel[0]);
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Leave a session as a kill leaves it. */
static void record_and_die(const char *name)
{
	pid_t child = fork();

	if (child == 0) {
		struct writer *w = store_writer(name);

		for (int i = 0; i < 5; i++)
			say(w, "{'t':1,'node':'n','kind':'note','text':'x'}");
		writer_wait(w, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void a_read_only_folder_can_be_read(void **state)
{
	char why[600];

	(void)state;
	chmod(store_dir, 0755);
	mkdir(store_path("ro"), 0755);
	record_and_die("ro/ended.db");
	writer_close(store_writer("ro/ended.db"));
	chmod(store_path("ro/ended.db"), 0444);
	record_and_die("ro/killed.db");
	chmod(store_path("ro/killed.db"), 0444);
	chmod(store_path("ro/killed.db-wal"), 0444);
	chmod(store_path("ro/killed.db-shm"), 0444);
	record_and_die("ro/torn.db");
	chmod(store_path("ro/torn.db"), 0444);
	chmod(store_path("ro/torn.db-wal"), 0444);
	unlink(store_path("ro/torn.db-shm"));
	chmod(store_path("ro"), 0555);
	assert_int_equal(read_as_nobody("ro/ended.db", why, sizeof why), 5);
	assert_int_equal(read_as_nobody("ro/killed.db", why, sizeof why), 5);
	/* The log without its index: cannot be read there, and that is said. */
	assert_int_equal(read_as_nobody("ro/torn.db", why, sizeof why), 1);
	assert_non_null(strstr(why, "cannot be written"));
	assert_non_null(strstr(why, "with its -wal"));
	chmod(store_path("ro"), 0755);
}

/* --- damage --- */

static size_t sample_session(const char *name, char **bytes)
{
	struct writer *w = store_writer(name);
	struct load load = {.each = store_add, .context = w, .seed = 5};

	for (int i = 0; i < 60; i++) {
		load_tick(&load, T0 + i * 1000);
		if (i % 20 == 0) {
			load_stack(&load, T0 + i * 1000, 0, T0, 1);
			say(w, "{'t':1764573700000,'node':'n','kind':'log','class':'fault','text':'x'}");
			say(w, "{'t':1764573700000,'node':'n','kind':'verdict','state':'HUNG'}");
		}
	}
	load_gpu(&load, T0 + 400000, 1);
	writer_meta(w, "node", "n");
	writer_close(w);
	return read_bytes(name, bytes);
}

static bool exercise(const char *name)
{
	struct error error = {.text = ""};
	struct reader *r;
	struct buf meta;
	int64_t first, last, t;
	bool fine = true;
	int rows = 0;

	if (reader_open(&r, store_path(name), &error) < 0) {
		assert_true(error.text[0] != 0);
		return false;
	}
	buf_init(&meta, 1000);
	reader_meta(r, "node", &meta);
	buf_release(&meta);
	reader_range(r, &first, &last);
	for (int i = 0; i < 3; i++)
		fine = reader_state_at(r, T0 + i * 29000, store_count, &rows, &error) == 0 && fine;
	fine = reader_state_at(r, INT64_MAX, store_count, &rows, &error) == 0 && fine;
	fine = reader_between(r, INT64_MIN, INT64_MAX, store_count, &rows, &error) == 0 && fine;
	reader_next_event(r, T0, 1, &t);
	reader_next_sample(r, T0 + 60000, -1, &t);
	if (!fine)
		assert_true(error.text[0] != 0);
	reader_close(r);
	return fine;
}

static void a_file_cut_anywhere_does_not_crash(void **state)
{
	char *bytes;
	size_t n = sample_session("cut-me.db", &bytes), step = n / 90;
	int refused_count = 0, tries = 0;

	(void)state;
	assert_true(n > 100000);
	write_bytes("cut.db", bytes, n);
	assert_true(exercise("cut.db"));
	for (size_t len = 1; len < n; len += len < 600 ? 97 : step) {
		write_bytes("cut.db", bytes, len);
		refused_count += !exercise("cut.db");
		tries++;
		if (len > 4096) {
			write_bytes("cut.db", bytes, len / 4096 * 4096);
			refused_count += !exercise("cut.db");
			tries++;
		}
	}
	assert_int_equal(refused_count, tries);
	free(bytes);
}

static void flipped_bytes_do_not_crash(void **state)
{
	struct load dice = {.seed = 99};
	char *bytes, *copy;
	size_t n = sample_session("flip-me.db", &bytes);

	(void)state;
	copy = malloc(n);
	for (int i = 0; i < 250; i++) {
		int flips = 1 + (int)load_random(&dice, 40);

		memcpy(copy, bytes, n);
		for (int k = 0; k < flips; k++) {
			/* Half of them in the header, the schema and the roots. */
			size_t at = (size_t)load_random(&dice, load_random(&dice, 2) ? 40 * 4096 : n);

			copy[at] = (char)load_random(&dice, 256);
		}
		write_bytes("flip.db", copy, n);
		exercise("flip.db");
		/* The writer must not fall over it either. */
		if (i % 10 == 0) {
			struct writer_options options = {.path = store_path("flip.db")};
			struct writer *w;

			if (writer_open(&w, &options, NULL) == 0) {
				say(w, "{'t':1764574100000,'node':'n','kind':'gpu','gpu':1}");
				say(w, "{'t':1764574100000,'node':'n','kind':'note','text':'x'}");
				writer_close(w);
			}
			unlink(store_path("flip.db-wal"));
			unlink(store_path("flip.db-shm"));
		}
	}
	free(copy);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ours_is_refused_in_words),
		cmocka_unit_test(a_foreign_file_is_not_changed),
		cmocka_unit_test(an_unwritable_place_is_said_with_a_remedy),
		cmocka_unit_test(an_older_file_is_read_and_written_on),
		cmocka_unit_test(two_recordings_into_one_file_are_refused),
		cmocka_unit_test(a_clock_that_was_set_back_is_noticed),
		cmocka_unit_test(a_removed_file_is_said),
		cmocka_unit_test(a_reader_that_does_not_end_is_said),
		cmocka_unit_test(a_read_only_folder_can_be_read),
		cmocka_unit_test(a_file_cut_anywhere_does_not_crash),
		cmocka_unit_test(flipped_bytes_do_not_crash),
	};

	return cmocka_run_group_tests(tests, store_setup, store_teardown);
}
