/* intern.h - stacks into frames and back: what makes a session of stacks small. Who: writer.c, state.c.
 *
 * Table stack_thread has a row for each thread of a stack row; its frames are an id of frame_list, which is a JSON array
 * of ids of frame. A threads text is taken apart only when putting it together again gives the same bytes;
 * any other stays whole in stack.threads.
 */
#ifndef HANGTOP_STORE_INTERN_H
#define HANGTOP_STORE_INTERN_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/span.h"

struct intern {
	sqlite3 *db;
	sqlite3_stmt *add_frame, *find_frame, *add_list, *find_list, *add_thread;
	struct map frame, list; /* text -> id as a pointer */
};

int intern_open(struct intern *in, sqlite3 *db);
void intern_close(struct intern *in);
void intern_forget(struct intern *in); /* after a rollback: ids handed out are gone */
/* The threads, when they can be taken apart and put together again unchanged, else NULL. json_decref() it. */
json_t *intern_parse(struct span threads);
/* Write the threads of stack row `stack`. -1 on a database error. */
int intern_write(struct intern *in, int64_t stack, json_t *threads);

/* The other way. Frame lists are kept as text between calls: they never change. */
struct unintern {
	sqlite3_stmt *threads, *list, *frame;
	struct map text; /* id of frame_list -> its frames as JSON */
};

int unintern_open(struct unintern *in, sqlite3 *db);
void unintern_close(struct unintern *in);
/* Append the threads text of a stack row to `out`. 1 when it had any, 0 when not, -1 on a database error. */
int unintern_read(struct unintern *in, int64_t stack, struct buf *out);

#endif
