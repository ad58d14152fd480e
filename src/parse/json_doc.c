/* json_doc.c - gathering documents, and what they are. */
#include "config.h"

#include "parse/json_doc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parse/amd_smi.h"
#include "parse/gpu_reading.h"
#include "parse/gpu_say.h"
#include "parse/models.h"
#include "parse/rocm_smi.h"

void json_doc_init(struct json_doc *d, const struct reading_sink *sink, struct stack_scan *stacks)
{
	memset(d, 0, sizeof *d);
	d->sink = sink;
	d->stacks = stacks;
	buf_init(&d->text, JSON_DOC_MAX);
}

void json_doc_release(struct json_doc *d)
{
	buf_release(&d->text);
}

/* --- what it is --- */

static void say_models(struct json_doc *d, struct span text, uint64_t offset)
{
	struct models m;
	struct reading r;
	struct buf ids;

	if (models_parse(text, &m, NULL) == 0) {
		d->models = true;
		if (*m.owned_by)
			snprintf(d->owned_by, sizeof d->owned_by, "%s", m.owned_by);
		buf_init(&ids, 1 << 20);
		models_json(&m, &ids);
		reading_start(&r, "server", offset);
		reading_text(&r, "models", buf_as_span(&ids));
		reading_word(&r, "owned_by", m.owned_by);
		reading_emit(&r, d->sink);
		buf_release(&ids);
	}
	models_release(&m);
}

static bool has_card(const json_t *root)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)root, key, value)
		if (strncmp(key, "card", 4) == 0 || strcmp(key, "system") == 0)
			return true;
	return false;
}

static bool is_amd_smi(const json_t *root)
{
	const json_t *first = json_is_array(root) ? json_array_get(root, 0) : root;

	return json_object_get(root, "gpu_data") || (json_is_array(root) && json_object_get(first, "gpu"));
}

static bool is_stack(const json_t *root)
{
	const json_t *first = json_array_get(root, 0);

	return json_is_object(first) && json_object_get(first, "frames") && (json_object_get(first, "thread_id") || json_object_get(first, "os_thread_id"));
}

static void say_gpus(struct json_doc *d, const json_t *root, struct span text, uint64_t offset)
{
	struct gpu_list list;
	struct error error;

	gpu_list_init(&list);
	if (is_amd_smi(root))
		amd_smi_parse(text, &list, &error);
	else
		rocm_smi_parse(text, &list, &error);
	gpu_list_say(&list, offset, is_amd_smi(root) ? "amd-smi" : "rocm-smi", d->sink);
	gpu_list_release(&list);
}

void json_doc_text(struct json_doc *d, struct span text, uint64_t offset)
{
	json_t *root = json_loadb(text.at, text.len, JSON_DISABLE_EOF_CHECK, NULL);

	d->models = false;
	if (!root)
		return;
	if (json_is_object(root) && json_is_array(json_object_get(root, "data")))
		say_models(d, text, offset);
	else if (is_stack(root))
		stack_text_json(d->stacks, root, offset);
	else if (is_amd_smi(root) || (json_is_object(root) && has_card(root)))
		say_gpus(d, root, text, offset);
	json_decref(root);
}

/* --- gathering --- */

static bool begins(struct span s)
{
	size_t i = 1;

	if (!s.len || (*s.at != '{' && *s.at != '['))
		return false;
	while (i < s.len && (s.at[i] == ' ' || s.at[i] == '\t' || s.at[i] == '\r'))
		i++;
	if (i == s.len)
		return true;
	return *s.at == '{' ? s.at[i] == '"' || s.at[i] == '}' : s.at[i] == '{' || s.at[i] == ']' || s.at[i] == '[';
}

/* Follow brackets and strings; true when the document closes, with `end` behind it. */
static bool closes(struct json_doc *d, struct span s, size_t *end)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.at[i];

		if (d->in_string) {
			if (d->escaped)
				d->escaped = false;
			else if (c == '\\')
				d->escaped = true;
			else if (c == '"')
				d->in_string = false;
		} else if (c == '"') {
			d->in_string = true;
		} else if (c == '{' || c == '[') {
			d->depth++;
		} else if ((c == '}' || c == ']') && --d->depth <= 0) {
			*end = i + 1;
			return true;
		}
	}
	return false;
}

bool json_doc_line(struct json_doc *d, struct span text, uint64_t offset)
{
	size_t end = 0;

	if (!d->open) {
		if (!begins(text))
			return false;
		d->open = true;
		d->in_string = d->escaped = false;
		d->depth = 0;
		d->offset = offset;
		buf_clear(&d->text);
		d->text.cut = false;
	}
	if (closes(d, text, &end)) {
		buf_add(&d->text, text.at, end);
		d->open = false;
		if (!d->text.cut)
			json_doc_text(d, buf_as_span(&d->text), d->offset);
		return true;
	}
	buf_span(&d->text, text);
	buf_char(&d->text, '\n');
	/* No string of JSON goes over the end of a line: this is no document. */
	if (d->in_string || d->text.cut)
		d->open = false;
	return true;
}

void json_doc_flush(struct json_doc *d)
{
	d->open = false;
}
