/* schema.h - the tables of a session file, made from kinds.def, and rows in and out of them. Who: writer.c, reader.c.
 *
 * doc/session-file.md is the contract with people; SQL here keeps to what SQLite 3.34 understands.
 * Each kind is a table of its name: t, lag, node, then its fields.
 *   SAMPLE  PRIMARY KEY(t, node, subject) WITHOUT ROWID: time first, so that a tick touches few pages
 *   STATE   id, index on (node, subject, t) and on t
 *   EVENT   id, index on t
 * stack.threads is kept as interned frames: stack_thread(stack, n, tid, name, state, gil, frames) -> frame_list(id,
 * frame ids as a JSON array) -> frame(id, text). A text that would not come back byte for byte stays in stack.threads.
 * keyframe(t, kind, node, a, b, row_t, row_id): every KEYFRAME_MS the last row of every subject, so that the state at
 * any time is found in constant time. roll: minimum, maximum, last and sum a minute for plots. meta: key, value.
 */
#ifndef HANGTOP_STORE_SCHEMA_H
#define HANGTOP_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/observation.h"

#define SCHEMA_APPLICATION_ID 0x68616e67 /* "hang" */
#define SCHEMA_VERSION 1
#define KEYFRAME_MS 20000

/* Set `error` from the database's last error. Returns -1. */
int schema_error(sqlite3 *db, struct error *error, const char *what);
int schema_exec(sqlite3 *db, const char *sql, struct error *error);
/* Make the tables in an empty file, or bring an older file up to date. -1 when the file is not ours or is newer. */
int schema_prepare(sqlite3 *db, struct error *error);
/* 0 when the file is a session of a version that can be read. */
int schema_check(sqlite3 *db, const char *path, struct error *error);
/* INSERT statement of a kind. */
void schema_insert_sql(enum kind kind, struct buf *out);
/* "SELECT t,lag,node,fields... FROM kind " (id first for STATE and EVENT as the last column). */
void schema_select_sql(enum kind kind, struct buf *out);

/* Bind an observation to its INSERT. `threads` says whether stack.threads is written verbatim. */
int schema_bind(sqlite3_stmt *statement, const struct observation *o, bool threads);
/* Read the current row of a SELECT. Text is borrowed until the next step. `id` may be NULL. */
void schema_row(sqlite3_stmt *statement, enum kind kind, struct observation *o, int64_t *id);

#endif
