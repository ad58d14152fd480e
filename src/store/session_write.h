/* session_write.h - the database side of the writer: open, write a batch, close. Who: writer.c, on one thread at a time.
 *
 * A batch is written whole or not at all. After a failure everything remembered about the file is forgotten and read
 * again from it before the next attempt.
 */
#ifndef HANGTOP_STORE_SESSION_WRITE_H
#define HANGTOP_STORE_SESSION_WRITE_H

#include <sqlite3.h>

#include "base/map.h"
#include "store/evict.h"
#include "store/intern.h"
#include "store/place.h"
#include "store/queue.h"
#include "store/rollup.h"
#include "store/subject.h"

struct session_write {
	struct place place;
	sqlite3 *db;
	sqlite3_stmt *insert[KIND_COUNT], *meta, *begin, *commit;
	struct intern intern;
	struct rollup rollup;
	struct subjects subjects;
	struct evict evict;
	bool ours; /* it is known to be a session, or a new file */
	bool known; /* subjects and rollup are those of the file */
	uint64_t left_out; /* samples of the last batch */
	bool full; /* the last failure was for want of room */
};

int session_write_open(struct session_write *w, const char *path, int64_t size_cap, struct error *error);
void session_write_close(struct session_write *w);
/* `samples` false leaves out the rows of SAMPLE kinds. meta: text to text.
 * `last`: write what is gathered of the current minute too. */
int session_write_batch(struct session_write *w, const struct queue *batch, const struct map *meta, bool samples,
	bool last, struct error *error);

#endif
