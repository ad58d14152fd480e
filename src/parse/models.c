/* models.c - the body of /v1/models. */
#include "config.h"

#include "parse/models.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/text.h"

#define BODY_MAX (16 << 20)
#define WORDS_MAX 200

static json_t *load(struct span body, json_error_t *why)
{
	if (body.len == 0 || body.len > BODY_MAX)
		return NULL;
	return json_loadb(body.at, body.len, JSON_ALLOW_NUL, why);
}

/* Harmless text, at most max bytes. */
static char *plain_text(json_t *text, size_t max)
{
	struct buf out;
	char *copy;

	buf_init(&out, max);
	text_scrub(&out, span_sub(span_make(json_string_value(text), json_string_length(text)), 0, max));
	copy = mem_text(buf_string(&out));
	buf_release(&out);
	return copy;
}

static void add_model(struct models *m, json_t *entry)
{
	json_t *id = json_object_get(entry, "id"), *owner = json_object_get(entry, "owned_by");

	if (!json_is_string(id))
		return;
	m->total++;
	if (!m->owned_by[0] && json_is_string(owner)) {
		char *text = plain_text(owner, sizeof m->owned_by - 1);

		memcpy(m->owned_by, text, strlen(text) + 1);
		free(text);
	}
	if (m->count == MODELS_MAX)
		return;
	m->id = mem_array(m->id, (size_t)m->count + 1, sizeof m->id[0]);
	m->id[m->count++] = plain_text(id, MODELS_ID_MAX);
}

int models_parse(struct span body, struct models *out, struct error *error)
{
	json_error_t why = { .text = "" };
	json_t *root = load(body, &why), *data = json_object_get(root, "data"), *entry;
	size_t i;

	memset(out, 0, sizeof *out);
	if (!root)
		return error_set(error, "the answer is no JSON: %.150s",
			body.len == 0 ? "it is empty" : body.len > BODY_MAX ? "it is too large" : why.text);
	if (!json_is_array(data)) {
		json_decref(root);
		return error_set(error, "the answer is JSON, but no list of models: member \"data\" is missing");
	}
	json_array_foreach(data, i, entry)
		add_model(out, entry);
	json_decref(root);
	return 0;
}

void models_release(struct models *m)
{
	for (int i = 0; i < m->count; i++)
		free(m->id[i]);
	free(m->id);
	m->id = NULL;
	m->count = 0;
}

void models_json(const struct models *m, struct buf *out)
{
	struct json_write w;

	jw_start(&w, out);
	jw_array(&w, NULL);
	for (int i = 0; i < m->count; i++)
		jw_string(&w, NULL, m->id[i]);
	jw_end_array(&w);
}

static bool looks_html(struct span body)
{
	body = span_sub(span_trim(body), 0, 200);
	return body.len && body.at[0] == '<' && (span_contains(body, "<html") || span_contains(body, "<HTML") ||
		span_contains(body, "<!DOCTYPE") || span_contains(body, "<!doctype"));
}

const char *models_status_class(int http, struct span body)
{
	if (http >= 200 && http < 300)
		return "ok";
	if (http >= 300 && http < 400)
		return "redirect";
	if (http == 401 || http == 403)
		return "unauthorized";
	if (http == 404)
		return "not-found";
	if (http == 429)
		return "unavailable";
	if (http >= 400 && http < 500)
		return "client-error";
	if (http == 502 || http == 504)
		return "proxy-error";
	if (http == 503)
		return looks_html(body) ? "proxy-error" : "unavailable";
	return http >= 500 && http < 600 ? "server-error" : "not-http";
}

static json_t *error_text(json_t *root)
{
	static const char *const members[] = { "error", "detail", "message", "msg" };

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		json_t *value = json_object_get(root, members[i]);

		if (json_is_object(value))
			value = error_text(value);
		if (json_is_string(value))
			return value;
	}
	return NULL;
}

void models_error_words(struct span body, struct buf *out)
{
	json_error_t why;
	json_t *root = load(body, &why), *text = error_text(root);
	struct span words = span_trim(span_sub(body, 0, 4 * WORDS_MAX));
	struct buf clean;
	size_t n;

	if (json_is_string(text))
		words = span_make(json_string_value(text), json_string_length(text));
	else if (root || looks_html(body))
		words = span_make(NULL, 0);
	/* Scrubbing makes foreign bytes longer: cut behind it, between characters. */
	buf_init(&clean, 0);
	text_scrub(&clean, span_sub(words, 0, 4 * WORDS_MAX));
	for (n = clean.len < WORDS_MAX ? clean.len : WORDS_MAX; n < clean.len && n && ((unsigned char)clean.at[n] & 0xc0) == 0x80;)
		n--;
	buf_add(out, buf_string(&clean), n);
	buf_release(&clean);
	json_decref(root);
}
