/* rocgdb_private.h - between rocgdb.c (messages, the session) and rocgdb_rows.c (tables). Spans are borrowed for the call. */
#ifndef HANGTOP_PARSE_ROCGDB_PRIVATE_H
#define HANGTOP_PARSE_ROCGDB_PRIVATE_H

#include "parse/rocgdb.h"

/* A line of a table: a row that begins, or the rest of one that the terminal's width or gdb cut. False when it is neither; an open
 * row has then ended. */
bool rocgdb_row_line(struct rocgdb_scan *g, const struct line *l);
/* Is it the first line of a row? */
bool rocgdb_is_row(struct span text);
/* Read and emit the open row, if any. */
void rocgdb_row_end(struct rocgdb_scan *g);
/* "  2    Thread 0x7f.. (LWP 4022) ...": a row of a host thread. */
bool rocgdb_host_row(struct span text);
/* A NUL-terminated copy, cut to `size`. */
void rocgdb_copy(char *out, size_t size, struct span text);

#endif
