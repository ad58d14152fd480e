/* evidence_mask.c - secrets out of environments and lines. */
#include "config.h"

#include "app/evidence_mask.h"

#include <ctype.h>

#include "base/text.h"

#define TOKEN_MIN 20            /* letters of a value that may be a key */

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

static void mask_line(struct buf *out, struct span line)
{
	struct buf once;

	buf_init(&once, line.len * 2 + 64);
	text_mask(&once, line);
	mask_urls(out, buf_as_span(&once));
	buf_release(&once);
}

void evidence_mask_environ(struct buf *out, struct span raw)
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
		if (is_secret_name(name) || is_token(name, value)) {
			buf_span(&masked, name);
			buf_text(&masked, "=***");
		} else {
			mask_line(&masked, word);
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
