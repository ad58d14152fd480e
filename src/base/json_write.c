/* json_write.c - streaming JSON. */
#include "config.h"

#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DEPTH_MAX ((int)(sizeof ((struct json_write *)0)->first / sizeof(bool)))

void jw_start(struct json_write *w, struct buf *out)
{
	w->out = out;
	w->depth = 0;
	w->first[0] = true;
}

static void put_string(struct buf *out, struct span text)
{
	buf_char(out, '"');
	while (text.len) {
		size_t plain = 0;
		struct span before;
		uint32_t code;

		while (plain < text.len && text.at[plain] >= 0x20 && text.at[plain] < 0x7f && text.at[plain] != '"' &&
			text.at[plain] != '\\')
			plain++;
		buf_add(out, text.at, plain);
		text = span_sub(text, plain, text.len);
		before = text;
		if (!text_next(&text, &code))
			break;
		if (code == '"' || code == '\\')
			buf_printf(out, "\\%c", (char)code);
		else if (code == '\n')
			buf_text(out, "\\n");
		else if (code == '\t')
			buf_text(out, "\\t");
		else if (code == '\r')
			buf_text(out, "\\r");
		else if (code < 0x20)
			buf_printf(out, "\\u%04x", (unsigned)code);
		else if (code >= 0xdc00 && code < 0xdd00)
			buf_text(out, "\xef\xbf\xbd");
		else
			buf_add(out, before.at, before.len - text.len);
	}
	buf_char(out, '"');
}

static void start_value(struct json_write *w, const char *key)
{
	if (!w->first[w->depth])
		buf_char(w->out, ',');
	w->first[w->depth] = false;
	if (key) {
		put_string(w->out, span_of(key));
		buf_char(w->out, ':');
	}
}

static void deeper(struct json_write *w, const char *key, char c)
{
	start_value(w, key);
	buf_char(w->out, c);
	if (w->depth == DEPTH_MAX - 1)
		abort(); /* our own nesting, never the input's */
	w->first[++w->depth] = true;
}

void jw_object(struct json_write *w, const char *key)
{
	deeper(w, key, '{');
}

void jw_array(struct json_write *w, const char *key)
{
	deeper(w, key, '[');
}

void jw_end_object(struct json_write *w)
{
	w->depth--;
	buf_char(w->out, '}');
}

void jw_end_array(struct json_write *w)
{
	w->depth--;
	buf_char(w->out, ']');
}

void jw_text(struct json_write *w, const char *key, struct span text)
{
	start_value(w, key);
	put_string(w->out, text);
}

void jw_string(struct json_write *w, const char *key, const char *text)
{
	if (text)
		jw_text(w, key, span_of(text));
	else
		jw_null(w, key);
}

void jw_int(struct json_write *w, const char *key, int64_t value)
{
	char digits[24], *at = digits + sizeof digits;
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	start_value(w, key);
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--at = '-';
	buf_add(w->out, at, (size_t)(digits + sizeof digits - at));
}

void jw_real(struct json_write *w, const char *key, double value)
{
	char text[40];

	if (!isfinite(value)) {
		jw_null(w, key);
		return;
	}
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	if (!strpbrk(text, ".e"))
		strncat(text, ".0", sizeof text - strlen(text) - 1);
	start_value(w, key);
	buf_text(w->out, text);
}

void jw_bool(struct json_write *w, const char *key, bool value)
{
	start_value(w, key);
	buf_text(w->out, value ? "true" : "false");
}

void jw_null(struct json_write *w, const char *key)
{
	start_value(w, key);
	buf_text(w->out, "null");
}

void jw_raw(struct json_write *w, const char *key, struct span json)
{
	start_value(w, key);
	buf_span(w->out, json);
}
