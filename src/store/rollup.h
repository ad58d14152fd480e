/* rollup.h - minimum, maximum, last and sum a minute of the numbers that are plotted. Who: writer.c. */
#ifndef HANGTOP_STORE_ROLLUP_H
#define HANGTOP_STORE_ROLLUP_H

#include <sqlite3.h>

#include "base/map.h"
#include "model/observation.h"

struct rollup {
	sqlite3_stmt *insert;
	struct map minute;             /* "series\tsubject" -> struct roll */
	int64_t now;                   /* the minute being gathered */
};

int rollup_open(struct rollup *r, sqlite3 *db);
void rollup_close(struct rollup *r);
/* Count one row in; writes the minute before when a new one begins. -1 on a database error. */
int rollup_add(struct rollup *r, const struct observation *o);

#endif
