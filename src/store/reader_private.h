/* reader_private.h - what reader.c (open, small questions) and state.c (rows) share. */
#ifndef HANGTOP_STORE_READER_PRIVATE_H
#define HANGTOP_STORE_READER_PRIVATE_H

#include <sqlite3.h>

#include "store/intern.h"
#include "store/reader.h"
#include "store/schema.h"

#define READER_SUBJECT_MAX 3 /* columns that name a subject: node and at most two fields */

/* Statements of one kind; NULL when the file has no such table. */
struct kind_read {
	sqlite3_stmt *between; /* rows with t > ? and t <= ?, in order */
	sqlite3_stmt *last; /* EVENT, verdict, finding: the last rows up to t */
	sqlite3_stmt *first_subject, *next_subject; /* SAMPLE: in silent; STATE: in the table */
	sqlite3_stmt *newest; /* STATE: the row of a subject at or before t; SAMPLE: t of its note at or before t */
	sqlite3_stmt *by_key; /* SAMPLE: the row of (t, node, subject) */
};

struct reader {
	sqlite3 *db;
	char *path;
	struct schema_columns columns;
	struct kind_read kind[KIND_COUNT];
	sqlite3_stmt *stacks; /* the last two with frames of (node, pid) up to t */
	sqlite3_stmt *busy; /* of gpu, only what a history needs */
	sqlite3_stmt *meta, *first, *newest, *begin, *commit;
	struct unintern unintern;
	/* Rows gathered for one call, to be handed out in order. */
	struct row {
		struct record *record;
		int64_t id;
		size_t n;
	} * row;
	size_t rows, cap;
};

int reader_prepare(struct reader *r, const char *sql, sqlite3_stmt **s, struct error *error);
int reader_failed(struct reader *r, struct error *error);
/* One number from a statement with one parameter. */
bool reader_ask(sqlite3_stmt *s, int64_t t, int64_t *value);
int state_prepare(struct reader *r, struct error *error);
void state_release(struct reader *r);

#endif
