/* span.h - a borrowed run of bytes, and cursor-style parsing of it.
 *
 * A span does not own its bytes and is not NUL-terminated; it is valid as long as the buffer it
 * points into (by rule: until the next turn of the loop). Cutting functions move the span they
 * are given; they return true when they found what they were asked for, and otherwise leave the
 * span as it was. No function reads outside [at, at+len).
 */
#ifndef HANGTOP_BASE_SPAN_H
#define HANGTOP_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *at;
	size_t len;
};

/* Inline: they are called for every line of logs of gigabytes, mostly with constants. */
static inline struct span span_make(const char *at, size_t len)
{
	struct span s = { at, len };

	return s;
}

/* NULL gives an empty span. */
static inline struct span span_of(const char *text)
{
	return text ? span_make(text, strlen(text)) : span_make("", 0);
}

/* Clamped to s. */
static inline struct span span_sub(struct span s, size_t from, size_t len)
{
	if (from > s.len)
		from = s.len;
	if (len > s.len - from)
		len = s.len - from;
	return span_make(s.at ? s.at + from : s.at, len);
}

static inline bool span_same(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Equal to text. */
static inline bool span_is(struct span s, const char *text)
{
	return span_same(s, span_make(text, strlen(text)));
}

static inline bool span_starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && (n == 0 || memcmp(s.at, prefix, n) == 0);
}

int span_compare(struct span a, struct span b);        /* bytes, shorter first on a tie */
bool span_ends(struct span s, const char *suffix);
bool span_contains(struct span s, const char *text);
long span_find(struct span s, const char *text);       /* offset, or -1 */
long span_find_char(struct span s, char c);            /* offset, or -1 */
long span_find_last(struct span s, char c);            /* offset, or -1 */
struct span span_after(struct span s, const char *text); /* what stands behind the first text; empty when there is none */
struct span span_trim(struct span s);                  /* blanks, tabs, CR and LF off both ends */

/* Take the next line (without its LF and one CR before it) off `rest`. False at the end. */
bool span_line(struct span *rest, struct span *line);
/* Take the bytes before `separator` off `rest`, separator swallowed; the last piece is what is
 * left. False when rest is exhausted (at == NULL after the last piece). */
bool span_cut(struct span *rest, char separator, struct span *piece);
/* Take a run of non-blank bytes (blanks and tabs before it skipped). False when there is none. */
bool span_word(struct span *rest, struct span *word);
bool span_skip(struct span *rest, const char *prefix);  /* swallow prefix if it is there */

/* Numbers: swallow leading digits off `rest`; false without digits or on overflow. */
bool span_take_uint(struct span *rest, uint64_t *value);
bool span_take_int(struct span *rest, int64_t *value);  /* optional - or + */
bool span_take_hex(struct span *rest, uint64_t *value); /* optional 0x */
bool span_take_real(struct span *rest, double *value);  /* 12, 12.5, -1.5e3; locale-neutral */
/* The whole span (trimmed) must be the number. */
bool span_uint(struct span s, uint64_t *value);
bool span_int(struct span s, int64_t *value);
bool span_real(struct span s, double *value);

/* How many letters differ (Levenshtein; the first 16 of each): good enough to guess a slip of the finger. */
int span_distance(struct span a, struct span b);

#endif
