/* intern.h - stacks into frames and back: what makes a session of stacks small. Who: writer.c, reader.c.
 *
 * A threads text is taken apart only when putting it together again gives the same bytes.
 */
#ifndef HANGTOP_STORE_INTERN_H
#define HANGTOP_STORE_INTERN_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/span.h"

struct intern {
	sqlite3 *db;
	sqlite3_stmt *add_frame, *find_frame, *add_list, *find_list, *add_thread;
	struct map frame, list;        /* text -> id + 1 as a pointer; emptied when they grow past a bound, and on rollback */
};

int intern_open(struct intern *in, sqlite3 *db);
void intern_close(struct intern *in);
void intern_forget(struct intern *in);         /* after a rollback: ids handed out are gone */
/* True when `threads` can be taken apart and put together again unchanged. */
bool intern_fits(struct span threads);
/* Write the threads of stack row `stack`. -1 on a database error. */
int intern_write(struct intern *in, int64_t stack, struct span threads);

/* The other way: append the threads text of a stack row to `out`. False when it has none. */
struct unintern {
	sqlite3_stmt *threads;
};
int unintern_open(struct unintern *in, sqlite3 *db);
void unintern_close(struct unintern *in);
bool unintern_read(struct unintern *in, int64_t stack, struct buf *out);

#endif
