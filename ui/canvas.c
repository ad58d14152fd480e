#include "config.h"

#include "ui/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const struct cell blank = { .text = " ", .len = 1, .width = 1 };

/* What stands in for our own glyphs without UTF-8. */
static const struct {
	uint32_t code;
	char ascii;
} fallback[] = {
	{ 0x2013, '-' },
	{ 0x2500, '-' },
	{ 0x2502, '|' },
	{ 0x2026, '~' },
	{ 0x2190, '<' },
	{ 0x2192, '>' },
	{ 0x2191, '^' },
	{ 0x2193, 'v' },
	{ 0x25b8, '+' },
	{ 0x25be, '-' },
	{ 0x00b7, '.' },
	{ 0x00d7, 'x' },
	{ 0x00b0, ' ' },
	{ 0x2581, '.' },
	{ 0x2582, ':' },
	{ 0x2583, '-' },
	{ 0x2584, '=' },
	{ 0x2585, '+' },
	{ 0x2586, '*' },
	{ 0x2587, '#' },
	{ 0x2588, '#' },
	{ 0x2591, '.' },
	{ 0x25cf, '*' },
	{ 0x2022, '*' },
};

void canvas_init(struct canvas *c)
{
	memset(c, 0, sizeof *c);
}

void canvas_release(struct canvas *c)
{
	free(c->cell);
	canvas_init(c);
}

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

void canvas_resize(struct canvas *c, int w, int h)
{
	w = clamp(w, 0, CANVAS_SIDE_MAX);
	h = clamp(h, 0, CANVAS_SIDE_MAX);
	if (w != c->w || h != c->h || !c->cell)
		c->cell = mem_array(c->cell, (size_t)w * (size_t)h + 1, sizeof *c->cell);
	c->w = w;
	c->h = h;
	canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->w * c->h; i++)
		c->cell[i] = blank;
	c->clip = (struct rect){ 0, 0, c->w, c->h };
}

struct rect canvas_clip(struct canvas *c, struct rect clip)
{
	struct rect before = c->clip;
	int x0 = clamp(clip.x, 0, c->w), y0 = clamp(clip.y, 0, c->h);
	int x1 = clamp(clip.x + (clip.w > 0 ? clip.w : 0), x0, c->w),
	    y1 = clamp(clip.y + (clip.h > 0 ? clip.h : 0), y0, c->h);

	c->clip = (struct rect){ x0, y0, x1 - x0, y1 - y0 };
	return before;
}

static bool inside(const struct canvas *c, int x, int y)
{
	return x >= c->clip.x && x < c->clip.x + c->clip.w && y >= c->clip.y && y < c->clip.y + c->clip.h;
}

static struct cell *cell_at(struct canvas *c, int x, int y)
{
	return &c->cell[y * c->w + x];
}

/* A wide character that loses one half loses the other too. */
static void break_wide(struct canvas *c, int x, int y)
{
	struct cell *at = cell_at(c, x, y);

	if (at->width == 0 && x > 0)
		at[-1] = blank;
	if (at->width == 2 && x + 1 < c->w)
		at[1] = blank;
}

static void put(struct canvas *c, int x, int y, enum style style, const char *text, size_t len, int width)
{
	struct cell *at;

	if (!inside(c, x, y) || (width == 2 && !inside(c, x + 1, y))) {
		if (width == 2 && inside(c, x, y))
			put(c, x, y, style, " ", 1, 1);
		if (width == 2 && inside(c, x + 1, y))
			put(c, x + 1, y, style, " ", 1, 1);
		return;
	}
	break_wide(c, x, y);
	at = cell_at(c, x, y);
	memset(at, 0, sizeof *at);
	memcpy(at->text, text, len);
	at->len = (uint8_t)len;
	at->style = (uint8_t)style;
	at->width = (uint8_t)width;
	if (width == 2) {
		break_wide(c, x + 1, y);
		memset(&at[1], 0, sizeof at[1]);
		at[1].style = (uint8_t)style;
	}
}

static char ascii_of(uint32_t code)
{
	for (size_t i = 0; i < sizeof fallback / sizeof *fallback; i++)
		if (fallback[i].code == code)
			return fallback[i].ascii;
	return '?';
}

/* A combining mark goes into the cell of its base, as long as there is room. */
static void put_mark(struct canvas *c, int x, int y, const char *text, size_t len)
{
	struct cell *at;

	if (c->ascii || !inside(c, x, y))
		return;
	at = cell_at(c, x, y);
	if (at->width == 0 || at->len + len > CELL_TEXT_MAX)
		return;
	memcpy(at->text + at->len, text, len);
	at->len = (uint8_t)(at->len + len);
}

static void put_code(struct canvas *c, int x, int y, enum style style, uint32_t code, int width)
{
	char text[4];
	size_t len;

	/* Scrubbed text has neither controls nor invalid bytes; this is the last line of defence. */
	if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000)) {
		put(c, x, y, style, "?", 1, 1);
		return;
	}
	if (c->ascii && code >= 0x7f) {
		text[0] = ascii_of(code);
		for (int i = 0; i < width; i++)
			put(c, x + i, y, style, text, 1, 1);
		return;
	}
	len = text_put(text, code);
	put(c, x, y, style, text, len, width);
}

int canvas_text(struct canvas *c, int x, int y, int w, enum style style, struct span text)
{
	int used = 0, base = -1;
	uint32_t code;

	if (y < c->clip.y || y >= c->clip.y + c->clip.h)
		return 0;
	while (text_next(&text, &code)) {
		int width = code >= 0x20 && code < 0x7f ? 1 : text_code_width(code);
		char mark[4];

		if (width == 0) {
			if (base >= 0)
				put_mark(c, x + base, y, mark, text_put(mark, code));
			continue;
		}
		if (w >= 0 && used + width > w)
			break;
		put_code(c, x + used, y, style, code, width);
		base = used;
		used += width;
	}
	return used;
}

void canvas_fill(struct canvas *c, struct rect where, enum style style)
{
	struct rect before = canvas_clip(c, where), r = c->clip;

	for (int y = r.y; y < r.y + r.h; y++)
		for (int x = r.x; x < r.x + r.w; x++)
			put(c, x, y, style, " ", 1, 1);
	c->clip = before;
}

void canvas_hline(struct canvas *c, int x, int y, int w, enum style style)
{
	for (int i = 0; i < w; i++)
		put_code(c, x + i, y, style, 0x2500, 1);
}

void canvas_select(struct canvas *c, int x, int y, int w)
{
	for (int i = x; i < x + w; i++)
		if (inside(c, i, y))
			cell_at(c, i, y)->selected = 1;
}

void canvas_style(struct canvas *c, int x, int y, int w, enum style style)
{
	for (int i = x; i < x + w; i++)
		if (inside(c, i, y))
			cell_at(c, i, y)->style = (uint8_t)style;
}

static void trim(struct buf *out, size_t from)
{
	while (out->len > from && out->at[out->len - 1] == ' ')
		out->at[--out->len] = 0;
}

void canvas_dump(const struct canvas *c, struct buf *out)
{
	static const char letter[] = {
#define STYLE(name, l) l,
		CANVAS_STYLES
#undef STYLE
	};

	for (int y = 0; y < c->h; y++) {
		const struct cell *row = &c->cell[y * c->w];
		size_t from = out->len;
		bool styled = false;

		for (int x = 0; x < c->w; x++) {
			buf_add(out, row[x].text, row[x].len);
			styled = styled || row[x].style || row[x].selected;
		}
		trim(out, from);
		buf_char(out, '\n');
		if (!styled)
			continue;
		buf_char(out, '~');
		from = out->len;
		for (int x = 0; x < c->w; x++)
			buf_char(out, row[x].selected ? 'R' : letter[row[x].style]);
		trim(out, from);
		buf_char(out, '\n');
	}
}
