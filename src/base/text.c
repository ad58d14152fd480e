/* text.c - UTF-8, widths, scrubbing, and short forms of numbers. */
#include "config.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define INVALID 0xDC00u

/* Length of a well-formed sequence at s, 0 when it is not one. */
static int decode(struct span s, uint32_t *code)
{
	const unsigned char *b = (const unsigned char *)s.at;
	int n = b[0] < 0x80 ? 1 : b[0] >= 0xc2 && b[0] < 0xe0 ? 2 : (b[0] & 0xf0) == 0xe0 ? 3 : b[0] >= 0xf0 && b[0] < 0xf5 ? 4 : 0;
	uint32_t c;

	if (!n || s.len < (size_t)n)
		return 0;
	c = n == 1 ? b[0] : b[0] & (0xffu >> (n + 1));
	for (int i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (b[i] & 0x3f);
	}
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) || (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	*code = c;
	return n;
}

bool text_next(struct span *rest, uint32_t *code)
{
	int n;

	if (!rest->len)
		return false;
	n = decode(*rest, code);
	if (!n) {
		*code = INVALID + (unsigned char)rest->at[0];
		n = 1;
	}
	*rest = span_sub(*rest, (size_t)n, rest->len);
	return true;
}

size_t text_put(char out[4], uint32_t code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

int text_code_width(uint32_t code)
{
	int width;

	if (code >= 0x20 && code < 0x7f)
		return 1;
	width = wcwidth((wchar_t)code);
	return width < 0 ? 1 : width;
}

int text_width(struct span s)
{
	int width = 0;
	uint32_t code;

	while (text_next(&s, &code))
		width += text_code_width(code);
	return width;
}

struct span text_fit(struct span s, int columns)
{
	struct span rest = s;
	size_t fits = 0;
	int width = 0;
	uint32_t code;

	while (text_next(&rest, &code)) {
		width += text_code_width(code);
		if (width > columns)
			break;
		fits = s.len - rest.len;
	}
	return span_sub(s, 0, fits);
}

/* Characters that steer the direction or hide: they could make a line read as something else. */
static bool hides(uint32_t c)
{
	return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

static size_t plain_run(struct span s)
{
	size_t n = 0;

	while (n < s.len && s.at[n] >= 0x20 && s.at[n] < 0x7f)
		n++;
	return n;
}

void text_scrub(struct buf *out, struct span foreign)
{
	while (foreign.len) {
		size_t plain = plain_run(foreign);
		struct span before;
		uint32_t code;

		buf_add(out, foreign.at, plain);
		foreign = span_sub(foreign, plain, foreign.len);
		before = foreign;
		if (!text_next(&foreign, &code))
			break;
		if (code == '\t')
			buf_char(out, ' ');
		else if (code < 0x20)
			buf_printf(out, "^%c", (char)(code + '@'));
		else if (code == 0x7f)
			buf_text(out, "^?");
		else if (code >= INVALID && code < INVALID + 256)
			buf_printf(out, "<%02x>", (unsigned)(code - INVALID));
		else if (code >= 0x80 && code < 0xa0)
			buf_printf(out, "<%02x>", (unsigned)code);
		else if (!hides(code))
			buf_add(out, before.at, before.len - foreign.len);
	}
}

bool text_looks_secret(struct span name)
{
	static const char *const part[] = { "KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "SESSION" };
	char upper[256];
	size_t n = name.len < sizeof upper - 1 ? name.len : sizeof upper - 1;

	for (size_t i = 0; i < n; i++)
		upper[i] = (char)toupper((unsigned char)name.at[i]);
	upper[n] = 0;
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
		if (strstr(upper, part[i]))
			return true;
	return false;
}

const char *text_duration(char *out, size_t size, int64_t ms)
{
	long long s;

	if (ms < 0)
		ms = 0;
	s = ms / 1000;
	if (ms < 1000)
		snprintf(out, size, "%lldms", (long long)ms);
	else if (s < 60)
		snprintf(out, size, "%llds", s);
	else if (s < 3600)
		snprintf(out, size, "%lldm%02llds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, size, "%lldd%02lldh", s / 86400, s / 3600 % 24);
	return out;
}

const char *text_bytes(char *out, size_t size, double bytes)
{
	static const char unit[] = "BKMGTPE";
	int u = 0;

	if (!isfinite(bytes) || bytes < 0)
		bytes = 0;
	while (bytes >= 999.5 && unit[u + 1]) {
		bytes /= 1024;
		u++;
	}
	if (u == 0 || bytes >= 99.95)
		snprintf(out, size, "%.0f%c", bytes, unit[u]);
	else
		snprintf(out, size, "%.1f%c", bytes, unit[u]);
	return out;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Where the value behind a name begins: "name=", "name: ", "name": "; 0 when there is none. */
static size_t value_after(struct span s, size_t i)
{
	size_t start = i;

	while (i < s.len && i < start + 2 && (s.at[i] == '"' || s.at[i] == '\''))
		i++;
	while (i < s.len && s.at[i] == ' ')
		i++;
	if (i >= s.len || (s.at[i] != '=' && s.at[i] != ':'))
		return 0;
	i++;
	while (i < s.len && s.at[i] == ' ')
		i++;
	return i;
}

static size_t value_end(struct span s, size_t i)
{
	char quote;

	if (i + 7 < s.len && (memcmp(s.at + i, "Bearer ", 7) == 0 || memcmp(s.at + i, "Basic ", 6) == 0))
		i += s.at[i + 1] == 'e' ? 7 : 6;
	quote = i < s.len && (s.at[i] == '"' || s.at[i] == '\'') ? s.at[i] : 0;

	if (quote) {
		for (i++; i < s.len && s.at[i] != quote; i++)
			;
		return i < s.len ? i + 1 : i;
	}
	while (i < s.len && !strchr(" \t,;)]}&\"'", s.at[i]))
		i++;
	return i;
}

/* Tokens that tell themselves. */
static bool token_at(struct span s, size_t i)
{
	static const char *const prefix[] = { "sk-", "hf_", "ghp_", "xoxb-", "AKIA" };

	for (size_t k = 0; k < sizeof prefix / sizeof prefix[0]; k++) {
		size_t n = strlen(prefix[k]);

		if (s.len - i > n + 12 && memcmp(s.at + i, prefix[k], n) == 0 && isalnum((unsigned char)s.at[i + n]))
			return true;
	}
	return false;
}

/* Plain numbers and switches are no secrets: "max_tokens=512", "tokens: 9", "token usage: 0.4". */
static bool worth_masking(struct span value)
{
	size_t letters = 0;

	for (size_t i = 0; i < value.len; i++)
		letters += isalpha((unsigned char)value.at[i]) != 0;
	return value.len >= 4 && letters > 0 && !span_is(value, "None") && !span_is(value, "null") && !span_is(value, "True") && !span_is(value, "False") &&
	       !span_is(value, "true") && !span_is(value, "false");
}

void text_mask(struct buf *out, struct span line)
{
	size_t plain = 0, i = 0;

	while (i < line.len) {
		size_t start = i, value, end;

		if (!name_char(line.at[i])) {
			i++;
			continue;
		}
		while (i < line.len && name_char(line.at[i]))
			i++;
		value = end = 0;
		if (token_at(line, start)) {
			value = start;
			end = i;
		} else if (span_is(span_sub(line, start, i - start), "Bearer") && i + 1 < line.len && line.at[i] == ' ') {
			value = i + 1;
			end = value_end(line, value);
		} else if (text_looks_secret(span_sub(line, start, i - start)) && (value = value_after(line, i))) {
			end = value_end(line, value);
		}
		if (!value || !worth_masking(span_sub(line, value, end - value)))
			continue;
		buf_add(out, line.at + plain, value - plain);
		buf_text(out, "***");
		plain = i = end;
	}
	buf_add(out, line.at + plain, line.len - plain);
}
