/* evict.c - old samples go first, never those around a verdict. */
#include "config.h"

#include "store/evict.h"

#include <stdio.h>
#include <string.h>

#include "store/schema.h"

#define BEFORE_MS 300000
#define AFTER_MS 60000

/* What may go, and which rows of it. */
static const struct { const char *table, *only; } goes[] = {
	{ "gpu", "" }, { "gpu_process", "" }, { "process_sample", "" }, { "server", "" }, { "source", "" }, { "progress", "" },
	{ "requests", "" }, { "stack", "" },
	{ "log", " AND class IN ('progress','request','loading','warning')" },
};

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	int64_t value = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

static int delete_before(sqlite3 *db, int64_t t)
{
	char sql[600];

	for (size_t i = 0; i < sizeof goes / sizeof goes[0]; i++) {
		snprintf(sql, sizeof sql, "DELETE FROM \"%s\" WHERE t<%lld AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.t BETWEEN"
			" \"%s\".t-%d AND \"%s\".t+%d)%s", goes[i].table, (long long)t, goes[i].table, AFTER_MS, goes[i].table, BEFORE_MS,
			goes[i].only);
		if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
			return -1;
	}
	snprintf(sql, sizeof sql, "DELETE FROM keyframe WHERE t<%lld", (long long)t);
	if (sqlite3_exec(db, "DELETE FROM stack_thread WHERE stack NOT IN (SELECT id FROM stack)", NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(db, "DELETE FROM frame_list WHERE id NOT IN (SELECT frames FROM stack_thread)", NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return -1;
	return 0;
}

int evict(sqlite3 *db, int64_t cap)
{
	int64_t page = number(db, "PRAGMA page_size"), target = page ? cap / page * 9 / 10 : 0;
	int64_t first = number(db, "SELECT min(t) FROM (SELECT min(t) t FROM process_sample UNION ALL SELECT min(t) FROM gpu UNION ALL"
		" SELECT min(t) FROM server)");
	int64_t last = number(db, "SELECT max(t) FROM (SELECT max(t) t FROM process_sample UNION ALL SELECT max(t) FROM gpu UNION ALL"
		" SELECT max(t) FROM server)");

	for (int step = 1; step < 10; step++) {
		int64_t used = number(db, "PRAGMA page_count") - number(db, "PRAGMA freelist_count");

		if (used <= target)
			break;
		if (delete_before(db, first + (last - first) * step / 10) < 0)
			return -1;
	}
	/* Give pages back in small steps, so that the WAL stays small. */
	for (int i = 0; i < 64 && number(db, "PRAGMA freelist_count") > 0; i++)
		if (sqlite3_exec(db, "PRAGMA incremental_vacuum(256)", NULL, NULL, NULL) != SQLITE_OK)
			return -1;
	return sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}
