/* subject.h - which subjects of SAMPLE kinds still speak, and where the last row of the silent ones is. Who: writer.c.
 *
 * Sample tables are keyed time first, so the last row of a subject that has been silent for hours could only be found
 * by reading back through those hours. Therefore: at every step of SILENT_MS the writer notes in table `silent` each
 * subject whose last row is older than one more step, once a silence. A reader at T finds every subject either in
 * the rows from SILENT_MS before the step at or before the newest row up to T, or as the newest note up to T.
 */
#ifndef HANGTOP_STORE_SUBJECT_H
#define HANGTOP_STORE_SUBJECT_H

#include <sqlite3.h>

#include "base/map.h"
#include "model/observation.h"

#define SILENT_MS 15000

/* Rows at or after this t may belong to subjects not noted as silent, when the newest row is at t. */
int64_t subjects_window(int64_t t);

struct subjects {
	sqlite3_stmt *insert;
	struct map last; /* observation_key -> struct last_row */
	struct buf key;
	int64_t step; /* number of the step the notes are made for */
};

int subjects_open(struct subjects *s, sqlite3 *db);
void subjects_close(struct subjects *s);
/* Start again from the rows of the file: after a rollback, before they are fed with subjects_saw(). */
void subjects_forget(struct subjects *s);
/* To be called before a row at t is written: notes who fell silent. -1 on a database error. */
int subjects_advance(struct subjects *s, int64_t t);
void subjects_saw(struct subjects *s, const struct observation *o);

#endif
