/* evict.c - old samples go first, never those around a verdict. */
#include "config.h"

#include "store/evict.h"

#include <string.h>

#include "store/schema.h"

#define SLICE_MS 300000 /* of rows looked at in one step */
#define YOUNG_MS 600000 /* the newest rows are not looked at: a verdict may still come */
#define LOGS_KEPT 500 /* the events a model holds, MODEL_EVENTS_MAX */

/* Rows of these kinds may go. */
static const struct {
	enum kind kind;
	const char *only;
} goes[] = {
	{KIND_gpu, ""},
	{KIND_gpu_process, ""},
	{KIND_process_sample, ""},
	{KIND_server, ""},
	{KIND_source, ""},
	{KIND_progress, ""},
	{KIND_requests, ""},
	{KIND_stack, ""},
	{KIND_log, " AND k.class IN('progress','request','loading','warning')"},
};

static int64_t ask(sqlite3_stmt *s)
{
	int64_t value = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;

	sqlite3_reset(s);
	return value;
}

int evict_open(struct evict *e, sqlite3 *db, int64_t cap)
{
	memset(e, 0, sizeof *e);
	e->db = db;
	e->cap = cap;
	e->from = INT64_MIN;
	if (!schema_number(db, "PRAGMA page_size", &e->page_size) ||
		sqlite3_prepare_v2(db, "PRAGMA page_count", -1, &e->pages, NULL) != SQLITE_OK ||
		sqlite3_prepare_v2(db, "PRAGMA freelist_count", -1, &e->unused, NULL) != SQLITE_OK)
		return -1;
	return 0;
}

void evict_close(struct evict *e)
{
	sqlite3_finalize(e->pages);
	sqlite3_finalize(e->unused);
}

int64_t evict_used(struct evict *e)
{
	return (ask(e->pages) - ask(e->unused)) * e->page_size;
}

/* --- one slice --- */

static void same_subject(enum kind kind, struct buf *sql)
{
	buf_text(sql, "n.node=k.node");
	for (int i = 0; i < kind_table[kind].subjects; i++)
		buf_printf(
			sql, " AND n.\"%s\"=k.\"%s\"", kind_table[kind].field[i].name, kind_table[kind].field[i].name);
}

/* " FROM kind k WHERE ...": the rows of a slice that may go. */
static void going_rows(enum kind kind, const char *only, int64_t from, int64_t to, struct buf *sql)
{
	const struct kind_info *info = &kind_table[kind];

	/* What stayed as the newest of its subject in the slice before may be so no longer. */
	if (info->storage == STORAGE_STATE && from > INT64_MIN + SLICE_MS)
		from -= SLICE_MS;
	buf_printf(sql,
		" FROM \"%s\" AS k WHERE k.t>=%lld AND k.t<%lld%s"
		" AND NOT EXISTS(SELECT 1 FROM verdict v WHERE v.t BETWEEN k.t-%d AND k.t+%d)",
		info->name, (long long)from, (long long)to, only, EVICT_AFTER_MS, EVICT_BEFORE_MS);
	if (info->storage == STORAGE_STATE) {
		buf_printf(sql, " AND EXISTS(SELECT 1 FROM \"%s\" n WHERE ", info->name);
		same_subject(kind, sql);
		buf_printf(sql, " AND n.t>k.t AND n.t<%lld)", (long long)to);
	}
	if (kind == KIND_stack) {
		/* A model holds the last two with frames. */
		buf_text(sql, " AND (k.same_count IS NULL OR EXISTS(SELECT 1 FROM stack n WHERE ");
		same_subject(kind, sql);
		buf_printf(sql, " AND n.t>k.t AND n.t<%lld AND n.same_count IS NOT NULL LIMIT 1 OFFSET 1))",
			(long long)to);
	} else if (info->storage == STORAGE_SAMPLE) {
		buf_printf(
			sql, " AND NOT EXISTS(SELECT 1 FROM silent n WHERE n.kind='%s' AND n.node=k.node", info->name);
		for (int i = 0; i < info->subjects; i++)
			buf_printf(sql, " AND n.%c=k.\"%s\"", 'a' + i, info->field[i].name);
		buf_text(sql, " AND n.t=k.t)");
	} else if (kind == KIND_log) {
		buf_printf(sql,
			" AND k.id<coalesce((SELECT id FROM log WHERE t<%lld ORDER BY t DESC,id DESC LIMIT 1 OFFSET "
			"%d),0)",
			(long long)to, LOGS_KEPT - 1);
	}
}

/* Notes of silence that a later one has made useless; before the rows, which stay as long as a note points to them. */
static void old_notes(int64_t to, struct buf *sql)
{
	buf_printf(sql,
		"DELETE FROM silent AS k WHERE k.t<%lld AND EXISTS(SELECT 1 FROM silent n WHERE n.kind=k.kind AND"
		" n.node=k.node AND n.a=k.a AND n.b=k.b AND n.t>k.t AND n.t<%lld) AND NOT EXISTS(SELECT 1 FROM verdict "
		"v WHERE"
		" v.t BETWEEN k.t-%d AND k.t+%d);",
		(long long)to, (long long)to, EVICT_AFTER_MS, EVICT_BEFORE_MS);
}

static int delete_slice(struct evict *e, int64_t from, int64_t to)
{
	struct buf sql;
	int status;

	buf_init(&sql, 0);
	buf_text(&sql, "BEGIN IMMEDIATE;");
	old_notes(to, &sql);
	for (size_t i = 0; i < sizeof goes / sizeof goes[0]; i++) {
		if (goes[i].kind == KIND_stack) {
			buf_text(&sql, "DELETE FROM stack_thread WHERE stack IN(SELECT k.id");
			going_rows(KIND_stack, "", from, to, &sql);
			buf_text(&sql, ");");
		}
		buf_text(&sql, "DELETE");
		going_rows(goes[i].kind, goes[i].only, from, to, &sql);
		buf_char(&sql, ';');
	}
	buf_text(&sql, "COMMIT");
	status = sqlite3_exec(e->db, buf_string(&sql), NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
	if (!sqlite3_get_autocommit(e->db))
		sqlite3_exec(e->db, "ROLLBACK", NULL, NULL, NULL);
	buf_release(&sql);
	return status;
}

/* --- where to --- */

/* Smallest or largest t, not before `from`, of the kinds that may go. */
static bool edge(struct evict *e, const char *which, int64_t from, int64_t *t)
{
	struct buf sql;
	bool found;

	buf_init(&sql, 0);
	buf_printf(&sql, "SELECT %s(t) FROM(", which);
	for (size_t i = 0; i < sizeof goes / sizeof goes[0]; i++)
		buf_printf(&sql, "%sSELECT %s(t) AS t FROM \"%s\" WHERE t>=%lld", i ? " UNION ALL " : "", which,
			kind_table[goes[i].kind].name, (long long)from);
	buf_char(&sql, ')');
	found = schema_number(e->db, buf_string(&sql), t);
	buf_release(&sql);
	return found;
}

static int next_slice(struct evict *e)
{
	int64_t from, last;

	/* INT64_MIN cannot be written as a number in SQL. */
	if (!edge(e, "min", e->from < -INT64_MAX ? -INT64_MAX : e->from, &from) || !edge(e, "max", from, &last) ||
		from + SLICE_MS > last - YOUNG_MS) {
		e->going = false;
		e->stuck = true;
		return 0;
	}
	e->from = from + SLICE_MS;
	e->stuck = false;
	return delete_slice(e, from, e->from) < 0 ? -1 : 1;
}

int evict_step(struct evict *e)
{
	int64_t pages = ask(e->pages), unused = ask(e->unused);
	int64_t used = (pages - unused) * e->page_size;

	if (used > e->cap)
		e->going = true;
	if (used <= e->cap / 10 * 9)
		e->going = e->stuck = false;
	if (e->going)
		return next_slice(e);
	/* Pages are used again; only a file that is larger than allowed gives them back, a few at a time. */
	if (pages * e->page_size <= e->cap || unused == 0)
		return 0;
	return sqlite3_exec(e->db, "PRAGMA incremental_vacuum(256)", NULL, NULL, NULL) == SQLITE_OK ? 1 : -1;
}
