/* schema.c - tables from kinds.def. */
#include "config.h"

#include "store/schema.h"

#include <string.h>

static const char fixed_tables[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE frame(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"CREATE TABLE frame_list(id INTEGER PRIMARY KEY, frames TEXT NOT NULL UNIQUE);"
	"CREATE TABLE stack_thread(stack INTEGER NOT NULL, n INTEGER NOT NULL, tid INTEGER, name TEXT, state TEXT, gil INTEGER,"
	" frames INTEGER NOT NULL, PRIMARY KEY(stack, n)) WITHOUT ROWID;"
	"CREATE TABLE keyframe(t INTEGER NOT NULL, kind INTEGER NOT NULL, node TEXT NOT NULL, a, b, row_t INTEGER NOT NULL,"
	" row_id INTEGER);"
	"CREATE INDEX keyframe_t ON keyframe(t);"
	"CREATE TABLE roll(minute INTEGER NOT NULL, series TEXT NOT NULL, subject TEXT NOT NULL, lo REAL, hi REAL, last REAL,"
	" total REAL, n INTEGER, PRIMARY KEY(minute, series, subject)) WITHOUT ROWID;"
	"CREATE INDEX log_class ON log(class, t);";

int schema_error(sqlite3 *db, struct error *error, const char *what)
{
	return error_set(error, "%s: %s", what, sqlite3_errmsg(db));
}

int schema_exec(sqlite3 *db, const char *sql, struct error *error)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return schema_error(db, error, "session file");
	return 0;
}

static const char *column_type(enum field_type type)
{
	return type == FIELD_INT ? "INTEGER" : type == FIELD_REAL ? "REAL" : "TEXT";
}

static void subject_columns(const struct kind_info *info, struct buf *sql)
{
	for (int i = 0; i < info->subjects; i++)
		buf_printf(sql, ",\"%s\"", info->field[i].name);
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
		subject_columns(info, sql);
		buf_text(sql, ")) WITHOUT ROWID;");
		return;
	}
	buf_printf(sql, ");CREATE INDEX \"%s_t\" ON \"%s\"(t);", info->name, info->name);
	if (info->storage == STORAGE_STATE && info->subjects) {
		buf_printf(sql, "CREATE INDEX \"%s_subject\" ON \"%s\"(node", info->name, info->name);
		subject_columns(info, sql);
		buf_text(sql, ",t);");
	}
}

static int create(sqlite3 *db, struct error *error)
{
	struct buf sql;
	int status;

	buf_init(&sql, 0);
	buf_text(&sql, "BEGIN IMMEDIATE;");
	for (int k = 0; k < KIND_COUNT; k++)
		table_sql((enum kind)k, &sql);
	buf_text(&sql, fixed_tables);
	buf_printf(&sql, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT;", SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	status = schema_exec(db, buf_string(&sql), error);
	buf_release(&sql);
	return status;
}

static int read_number(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *statement;
	int status = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		*value = sqlite3_column_int64(statement, 0);
		status = 0;
	}
	sqlite3_finalize(statement);
	return status;
}

static int check_version(sqlite3 *db, int64_t id, int64_t version, struct error *error)
{
	(void)db;
	if (id != SCHEMA_APPLICATION_ID) {
		error_set(error, "this SQLite file is not a hangtop session");
		return error_fix(error, "choose another file");
	}
	if (version > SCHEMA_VERSION) {
		error_set(error, "the session was written by a newer hangtop (format %lld, this one knows %d)", (long long)version,
			SCHEMA_VERSION);
		return error_fix(error, "use a newer hangtop");
	}
	return 0;
}

int schema_prepare(sqlite3 *db, struct error *error)
{
	int64_t tables = 0, id = 0, version = 0;

	if (read_number(db, "SELECT count(*) FROM sqlite_master", &tables) < 0 ||
		read_number(db, "PRAGMA application_id", &id) < 0 || read_number(db, "PRAGMA user_version", &version) < 0)
		return schema_error(db, error, "cannot read the session file");
	if (tables == 0)
		return create(db, error);
	/* Format 1 is the first: a later one gets one function for each step up from here. */
	return check_version(db, id, version, error);
}

int schema_check(sqlite3 *db, const char *path, struct error *error)
{
	int64_t tables = 0, id = 0, version = 0;

	if (read_number(db, "SELECT count(*) FROM sqlite_master", &tables) < 0 ||
		read_number(db, "PRAGMA application_id", &id) < 0 || read_number(db, "PRAGMA user_version", &version) < 0) {
		error_set(error, "cannot read %s: %s", path, sqlite3_errmsg(db));
		return error_fix(error, "if it was copied while being written, copy it again with: sqlite3 ORIGINAL \"VACUUM INTO 'COPY'\"");
	}
	if (tables == 0)
		return error_set(error, "%s is an empty file", path);
	return check_version(db, id, version, error);
}

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

void schema_select_sql(enum kind kind, struct buf *out)
{
	const struct kind_info *info = &kind_table[kind];

	buf_text(out, "SELECT t,lag,node");
	for (int i = 0; i < info->fields; i++)
		buf_printf(out, ",\"%s\"", info->field[i].name);
	if (info->storage != STORAGE_SAMPLE)
		buf_text(out, ",id");
	buf_printf(out, " FROM \"%s\" ", info->name);
}

int schema_bind(sqlite3_stmt *s, const struct observation *o, bool threads)
{
	const struct kind_info *info = &kind_table[o->kind];

	sqlite3_bind_int64(s, 1, o->t);
	if (o->lag)
		sqlite3_bind_int64(s, 2, o->lag);
	else
		sqlite3_bind_null(s, 2);
	sqlite3_bind_text(s, 3, o->node ? o->node : "", -1, SQLITE_STATIC);
	for (int i = 0; i < info->fields; i++) {
		const struct value *v = &o->value[i];
		int status = SQLITE_OK;

		if (v->type == VALUE_INT)
			status = sqlite3_bind_int64(s, i + 4, v->number);
		else if (v->type == VALUE_REAL)
			status = sqlite3_bind_double(s, i + 4, v->real);
		else if (v->type == VALUE_TEXT && (threads || o->kind != KIND_stack || i != STACK_threads))
			status = sqlite3_bind_text64(s, i + 4, v->text.at, v->text.len, SQLITE_STATIC, SQLITE_UTF8);
		else if (v->type == VALUE_NULL && info->storage == STORAGE_SAMPLE && i < info->subjects)
			status = sqlite3_bind_text(s, i + 4, "", 0, SQLITE_STATIC); /* part of the key: cannot be null */
		else
			sqlite3_bind_null(s, i + 4);
		if (status != SQLITE_OK)
			return -1;
	}
	return 0;
}

void schema_row(sqlite3_stmt *s, enum kind kind, struct observation *o, int64_t *id)
{
	const struct kind_info *info = &kind_table[kind];

	observation_init(o, kind, (const char *)sqlite3_column_text(s, 2), sqlite3_column_int64(s, 0));
	o->lag = sqlite3_column_int64(s, 1);
	if (!o->node)
		o->node = "";
	for (int i = 0; i < info->fields; i++) {
		int column = i + 3, type = sqlite3_column_type(s, column);
		enum field_type want = info->field[i].type;

		if (type == SQLITE_INTEGER && want == FIELD_INT)
			observation_int(o, i, sqlite3_column_int64(s, column));
		else if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && want == FIELD_REAL)
			observation_real(o, i, sqlite3_column_double(s, column));
		else if (type == SQLITE_TEXT && (want == FIELD_TEXT || want == FIELD_JSON))
			observation_span(o, i, span_make((const char *)sqlite3_column_text(s, column),
				(size_t)sqlite3_column_bytes(s, column)));
	}
	if (id)
		*id = info->storage != STORAGE_SAMPLE ? sqlite3_column_int64(s, info->fields + 3) : 0;
}
