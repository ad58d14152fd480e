/* list.h - cursor, scrolling, search, filter and open details over the rows of one panel.
 *
 * The list remembers the key of the cursor's row, so that the cursor stays on its thing while rows come and go.
 * Call list_settle() after building rows and before anything else; it applies the filter and the height.
 */
#ifndef HANGTOP_UI_LIST_H
#define HANGTOP_UI_LIST_H

#include "ui/rows.h"

#define LIST_TEXT_MAX 200
#define LIST_OPEN_MAX 64

struct list {
	bool tail; /* a list that grows at the end: start there and follow */
	bool quiet; /* no cursor until it is moved */
	bool follow; /* the cursor goes with what is new: the last row of a tail, else the first; until it is moved */
	uint64_t key; /* of the cursor's row */
	int cursor; /* index in shown; -1 none */
	int top; /* first of shown on the screen, pinned rows apart */
	int shift; /* columns scrolled to the right */
	int height; /* lines for rows, pinned ones included */
	int pinned; /* leading rows of `shown` that stay */
	int *shown; /* indexes of the rows that pass the filter */
	int count, cap;
	int total, match; /* rows with a cursor: before and after the filter */
	char search[LIST_TEXT_MAX], filter[LIST_TEXT_MAX];
	uint64_t open[LIST_OPEN_MAX]; /* keys of rows whose details show */
	int opens;
};

void list_init(struct list *l, bool tail, bool quiet);
void list_release(struct list *l);
void list_settle(struct list *l, const struct rows *r, int height);
void list_follow(struct list *l);
void list_move(struct list *l, const struct rows *r, int by);
void list_top(struct list *l, const struct rows *r);
void list_bottom(struct list *l, const struct rows *r);
int list_page(const struct list *l);
/* Next (1) or previous (-1) match, from the cursor on (0: the cursor's own row counts). False when there is none. */
bool list_find(struct list *l, const struct rows *r, int direction);
const struct row *list_current(const struct list *l, const struct rows *r); /* NULL without a cursor */
bool list_is_open(const struct list *l, uint64_t key);
void list_toggle(struct list *l, uint64_t key);
/* A click on line `line` of the list; true when it hit a row. */
bool list_click(struct list *l, const struct rows *r, int line);
void list_draw(const struct list *l, const struct rows *r, struct canvas *c, struct rect where);

#endif
