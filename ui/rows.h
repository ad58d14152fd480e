/* rows.h - the lines of a panel as styled text, built anew for each frame into memory that is kept.
 *
 * A panel starts a row and appends pieces from left to right; everything appended is scrubbed here, so that no
 * foreign byte gets past this point. Widths are columns. Long last pieces need no cutting: drawing clips and
 * marks them.
 */
#ifndef HANGTOP_UI_ROWS_H
#define HANGTOP_UI_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "ui/canvas.h"

enum row_flag {
	ROW_HEAD = 1, /* a heading: no cursor, kept by filters */
	ROW_PIN = 2, /* a heading at the start that does not scroll away */
	ROW_DETAIL = 4, /* belongs to the row before it */
};

struct run {
	uint32_t len; /* bytes */
	uint8_t style;
};

struct row {
	uint64_t key; /* the same thing has the same key in the next frame */
	int64_t target; /* what Enter needs, told by the panel; else 0 */
	size_t text, len; /* in rows.text */
	size_t run, runs;
	unsigned flags;
};

struct rows {
	struct buf text, scratch;
	struct run *run;
	size_t runs, run_cap;
	struct row *row;
	size_t count, cap;
	int column; /* of the end of the row being built */
};

void rows_init(struct rows *r);
void rows_release(struct rows *r);
void rows_clear(struct rows *r);

void rows_start(struct rows *r, uint64_t key, unsigned flags);
void rows_target(struct rows *r, int64_t target); /* of the row started last */
/* Append. */
void rows_span(struct rows *r, enum style style, struct span text);
void rows_text(struct rows *r, enum style style, const char *text);
void rows_print(struct rows *r, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Exactly w columns: padded, or cut with an ellipsis. */
void rows_cell(struct rows *r, int w, enum style style, struct span text);
void rows_right(struct rows *r, int w, enum style style, const char *format, ...) __attribute__((format(printf, 4, 5)));
void rows_gap(struct rows *r, int columns);
void rows_to(struct rows *r, int column); /* blanks up to a column; one blank when it is past already */

struct span rows_line(const struct rows *r, size_t i); /* text of a row */
/* Case does not count for letters of ASCII. Offset in the text, or -1. */
long rows_match(struct span text, struct span pattern);
void rows_draw(const struct rows *r, size_t i, struct canvas *c, int x, int y, int w, int shift, struct span search);
uint64_t rows_key(const char *kind, int64_t number); /* a key from two parts */

#endif
