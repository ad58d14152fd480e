/* http_text.c - status lines, headers, chunks. */
#include "config.h"

#include "parse/http_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "parse/models.h"

void http_text_init(struct http_scan *h, const struct reading_sink *sink, struct json_doc *json)
{
	memset(h, 0, sizeof *h);
	h->sink = sink;
	h->json = json;
	buf_init(&h->chunks, HTTP_BODY_MAX);
}

void http_text_release(struct http_scan *h)
{
	buf_release(&h->chunks);
}

bool http_text_open(const struct http_scan *h)
{
	return h->headers || h->body;
}

static void say(struct http_scan *h, uint64_t offset, int status, struct span words)
{
	struct reading r;

	reading_start(&r, "server", offset);
	if (status > 0)
		reading_int(&r, "http", status);
	reading_word(&r, "class", status > 0 ? models_status_class(status, span_make("", 0)) : span_contains(words, "refused") || span_contains(words, "onnect to") ? "refused"
						  : span_contains(words, "timed out")						       ? "timeout"
						  : span_contains(words, "esolve host")						       ? "dns"
															       : "reset");
	if (status <= 0)
		reading_text(&r, "error", span_sub(words, 0, 300));
	reading_emit(&r, h->sink);
}

/* "chunked": a size in hex (extensions behind ';'), so many bytes, an end of line; 0 ends. */
static void decode(struct http_scan *h)
{
	struct span rest = buf_as_span(&h->chunks);
	struct buf body;

	buf_init(&body, HTTP_BODY_MAX);
	while (rest.len) {
		struct span line, size;
		uint64_t n;

		if (!span_line(&rest, &line))
			break;
		size = span_trim(line);
		if (!size.len)
			continue;
		if (!span_take_hex(&size, &n) || n == 0)
			break;
		if (n > rest.len)
			n = rest.len;
		buf_add(&body, rest.at, n);
		rest = span_sub(rest, n, rest.len);
	}
	json_doc_text(h->json, span_trim(buf_as_span(&body)), h->offset);
	if (h->json->models && h->status == 200)
		h->models_ok = true;
	buf_release(&body);
	buf_clear(&h->chunks);
	h->body = false;
}

static bool status_line(struct http_scan *h, const struct line *l)
{
	struct span s = l->text, rest;
	uint64_t status;

	span_skip(&s, "< ");
	if (!span_skip(&s, "HTTP/") || s.len < 3)
		return false;
	rest = span_after(s, " ");
	if (s.at[0] < '0' || s.at[0] > '9' || !span_take_uint(&rest, &status) || status < 100 || status > 599 || (rest.len && *rest.at != ' ' && *rest.at != '\r'))
		return false;
	http_text_flush(h);
	h->headers = status >= 200;
	h->chunked = false;
	h->offset = l->offset;
	if (status < 200)
		return true;
	h->status = (int)status;
	say(h, l->offset, (int)status, span_make("", 0));
	return true;
}

static bool header_line(struct http_scan *h, struct span s)
{
	struct span t;
	long colon;

	span_skip(&s, "< ");
	t = span_trim(s);
	if (!t.len || span_is(t, "<")) {
		h->headers = false;
		h->body = h->chunked;
		return true;
	}
	colon = span_find_char(t, ':');
	if (colon <= 0 || *t.at == '{' || *t.at == '[') {
		h->headers = false; /* a body without the empty line */
		return false;
	}
	if (t.len > 18 && strncasecmp(t.at, "transfer-encoding:", 18) == 0 && span_contains(t, "chunked"))
		h->chunked = true;
	return true;
}

/* The first line of a body that is said to be in chunks: curl -v prints the header but puts the chunks together. */
static bool is_chunk_size(struct span t)
{
	uint64_t n;

	return span_take_hex(&t, &n) && (!t.len || *t.at == ';' || *t.at == ' ');
}

/* "curl: (7) Failed ...", also behind the progress meter's "... --:--:--     0". */
static struct span curl_error(struct span t)
{
	long at = span_find(t, "curl: (");
	struct span number;
	uint64_t code;

	if (at < 0 || (at > 0 && !strchr("0123456789 ", t.at[at - 1])))
		return span_make("", 0);
	t = span_sub(t, (size_t)at, t.len);
	number = span_sub(t, 7, t.len);
	return span_take_uint(&number, &code) && span_starts(number, ") ") ? t : span_make("", 0);
}

bool http_text_line(struct http_scan *h, const struct line *l)
{
	struct span t = span_trim(l->text);

	if (status_line(h, l))
		return true;
	if (h->headers)
		return header_line(h, l->text);
	if (h->body && !h->chunks.len) {
		/* curl's own words, before the body */
		if (!t.len || span_starts(t, "* ") || span_starts(t, "{ ["))
			return true;
		h->body = is_chunk_size(t);
	}
	if (h->body) {
		buf_span(&h->chunks, l->raw);
		buf_char(&h->chunks, '\n');
		if (span_is(t, "0") || h->chunks.cut)
			decode(h);
		return true;
	}
	t = curl_error(t);
	if (t.len) {
		h->status = 0;
		say(h, l->offset, 0, t);
		return true;
	}
	return false;
}

void http_text_flush(struct http_scan *h)
{
	if (h->body)
		decode(h);
	h->headers = false;
}
