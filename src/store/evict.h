/* evict.h - make room in a session file that has reached its cap. Who: writer.c, on its thread, between batches.
 *
 * The oldest samples, stacks and everyday log lines go, a slice of time at a step. What stays: everything from five
 * minutes before to one minute after a verdict; verdicts, findings, actions, notes, marks, faults and processes; and the
 * newest row of every subject, so that the state at a later time is still found.
 */
#ifndef HANGTOP_STORE_EVICT_H
#define HANGTOP_STORE_EVICT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define EVICT_BEFORE_MS 300000
#define EVICT_AFTER_MS 60000

struct evict {
	sqlite3 *db;
	sqlite3_stmt *pages, *unused;
	int64_t cap, page_size; /* bytes */
	int64_t from; /* everything older has been looked at */
	bool going; /* between the cap and nine tenths of it */
	bool stuck; /* nothing more may go */
};

int evict_open(struct evict *e, sqlite3 *db, int64_t cap);
void evict_close(struct evict *e);
/* One step of bounded work, when there is any. 1 when there is more to do, 0 when not, -1 on a database error. */
int evict_step(struct evict *e);
/* Bytes in use. */
int64_t evict_used(struct evict *e);

#endif
