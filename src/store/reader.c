/* reader.c - state at a time, rows in order, and the next thing worth a stop. */
#include "config.h"

#include "store/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/model.h"
#include "store/intern.h"
#include "store/schema.h"

#define HISTORY_MS (HISTORY_POINTS * HISTORY_STEP_MS)
#define CHUNK_MS 60000          /* of rows sorted in memory at a time */

struct reader {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *between[KIND_COUNT]; /* rows with t > ? and t <= ?, in order */
	sqlite3_stmt *by_key[KIND_COUNT];  /* SAMPLE: the row (t, node, subject); STATE: the row of an id */
	sqlite3_stmt *last_events[KIND_COUNT];
	sqlite3_stmt *keyframe, *stacks, *meta;
	struct unintern unintern;
	/* Rows gathered for one call, to be handed out in order. */
	struct row { struct record *record; int64_t id; } *row;
	size_t rows, cap;
};

/* --- open --- */

static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_busy_timeout(db, 500);
	sqlite3_exec(db, "PRAGMA cell_size_check=ON;PRAGMA query_only=ON;PRAGMA cache_size=-2000;PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY",
		NULL, NULL, NULL);
}

static int prepare(struct reader *r, const char *sql, sqlite3_stmt **s, struct error *error)
{
	if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL) != SQLITE_OK) {
		schema_error(r->db, error, r->path);
		return error_fix(error, "the file is damaged or is no session");
	}
	return 0;
}

static int prepare_kind(struct reader *r, enum kind kind, struct error *error)
{
	const struct kind_info *info = &kind_table[kind];
	bool sample = info->storage == STORAGE_SAMPLE;
	struct buf sql;
	int status;

	buf_init(&sql, 0);
	schema_select_sql(kind, &sql);
	buf_printf(&sql, "WHERE t>? AND t<=? ORDER BY t%s", sample ? "" : ",id");
	status = prepare(r, buf_string(&sql), &r->between[kind], error);
	buf_clear(&sql);
	schema_select_sql(kind, &sql);
	if (sample) {
		buf_text(&sql, "WHERE t=? AND node=?");
		for (int i = 0; i < info->subjects; i++)
			buf_printf(&sql, " AND \"%s\"=?", info->field[i].name);
	} else {
		buf_text(&sql, "WHERE id=?");
	}
	if (status == 0)
		status = prepare(r, buf_string(&sql), &r->by_key[kind], error);
	if (status == 0 && (info->storage == STORAGE_EVENT || kind == KIND_verdict || kind == KIND_finding)) {
		buf_clear(&sql);
		schema_select_sql(kind, &sql);
		buf_printf(&sql, "WHERE t<=? ORDER BY t DESC, id DESC LIMIT %d", MODEL_EVENTS_MAX);
		status = prepare(r, buf_string(&sql), &r->last_events[kind], error);
	}
	buf_release(&sql);
	return status;
}

static int prepare_all(struct reader *r, struct error *error)
{
	struct buf sql;
	int status;

	for (int k = 0; k < KIND_COUNT; k++)
		if (prepare_kind(r, (enum kind)k, error) < 0)
			return -1;
	buf_init(&sql, 0);
	schema_select_sql(KIND_stack, &sql);
	/* same_count is filled in for stacks with frames, and only for them */
	buf_text(&sql, "WHERE node=? AND pid=? AND t<=? AND same_count IS NOT NULL ORDER BY t DESC, id DESC LIMIT 2");
	status = prepare(r, buf_string(&sql), &r->stacks, error);
	buf_release(&sql);
	if (status < 0 || prepare(r, "SELECT value FROM meta WHERE key=?", &r->meta, error) < 0 ||
		prepare(r, "SELECT kind,node,a,b,row_t,row_id,t FROM keyframe WHERE t=(SELECT max(t) FROM keyframe WHERE t<=?)",
			&r->keyframe, error) < 0)
		return -1;
	if (unintern_open(&r->unintern, r->db) < 0)
		return schema_error(r->db, error, r->path);
	return 0;
}

int reader_open(struct reader **out, const char *path, struct error *error)
{
	struct reader *r = mem_alloc(sizeof *r);

	*out = NULL;
	r->path = mem_text(path);
	if (access(path, R_OK) < 0) {
		error_set_errno(error, errno, "cannot read %s", path);
		reader_close(r);
		return -1;
	}
	if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		schema_error(r->db, error, path);
		reader_close(r);
		return -1;
	}
	harden(r->db);
	if (schema_check(r->db, path, error) < 0 || prepare_all(r, error) < 0) {
		reader_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

static void drop_rows(struct reader *r)
{
	for (size_t i = 0; i < r->rows; i++)
		record_free(r->row[i].record);
	r->rows = 0;
}

void reader_close(struct reader *r)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		sqlite3_finalize(r->between[k]);
		sqlite3_finalize(r->by_key[k]);
		sqlite3_finalize(r->last_events[k]);
	}
	sqlite3_finalize(r->keyframe);
	sqlite3_finalize(r->stacks);
	sqlite3_finalize(r->meta);
	unintern_close(&r->unintern);
	sqlite3_close(r->db);
	drop_rows(r);
	free(r->row);
	free(r->path);
	free(r);
}

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

/* --- small questions --- */

static bool ask(struct reader *r, const char *sql, int64_t t, int64_t *value)
{
	sqlite3_stmt *s;
	bool found = false;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_int64(s, 1, t);
	if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER) {
		*value = sqlite3_column_int64(s, 0);
		found = true;
	}
	sqlite3_finalize(s);
	return found;
}

bool reader_range(struct reader *r, int64_t *first, int64_t *last)
{
	bool any = false;

	for (int k = 0; k < KIND_COUNT; k++) {
		char sql[160];
		int64_t t;

		snprintf(sql, sizeof sql, "SELECT min(t) FROM \"%s\" WHERE t>?", kind_table[k].name);
		if (!ask(r, sql, INT64_MIN, &t))
			continue;
		*first = any && *first < t ? *first : t;
		snprintf(sql, sizeof sql, "SELECT max(t) FROM \"%s\" WHERE t>?", kind_table[k].name);
		ask(r, sql, INT64_MIN, &t);
		*last = any && *last > t ? *last : t;
		any = true;
	}
	return any;
}

static bool nearest(struct reader *r, const char *const *from, int n, int64_t t, int direction, int64_t *found)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		char sql[256];
		int64_t at;

		snprintf(sql, sizeof sql, "SELECT %s(t) FROM %s AND t%s?", direction > 0 ? "min" : "max", from[i], direction > 0 ? ">" : "<");
		if (!ask(r, sql, t, &at))
			continue;
		if (!any || (direction > 0 ? at < *found : at > *found))
			*found = at;
		any = true;
	}
	return any;
}

bool reader_next_event(struct reader *r, int64_t t, int direction, int64_t *found)
{
	static const char *const from[] = { "verdict WHERE 1", "finding WHERE 1", "note WHERE 1", "mark WHERE 1", "action WHERE 1",
		"log WHERE class='fault'", "log WHERE class='fatal'", "log WHERE class='start'", "log WHERE class='ready'" };

	return nearest(r, from, sizeof from / sizeof from[0], t, direction, found);
}

bool reader_next_sample(struct reader *r, int64_t t, int direction, int64_t *found)
{
	static const char *const from[] = { "gpu WHERE 1", "process_sample WHERE 1", "server WHERE 1", "stack WHERE 1", "log WHERE 1" };

	return nearest(r, from, sizeof from / sizeof from[0], t, direction, found);
}

/* --- rows --- */

static void gather(struct reader *r, sqlite3_stmt *s, enum kind kind)
{
	struct observation o;
	struct buf threads;
	int64_t id;

	buf_init(&threads, OBSERVATION_LINE_MAX);
	schema_row(s, kind, &o, &id);
	if (kind == KIND_stack && observation_is_null(&o, STACK_threads) && unintern_read(&r->unintern, id, &threads))
		observation_span(&o, STACK_threads, buf_as_span(&threads));
	if (r->rows == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 256;
		r->row = mem_array(r->row, r->cap, sizeof *r->row);
	}
	r->row[r->rows].record = record_new(&o);
	r->row[r->rows++].id = id;
	buf_release(&threads);
}

/* Step through all rows of a bound statement. -1 on a database error. */
static int gather_all(struct reader *r, sqlite3_stmt *s, enum kind kind, struct error *error)
{
	int status;

	while ((status = sqlite3_step(s)) == SQLITE_ROW)
		gather(r, s, kind);
	sqlite3_reset(s);
	return status == SQLITE_DONE ? 0 : schema_error(r->db, error, r->path);
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->record->o.t != y->record->o.t)
		return x->record->o.t < y->record->o.t ? -1 : 1;
	if (x->record->o.kind != y->record->o.kind)
		return x->record->o.kind < y->record->o.kind ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* In order of time; a row gathered twice is handed out once. */
static void hand_out(struct reader *r, reader_each each, void *context)
{
	qsort(r->row, r->rows, sizeof *r->row, compare_rows);
	for (size_t i = 0; i < r->rows; i++) {
		if (i && r->row[i].id && compare_rows(&r->row[i], &r->row[i - 1]) == 0)
			continue;
		each(context, &r->row[i].record->o);
	}
	drop_rows(r);
}

static int rows_between(struct reader *r, enum kind kind, int64_t from, int64_t to, struct error *error)
{
	sqlite3_bind_int64(r->between[kind], 1, from);
	sqlite3_bind_int64(r->between[kind], 2, to);
	return gather_all(r, r->between[kind], kind, error);
}

int reader_between(struct reader *r, int64_t from, int64_t to, reader_each each, void *context, struct error *error)
{
	int64_t first, last;

	if (from >= to || !reader_range(r, &first, &last))
		return 0;
	from = from < first - 1 ? first - 1 : from;
	to = to > last ? last : to;
	for (; from < to; from += CHUNK_MS) {
		int64_t end = from + CHUNK_MS < to ? from + CHUNK_MS : to;

		for (int k = 0; k < KIND_COUNT; k++)
			if (rows_between(r, (enum kind)k, from, end, error) < 0) {
				drop_rows(r);
				return -1;
			}
		hand_out(r, each, context);
	}
	return 0;
}

/* --- the state at a time --- */

static void bind_column(sqlite3_stmt *to, int at, sqlite3_stmt *from, int column)
{
	sqlite3_bind_value(to, at, sqlite3_column_value(from, column));
}

/* The row a keyframe points to. It may have been evicted: then nothing is known of that subject. */
static int follow(struct reader *r, enum kind kind, struct error *error)
{
	sqlite3_stmt *s = r->by_key[kind], *k = r->keyframe;

	if (kind_table[kind].storage == STORAGE_SAMPLE) {
		sqlite3_bind_int64(s, 1, sqlite3_column_int64(k, 4));
		bind_column(s, 2, k, 1);
		bind_column(s, 3, k, 2);
		if (kind_table[kind].subjects > 1)
			bind_column(s, 4, k, 3);
	} else {
		sqlite3_bind_int64(s, 1, sqlite3_column_int64(k, 5));
	}
	return gather_all(r, s, kind, error);
}

/* Pointers of the last keyframe at or before t. *since is where the rows after it begin. */
static int from_keyframe(struct reader *r, int64_t t, int64_t *since, struct error *error)
{
	int status, result = 0;

	*since = INT64_MIN / 2;
	sqlite3_bind_int64(r->keyframe, 1, t);
	while ((status = sqlite3_step(r->keyframe)) == SQLITE_ROW) {
		int kind = sqlite3_column_int(r->keyframe, 0);

		*since = sqlite3_column_int64(r->keyframe, 6) - 1;
		if (kind >= 0 && kind < KIND_COUNT && result == 0)
			result = follow(r, (enum kind)kind, error);
	}
	sqlite3_reset(r->keyframe);
	return status == SQLITE_DONE ? result : schema_error(r->db, error, r->path);
}

/* The last two stacks with frames of every process that has any up to t. */
static int last_stacks(struct reader *r, int64_t t, struct error *error)
{
	size_t n = r->rows;

	for (size_t i = 0; i < n; i++) {
		const struct observation *o = &r->row[i].record->o;
		int64_t pid;
		bool seen = false;

		if (o->kind != KIND_stack || !observation_get_int(o, STACK_pid, &pid))
			continue;
		for (size_t k = 0; k < i && !seen; k++) {
			int64_t other;

			seen = r->row[k].record->o.kind == KIND_stack && observation_get_int(&r->row[k].record->o, STACK_pid, &other) &&
				other == pid && strcmp(r->row[k].record->o.node, o->node) == 0;
		}
		if (seen)
			continue;
		sqlite3_bind_text(r->stacks, 1, o->node, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(r->stacks, 2, pid);
		sqlite3_bind_int64(r->stacks, 3, t);
		if (gather_all(r, r->stacks, KIND_stack, error) < 0)
			return -1;
	}
	return 0;
}

static int gather_state(struct reader *r, int64_t t, struct error *error)
{
	int64_t since;

	if (from_keyframe(r, t, &since, error) < 0)
		return -1;
	for (int k = 0; k < KIND_COUNT; k++) {
		int64_t from = since;

		if (kind_table[k].storage == STORAGE_EVENT)
			continue;
		/* Plots want two minutes of these. */
		if ((k == KIND_gpu || k == KIND_progress) && from > t - HISTORY_MS - HISTORY_STEP_MS)
			from = t - HISTORY_MS - HISTORY_STEP_MS;
		if (rows_between(r, (enum kind)k, from, t, error) < 0)
			return -1;
	}
	for (int k = 0; k < KIND_COUNT; k++)
		if (r->last_events[k]) {
			sqlite3_bind_int64(r->last_events[k], 1, t);
			if (gather_all(r, r->last_events[k], (enum kind)k, error) < 0)
				return -1;
		}
	return last_stacks(r, t, error);
}

int reader_state_at(struct reader *r, int64_t t, reader_each each, void *context, struct error *error)
{
	int status;

	/* One read transaction: the writer may commit meanwhile. */
	sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL);
	status = gather_state(r, t, error);
	sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL);
	if (status == 0)
		hand_out(r, each, context);
	else
		drop_rows(r);
	return status;
}
