/* schema.c - tables from kinds.def. */
#include "config.h"

#include "store/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char fixed_tables[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	/* Stacks, each frame once. */
	"CREATE TABLE frame(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"CREATE TABLE frame_list(id INTEGER PRIMARY KEY, frames TEXT NOT NULL UNIQUE);"
	"CREATE TABLE stack_thread(stack INTEGER NOT NULL, n INTEGER NOT NULL, tid INTEGER, name TEXT, state TEXT,"
	" gil INTEGER, frames INTEGER NOT NULL, PRIMARY KEY(stack, n)) WITHOUT ROWID;"
	"CREATE VIEW stack_frame AS SELECT s.t, s.node, s.pid, s.rank, th.n, th.tid, th.name AS thread, th.state, "
	"th.gil,"
	" j.key AS depth, f.text AS frame, s.id AS stack FROM stack s JOIN stack_thread th ON th.stack=s.id"
	" JOIN frame_list l ON l.id=th.frames JOIN json_each(l.frames) j JOIN frame f ON f.id=j.value;"
	/* The last row of a subject that fell silent (subject.h). */
	"CREATE TABLE silent(kind TEXT NOT NULL, node TEXT NOT NULL, a NOT NULL, b NOT NULL, t INTEGER NOT NULL,"
	" PRIMARY KEY(kind, node, a, b, t)) WITHOUT ROWID;"
	/* Plots (rollup.h). */
	"CREATE TABLE roll(minute INTEGER NOT NULL, series TEXT NOT NULL, subject TEXT NOT NULL, lo REAL, hi REAL,"
	" last REAL, total REAL, n INTEGER, PRIMARY KEY(minute, series, subject)) WITHOUT ROWID;"
	"CREATE INDEX log_class ON log(class, t);";

int schema_error(sqlite3 *db, struct error *error, const char *what)
{
	return error_set(error, "%s: %s", what, db ? sqlite3_errmsg(db) : "out of memory");
}

int schema_exec(sqlite3 *db, const char *sql, struct error *error)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return schema_error(db, error, "session file");
	return 0;
}

bool schema_number(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *s;
	bool found = false;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
		*value = sqlite3_column_int64(s, 0);
		found = sqlite3_column_type(s, 0) != SQLITE_NULL;
	}
	/* An error of the step is the database's last error until here, and finalize keeps it. */
	sqlite3_finalize(s);
	return found;
}

/* --- making tables --- */

static const char *column_type(enum field_type type)
{
	return type == FIELD_INT ? "INTEGER" : type == FIELD_REAL ? "REAL" : "TEXT";
}

void schema_subject_columns(enum kind kind, struct buf *sql)
{
	for (int i = 0; i < kind_table[kind].subjects; i++)
		buf_printf(sql, ",\"%s\"", kind_table[kind].field[i].name);
}

static void table_sql(enum kind kind, struct buf *sql)
{
	const struct kind_info *info = &kind_table[kind];
	bool sample = info->storage == STORAGE_SAMPLE;

	buf_printf(sql, "CREATE TABLE \"%s\"(%st INTEGER NOT NULL,lag INTEGER,node TEXT NOT NULL", info->name,
		sample ? "" : "id INTEGER PRIMARY KEY,");
	for (int i = 0; i < info->fields; i++)
		buf_printf(sql, ",\"%s\" %s", info->field[i].name, column_type(info->field[i].type));
	if (sample) {
		buf_text(sql, ",PRIMARY KEY(t,node");
		schema_subject_columns(kind, sql);
		buf_text(sql, ")) WITHOUT ROWID;");
		return;
	}
	buf_printf(sql, ");CREATE INDEX \"%s_t\" ON \"%s\"(t);", info->name, info->name);
	if (info->storage == STORAGE_STATE) {
		buf_printf(sql, "CREATE INDEX \"%s_subject\" ON \"%s\"(node", info->name, info->name);
		schema_subject_columns(kind, sql);
		buf_text(sql, ",t);");
	}
}

/* Format 1: the first. */
static int to_version_1(sqlite3 *db, struct error *error)
{
	struct buf sql;
	int status;

	buf_init(&sql, 0);
	for (int k = 0; k < KIND_COUNT; k++)
		table_sql((enum kind)k, &sql);
	buf_text(&sql, fixed_tables);
	buf_printf(&sql, "PRAGMA application_id=%d;", SCHEMA_APPLICATION_ID);
	status = schema_exec(db, buf_string(&sql), error);
	buf_release(&sql);
	return status;
}

/* step[v] brings a file from version v to v + 1. */
static int (*const step[SCHEMA_VERSION])(sqlite3 *, struct error *) = {to_version_1};

/* Kinds and fields that a file of an older program has not. */
static int add_missing(sqlite3 *db, struct error *error)
{
	struct schema_columns columns;
	struct buf sql;
	int status;

	if (schema_look(db, &columns, error) < 0)
		return -1;
	buf_init(&sql, 0);
	for (int k = 0; k < KIND_COUNT; k++) {
		const struct kind_info *info = &kind_table[k];

		if (!columns.table[k])
			table_sql((enum kind)k, &sql);
		for (int i = 0; columns.table[k] && i < info->fields; i++)
			if (!columns.column[k][i])
				buf_printf(&sql, "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s;", info->name,
					info->field[i].name, column_type(info->field[i].type));
	}
	status = schema_exec(db, buf_string(&sql), error);
	buf_release(&sql);
	return status;
}

static int bring_up(sqlite3 *db, struct error *error)
{
	char sql[64];
	int64_t version = 0;

	schema_number(db, "PRAGMA user_version", &version);
	for (; version < SCHEMA_VERSION; version++)
		if (step[version](db, error) < 0)
			return -1;
	snprintf(sql, sizeof sql, "PRAGMA user_version=%d", SCHEMA_VERSION);
	if (add_missing(db, error) < 0 || schema_exec(db, sql, error) < 0)
		return -1;
	return schema_exec(db, "COMMIT", error);
}

int schema_prepare(sqlite3 *db, struct error *error)
{
	if (schema_exec(db, "BEGIN IMMEDIATE", error) < 0)
		return -1;
	if (bring_up(db, error) == 0)
		return 0;
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

/* --- looking at a file --- */

int schema_check(sqlite3 *db, const char *path, bool *empty, struct error *error)
{
	int64_t tables = 0, id = 0, version = 0;

	if (!schema_number(db, "SELECT count(*) FROM sqlite_master", &tables) ||
		!schema_number(db, "PRAGMA application_id", &id) ||
		!schema_number(db, "PRAGMA user_version", &version)) {
		if (sqlite3_errcode(db) == SQLITE_NOTADB)
			return error_set(error, "%s is not a session file", path);
		error_set(error, "cannot read %s: %s", path, sqlite3_errmsg(db));
		return error_fix(error, "if it was copied while being written, copy it again with: sqlite3 ORIGINAL "
					"\"VACUUM INTO 'COPY'\"");
	}
	*empty = tables == 0 && id == 0;
	if (*empty)
		return 0;
	if (id != SCHEMA_APPLICATION_ID) {
		error_set(error, "%s is an SQLite file, but not a session of hangtop", path);
		return error_fix(error, "choose another file");
	}
	if (version > SCHEMA_VERSION) {
		error_set(error, "%s was written by a newer hangtop (format %lld, this one knows %d)", path,
			(long long)version, SCHEMA_VERSION);
		return error_fix(error, "use a newer hangtop");
	}
	if (version < 1)
		return error_set(error, "%s is damaged: it has no format version", path);
	return 0;
}

int schema_look(sqlite3 *db, struct schema_columns *out, struct error *error)
{
	char sql[100];

	memset(out, 0, sizeof *out);
	for (int k = 0; k < KIND_COUNT; k++) {
		sqlite3_stmt *s;
		int status;

		snprintf(sql, sizeof sql, "PRAGMA table_info(\"%s\")", kind_table[k].name);
		if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
			return schema_error(db, error, "session file");
		while ((status = sqlite3_step(s)) == SQLITE_ROW) {
			int field = field_by_name((enum kind)k, span_of((const char *)sqlite3_column_text(s, 1)));

			out->table[k] = true;
			if (field >= 0)
				out->column[k][field] = true;
		}
		sqlite3_finalize(s);
		if (status != SQLITE_DONE)
			return schema_error(db, error, "session file");
	}
	return 0;
}

/* --- rows --- */

void schema_insert_sql(enum kind kind, struct buf *out)
{
	const struct kind_info *info = &kind_table[kind];

	buf_printf(out, "INSERT OR REPLACE INTO \"%s\"(t,lag,node", info->name);
	for (int i = 0; i < info->fields; i++)
		buf_printf(out, ",\"%s\"", info->field[i].name);
	buf_text(out, ") VALUES(?,?,?");
	for (int i = 0; i < info->fields; i++)
		buf_text(out, ",?");
	buf_char(out, ')');
}

void schema_select_sql(enum kind kind, const struct schema_columns *columns, struct buf *out)
{
	const struct kind_info *info = &kind_table[kind];

	buf_text(out, "SELECT t,lag,node");
	for (int i = 0; i < info->fields; i++) {
		if (!columns || columns->column[kind][i])
			buf_printf(out, ",\"%s\"", info->field[i].name);
		else
			buf_text(out, ",NULL");
	}
	buf_printf(out, ",%s FROM \"%s\" ", info->storage == STORAGE_SAMPLE ? "0" : "id", info->name);
}

static int bind_value(sqlite3_stmt *s, int at, const struct value *v)
{
	switch (v->type) {
	case VALUE_INT:
		return sqlite3_bind_int64(s, at, v->number);
	case VALUE_REAL:
		return sqlite3_bind_double(s, at, v->real);
	case VALUE_TEXT:
		return sqlite3_bind_text64(
			s, at, v->text.len ? v->text.at : "", v->text.len, SQLITE_STATIC, SQLITE_UTF8);
	case VALUE_NULL:
		break;
	}
	return sqlite3_bind_null(s, at);
}

int schema_bind_subject(sqlite3_stmt *s, int at, const struct observation *o, int i)
{
	static const struct value none = {.type = VALUE_TEXT};

	return bind_value(s, at, o->value[i].type == VALUE_NULL ? &none : &o->value[i]);
}

int schema_bind(sqlite3_stmt *s, const struct observation *o, bool threads)
{
	const struct kind_info *info = &kind_table[o->kind];
	bool keyed = info->storage != STORAGE_EVENT;

	sqlite3_bind_int64(s, 1, o->t);
	if (o->lag)
		sqlite3_bind_int64(s, 2, o->lag);
	else
		sqlite3_bind_null(s, 2);
	sqlite3_bind_text(s, 3, o->node ? o->node : "", -1, SQLITE_STATIC);
	for (int i = 0; i < info->fields; i++) {
		int status;

		if (keyed && i < info->subjects)
			status = schema_bind_subject(s, i + 4, o, i);
		else if (o->kind == KIND_stack && i == STACK_threads && !threads)
			status = sqlite3_bind_null(s, i + 4);
		else
			status = bind_value(s, i + 4, &o->value[i]);
		if (status != SQLITE_OK)
			return -1;
	}
	return 0;
}

static void read_value(sqlite3_stmt *s, int column, enum field_type want, bool keyed, struct observation *o, int i)
{
	int type = sqlite3_column_type(s, column);
	bool text = want == FIELD_TEXT || want == FIELD_JSON;

	if (type == SQLITE_INTEGER && want == FIELD_INT) {
		observation_int(o, i, sqlite3_column_int64(s, column));
	} else if (type == SQLITE_FLOAT && want == FIELD_INT && fabs(sqlite3_column_double(s, column)) < 9e15) {
		observation_int(o, i, llround(sqlite3_column_double(s, column)));
	} else if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && want == FIELD_REAL) {
		observation_real(o, i, sqlite3_column_double(s, column));
	} else if (type == SQLITE_TEXT && text) {
		const char *at = (const char *)sqlite3_column_text(s, column);
		size_t len = (size_t)sqlite3_column_bytes(s, column);

		if (at && (len || !keyed))
			observation_span(o, i, span_make(at, len));
	}
}

void schema_row(sqlite3_stmt *s, enum kind kind, struct observation *o, int64_t *id)
{
	const struct kind_info *info = &kind_table[kind];
	int64_t t = sqlite3_column_int64(s, 0);

	/* A damaged file can say anything: a time that is none would overflow what is computed with it. */
	observation_init(o, kind, (const char *)sqlite3_column_text(s, 2), t < 0 ? 0 : t > OBSERVATION_T_MAX ? OBSERVATION_T_MAX : t);
	o->lag = sqlite3_column_int64(s, 1);
	if (!o->node)
		o->node = "";
	for (int i = 0; i < info->fields; i++)
		read_value(s, i + 3, info->field[i].type, info->storage != STORAGE_EVENT && i < info->subjects, o, i);
	*id = sqlite3_column_int64(s, info->fields + 3);
}
