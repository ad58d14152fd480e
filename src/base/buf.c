/* buf.c - growing bytes with a maximum. */
#include "config.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BUF_MAX_DEFAULT ((size_t)64 << 20)

void buf_init(struct buf *buf, size_t max)
{
	memset(buf, 0, sizeof *buf);
	buf->max = max ? max : BUF_MAX_DEFAULT;
}

void buf_release(struct buf *buf)
{
	free(buf->at);
	buf_init(buf, buf->max);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->cut = false;
	if (buf->at)
		buf->at[0] = 0;
}

/* Room for n more bytes and the NUL; returns how many of them fit under the maximum. */
static size_t grow(struct buf *buf, size_t n)
{
	size_t want;

	if (n > buf->max - buf->len) {
		n = buf->max - buf->len;
		buf->cut = true;
	}
	want = buf->len + n + 1;
	if (want > buf->cap) {
		size_t cap = buf->cap ? buf->cap : 64;

		while (cap < want)
			cap *= 2;
		buf->at = mem_realloc(buf->at, cap);
		buf->cap = cap;
	}
	return n;
}

void buf_add(struct buf *buf, const void *at, size_t len)
{
	len = grow(buf, len);
	if (len)
		memcpy(buf->at + buf->len, at, len);
	buf->len += len;
	buf->at[buf->len] = 0;
}

void buf_char(struct buf *buf, char c)
{
	if (buf->len + 1 < buf->cap && buf->len < buf->max) {
		buf->at[buf->len++] = c;
		buf->at[buf->len] = 0;
		return;
	}
	buf_add(buf, &c, 1);
}

void buf_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_span(struct buf *buf, struct span span)
{
	buf_add(buf, span.at, span.len);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	if (n > 0) {
		room = grow(buf, (size_t)n);
		vsnprintf(buf->at + buf->len, room + 1, format, again);
		buf->len += room;
	}
	va_end(again);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

void buf_drop(struct buf *buf, size_t n)
{
	if (n >= buf->len) {
		buf_clear(buf);
		return;
	}
	memmove(buf->at, buf->at + n, buf->len - n + 1);
	buf->len -= n;
}

struct span buf_as_span(const struct buf *buf)
{
	return span_make(buf->at ? buf->at : "", buf->len);
}

const char *buf_string(const struct buf *buf)
{
	return buf->at ? buf->at : "";
}

char *buf_take(struct buf *buf)
{
	char *at = buf->at ? buf->at : mem_text("");
	size_t max = buf->max;

	buf_init(buf, max);
	return at;
}
