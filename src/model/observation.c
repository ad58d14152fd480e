/* observation.c - filling, reading, encoding and decoding observations. */
#include "config.h"

#include "model/observation.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"

void observation_init(struct observation *o, enum kind kind, const char *node, int64_t t)
{
	memset(o, 0, sizeof *o);
	o->kind = kind;
	o->node = node;
	o->t = t;
}

void observation_int(struct observation *o, int field, int64_t value)
{
	o->value[field].type = VALUE_INT;
	o->value[field].number = value;
}

void observation_real(struct observation *o, int field, double value)
{
	if (!isfinite(value)) {
		o->value[field].type = VALUE_NULL;
		return;
	}
	o->value[field].type = VALUE_REAL;
	o->value[field].real = value;
}

void observation_span(struct observation *o, int field, struct span text)
{
	o->value[field].type = VALUE_TEXT;
	o->value[field].text = text;
}

void observation_text(struct observation *o, int field, const char *text)
{
	if (text)
		observation_span(o, field, span_of(text));
	else
		o->value[field].type = VALUE_NULL;
}

bool observation_is_null(const struct observation *o, int field)
{
	return o->value[field].type == VALUE_NULL;
}

bool observation_get_int(const struct observation *o, int field, int64_t *value)
{
	const struct value *v = &o->value[field];

	if (v->type == VALUE_INT)
		*value = v->number;
	else if (v->type == VALUE_REAL && fabs(v->real) < 9e18)
		*value = llround(v->real);
	else
		return false;
	return true;
}

bool observation_get_real(const struct observation *o, int field, double *value)
{
	const struct value *v = &o->value[field];

	if (v->type == VALUE_REAL)
		*value = v->real;
	else if (v->type == VALUE_INT)
		*value = (double)v->number;
	else
		return false;
	return true;
}

bool observation_get_text(const struct observation *o, int field, struct span *value)
{
	if (o->value[field].type != VALUE_TEXT)
		return false;
	*value = o->value[field].text;
	return true;
}

bool observation_text_is(const struct observation *o, int field, const char *text)
{
	struct span value;

	return observation_get_text(o, field, &value) && span_is(value, text);
}

void observation_key(const struct observation *o, struct buf *out)
{
	const struct kind_info *info = &kind_table[o->kind];

	buf_printf(out, "%s/%s", o->node ? o->node : "", info->name);
	for (int i = 0; i < info->subjects; i++) {
		const struct value *v = &o->value[i];

		buf_char(out, '/');
		if (v->type == VALUE_INT)
			buf_printf(out, "%lld", (long long)v->number);
		else if (v->type == VALUE_REAL)
			buf_printf(out, "%.17g", v->real);
		else if (v->type == VALUE_TEXT)
			buf_span(out, v->text);
	}
}

static void encode_value(struct json_write *w, const struct field *field, const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		break;
	case VALUE_INT:
		jw_int(w, field->name, v->number);
		break;
	case VALUE_REAL:
		jw_real(w, field->name, v->real);
		break;
	case VALUE_TEXT:
		if (field->type == FIELD_JSON)
			jw_raw(w, field->name, v->text);
		else
			jw_text(w, field->name, v->text);
		break;
	}
}

void observation_encode(const struct observation *o, struct buf *out)
{
	const struct kind_info *info = &kind_table[o->kind];
	struct json_write w;

	jw_start(&w, out);
	jw_object(&w, NULL);
	jw_int(&w, "t", o->t);
	if (o->lag)
		jw_int(&w, "lag", o->lag);
	jw_string(&w, "node", o->node ? o->node : "");
	jw_string(&w, "kind", info->name);
	for (int i = 0; i < info->fields; i++)
		encode_value(&w, &info->field[i], &o->value[i]);
	jw_end_object(&w);
}

/* Copy into the arena. The arena may still move, so the caller notes the offset and makes the span at the end. */
static void keep(struct buf *arena, const char *at, size_t len)
{
	buf_add(arena, at, len);
	buf_char(arena, 0);
}

static int decode_member(json_t *member, const struct field *field, struct value *v, struct buf *arena)
{
	char *text;

	if (field->type == FIELD_JSON) {
		if (!json_is_array(member) && !json_is_object(member))
			return -1;
		text = json_dumps(member, JSON_COMPACT);
		if (!text)
			return -1;
		v->type = VALUE_TEXT;
		keep(arena, text, strlen(text));
		free(text);
		return 0;
	}
	if (field->type == FIELD_TEXT && json_is_string(member)) {
		v->type = VALUE_TEXT;
		keep(arena, json_string_value(member), json_string_length(member));
		return 0;
	}
	if (field->type == FIELD_INT && json_is_integer(member)) {
		v->type = VALUE_INT;
		v->number = json_integer_value(member);
		return 0;
	}
	if (field->type == FIELD_INT && json_is_real(member) && fabs(json_real_value(member)) < 9e15) {
		v->type = VALUE_INT;
		v->number = llround(json_real_value(member));
		return 0;
	}
	if (field->type == FIELD_REAL && json_is_number(member)) {
		v->type = VALUE_REAL;
		v->real = json_number_value(member);
		return 0;
	}
	return -1;
}

static int decode_object(json_t *root, struct observation *o, struct buf *arena, struct error *error)
{
	json_t *t = json_object_get(root, "t"), *lag = json_object_get(root, "lag");
	json_t *node = json_object_get(root, "node"), *kind = json_object_get(root, "kind");
	struct { size_t at, len; } text[OBSERVATION_FIELDS_MAX] = { { 0, 0 } };
	const struct kind_info *info;
	size_t node_at;
	enum kind k;

	if (!json_is_integer(t) || !json_is_string(kind))
		return error_set(error, "not an observation: member \"t\" or \"kind\" is missing");
	if (json_integer_value(t) < 0 || json_integer_value(t) > OBSERVATION_T_MAX)
		return error_set(error, "not an observation: %lld ms since the epoch is no time", (long long)json_integer_value(t));
	k = kind_by_name(span_make(json_string_value(kind), json_string_length(kind)));
	if (k == KIND_COUNT)
		return error_set(error, "unknown kind of observation \"%.40s\"", json_string_value(kind));
	observation_init(o, k, "", json_integer_value(t));
	if (json_is_integer(lag))
		o->lag = json_integer_value(lag);
	info = &kind_table[k];
	node_at = arena->len;
	keep(arena, json_is_string(node) ? json_string_value(node) : "", json_is_string(node) ? json_string_length(node) : 0);
	for (int i = 0; i < info->fields; i++) {
		json_t *member = json_object_get(root, info->field[i].name);
		struct value v = { .type = VALUE_NULL };
		size_t from = arena->len;

		if (!member || json_is_null(member) || decode_member(member, &info->field[i], &v, arena) < 0)
			continue;
		o->value[i] = v;
		if (v.type == VALUE_TEXT) {
			text[i].at = from;
			text[i].len = arena->len - from - 1;
		}
	}
	if (arena->cut)
		return error_set(error, "observation is too large");
	o->node = arena->at + node_at;
	for (int i = 0; i < info->fields; i++)
		if (o->value[i].type == VALUE_TEXT)
			o->value[i].text = span_make(arena->at + text[i].at, text[i].len);
	return 0;
}

int observation_decode(struct span line, struct observation *o, struct buf *arena, struct error *error)
{
	json_error_t why;
	json_t *root;
	int status;
	long brace = span_find_char(line, '{');

	if (brace < 0)
		return error_set(error, "not an observation: no JSON object");
	/* "label: {" as clush -L, pdsh and srun --label write it: at most one blank-free word. */
	if (brace > 0 && (brace > 256 || line.at[brace - 1] != ' '))
		return error_set(error, "not an observation: text before the JSON object");
	line = span_sub(line, (size_t)brace, line.len);
	root = json_loadb(line.at, line.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!root)
		return error_set(error, "not an observation: %.200s at column %d", why.text, why.column);
	if (json_is_object(root))
		status = decode_object(root, o, arena, error);
	else
		status = error_set(error, "not an observation: not a JSON object");
	json_decref(root);
	return status;
}

struct record *record_new(const struct observation *o)
{
	const struct kind_info *info = &kind_table[o->kind];
	size_t size = sizeof(struct record), node = strlen(o->node ? o->node : "") + 1;
	struct record *r;
	char *at;

	size += node;
	for (int i = 0; i < info->fields; i++)
		if (o->value[i].type == VALUE_TEXT)
			size += o->value[i].text.len + 1;
	r = mem_alloc(size);
	r->o = *o;
	at = (char *)(r + 1);
	memcpy(at, o->node ? o->node : "", node);
	r->o.node = at;
	at += node;
	for (int i = 0; i < info->fields; i++) {
		struct value *v = &r->o.value[i];

		if (v->type != VALUE_TEXT)
			continue;
		if (v->text.len)
			memcpy(at, v->text.at, v->text.len);
		at[v->text.len] = 0;
		v->text.at = at;
		at += v->text.len + 1;
	}
	return r;
}

void record_free(void *record)
{
	free(record);
}
