/* span.c - borrowed bytes and numbers in them. */
#include "config.h"

#include "base/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int span_compare(struct span a, struct span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.at, b.at, n) : 0;

	return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

bool span_ends(struct span s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && (n == 0 || memcmp(s.at + s.len - n, suffix, n) == 0);
}

#define FALSE_STARTS 6

/* memmem() prepares a table at each call: that pays only where the first letter is a common one. */
long span_find(struct span s, const char *text)
{
	size_t n = strlen(text);
	const char *at = s.at, *last;

	if (n == 0)
		return 0;
	if (s.len < n)
		return -1;
	last = s.at + (s.len - n);
	for (int i = 0; i < FALSE_STARTS; i++, at++) {
		at = at <= last ? memchr(at, *text, (size_t)(last - at) + 1) : NULL;
		if (!at)
			return -1;
		if (memcmp(at, text, n) == 0)
			return (long)(at - s.at);
	}
	at = at <= last ? memmem(at, s.len - (size_t)(at - s.at), text, n) : NULL;
	return at ? (long)(at - s.at) : -1;
}

bool span_contains(struct span s, const char *text)
{
	return span_find(s, text) >= 0;
}

long span_find_char(struct span s, char c)
{
	const char *at = s.len ? memchr(s.at, c, s.len) : NULL;

	return at ? (long)(at - s.at) : -1;
}

long span_find_last(struct span s, char c)
{
	const char *at = s.len ? memrchr(s.at, c, s.len) : NULL;

	return at ? (long)(at - s.at) : -1;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct span span_after(struct span s, const char *text)
{
	long at = span_find(s, text);

	return at < 0 ? span_make("", 0) : span_sub(s, (size_t)at + strlen(text), s.len);
}

struct span span_trim(struct span s)
{
	while (s.len && blank(s.at[0]))
		s = span_sub(s, 1, s.len);
	while (s.len && blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

bool span_line(struct span *rest, struct span *line)
{
	long end;

	if (!rest->len)
		return false;
	end = span_find_char(*rest, '\n');
	if (end < 0) {
		*line = *rest;
		*rest = span_sub(*rest, rest->len, 0);
	} else {
		*line = span_sub(*rest, 0, (size_t)end);
		*rest = span_sub(*rest, (size_t)end + 1, rest->len);
	}
	if (span_ends(*line, "\r"))
		line->len--;
	return true;
}

bool span_cut(struct span *rest, char separator, struct span *piece)
{
	long end;

	if (!rest->at)
		return false;
	end = span_find_char(*rest, separator);
	if (end < 0) {
		*piece = *rest;
		*rest = span_make(NULL, 0);
	} else {
		*piece = span_sub(*rest, 0, (size_t)end);
		*rest = span_sub(*rest, (size_t)end + 1, rest->len);
	}
	return true;
}

bool span_word(struct span *rest, struct span *word)
{
	struct span s = *rest;
	size_t n = 0;

	while (s.len && (s.at[0] == ' ' || s.at[0] == '\t'))
		s = span_sub(s, 1, s.len);
	while (n < s.len && s.at[n] != ' ' && s.at[n] != '\t')
		n++;
	if (!n)
		return false;
	*word = span_sub(s, 0, n);
	*rest = span_sub(s, n, s.len);
	return true;
}

bool span_skip(struct span *rest, const char *prefix)
{
	if (!span_starts(*rest, prefix))
		return false;
	*rest = span_sub(*rest, strlen(prefix), rest->len);
	return true;
}

bool span_take_uint(struct span *rest, uint64_t *value)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < rest->len && rest->at[n] >= '0' && rest->at[n] <= '9'; n++) {
		unsigned digit = (unsigned)(rest->at[n] - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	if (!n)
		return false;
	*value = v;
	*rest = span_sub(*rest, n, rest->len);
	return true;
}

bool span_take_int(struct span *rest, int64_t *value)
{
	struct span s = *rest;
	bool minus = span_skip(&s, "-");
	uint64_t v;

	if (!minus)
		span_skip(&s, "+");
	if (!span_take_uint(&s, &v) || v > (uint64_t)INT64_MAX + (minus ? 1 : 0))
		return false;
	*value = minus ? (int64_t)(0 - v) : (int64_t)v;
	*rest = s;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool span_take_hex(struct span *rest, uint64_t *value)
{
	struct span s = *rest;
	uint64_t v = 0;
	size_t n = 0;

	if (s.len > 2 && s.at[0] == '0' && (s.at[1] == 'x' || s.at[1] == 'X') && hex_digit(s.at[2]) >= 0)
		s = span_sub(s, 2, s.len);
	for (; n < s.len && hex_digit(s.at[n]) >= 0; n++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)hex_digit(s.at[n]);
	}
	if (!n)
		return false;
	*value = v;
	*rest = span_sub(s, n, s.len);
	return true;
}

bool span_take_real(struct span *rest, double *value)
{
	struct span s = *rest;
	bool minus = span_skip(&s, "-"), any = false;
	double v = 0, scale = 1;

	if (!minus)
		span_skip(&s, "+");
	for (; s.len && s.at[0] >= '0' && s.at[0] <= '9'; s = span_sub(s, 1, s.len), any = true)
		v = v * 10 + (s.at[0] - '0');
	if (s.len > 1 && s.at[0] == '.' && s.at[1] >= '0' && s.at[1] <= '9') {
		double digits = 0;

		for (s = span_sub(s, 1, s.len); s.len && s.at[0] >= '0' && s.at[0] <= '9'; s = span_sub(s, 1, s.len)) {
			if (scale < 1e17) {
				digits = digits * 10 + (s.at[0] - '0');
				scale *= 10;
			}
		}
		v += digits / scale;
		any = true;
	}
	if (!any)
		return false;
	if (s.len > 1 && (s.at[0] == 'e' || s.at[0] == 'E')) {
		struct span exponent = span_sub(s, 1, s.len);
		int64_t e;

		if (span_take_int(&exponent, &e) && e > -400 && e < 400) {
			v *= pow(10, (double)e);
			s = exponent;
		}
	}
	*value = minus ? -v : v;
	*rest = s;
	return true;
}

bool span_uint(struct span s, uint64_t *value)
{
	uint64_t v;

	s = span_trim(s);
	if (!span_take_uint(&s, &v) || s.len)
		return false;
	*value = v;
	return true;
}

bool span_int(struct span s, int64_t *value)
{
	int64_t v;

	s = span_trim(s);
	if (!span_take_int(&s, &v) || s.len)
		return false;
	*value = v;
	return true;
}

bool span_real(struct span s, double *value)
{
	double v;

	s = span_trim(s);
	if (!span_take_real(&s, &v) || s.len)
		return false;
	*value = v;
	return true;
}

int span_distance(struct span a, struct span b)
{
	int row[17];

	a = span_sub(a, 0, 16);
	b = span_sub(b, 0, 16);
	for (size_t j = 0; j <= b.len; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= a.len; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= b.len; j++) {
			int best = diagonal + (a.at[i - 1] != b.at[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b.len];
}
