/* rocgdb_private.h - between rocgdb.c (messages, the session), rocgdb_wrap.c (rows out of lines) and rocgdb_rows.c (what a row says).
 * Spans are borrowed for the call. */
#ifndef HANGTOP_PARSE_ROCGDB_PRIVATE_H
#define HANGTOP_PARSE_ROCGDB_PRIVATE_H

#include "parse/rocgdb.h"

enum rocgdb_row_kind { ROW_AGENT, ROW_QUEUE, ROW_DISPATCH, ROW_WAVE, ROW_NONE };

struct rocgdb_row {
	uint64_t offset;
	bool current;
	int64_t id;             /* -1 unknown */
	struct span before, after; /* what stands before "AMDGPU X", and behind it */
};

/* Is it a row: "[*] Id [State] AMDGPU X ..."? Fills all but the offset. */
enum rocgdb_row_kind rocgdb_row_kind(struct span text, struct rocgdb_row *row);
/* Emit a whole row; nothing when it is none. */
void rocgdb_row_read(struct rocgdb_scan *g, struct span text, uint64_t offset);
/* "7"; "1.7" is number 7 of inferior 1. */
bool rocgdb_row_id(struct span word, int64_t *id);
/* The last word off the end of `s`. */
struct span rocgdb_last_word(struct span *s);
/* "B|Aa|Ra", any of its parts alone. */
bool rocgdb_is_fence(struct span s);

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
