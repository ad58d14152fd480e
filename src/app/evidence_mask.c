/* evidence_mask.c - secrets out of environments and lines. */
#include "config.h"

#include "app/evidence_mask.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

#define TOKEN_MIN 20            /* letters of a value that may be a key */
#define SECRET_MIN 8
#define SECRET_LONGEST 4096

void secrets_add(struct secrets *s, struct span value)
{
	bool digit = false;

	for (size_t i = 0; i < value.len; i++)
		digit = digit || isdigit((unsigned char)value.at[i]);
	if (value.len < SECRET_MIN || value.len > SECRET_LONGEST || s->count == SECRETS_MAX || !digit || value.at[0] == '/')
		return; /* a word or a path would be masked everywhere */
	for (int i = 0; i < s->count; i++)
		if (span_is(value, s->value[i]))
			return;
	s->value[s->count++] = mem_text_n(value.at, value.len);
}

void secrets_mask(const struct secrets *s, struct buf *out, struct span text)
{
	struct buf now, next;

	buf_init(&now, text.len * 2 + 64);
	buf_init(&next, text.len * 2 + 64);
	buf_span(&now, text);
	for (int i = 0; i < s->count; i++) {
		struct span rest = buf_as_span(&now);
		long at = span_find(rest, s->value[i]);

		if (at < 0)
			continue;
		buf_clear(&next);
		for (; at >= 0; at = span_find(rest, s->value[i])) {
			buf_add(&next, rest.at, (size_t)at);
			buf_text(&next, "***");
			rest = span_sub(rest, (size_t)at + strlen(s->value[i]), rest.len);
		}
		buf_span(&next, rest);
		buf_clear(&now);
		buf_span(&now, buf_as_span(&next));
	}
	buf_span(out, buf_as_span(&now));
	buf_release(&now);
	buf_release(&next);
}

void secrets_release(struct secrets *s)
{
	for (int i = 0; i < s->count; i++)
		free(s->value[i]);
	s->count = 0;
}

static bool is_secret_name(struct span name)
{
	static const char *const end[] = { "PASS", "_PWD", "DSN", "PASSPHRASE", "SIGNATURE", "CRED", "CREDS" };

	if (text_looks_secret(name))
		return true;
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		if (span_ends(name, end[i]))
			return true;
	return false;
}

/* Letters and digits in one run, both of them and many: a key, whatever its name. GPUs have such names too. */
static bool is_token(struct span name, struct span value)
{
	size_t digits = 0, letters = 0;

	if (value.len < TOKEN_MIN || span_ends(name, "VISIBLE_DEVICES"))
		return false;
	for (size_t i = 0; i < value.len; i++) {
		unsigned char c = (unsigned char)value.at[i];

		if (!isalnum(c) && !strchr("+=_-.~", c))
			return false;
		digits += isdigit(c) != 0;
		letters += isalpha(c) != 0;
	}
	return digits >= 4 && letters >= 4;
}

/* "scheme://user:password@host": what stands between "//" and "@" goes, when a ':' is in it. */
static void mask_urls(struct buf *out, struct span line)
{
	long at;

	while ((at = span_find(line, "://")) >= 0) {
		size_t from = (size_t)at + 3, i = from;
		bool colon = false;

		for (; i < line.len && !strchr("/ \t\"'@", line.at[i]); i++)
			colon = colon || line.at[i] == ':';
		buf_add(out, line.at, from);
		if (colon && i < line.len && line.at[i] == '@') {
			buf_text(out, "***");
			from = i;
		}
		line = span_sub(line, from, line.len);
	}
	buf_span(out, line);
}

/* "--api-key", "--hf-token"; not "--tokenizer" and "--max-num-batched-tokens". */
static bool is_secret_option(struct span word)
{
	static const char *const end[] = { "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS", "COOKIE" };
	char upper[64];

	while (word.len && strchr("[(\"',", word.at[0])) /* of a list of words in a log */
		word = span_sub(word, 1, word.len);
	while (word.len && strchr("\"',", word.at[word.len - 1]))
		word.len--;
	if (!span_starts(word, "--") || word.len >= sizeof upper)
		return false;
	for (size_t i = 0; i < word.len; i++)
		upper[i] = (char)toupper((unsigned char)word.at[i]);
	for (size_t i = 0; i < sizeof end / sizeof *end; i++)
		if (span_ends(span_make(upper, word.len), end[i]))
			return true;
	return false;
}

/* A command line in a line: py-spy prints one on top, and servers log theirs. The word behind a secret option goes. */
static void mask_options(struct buf *out, struct span line)
{
	struct span rest = line, word;
	bool secret = false;

	while (span_word(&rest, &word)) {
		bool value = secret && !span_starts(word, "-");

		secret = is_secret_option(word);
		if (!value)
			continue;
		buf_add(out, line.at, (size_t)(word.at - line.at));
		buf_text(out, "***");
		line = rest;
	}
	buf_span(out, line);
}

static void mask_line(struct buf *out, struct span line)
{
	struct buf first, second;

	buf_init(&first, line.len * 2 + 64);
	buf_init(&second, line.len * 4 + 64);
	mask_options(&first, line);
	text_mask(&second, buf_as_span(&first));
	mask_urls(out, buf_as_span(&second));
	buf_release(&first);
	buf_release(&second);
}

void evidence_mask_environ(struct buf *out, struct span raw, struct secrets *found)
{
	struct span word;

	while (span_cut(&raw, 0, &word)) {
		long equals = span_find_char(word, '=');
		struct span name = span_sub(word, 0, equals > 0 ? (size_t)equals : 0);
		struct span value = span_sub(word, equals > 0 ? (size_t)equals + 1 : 0, word.len);
		struct buf masked;

		if (!word.len)
			continue;
		buf_init(&masked, word.len * 2 + 64);
		buf_span(&masked, span_sub(word, 0, word.len - value.len));
		if (is_secret_name(name) || is_token(name, value)) {
			buf_text(&masked, "***");
			if (found)
				secrets_add(found, value);
		} else {
			mask_line(&masked, value);
		}
		text_scrub(out, buf_as_span(&masked));
		buf_char(out, '\n');
		buf_release(&masked);
	}
}

void evidence_mask_text(struct buf *out, struct span text)
{
	while (text.len) {
		long end = span_find_char(text, '\n');
		size_t n = end < 0 ? text.len : (size_t)end;

		mask_line(out, span_sub(text, 0, n));
		if (end >= 0)
			buf_char(out, '\n');
		text = span_sub(text, n + 1, text.len);
	}
}
