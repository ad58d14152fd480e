/* buf.h - a growing byte buffer with a maximum from birth.
 *
 * Bytes past the maximum are dropped and `cut` is set; nothing fails. The bytes are always
 * followed by a NUL that is not counted. buf_init() does not allocate. Zero max means 64 MiB.
 */
#ifndef HANGTOP_BASE_BUF_H
#define HANGTOP_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct buf {
	char *at;
	size_t len, cap, max;
	bool cut;               /* something did not fit */
};

void buf_init(struct buf *buf, size_t max);
void buf_release(struct buf *buf);
void buf_clear(struct buf *buf);                        /* keeps the memory */
void buf_add(struct buf *buf, const void *at, size_t len);
void buf_char(struct buf *buf, char c);
void buf_text(struct buf *buf, const char *text);
void buf_span(struct buf *buf, struct span span);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void buf_drop(struct buf *buf, size_t n);               /* remove n bytes at the front */
struct span buf_as_span(const struct buf *buf);
const char *buf_string(const struct buf *buf);          /* "" when empty; never NULL */
char *buf_take(struct buf *buf);                        /* hand over the heap string; buf becomes empty */

#endif
