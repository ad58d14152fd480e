#include "config.h"

#include "ui/rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#define TEXT_MAX (16 << 20)
#define PIECE_MAX (64 << 10) /* bytes of one foreign text */

void rows_init(struct rows *r)
{
	*r = (struct rows){ 0 };
	buf_init(&r->text, TEXT_MAX);
	buf_init(&r->scratch, 4 * PIECE_MAX);
}

void rows_release(struct rows *r)
{
	buf_release(&r->text);
	buf_release(&r->scratch);
	free(r->run);
	free(r->row);
	*r = (struct rows){ 0 };
}

void rows_clear(struct rows *r)
{
	buf_clear(&r->text);
	r->count = r->runs = 0;
	r->column = 0;
}

void rows_start(struct rows *r, uint64_t key, unsigned flags)
{
	if (r->count == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 128;
		r->row = mem_array(r->row, r->cap, sizeof *r->row);
	}
	r->row[r->count++] = (struct row){ .key = key, .flags = flags, .text = r->text.len, .run = r->runs };
	r->column = 0;
}

void rows_target(struct rows *r, int64_t target)
{
	r->row[r->count - 1].target = target;
}

/* Scrubbed bytes of known width. */
static void append(struct rows *r, enum style style, struct span text, int columns)
{
	struct row *row = &r->row[r->count - 1];
	size_t before = r->text.len;
	uint32_t len;

	buf_span(&r->text, text);
	len = (uint32_t)(r->text.len - before);
	if (!len)
		return;
	row->len += len;
	r->column += columns;
	if (row->runs && r->run[r->runs - 1].style == style) {
		r->run[r->runs - 1].len += len;
		return;
	}
	if (r->runs == r->run_cap) {
		r->run_cap = r->run_cap ? r->run_cap * 2 : 512;
		r->run = mem_array(r->run, r->run_cap, sizeof *r->run);
	}
	r->run[r->runs++] = (struct run){ .len = len, .style = (uint8_t)style };
	row->runs++;
}

/* Harmless text and its width; plain ASCII, nearly everything, goes through as it is. */
static struct span scrub(struct rows *r, struct span text, int *columns)
{
	size_t n = 0;

	text = span_sub(text, 0, PIECE_MAX);
	while (n < text.len && text.at[n] >= 0x20 && text.at[n] < 0x7f)
		n++;
	if (n == text.len) {
		*columns = (int)n;
		return text;
	}
	buf_clear(&r->scratch);
	text_scrub(&r->scratch, text);
	text = buf_as_span(&r->scratch);
	*columns = text_width(text);
	return text;
}

void rows_span(struct rows *r, enum style style, struct span text)
{
	int columns;

	text = scrub(r, text, &columns);
	append(r, style, text, columns);
}

void rows_text(struct rows *r, enum style style, const char *text)
{
	rows_span(r, style, span_of(text));
}

void rows_print(struct rows *r, enum style style, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	rows_text(r, style, text);
}

void rows_gap(struct rows *r, int columns)
{
	static const char blanks[] = "                                                                ";

	while (columns > 0) {
		int n = columns < (int)sizeof blanks - 1 ? columns : (int)sizeof blanks - 1;

		append(r, STYLE_NORMAL, span_make(blanks, (size_t)n), n);
		columns -= n;
	}
}

void rows_to(struct rows *r, int column)
{
	rows_gap(r, column > r->column ? column - r->column : 1);
}

void rows_cell(struct rows *r, int w, enum style style, struct span text)
{
	int columns, start = r->column;

	if (w <= 0)
		return;
	text = scrub(r, text, &columns);
	if (columns > w) {
		text = text_fit(text, w - 1);
		append(r, style, text, text_width(text));
		append(r, style, span_of("…"), 1);
	} else {
		append(r, style, text, columns);
	}
	rows_gap(r, w - (r->column - start));
}

void rows_right(struct rows *r, int w, enum style style, const char *format, ...)
{
	char text[256];
	struct span s;
	int columns;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	s = scrub(r, span_of(text), &columns);
	if (columns > w) {
		rows_cell(r, w, style, span_of(text));
		return;
	}
	rows_gap(r, w - columns);
	append(r, style, s, columns);
}

struct span rows_line(const struct rows *r, size_t i)
{
	return span_make(buf_string(&r->text) + r->row[i].text, r->row[i].len);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

long rows_match(struct span text, struct span pattern)
{
	if (!pattern.len || pattern.len > text.len)
		return -1;
	for (size_t i = 0; i + pattern.len <= text.len; i++) {
		size_t n = 0;

		while (n < pattern.len && lower(text.at[i + n]) == lower(pattern.at[n]))
			n++;
		if (n == pattern.len)
			return (long)i;
	}
	return -1;
}

static void draw_matches(struct span line, struct canvas *c, int x, int y, int shift, struct span search)
{
	size_t done = 0;

	for (;;) {
		long at = rows_match(span_sub(line, done, line.len), search);
		int from, width;

		if (at < 0)
			return;
		from = text_width(span_sub(line, 0, done + (size_t)at));
		width = text_width(span_sub(line, done + (size_t)at, search.len));
		canvas_style(c, x + from - shift, y, width, STYLE_MATCH);
		done += (size_t)at + search.len;
	}
}

void rows_draw(const struct rows *r, size_t i, struct canvas *c, int x, int y, int w, int shift, struct span search)
{
	struct rect before = canvas_clip(c, (struct rect){ x, y, w, 1 });
	const struct row *row = &r->row[i];
	const char *at = buf_string(&r->text) + row->text;
	int column = 0;

	if (row->flags & ROW_PIN)
		shift = 0;
	for (size_t n = 0; n < row->runs && column - shift <= w; n++) {
		const struct run *run = &r->run[row->run + n];

		column += canvas_text(c, x + column - shift, y, -1, (enum style)run->style, span_make(at, run->len));
		at += run->len;
	}
	if (search.len)
		draw_matches(rows_line(r, i), c, x, y, shift, search);
	if (column - shift > w && !(row->flags & ROW_HEAD))
		canvas_text(c, x + w - 1, y, 1, STYLE_DIM, span_of("…"));
	if (shift && column)
		canvas_text(c, x, y, 1, STYLE_DIM, span_of("…"));
	canvas_clip(c, before);
}

uint64_t rows_key(const char *kind, int64_t number)
{
	uint64_t hash = map_hash(kind, span_of(kind).len);

	return (hash ^ (uint64_t)number * 0x9e3779b97f4a7c15u) | 1;
}
