/* schema.h - the tables of a session file, made from kinds.def, and rows in and out of them. Who: the rest of src/store.
 *
 * doc/session-file.md is the contract with people; SQL here keeps to what SQLite 3.34 understands.
 * Each kind is a table of its name: t, lag, node, then its fields.
 *   SAMPLE  PRIMARY KEY(t, node, subject) WITHOUT ROWID: time first, so that a tick touches few pages
 *   STATE   id, index on (node, subject, t) and on t
 *   EVENT   id, index on t
 * A null subject is kept as '' where it is part of a key, and read back as null.
 *
 * Versions: user_version counts changes of meaning, one function per step in schema.c. New kinds and new fields at the
 * end of a kind need no step: a writer adds what an older file lacks, a reader reads it as null.
 */
#ifndef HANGTOP_STORE_SCHEMA_H
#define HANGTOP_STORE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/observation.h"

#define SCHEMA_APPLICATION_ID 0x68616e67 /* "hang" */
#define SCHEMA_VERSION 1

/* What a file has of kinds.def. */
struct schema_columns {
	bool table[KIND_COUNT];
	bool column[KIND_COUNT][OBSERVATION_FIELDS_MAX];
};

/* Set `error` to "what: " and the database's last error. Returns -1. */
int schema_error(sqlite3 *db, struct error *error, const char *what);
int schema_exec(sqlite3 *db, const char *sql, struct error *error);
/* First column of the first row; false without one. For statements without parameters. */
bool schema_number(sqlite3 *db, const char *sql, int64_t *value);

/* 0 when the file is a session of a version this program knows; *empty when it has no tables at all. Changes nothing. */
int schema_check(sqlite3 *db, const char *path, bool *empty, struct error *error);
/* Make the tables in an empty file, or bring an older one up to date; after schema_check(). */
int schema_prepare(sqlite3 *db, struct error *error);
int schema_look(sqlite3 *db, struct schema_columns *out, struct error *error);

/* INSERT statement of a kind. */
void schema_insert_sql(enum kind kind, struct buf *out);
/* "SELECT t,lag,node,fields...,id FROM kind " (id is 0 for SAMPLE); what the file has not is null.
 * `columns` NULL: it has all. */
void schema_select_sql(enum kind kind, const struct schema_columns *columns, struct buf *out);
/* ,"subject",... of a kind. */
void schema_subject_columns(enum kind kind, struct buf *out);

/* Bind an observation to its INSERT. `threads` says whether stack.threads is written verbatim. */
int schema_bind(sqlite3_stmt *statement, const struct observation *o, bool threads);
/* Bind the subject value of a key at `at`. */
int schema_bind_subject(sqlite3_stmt *statement, int at, const struct observation *o, int i);
/* Read the current row of a SELECT. Text is borrowed until the next step. */
void schema_row(sqlite3_stmt *statement, enum kind kind, struct observation *o, int64_t *id);

#endif
