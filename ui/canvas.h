/* canvas.h - a grid of cells that panels draw into; term.c copies it to the terminal, tests dump it as text.
 *
 * Who: everything in ui/. A cell holds one grapheme (a character and its combining marks) and a style; a wide
 * character owns the cell to its right as well (width 0 there). Drawing is clipped to the canvas and to `clip`,
 * so that a panel can never write outside its place. Text must be scrubbed already (base/text.h).
 * With `ascii` set every cell is printable ASCII: our own glyphs have replacements, other characters become '?'.
 */
#ifndef HANGTOP_UI_CANVAS_H
#define HANGTOP_UI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* STYLE(name, letter in dumps). What they look like is term_palette.c's business alone. */
#define CANVAS_STYLES                                                                                                  \
	STYLE(NORMAL, ' ') /* values */                                                                                \
	STYLE(DIM, 'd') /* what is there for completeness */                                                           \
	STYLE(BOLD, 'B') /* the values that matter */                                                                  \
	STYLE(TITLE, 'T') /* names of sections and panels */                                                           \
	STYLE(HEAD, 'h') /* table headings */                                                                          \
	STYLE(OK, 'o')                                                                                                 \
	STYLE(INFO, 'i')                                                                                               \
	STYLE(WARN, 'w')                                                                                               \
	STYLE(BAD, 'b')                                                                                                \
	STYLE(STALE, 's') /* older than three intervals; a '?' stands beside it */                                     \
	STYLE(KEY, 'k') /* a key to press */                                                                           \
	STYLE(MATCH, 'm') /* found by / */                                                                             \
	STYLE(LINE, '-') /* rules */                                                                                   \
	STYLE(GRAPH, 'g')                                                                                              \
	STYLE(CURRENT, 'C') /* the panel shown, in the key bar */                                                      \
	STYLE(BAR, '=') /* the rest of line 1 */                                                                       \
	STYLE(BADGE_OK, 'O') /* the state word on line 1 */                                                            \
	STYLE(BADGE_INFO, 'I')                                                                                         \
	STYLE(BADGE_WARN, 'W')                                                                                         \
	STYLE(BADGE_BAD, 'X')                                                                                          \
	STYLE(BADGE_NONE, 'N')

enum style {
#define STYLE(name, letter) STYLE_##name,
	CANVAS_STYLES
#undef STYLE
		STYLE_COUNT
};

#define CELL_TEXT_MAX 12

struct cell {
	char text[CELL_TEXT_MAX]; /* one grapheme, not NUL-terminated; unused bytes are 0 */
	uint8_t len;
	uint8_t style;
	uint8_t width; /* 1 or 2; 0 for the right half of a wide character */
	uint8_t selected; /* the cursor row: reverse video in every palette */
};

struct rect {
	int x, y, w, h;
};

struct canvas {
	int w, h;
	struct cell *cell; /* h rows of w */
	struct rect clip;
	bool ascii;
};

void canvas_init(struct canvas *c);
void canvas_release(struct canvas *c);
void canvas_resize(struct canvas *c, int w, int h); /* and clear; negative is 0; bounded by CANVAS_SIDE_MAX */
void canvas_clear(struct canvas *c); /* blank, clip is everything */
struct rect canvas_clip(struct canvas *c, struct rect clip); /* cut to the canvas; returns the one before */
/* Draw at most `w` columns (w < 0: no limit). Returns the columns used, clipped ones counted. */
int canvas_text(struct canvas *c, int x, int y, int w, enum style style, struct span text);
void canvas_fill(struct canvas *c, struct rect where, enum style style);
void canvas_hline(struct canvas *c, int x, int y, int w, enum style style);
void canvas_select(struct canvas *c, int x, int y, int w); /* reverse these cells */
void canvas_style(struct canvas *c, int x, int y, int w, enum style style); /* keep the text, change the style */
/* Rows as text, trailing blanks cut; under each row with a style a '~' line of style letters ('R' selected). */
void canvas_dump(const struct canvas *c, struct buf *out);

#define CANVAS_SIDE_MAX 2000

#endif
