/* evict.h - make room in a session file that has reached its cap. Who: writer.c, on its thread. */
#ifndef HANGTOP_STORE_EVICT_H
#define HANGTOP_STORE_EVICT_H

#include <sqlite3.h>
#include <stdint.h>

/* Delete the oldest samples, stacks and everyday log lines until the file is under nine tenths of `cap`, in steps.
 * Nothing within five minutes before or one minute after a verdict goes. Verdicts, findings, actions, notes, marks,
 * faults and processes always stay. -1 on a database error. */
int evict(sqlite3 *db, int64_t cap);

#endif
