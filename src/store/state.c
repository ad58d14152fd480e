/* state.c - rows in order of time, and the state at a time. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "base/mem.h"
#include "store/reader_private.h"
#include "store/subject.h"

#define HISTORY_MS ((HISTORY_POINTS + 1) * HISTORY_STEP_MS)
#define CHUNK_MS 10000 /* of rows sorted in memory at a time */
#define TIME_MAX (INT64_MAX / 2) /* a damaged file may hold any t */
#define ROWS_MAX 400000 /* in one call or chunk: more is no session of ours */

/* --- statements --- */

/* Part of a row value that is to be passed: without it SQLite steps through all rows of the subject before. */
#define LAST_T ((long long)INT64_MAX)

static void subject_equals(enum kind kind, struct buf *sql)
{
	for (int i = 0; i < kind_table[kind].subjects; i++)
		buf_printf(sql, " AND \"%s\"=?", kind_table[kind].field[i].name);
}

static int prepare_buf(struct reader *r, struct buf *sql, sqlite3_stmt **s, struct error *error)
{
	int status = reader_prepare(r, buf_string(sql), s, error);

	buf_clear(sql);
	return status;
}

static int prepare_sample(struct reader *r, enum kind kind, struct buf *sql, struct error *error)
{
	struct kind_read *k = &r->kind[kind];
	const char *name = kind_table[kind].name;

	buf_printf(sql, "SELECT node,a,b FROM silent WHERE kind='%s' ORDER BY node,a,b LIMIT 1", name);
	if (prepare_buf(r, sql, &k->first_subject, error) < 0)
		return -1;
	buf_printf(sql,
		"SELECT node,a,b FROM silent WHERE kind='%s' AND (node,a,b,t)>(?,?,?,%lld) ORDER BY node,a,b,t LIMIT 1",
		name, LAST_T);
	if (prepare_buf(r, sql, &k->next_subject, error) < 0)
		return -1;
	buf_printf(sql, "SELECT max(t) FROM silent WHERE kind='%s' AND node=? AND a=? AND b=? AND t<=?", name);
	if (prepare_buf(r, sql, &k->newest, error) < 0)
		return -1;
	schema_select_sql(kind, &r->columns, sql);
	buf_text(sql, "WHERE t=? AND node=?");
	subject_equals(kind, sql);
	return prepare_buf(r, sql, &k->by_key, error);
}

static void subject_row(enum kind kind, const char *node, const char *separator, struct buf *sql)
{
	buf_text(sql, node);
	for (int i = 0; i < kind_table[kind].subjects; i++) {
		buf_char(sql, ',');
		if (separator)
			buf_text(sql, separator);
		else
			buf_printf(sql, "\"%s\"", kind_table[kind].field[i].name);
	}
}

static int prepare_state(struct reader *r, enum kind kind, struct buf *sql, struct error *error)
{
	struct kind_read *k = &r->kind[kind];
	const char *name = kind_table[kind].name;

	buf_text(sql, "SELECT ");
	subject_row(kind, "node", NULL, sql);
	buf_printf(sql, " FROM \"%s\" ORDER BY ", name);
	subject_row(kind, "node", NULL, sql);
	buf_text(sql, " LIMIT 1");
	if (prepare_buf(r, sql, &k->first_subject, error) < 0)
		return -1;
	buf_text(sql, "SELECT ");
	subject_row(kind, "node", NULL, sql);
	buf_printf(sql, " FROM \"%s\" WHERE (", name);
	subject_row(kind, "node", NULL, sql);
	buf_text(sql, ",t)>(");
	subject_row(kind, "?", "?", sql);
	buf_printf(sql, ",%lld) ORDER BY ", LAST_T);
	subject_row(kind, "node", NULL, sql);
	buf_text(sql, ",t LIMIT 1");
	if (prepare_buf(r, sql, &k->next_subject, error) < 0)
		return -1;
	schema_select_sql(kind, &r->columns, sql);
	buf_text(sql, "WHERE node=?");
	subject_equals(kind, sql);
	buf_text(sql, " AND t<=? ORDER BY t DESC,id DESC LIMIT 1");
	return prepare_buf(r, sql, &k->newest, error);
}

static bool has_last(enum kind kind)
{
	return kind_table[kind].storage == STORAGE_EVENT || kind == KIND_verdict || kind == KIND_finding;
}

static int prepare_kind(struct reader *r, enum kind kind, struct error *error)
{
	const struct kind_info *info = &kind_table[kind];
	struct kind_read *k = &r->kind[kind];
	struct buf sql;
	int status;

	buf_init(&sql, 0);
	schema_select_sql(kind, &r->columns, &sql);
	buf_printf(&sql, "WHERE t>? AND t<=? ORDER BY t%s", info->storage == STORAGE_SAMPLE ? "" : ",id");
	status = prepare_buf(r, &sql, &k->between, error);
	if (status == 0 && has_last(kind)) {
		schema_select_sql(kind, &r->columns, &sql);
		buf_printf(&sql, "WHERE t<=? ORDER BY t DESC,id DESC LIMIT %d", MODEL_EVENTS_MAX);
		status = prepare_buf(r, &sql, &k->last, error);
	}
	if (status == 0 && info->storage == STORAGE_SAMPLE)
		status = prepare_sample(r, kind, &sql, error);
	if (status == 0 && info->storage == STORAGE_STATE)
		status = prepare_state(r, kind, &sql, error);
	buf_release(&sql);
	return status;
}

int state_prepare(struct reader *r, struct error *error)
{
	struct buf sql;
	int status = 0;

	for (int k = 0; k < KIND_COUNT && status == 0; k++)
		if (r->columns.table[k])
			status = prepare_kind(r, (enum kind)k, error);
	if (status == 0 && r->columns.table[KIND_gpu])
		status = reader_prepare(r,
			"SELECT t,node,gpu,busy_pct FROM gpu WHERE t>? AND t<=? AND busy_pct IS NOT NULL", &r->busy,
			error);
	if (status < 0 || !r->columns.table[KIND_stack])
		return status;
	buf_init(&sql, 0);
	schema_select_sql(KIND_stack, &r->columns, &sql);
	/* same_count is filled in for stacks with frames, and only for them. */
	buf_text(&sql, "WHERE node=? AND pid=? AND t<=? AND same_count IS NOT NULL ORDER BY t DESC,id DESC LIMIT 2");
	status = prepare_buf(r, &sql, &r->stacks, error);
	buf_release(&sql);
	return status;
}

static void drop_rows(struct reader *r)
{
	for (size_t i = 0; i < r->rows; i++)
		record_free(r->row[i].record);
	r->rows = 0;
}

void state_release(struct reader *r)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		sqlite3_finalize(r->kind[k].between);
		sqlite3_finalize(r->kind[k].last);
		sqlite3_finalize(r->kind[k].first_subject);
		sqlite3_finalize(r->kind[k].next_subject);
		sqlite3_finalize(r->kind[k].newest);
		sqlite3_finalize(r->kind[k].by_key);
	}
	sqlite3_finalize(r->stacks);
	sqlite3_finalize(r->busy);
	drop_rows(r);
	free(r->row);
}

/* --- rows --- */

static int keep(struct reader *r, const struct observation *o, int64_t id, struct error *error)
{
	if (r->rows >= ROWS_MAX) {
		error_set(error, "cannot read %s: more than %d rows at %lld", r->path, ROWS_MAX, (long long)o->t);
		return error_fix(error, "the file is damaged or was not written by hangtop");
	}
	if (r->rows == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 256;
		r->row = mem_array(r->row, r->cap, sizeof *r->row);
	}
	r->row[r->rows].record = record_new(o);
	r->row[r->rows].id = id;
	r->row[r->rows].n = r->rows;
	r->rows++;
	return 0;
}

static int gather(struct reader *r, sqlite3_stmt *s, enum kind kind, struct error *error)
{
	struct observation o;
	struct buf threads;
	int64_t id;
	int status = 0;

	schema_row(s, kind, &o, &id);
	if (kind != KIND_stack || !observation_is_null(&o, STACK_threads))
		return keep(r, &o, id, error);
	buf_init(&threads, OBSERVATION_LINE_MAX);
	status = unintern_read(&r->unintern, id, &threads);
	if (status > 0)
		observation_span(&o, STACK_threads, buf_as_span(&threads));
	status = status < 0 ? reader_failed(r, error) : keep(r, &o, id, error);
	buf_release(&threads);
	return status;
}

/* Step through all rows of a bound statement. */
static int gather_all(struct reader *r, sqlite3_stmt *s, enum kind kind, struct error *error)
{
	int status, result = 0;

	while ((status = sqlite3_step(s)) == SQLITE_ROW && result == 0)
		result = gather(r, s, kind, error);
	if (result == 0 && status != SQLITE_DONE)
		result = reader_failed(r, error);
	sqlite3_reset(s);
	return result;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->record->o.t != y->record->o.t)
		return x->record->o.t < y->record->o.t ? -1 : 1;
	if (x->record->o.kind != y->record->o.kind)
		return x->record->o.kind < y->record->o.kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static bool same_row(const struct row *a, const struct row *b)
{
	return a->id && a->id == b->id && a->record->o.kind == b->record->o.kind;
}

/* In order of time; a row gathered twice is handed out once. */
static void hand_out(struct reader *r, reader_each each, void *context)
{
	if (r->rows)
		qsort(r->row, r->rows, sizeof *r->row, compare_rows);
	for (size_t i = 0; i < r->rows; i++)
		if (!i || !same_row(&r->row[i], &r->row[i - 1]))
			each(context, &r->row[i].record->o);
	drop_rows(r);
}

static int rows_between(struct reader *r, enum kind kind, int64_t from, int64_t to, struct error *error)
{
	sqlite3_stmt *s = r->kind[kind].between;

	if (!s)
		return 0;
	sqlite3_bind_int64(s, 1, from);
	sqlite3_bind_int64(s, 2, to);
	return gather_all(r, s, kind, error);
}

/* One read transaction for a call: the writer may commit meanwhile. */
static void begin(struct reader *r)
{
	sqlite3_step(r->begin);
	sqlite3_reset(r->begin);
}

static void end(struct reader *r)
{
	sqlite3_step(r->commit);
	sqlite3_reset(r->commit);
}

static int gather_chunk(struct reader *r, int64_t from, int64_t to, struct error *error)
{
	int status = 0;

	begin(r);
	for (int k = 0; k < KIND_COUNT && status == 0; k++)
		status = rows_between(r, (enum kind)k, from, to, error);
	end(r);
	if (status < 0)
		drop_rows(r);
	return status;
}

int reader_between(struct reader *r, int64_t from, int64_t to, reader_each each, void *context, struct error *error)
{
	from = from < -TIME_MAX ? -TIME_MAX : from;
	to = to > TIME_MAX ? TIME_MAX : to;
	while (from < to) {
		int64_t next, last;

		/* The next row there is: gaps cost nothing. */
		if (!reader_ask(r->first, from, &next))
			return sqlite3_errcode(r->db) == SQLITE_OK ? 0 : reader_failed(r, error);
		if (next > to)
			break;
		last = next > to - CHUNK_MS ? to : next + CHUNK_MS;
		if (gather_chunk(r, next - 1, last, error) < 0)
			return -1;
		hand_out(r, each, context);
		from = last;
	}
	return 0;
}

/* --- the subjects of a kind --- */

struct subject {
	sqlite3_value *key[READER_SUBJECT_MAX];
	int n;
};

static void subject_release(struct subject *subject)
{
	for (int i = 0; i < subject->n; i++)
		sqlite3_value_free(subject->key[i]);
	subject->n = 0;
}

static void bind_subject(const struct subject *subject, sqlite3_stmt *s, int at)
{
	for (int i = 0; i < subject->n; i++)
		sqlite3_bind_value(s, at + i, subject->key[i]);
}

/* 1 when there is one more, 0 at the end. */
static int next_subject(struct reader *r, const struct kind_read *k, struct subject *subject, struct error *error)
{
	sqlite3_stmt *s = subject->n ? k->next_subject : k->first_subject;
	int status;

	bind_subject(subject, s, 1);
	status = sqlite3_step(s);
	subject_release(subject);
	if (status == SQLITE_ROW) {
		subject->n = sqlite3_column_count(s);
		for (int i = 0; i < subject->n; i++)
			subject->key[i] = sqlite3_value_dup(sqlite3_column_value(s, i));
	} else if (status != SQLITE_DONE) {
		reader_failed(r, error);
	}
	sqlite3_reset(s);
	return status == SQLITE_ROW ? 1 : status == SQLITE_DONE ? 0 : -1;
}

typedef int (*subject_each)(struct reader *r, enum kind kind, const struct subject *subject, int64_t t, int64_t before,
	struct error *error);

static int each_subject(
	struct reader *r, enum kind kind, subject_each each, int64_t t, int64_t before, struct error *error)
{
	struct subject subject = {.n = 0};
	int status = 1;

	if (!r->kind[kind].first_subject)
		return 0;
	for (int i = 0; i < MODEL_SUBJECTS_MAX && status == 1; i++) {
		status = next_subject(r, &r->kind[kind], &subject, error);
		if (status == 1 && each(r, kind, &subject, t, before, error) < 0)
			status = -1;
	}
	subject_release(&subject);
	return status < 0 ? -1 : 0;
}

/* --- the state at a time --- */

static int newest_state(
	struct reader *r, enum kind kind, const struct subject *subject, int64_t t, int64_t before, struct error *error)
{
	sqlite3_stmt *s = r->kind[kind].newest;

	(void)before;
	bind_subject(subject, s, 1);
	sqlite3_bind_int64(s, subject->n + 1, t);
	if (gather_all(r, s, kind, error) < 0)
		return -1;
	if (kind != KIND_stack || !r->stacks)
		return 0;
	bind_subject(subject, r->stacks, 1);
	sqlite3_bind_int64(r->stacks, subject->n + 1, t);
	return gather_all(r, r->stacks, KIND_stack, error);
}

/* The last row of a subject that was silent at t: `before` is where the rows begin that are read anyway. */
static int newest_sample(
	struct reader *r, enum kind kind, const struct subject *subject, int64_t t, int64_t before, struct error *error)
{
	sqlite3_stmt *s = r->kind[kind].newest;
	int64_t at = INT64_MAX;
	int status;

	bind_subject(subject, s, 1);
	sqlite3_bind_int64(s, subject->n + 1, t);
	status = sqlite3_step(s);
	if (status == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER)
		at = sqlite3_column_int64(s, 0);
	if (status != SQLITE_ROW)
		reader_failed(r, error);
	sqlite3_reset(s);
	if (status != SQLITE_ROW || at >= before)
		return status == SQLITE_ROW ? 0 : -1;
	s = r->kind[kind].by_key;
	sqlite3_bind_int64(s, 1, at);
	for (int i = 0; i < 1 + kind_table[kind].subjects && i < subject->n; i++)
		sqlite3_bind_value(s, 2 + i, subject->key[i]);
	return gather_all(r, s, kind, error);
}

static int gather_busy(struct reader *r, int64_t from, int64_t to, struct error *error)
{
	int status, result = 0;

	sqlite3_bind_int64(r->busy, 1, from);
	sqlite3_bind_int64(r->busy, 2, to);
	while ((status = sqlite3_step(r->busy)) == SQLITE_ROW && result == 0) {
		struct observation o;
		const char *node = (const char *)sqlite3_column_text(r->busy, 1);

		observation_init(&o, KIND_gpu, node ? node : "", sqlite3_column_int64(r->busy, 0));
		observation_int(&o, GPU_gpu, sqlite3_column_int64(r->busy, 2));
		observation_real(&o, GPU_busy_pct, sqlite3_column_double(r->busy, 3));
		result = keep(r, &o, 0, error);
	}
	if (result == 0 && status != SQLITE_DONE)
		result = reader_failed(r, error);
	sqlite3_reset(r->busy);
	return result;
}

static int gather_samples(struct reader *r, int64_t t, int64_t window, struct error *error)
{
	for (int k = 0; k < KIND_COUNT; k++)
		if (kind_table[k].storage == STORAGE_SAMPLE &&
			(rows_between(r, (enum kind)k, window - 1, t, error) < 0 ||
				each_subject(r, (enum kind)k, newest_sample, t, window, error) < 0))
			return -1;
	return 0;
}

/* The clock of a model is its newest row. */
static int gather_histories(struct reader *r, int64_t newest, int64_t window, struct error *error)
{
	int64_t from = newest - HISTORY_MS;

	if (r->busy && from < window - 1 && gather_busy(r, from, window - 1, error) < 0)
		return -1;
	return rows_between(r, KIND_progress, from, newest, error);
}

static int gather_state(struct reader *r, int64_t t, struct error *error)
{
	int64_t newest, window;

	if (!reader_ask(r->newest, t, &newest))
		return sqlite3_errcode(r->db) == SQLITE_OK ? 0 : reader_failed(r, error);
	newest = newest < -TIME_MAX ? -TIME_MAX : newest;
	window = subjects_window(newest);
	/* Histories first: within one t their thin rows come before the whole ones. */
	if (gather_histories(r, newest, window, error) < 0 || gather_samples(r, t, window, error) < 0)
		return -1;
	for (int k = 0; k < KIND_COUNT; k++) {
		sqlite3_stmt *last = r->kind[k].last;

		if (kind_table[k].storage == STORAGE_STATE &&
			each_subject(r, (enum kind)k, newest_state, t, window, error) < 0)
			return -1;
		if (!last)
			continue;
		sqlite3_bind_int64(last, 1, t);
		if (gather_all(r, last, (enum kind)k, error) < 0)
			return -1;
	}
	return 0;
}

int reader_state_at(struct reader *r, int64_t t, reader_each each, void *context, struct error *error)
{
	int status;

	t = t > TIME_MAX ? TIME_MAX : t < -TIME_MAX ? -TIME_MAX : t;
	begin(r);
	status = gather_state(r, t, error);
	end(r);
	if (status == 0)
		hand_out(r, each, context);
	else
		drop_rows(r);
	return status;
}
