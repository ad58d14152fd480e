#include "config.h"

#include "ui/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void list_init(struct list *l, bool tail, bool quiet)
{
	memset(l, 0, sizeof *l);
	l->tail = l->follow = tail;
	l->quiet = quiet;
	l->cursor = -1;
}

void list_release(struct list *l)
{
	free(l->shown);
	l->shown = NULL;
	l->count = l->cap = 0;
}

static const struct row *row_at(const struct list *l, const struct rows *r, int at)
{
	return &r->row[l->shown[at]];
}

static bool selectable(const struct list *l, const struct rows *r, int at)
{
	return at >= 0 && at < l->count && !(row_at(l, r, at)->flags & ROW_HEAD);
}

static void apply_filter(struct list *l, const struct rows *r)
{
	struct span filter = span_of(l->filter);
	bool parent = false;

	if (l->cap < (int)r->count) {
		l->cap = (int)r->count;
		l->shown = mem_array(l->shown, (size_t)l->cap, sizeof *l->shown);
	}
	l->count = l->pinned = l->total = l->match = 0;
	for (int i = 0; i < (int)r->count; i++) {
		unsigned flags = r->row[i].flags;
		bool pass = true;

		if (!(flags & (ROW_HEAD | ROW_DETAIL))) {
			pass = !filter.len || rows_match(rows_line(r, (size_t)i), filter) >= 0;
			parent = pass;
			l->total++;
			l->match += pass;
		} else if (flags & ROW_DETAIL) {
			pass = parent;
		}
		if (!pass)
			continue;
		if ((flags & ROW_PIN) && l->pinned == l->count)
			l->pinned++;
		l->shown[l->count++] = i;
	}
}

/* The selectable row nearest to `at`, looking in the direction first; -1 when there is none. */
static int nearest(const struct list *l, const struct rows *r, int at, int direction)
{
	if (at < 0)
		at = 0;
	if (at >= l->count)
		at = l->count - 1;
	for (int i = at; i >= 0 && i < l->count; i += direction)
		if (selectable(l, r, i))
			return i;
	for (int i = at; i >= 0 && i < l->count; i -= direction)
		if (selectable(l, r, i))
			return i;
	return -1;
}

static int body(const struct list *l)
{
	return l->height - l->pinned > 0 ? l->height - l->pinned : 0;
}

static void scroll(struct list *l, const struct rows *r)
{
	int lines = body(l), last = l->count - lines;

	if (l->cursor >= 0) {
		if (l->cursor < l->top)
			l->top = l->cursor;
		/* With the first row show the headings above it. */
		while (l->top > l->pinned && !selectable(l, r, l->top - 1) && l->top == l->cursor)
			l->top--;
		if (l->cursor >= l->top + lines)
			l->top = l->cursor - lines + 1;
	}
	if (l->top > last)
		l->top = last;
	if (l->top < l->pinned)
		l->top = l->pinned;
}

static void set_cursor(struct list *l, const struct rows *r, int at)
{
	l->cursor = at;
	if (at >= 0) {
		l->key = row_at(l, r, at)->key;
		l->quiet = false;
	}
	scroll(l, r);
}

void list_settle(struct list *l, const struct rows *r, int height)
{
	int at = -1;

	l->height = height;
	apply_filter(l, r);
	if (l->follow) {
		at = l->tail ? nearest(l, r, l->count - 1, -1) : nearest(l, r, 0, 1);
		l->quiet = false;
	} else if (!l->quiet) {
		for (int i = 0; i < l->count && at < 0; i++)
			if (selectable(l, r, i) && row_at(l, r, i)->key == l->key)
				at = i;
		if (at < 0)
			at = nearest(l, r, l->cursor, 1);
	}
	if (l->quiet) {
		l->cursor = -1;
		scroll(l, r);
	} else {
		set_cursor(l, r, at);
	}
}

void list_follow(struct list *l)
{
	l->follow = true;
}

void list_move(struct list *l, const struct rows *r, int by)
{
	int direction = by < 0 ? -1 : 1, at;

	if (!l->count)
		return;
	at = l->cursor < 0 ? nearest(l, r, l->top, 1) : nearest(l, r, l->cursor + by, direction);
	if (at < 0)
		return;
	set_cursor(l, r, at);
	l->follow = l->tail && at == nearest(l, r, l->count - 1, -1);
	if (by < 0 && at == nearest(l, r, 0, 1))
		l->top = l->pinned;
}

void list_top(struct list *l, const struct rows *r)
{
	list_move(l, r, -(l->count + 1));
	l->shift = 0;
}

void list_bottom(struct list *l, const struct rows *r)
{
	if (l->cursor < 0)
		list_move(l, r, 1);
	list_move(l, r, l->count + 1);
}

int list_page(const struct list *l)
{
	return body(l) > 1 ? body(l) - 1 : 1;
}

bool list_find(struct list *l, const struct rows *r, int direction)
{
	struct span search = span_of(l->search);
	int step = direction < 0 ? -1 : 1, at = l->cursor < 0 ? (step > 0 ? -1 : 0) : l->cursor;

	if (!search.len || !l->count)
		return false;
	if (!direction && at >= 0)
		at--;
	for (int n = 0; n < l->count; n++) {
		at = (at + step + l->count) % l->count;
		if (selectable(l, r, at) && rows_match(rows_line(r, (size_t)l->shown[at]), search) >= 0) {
			set_cursor(l, r, at);
			l->follow = false;
			return true;
		}
	}
	return false;
}

const struct row *list_current(const struct list *l, const struct rows *r)
{
	return selectable(l, r, l->cursor) ? row_at(l, r, l->cursor) : NULL;
}

bool list_is_open(const struct list *l, uint64_t key)
{
	for (int i = 0; i < l->opens; i++)
		if (l->open[i] == key)
			return true;
	return false;
}

void list_toggle(struct list *l, uint64_t key)
{
	for (int i = 0; i < l->opens; i++) {
		if (l->open[i] == key) {
			l->open[i] = l->open[--l->opens];
			return;
		}
	}
	if (l->opens == LIST_OPEN_MAX) { /* the oldest closes */
		memmove(l->open, l->open + 1, sizeof l->open - sizeof *l->open);
		l->opens--;
	}
	l->open[l->opens++] = key;
	l->follow = false;
}

bool list_click(struct list *l, const struct rows *r, int line)
{
	int at = line < l->pinned ? line : l->top + line - l->pinned;

	if (line < 0 || line >= l->height || !selectable(l, r, at))
		return false;
	set_cursor(l, r, at);
	l->follow = l->tail && at == nearest(l, r, l->count - 1, -1);
	return true;
}

void list_draw(const struct list *l, const struct rows *r, struct canvas *c, struct rect where)
{
	struct span search = span_of(l->search);

	for (int line = 0; line < where.h; line++) {
		int at = line < l->pinned ? line : l->top + line - l->pinned;

		if (at >= l->count)
			break;
		rows_draw(r, (size_t)l->shown[at], c, where.x, where.y + line, where.w, l->shift, search);
		if (at == l->cursor)
			canvas_select(c, where.x, where.y + line, where.w);
	}
}
