/* reader.c - opening a session file, and small questions. */
#include "config.h"

#include "store/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/reader_private.h"

static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_busy_timeout(db, 500);
	sqlite3_exec(db,
		"PRAGMA cell_size_check=ON;PRAGMA query_only=ON;PRAGMA cache_size=-4096;PRAGMA mmap_size=0;"
		"PRAGMA temp_store=MEMORY",
		NULL, NULL, NULL);
}

int reader_failed(struct reader *r, struct error *error)
{
	error_set(error, "cannot read %s: %s", r->path, sqlite3_errmsg(r->db));
	if (sqlite3_errcode(r->db) == SQLITE_BUSY)
		return error_fix(error, "it is being written on a file system without shared memory: try again");
	return error_fix(error, "the file is damaged: what is left of it comes out with: sqlite3 FILE .recover");
}

int reader_prepare(struct reader *r, const char *sql, sqlite3_stmt **s, struct error *error)
{
	if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL) != SQLITE_OK)
		return reader_failed(r, error);
	return 0;
}

/* Smallest or largest t over all kinds. */
static int prepare_edge(struct reader *r, const char *which, const char *where, sqlite3_stmt **s, struct error *error)
{
	struct buf sql;
	int status, n = 0;

	buf_init(&sql, 0);
	buf_printf(&sql, "SELECT %s(t) FROM(", which);
	for (int k = 0; k < KIND_COUNT; k++)
		if (r->columns.table[k])
			buf_printf(&sql, "%sSELECT %s(t) AS t FROM \"%s\" WHERE t%s?1", n++ ? " UNION ALL " : "", which,
				kind_table[k].name, where);
	buf_char(&sql, ')');
	status = reader_prepare(r, buf_string(&sql), s, error);
	buf_release(&sql);
	return status;
}

static int prepare_all(struct reader *r, struct error *error)
{
	int tables = 0;

	if (schema_look(r->db, &r->columns, error) < 0)
		return reader_failed(r, error);
	for (int k = 0; k < KIND_COUNT; k++)
		tables += r->columns.table[k];
	if (!tables)
		return error_set(error, "%s is damaged: it has no table of observations", r->path);
	if (reader_prepare(r, "SELECT value FROM meta WHERE key=?", &r->meta, error) < 0 ||
		reader_prepare(r, "BEGIN", &r->begin, error) < 0 ||
		reader_prepare(r, "COMMIT", &r->commit, error) < 0 ||
		prepare_edge(r, "min", ">", &r->first, error) < 0 ||
		prepare_edge(r, "max", "<=", &r->newest, error) < 0)
		return -1;
	if (unintern_open(&r->unintern, r->db) < 0)
		return reader_failed(r, error);
	return state_prepare(r, error);
}

/* WAL files need their side files; in a folder that cannot be written SQLite cannot make them. */
static int explain_open(struct reader *r, struct error *error)
{
	char wal[4200];
	int code = sqlite3_errcode(r->db);
	bool left;

	snprintf(wal, sizeof wal, "%.4000s-wal", r->path);
	left = access(wal, F_OK) == 0;
	if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
		return -1;
	error_set(error, "cannot read %s where it is: its recording was not ended, and the folder cannot be written",
		r->path);
	return error_fix(
		error, "copy %s%s to a folder of your own and open it there", r->path, left ? " with its -wal" : "");
}

static int open_database(struct reader *r, struct error *error)
{
	struct stat st;
	bool empty = false;

	if (stat(r->path, &st) < 0 || access(r->path, R_OK) < 0)
		return error_set_errno(error, errno, "cannot read %s", r->path);
	if (!S_ISREG(st.st_mode))
		return error_set(error, "%s is not a file", r->path);
	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return schema_error(r->db, error, r->path);
	harden(r->db);
	if (schema_check(r->db, r->path, &empty, error) < 0)
		return explain_open(r, error);
	if (empty)
		return error_set(error, "%s is an empty file", r->path);
	return prepare_all(r, error);
}

int reader_open(struct reader **out, const char *path, struct error *error)
{
	struct reader *r = mem_alloc(sizeof *r);

	*out = NULL;
	r->path = mem_text(path);
	if (open_database(r, error) < 0) {
		reader_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

void reader_close(struct reader *r)
{
	state_release(r);
	sqlite3_finalize(r->meta);
	sqlite3_finalize(r->first);
	sqlite3_finalize(r->newest);
	sqlite3_finalize(r->begin);
	sqlite3_finalize(r->commit);
	unintern_close(&r->unintern);
	sqlite3_close(r->db);
	free(r->path);
	free(r);
}

/* --- small questions --- */

bool reader_meta(struct reader *r, const char *key, struct buf *out)
{
	bool found;

	sqlite3_bind_text(r->meta, 1, key, -1, SQLITE_STATIC);
	found = sqlite3_step(r->meta) == SQLITE_ROW && sqlite3_column_type(r->meta, 0) == SQLITE_TEXT;
	if (found)
		buf_add(out, sqlite3_column_text(r->meta, 0), (size_t)sqlite3_column_bytes(r->meta, 0));
	sqlite3_reset(r->meta);
	return found;
}

bool reader_ask(sqlite3_stmt *s, int64_t t, int64_t *value)
{
	bool found;

	sqlite3_bind_int64(s, 1, t);
	found = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER;
	if (found)
		*value = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return found;
}

bool reader_range(struct reader *r, int64_t *first, int64_t *last)
{
	int64_t from, to;

	if (!reader_ask(r->first, INT64_MIN, &from) || !reader_ask(r->newest, INT64_MAX, &to))
		return false;
	*first = from;
	*last = to;
	return true;
}

struct stop {
	enum kind kind;
	const char *where;
};

static bool nearest(struct reader *r, const struct stop *stop, size_t n, int64_t t, int direction, int64_t *found)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		char sql[256];
		sqlite3_stmt *s;
		int64_t at;

		if (!r->columns.table[stop[i].kind])
			continue;
		snprintf(sql, sizeof sql, "SELECT %s(t) FROM \"%s\" WHERE t%s?1%s", direction > 0 ? "min" : "max",
			kind_table[stop[i].kind].name, direction > 0 ? ">" : "<", stop[i].where);
		if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
			continue;
		if (reader_ask(s, t, &at) && (!any || (direction > 0 ? at < *found : at > *found))) {
			*found = at;
			any = true;
		}
		sqlite3_finalize(s);
	}
	return any;
}

bool reader_next_event(struct reader *r, int64_t t, int direction, int64_t *found)
{
	static const struct stop stop[] = {
		{KIND_verdict, ""},
		{KIND_finding, ""},
		{KIND_note, ""},
		{KIND_mark, ""},
		{KIND_action, ""},
		{KIND_snapshot, ""},
		{KIND_fault, ""},
		{KIND_hw_exception, ""},
		{KIND_queue_error, ""},
		{KIND_worker_death, ""},
		{KIND_collective, ""},
		{KIND_watchdog, ""},
		{KIND_page_fault, ""},
		{KIND_driver_event, ""},
		{KIND_log, " AND class='fault'"},
		{KIND_log, " AND class='fatal'"},
		{KIND_log, " AND class='start'"},
		{KIND_log, " AND class='ready'"},
	};

	return nearest(r, stop, sizeof stop / sizeof stop[0], t, direction, found);
}

bool reader_next_sample(struct reader *r, int64_t t, int direction, int64_t *found)
{
	static const struct stop stop[] = {
		{KIND_gpu, ""},
		{KIND_process_sample, ""},
		{KIND_server, ""},
		{KIND_stack, ""},
		{KIND_log, ""},
	};

	return nearest(r, stop, sizeof stop / sizeof stop[0], t, direction, found);
}
