/* The disk is full: the reserve is given back, rows wait in memory, what matters is kept, and recording goes on by itself. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdatomic.h>

#include <sqlite3.h>

#include "feed.h"
#include "store/queue.h"
#include "store_file.h"
#include "store_load.h"

#define T0 LOAD_T0

/* --- a disk of a given size under SQLite --- */

static atomic_long room = LONG_MAX; /* bytes that may still be written */
static atomic_long reserve; /* bytes of room that giving the ballast back makes; once */
static char ballast[520];

static struct {
	const sqlite3_io_methods *real;
	sqlite3_io_methods ours;
} wrapped[4];
static sqlite3_vfs disk, *real_disk;

static void notice_ballast(void)
{
	struct stat st;

	if (reserve && stat(ballast, &st) == 0 && st.st_size == 0)
		room += atomic_exchange(&reserve, 0);
}

static int write_to_disk(sqlite3_file *file, const void *at, int amount, sqlite3_int64 offset)
{
	int i = 0;

	notice_ballast();
	if (room < amount)
		return SQLITE_FULL;
	if (room != LONG_MAX)
		room -= amount;
	while (file->pMethods != &wrapped[i].ours)
		i++;
	return wrapped[i].real->xWrite(file, at, amount, offset);
}

static int open_on_disk(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	int status = real_disk->xOpen(real_disk, name, file, flags, out);

	(void)vfs;
	if (status != SQLITE_OK || !file->pMethods)
		return status;
	for (int i = 0; i < 4; i++) {
		if (!wrapped[i].real) {
			wrapped[i].real = file->pMethods;
			wrapped[i].ours = *file->pMethods;
			wrapped[i].ours.xWrite = write_to_disk;
		}
		if (wrapped[i].real == file->pMethods) {
			file->pMethods = &wrapped[i].ours;
			return status;
		}
	}
	return SQLITE_INTERNAL;
}

static int setup(void **state)
{
	real_disk = sqlite3_vfs_find(NULL);
	disk = *real_disk;
	disk.zName = "disk";
	disk.xOpen = open_on_disk;
	sqlite3_vfs_register(&disk, 1);
	return store_setup(state);
}

/* --- helpers --- */

static struct writer_status wait_until(struct writer *w, bool (*holds)(const struct writer_status *))
{
	struct writer_status status;

	for (int i = 0; i < 4000; i++) {
		writer_status(w, &status);
		if (holds(&status))
			return status;
		usleep(5000);
	}
	fail_msg("the status stays: ok %d, %s", status.ok, status.detail);
	return status;
}

static bool waits_in_memory(const struct writer_status *s)
{
	return !s->ok && s->queued > 0 && strstr(s->detail, "wait in memory") != NULL;
}

static bool all_is_well(const struct writer_status *s)
{
	return s->ok && s->queued == 0;
}

static void verdict(struct writer *w, int64_t t)
{
	struct record *record = feed_record("{'t':%lld,'node':'n','kind':'verdict','state':'HUNG'}", (long long)t);

	writer_add(w, &record->o);
	record_free(record);
}

/* --- tests --- */

static void recording_survives_a_full_disk(void **state)
{
	struct writer *w = store_writer("full.db");
	struct load load = {.each = store_add, .context = w, .seed = 2};
	struct writer_status status;
	struct stat st;
	int64_t t = T0;

	(void)state;
	snprintf(ballast, sizeof ballast, "%s.ballast", store_path("full.db"));
	assert_int_equal(stat(ballast, &st), 0);
	assert_true(st.st_size == 4 << 20);
	for (int i = 0; i < 10; i++, t += 1000)
		load_tick(&load, t);
	writer_wait(w, 0);
	reserve = 300000;
	room = 0;
	/* The first that does not fit goes into the reserve. */
	load_tick(&load, t += 1000);
	verdict(w, t);
	writer_wait(w, 0);
	writer_status(w, &status);
	assert_int_equal(status.queued, 0);
	assert_int_equal(reserve, 0);
	/* Until that is used up too. */
	for (int i = 0; i < 200; i++)
		load_tick(&load, t += 1000);
	verdict(w, t);
	status = wait_until(w, waits_in_memory);
	assert_non_null(strstr(status.detail, "disk full: recording degraded"));
	assert_non_null(strstr(status.remedy, "make room"));
	assert_int_equal(status.dropped, 0);
	/* What has been written can be read meanwhile. */
	assert_true(store_number("full.db", "SELECT count(*) FROM gpu") >= 80);
	room = LONG_MAX;
	writer_flush(w);
	status = wait_until(w, all_is_well);
	assert_int_equal(status.committed, load.rows + 2);
	writer_close(w);
	assert_int_equal(store_number("full.db", "SELECT count(*) FROM gpu"), 211 * 8);
	assert_int_equal(store_number("full.db", "SELECT count(*) FROM process_sample"), 211 * 13);
	assert_int_equal(store_number("full.db", "SELECT count(*) FROM verdict"), 2);
	/* A batch that failed is not counted twice. */
	assert_int_equal(store_number("full.db", "SELECT sum(n) FROM roll WHERE series='gpu.busy_pct'"), 211 * 8);
	assert_int_equal(
		store_number("full.db", "SELECT count(*)=0 FROM pragma_integrity_check WHERE integrity_check<>'ok'"), 1);
}

static void what_matters_is_dropped_last(void **state)
{
	struct writer *w = store_writer("bound.db");
	struct load load = {.each = store_add, .context = w, .seed = 2};
	struct writer_status status;
	int64_t t = T0;
	int verdicts = 0;
	char sql[100];

	(void)state;
	snprintf(ballast, sizeof ballast, "%s.ballast", store_path("bound.db"));
	reserve = 0;
	room = 0;
	for (int i = 0; i < 5000; i++) {
		load_tick(&load, t += 1000);
		if (i % 100 == 0) {
			verdict(w, t);
			verdicts++;
		}
	}
	status = wait_until(w, waits_in_memory);
	assert_true(status.dropped > 1000);
	assert_int_equal(status.queued + status.dropped, load.rows + (uint64_t)verdicts);
	room = LONG_MAX;
	writer_flush(w);
	wait_until(w, all_is_well);
	writer_close(w);
	assert_int_equal(store_number("bound.db", "SELECT count(*) FROM verdict"), verdicts);
	/* All of the newest samples are there; older ones are not. */
	snprintf(sql, sizeof sql, "SELECT count(*) FROM gpu WHERE t>%lld", (long long)t - 1000 * 1000);
	assert_int_equal(store_number("bound.db", sql), 1000 * 8);
	assert_true(store_number("bound.db", "SELECT count(*) FROM gpu") < 4500 * 8);
}

static void closing_on_a_full_disk_ends(void **state)
{
	struct writer *w = store_writer("close.db");
	struct load load = {.each = store_add, .context = w, .seed = 2};

	(void)state;
	snprintf(ballast, sizeof ballast, "%s.ballast", store_path("close.db"));
	reserve = 0;
	room = 0;
	load_tick(&load, T0);
	writer_close(w);
	room = LONG_MAX;
	assert_int_equal(store_number("close.db", "SELECT count(*) FROM gpu"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recording_survives_a_full_disk),
		cmocka_unit_test(what_matters_is_dropped_last),
		cmocka_unit_test(closing_on_a_full_disk_ends),
	};

	return cmocka_run_group_tests(tests, setup, store_teardown);
}
