/* rollup.h - minimum, maximum, last, sum and count a minute of the numbers that are plotted. Who: writer.c.
 *
 * A minute is written when a row of a later minute arrives, and at the end. After a rollback or in a file that is
 * written on, rollup_forget() and feed the rows of the last minute again.
 */
#ifndef HANGTOP_STORE_ROLLUP_H
#define HANGTOP_STORE_ROLLUP_H

#include <sqlite3.h>

#include "base/map.h"
#include "model/observation.h"

#define ROLLUP_MINUTE_MS 60000

struct rollup {
	sqlite3_stmt *insert;
	struct map minute; /* "series\tnode/kind/subject" -> struct roll */
	struct buf key;
	int64_t now; /* number of the minute being gathered */
};

int rollup_open(struct rollup *r, sqlite3 *db);
void rollup_close(struct rollup *r);
void rollup_forget(struct rollup *r);
bool rollup_wants(enum kind kind);
/* Count one row in; writes the minute before when a new one begins. -1 on a database error. */
int rollup_add(struct rollup *r, const struct observation *o);
/* Write what has been gathered of the current minute; more rows of it may follow. */
int rollup_write(struct rollup *r);

#endif
