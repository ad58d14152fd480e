/* session_write.c - batches into tables. */
#include "config.h"

#include "store/session_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/schema.h"

#define FUTURE_MS 60000 /* a file whose last row is so much younger than now is not written on */

/* --- what is remembered about the file --- */

static bool newest(struct session_write *w, int64_t *t)
{
	struct buf sql;
	bool found;

	buf_init(&sql, 0);
	buf_text(&sql, "SELECT max(t) FROM(");
	for (int k = 0; k < KIND_COUNT; k++)
		buf_printf(&sql, "%sSELECT max(t) AS t FROM \"%s\"", k ? " UNION ALL " : "", kind_table[k].name);
	buf_char(&sql, ')');
	found = schema_number(w->db, buf_string(&sql), t);
	buf_release(&sql);
	return found;
}

static int remember_kind(struct session_write *w, enum kind kind, int64_t from, int64_t to)
{
	struct observation o;
	sqlite3_stmt *s;
	struct buf sql;
	int64_t id;
	int status;

	buf_init(&sql, 0);
	schema_select_sql(kind, NULL, &sql);
	buf_printf(&sql, "WHERE t>=%lld AND t<%lld ORDER BY t", (long long)from, (long long)to);
	status = sqlite3_prepare_v2(w->db, buf_string(&sql), -1, &s, NULL);
	buf_release(&sql);
	if (status != SQLITE_OK)
		return -1;
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		schema_row(s, kind, &o, &id);
		subjects_saw(&w->subjects, &o);
		if (rollup_add(&w->rollup, &o) < 0)
			break;
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : -1;
}

/* Read the last minute of a file that is written on, or whose last batch failed. Inside the batch's transaction. */
static int remember(struct session_write *w)
{
	int64_t last, minute;

	subjects_forget(&w->subjects);
	rollup_forget(&w->rollup);
	if (!newest(w, &last)) {
		w->known = sqlite3_errcode(w->db) == SQLITE_OK; /* an empty file */
		return w->known ? 0 : -1;
	}
	minute = last / ROLLUP_MINUTE_MS * ROLLUP_MINUTE_MS;
	for (int64_t from = minute - ROLLUP_MINUTE_MS; from <= minute; from += ROLLUP_MINUTE_MS)
		for (int k = 0; k < KIND_COUNT; k++)
			if ((kind_table[k].storage == STORAGE_SAMPLE || rollup_wants((enum kind)k)) &&
				remember_kind(w, (enum kind)k, from, from + ROLLUP_MINUTE_MS) < 0)
				return -1;
	w->subjects.step = last / SILENT_MS;
	w->known = true;
	return 0;
}

/* --- a batch --- */

static int write_row(struct session_write *w, const struct observation *o)
{
	sqlite3_stmt *s = w->insert[o->kind];
	json_t *threads = NULL;
	struct span text;
	int status;

	if (o->kind == KIND_stack && observation_get_text(o, STACK_threads, &text))
		threads = intern_parse(text);
	status = schema_bind(s, o, !threads) == 0 && sqlite3_step(s) == SQLITE_DONE ? 0 : -1;
	sqlite3_reset(s);
	if (status == 0 && threads)
		status = intern_write(&w->intern, sqlite3_last_insert_rowid(w->db), threads);
	json_decref(threads);
	return status;
}

static int write_rows(struct session_write *w, const struct queue *batch, bool samples)
{
	w->left_out = 0;
	for (size_t i = 0; i < batch->count; i++) {
		const struct observation *o = &batch->record[i]->o;

		if (!samples && kind_table[o->kind].storage == STORAGE_SAMPLE) {
			w->left_out++;
			continue;
		}
		if (subjects_advance(&w->subjects, o->t) < 0 || write_row(w, o) < 0 || rollup_add(&w->rollup, o) < 0)
			return -1;
		subjects_saw(&w->subjects, o);
	}
	return 0;
}

static int write_meta(struct session_write *w, const struct map *meta)
{
	for (size_t i = 0; i < meta->count; i++) {
		int status;

		sqlite3_bind_text(w->meta, 1, meta->entry[i].key, -1, SQLITE_STATIC);
		sqlite3_bind_text(w->meta, 2, meta->entry[i].value, -1, SQLITE_STATIC);
		status = sqlite3_step(w->meta);
		sqlite3_reset(w->meta);
		if (status != SQLITE_DONE)
			return -1;
	}
	return 0;
}

static int run(sqlite3_stmt *s)
{
	int status = sqlite3_step(s);

	/* The result of the step stays the database's last error. */
	sqlite3_reset(s);
	return status == SQLITE_DONE ? 0 : -1;
}

static void failed(struct session_write *w, struct error *error)
{
	int code = sqlite3_extended_errcode(w->db), number = sqlite3_system_errno(w->db);

	w->full =
		(code & 0xff) == SQLITE_FULL || (((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) &&
							(number == ENOSPC || number == EDQUOT || number == EFBIG));
	schema_error(w->db, error, "cannot write the session file");
	if (!sqlite3_get_autocommit(w->db))
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	intern_forget(&w->intern);
	w->known = false;
}

int session_write_batch(struct session_write *w, const struct queue *batch, const struct map *meta, bool samples,
	bool last, struct error *error)
{
	int status = run(w->begin);

	if (status == 0 && !w->known)
		status = remember(w);
	if (status == 0)
		status = write_rows(w, batch, samples);
	if (status == 0)
		status = write_meta(w, meta);
	if (status == 0 && last)
		status = rollup_write(&w->rollup);
	if (status == 0)
		status = run(w->commit);
	if (status < 0)
		failed(w, error);
	return status;
}

/* --- opening --- */

static int prepare(struct session_write *w, const char *sql, sqlite3_stmt **s)
{
	return sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL) == SQLITE_OK ? 0 : -1;
}

static int prepare_all(struct session_write *w, int64_t size_cap, struct error *error)
{
	struct buf sql;
	int status = 0;

	buf_init(&sql, 0);
	for (int k = 0; k < KIND_COUNT && status == 0; k++) {
		buf_clear(&sql);
		schema_insert_sql((enum kind)k, &sql);
		status = prepare(w, buf_string(&sql), &w->insert[k]);
	}
	buf_release(&sql);
	if (status < 0 || prepare(w, "INSERT OR REPLACE INTO meta(key,value) VALUES(?,?)", &w->meta) < 0 ||
		prepare(w, "BEGIN IMMEDIATE", &w->begin) < 0 || prepare(w, "COMMIT", &w->commit) < 0 ||
		intern_open(&w->intern, w->db) < 0 || rollup_open(&w->rollup, w->db) < 0 ||
		subjects_open(&w->subjects, w->db) < 0 || evict_open(&w->evict, w->db, size_cap) < 0)
		return schema_error(w->db, error, "session file");
	return 0;
}

static int set_up(struct session_write *w, bool empty, struct error *error)
{
	const char *journal = w->place.network ? "PRAGMA journal_mode=TRUNCATE" : "PRAGMA journal_mode=WAL";

	/* Before the first table, or it has no effect. */
	if (empty && schema_exec(w->db, "PRAGMA auto_vacuum=INCREMENTAL", error) < 0)
		return -1;
	return schema_exec(w->db, journal, error) < 0 ||
			       schema_exec(w->db,
				       "PRAGMA synchronous=FULL;PRAGMA wal_autocheckpoint=1000;PRAGMA "
				       "journal_size_limit=16777216;"
				       "PRAGMA cache_size=-4096;PRAGMA mmap_size=0;PRAGMA secure_delete=OFF;PRAGMA "
				       "temp_store=MEMORY",
				       error) < 0
		       ? -1
		       : 0;
}

static int check_clock(struct session_write *w, struct error *error)
{
	int64_t last;

	if (!newest(w, &last) || last < clock_wall_ms() + FUTURE_MS)
		return 0;
	error_set(error,
		"the last row of %s lies in the future: the clock was set back, and time in a session never is",
		w->place.path);
	return error_fix(error, "give another file with --db FILE");
}

static int open_database(struct session_write *w, int64_t size_cap, struct error *error)
{
	bool empty = false;

	if (sqlite3_open_v2(w->place.path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return schema_error(w->db, error, "cannot open the session file");
	sqlite3_busy_timeout(w->db, 2000);
	/* Nothing is changed before it is known to be ours. */
	if (schema_check(w->db, w->place.path, &empty, error) < 0)
		return -1;
	w->ours = true;
	if (set_up(w, empty, error) < 0 || schema_prepare(w->db, error) < 0 || prepare_all(w, size_cap, error) < 0)
		return -1;
	return check_clock(w, error);
}

int session_write_open(struct session_write *w, const char *path, int64_t size_cap, struct error *error)
{
	memset(w, 0, sizeof *w);
	if (place_open(&w->place, path, error) < 0)
		return -1;
	if (open_database(w, size_cap, error) == 0)
		return 0;
	session_write_close(w);
	place_undo(&w->place);
	return -1;
}

void session_write_close(struct session_write *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		sqlite3_finalize(w->insert[k]);
	sqlite3_finalize(w->meta);
	sqlite3_finalize(w->begin);
	sqlite3_finalize(w->commit);
	intern_close(&w->intern);
	rollup_close(&w->rollup);
	subjects_close(&w->subjects);
	evict_close(&w->evict);
	/* A finished session is one plain file, which opens in a read-only folder too. Not while somebody reads it. */
	if (w->ours) {
		sqlite3_busy_timeout(w->db, 200);
		sqlite3_exec(w->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	}
	sqlite3_close(w->db);
	w->db = NULL;
	place_close(&w->place);
}
