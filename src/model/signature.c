/* signature.c - reading signatures; the grammar is in signature.h. */
#include "config.h"

#include "model/signature_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LINE_MAX_BYTES 65536
#define ITEMS_MAX 200           /* of one list */
#define COUNT_MAX 1000000
#define CUT(s) (int)((s).len < 60 ? (s).len : 60), (s).at

enum key_type { KEY_TEXT, KEY_WORD, KEY_LIST, KEY_CONDITIONS };

struct key {
	const char *name;
	enum key_type type;
	size_t at;              /* offset in struct signature */
	bool needed;
	const char *words;      /* of KEY_WORD: the values it may have */
};

#define AT(member) offsetof(struct signature, member)
static const struct key keys[] = {
	{ "id", KEY_TEXT, AT(id), true, NULL },
	{ "title", KEY_TEXT, AT(title), true, NULL },
	{ "means", KEY_LIST, AT(means), true, NULL },
	{ "advice", KEY_LIST, AT(advice), true, NULL },
	{ "grade", KEY_WORD, AT(grade), true, "A B C D" },
	{ "not", KEY_LIST, AT(not_), false, NULL },
	{ "kernel", KEY_WORD, AT(kernel), false, "culprit victim waiting" },
	{ "see", KEY_LIST, AT(see), false, NULL },
	{ "needs", KEY_CONDITIONS, AT(needs), false, NULL },
	{ "any", KEY_CONDITIONS, AT(any), false, NULL },
	{ "unless", KEY_CONDITIONS, AT(unless), false, NULL },
};
#define KEYS (sizeof keys / sizeof keys[0])

static const struct { const char *name; enum signature_op op; bool value; } ops[] = {
	{ "=", OP_IS, true }, { "!=", OP_IS_NOT, true }, { "~", OP_HAS, true }, { "!~", OP_HAS_NOT, true },
	{ "<", OP_LESS, true }, { ">", OP_MORE, true }, { "<=", OP_AT_MOST, true }, { ">=", OP_AT_LEAST, true },
	{ "null", OP_NULL, false }, { "known", OP_KNOWN, false },
};
#define OPS (sizeof ops / sizeof ops[0])

struct reader {
	struct signature *signature;
	const char *file;
	int line;
	bool inside;            /* after [signature] */
	struct error *error;
};

/* The name nearest to a misspelt one, of those offered one by one. */
struct guess { struct span name; const char *best; int least; };

static void guess_offer(struct guess *g, const char *candidate)
{
	int d = span_distance(g->name, span_of(candidate));

	if (!g->best || d < g->least) {
		g->best = candidate;
		g->least = d;
	}
}

static int guess_fix(struct reader *r, const struct guess *g)
{
	return error_fix(r->error, "did you mean '%s'?", g->best);
}

static void list_add(struct signature_list *list, struct span item)
{
	list->item = mem_array(list->item, (size_t)list->count + 1, sizeof list->item[0]);
	list->item[list->count++] = mem_text_n(item.at, item.len);
}

static void list_release(struct signature_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
}

static void condition_release(struct signature_condition *c)
{
	for (int i = 0; i < c->terms; i++)
		list_release(&c->term[i].value);
	free(c->term);
}

static int find_field(struct reader *r, enum kind kind, struct span name)
{
	const struct kind_info *info = &kind_table[kind];
	struct guess g = { .name = name };
	int field = field_by_name(kind, name);

	if (field >= 0)
		return field;
	for (int i = 0; i < info->fields; i++)
		guess_offer(&g, info->field[i].name);
	error_set(r->error, "%s:%d: unknown field '%.*s' of %s", r->file, r->line, CUT(name), info->name);
	return guess_fix(r, &g);
}

static int find_kind(struct reader *r, struct span name, enum kind *kind)
{
	struct guess g = { .name = name };

	*kind = kind_by_name(name);
	if (*kind != KIND_COUNT)
		return 0;
	for (int i = 0; i < KIND_COUNT; i++)
		guess_offer(&g, kind_table[i].name);
	error_set(r->error, "%s:%d: unknown kind '%.*s'", r->file, r->line, CUT(name));
	return guess_fix(r, &g);
}

/* Take what stands before " & " (or " | ") off rest. */
static bool take_piece(struct span *rest, const char *separator, struct span *piece)
{
	long at;

	if (!rest->at)
		return false;
	at = span_find(*rest, separator);
	*piece = span_trim(at < 0 ? *rest : span_sub(*rest, 0, (size_t)at));
	*rest = at < 0 ? span_make(NULL, 0) : span_sub(*rest, (size_t)at + strlen(separator), rest->len);
	return true;
}

/* Only numbers and addresses have an order. */
static bool is_number(struct span value)
{
	struct span rest = value;
	uint64_t address;
	double real;

	if (span_starts(value, "0x"))
		return span_take_hex(&rest, &address) && rest.len == 0;
	return span_real(value, &real);
}

static int read_values(struct reader *r, struct signature_term *term, const struct field *field, struct span rest)
{
	bool order = term->op >= OP_LESS && term->op <= OP_AT_LEAST;
	struct span value;

	if (order && field->type == FIELD_JSON)
		return error_set(r->error, "%s:%d: '%s' is JSON: it has no order, use ~", r->file, r->line, field->name);
	while (take_piece(&rest, " | ", &value)) {
		if (value.len == 0 || span_ends(value, " |") || span_ends(value, " &"))
			return error_set(r->error, "%s:%d: a value of '%s' is missing", r->file, r->line, field->name);
		if ((order || ((term->op == OP_IS || term->op == OP_IS_NOT) && field->type != FIELD_TEXT && field->type != FIELD_JSON)) &&
			!is_number(value))
			return error_set(r->error, "%s:%d: '%.*s' is no number", r->file, r->line, CUT(value));
		if (term->value.count >= ITEMS_MAX)
			return error_set(r->error, "%s:%d: more than %d values", r->file, r->line, ITEMS_MAX);
		list_add(&term->value, value);
	}
	return 0;
}

static int read_term(struct reader *r, struct signature_condition *c, struct span text)
{
	struct signature_term *term;
	struct span name, op;
	int field;

	if (!span_word(&text, &name))
		return error_set(r->error, "%s:%d: a term is missing: FIELD OP VALUE", r->file, r->line);
	field = find_field(r, c->kind, name);
	if (field < 0)
		return -1;
	if (!span_word(&text, &op))
		op = span_of("");
	text = span_trim(text);
	for (size_t i = 0; i < OPS; i++) {
		if (!span_is(op, ops[i].name))
			continue;
		if (!ops[i].value && text.len)
			return error_set(r->error, "%s:%d: '%s' takes no value", r->file, r->line, ops[i].name);
		c->term = mem_array(c->term, (size_t)c->terms + 1, sizeof c->term[0]);
		term = &c->term[c->terms++];
		*term = (struct signature_term){ .field = field, .op = ops[i].op };
		return ops[i].value ? read_values(r, term, &kind_table[c->kind].field[field], text) : 0;
	}
	error_set(r->error, "%s:%d: unknown comparison '%.*s' after '%.*s'", r->file, r->line, CUT(op), CUT(name));
	return error_fix(r->error, "one of: = != ~ !~ < > <= >= null known");
}

static int read_counted_field(struct reader *r, struct signature_condition *c, struct span *head, struct span how)
{
	struct span name, parts;
	uint64_t number;

	if (!span_word(head, &parts))
		return error_set(r->error, "%s:%d: '%.*s' of which field?", r->file, r->line, CUT(how));
	span_cut(&parts, '/', &name);
	c->count = span_is(how, "same") ? COUNT_SAME : COUNT_DISTINCT;
	c->field = find_field(r, c->kind, name);
	if (c->field < 0)
		return -1;
	if (parts.len) {
		if (!span_uint(parts, &number) || number < 1 || number > 16)
			return error_set(r->error, "%s:%d: after '/' stands a number of parts from 1 to 16", r->file, r->line);
		c->parts = (int)number;
	}
	return 0;
}

static int read_count(struct reader *r, struct signature_condition *c, struct span head)
{
	struct span word;
	bool given = false;

	c->least = 1;
	while (span_word(&head, &word)) {
		if (!given && span_uint(word, &c->least)) {
			if (c->least < 1 || c->least > COUNT_MAX)
				return error_set(r->error, "%s:%d: the count is from 1 to %d", r->file, r->line, COUNT_MAX);
			given = true;
		} else if (span_is(word, "all") && !given && c->count == COUNT_LEAST) {
			c->count = COUNT_ALL;
		} else if ((span_is(word, "distinct") || span_is(word, "same")) && c->count == COUNT_LEAST) {
			if (read_counted_field(r, c, &head, word) < 0)
				return -1;
			if (!given)
				c->least = 2;
			given = true;
		} else {
			error_set(r->error, "%s:%d: unknown count '%.*s'", r->file, r->line, CUT(word));
			return error_fix(r->error, "KIND, then a number, 'all', 'distinct FIELD' or 'same FIELD', then ':'");
		}
	}
	return 0;
}

static int read_condition(struct reader *r, struct signature_condition *c, struct span value)
{
	long colon = span_find_char(value, ':');
	struct span head = colon < 0 ? value : span_sub(value, 0, (size_t)colon), name, term;
	struct span rest = colon < 0 ? span_make(NULL, 0) : span_sub(value, (size_t)colon + 1, value.len);

	if (!span_word(&head, &name))
		return error_set(r->error, "%s:%d: no kind before ':'", r->file, r->line);
	if (find_kind(r, name, &c->kind) < 0 || read_count(r, c, head) < 0)
		return -1;
	while (take_piece(&rest, " & ", &term))
		if (read_term(r, c, term) < 0)
			return -1;
	return 0;
}

static int add_condition(struct reader *r, struct signature_conditions *list, struct span value)
{
	if (list->count >= ITEMS_MAX)
		return error_set(r->error, "%s:%d: more than %d conditions", r->file, r->line, ITEMS_MAX);
	list->item = mem_array(list->item, (size_t)list->count + 1, sizeof list->item[0]);
	list->item[list->count] = (struct signature_condition){ .least = 1 };
	return read_condition(r, &list->item[list->count++], value);
}

static int read_word(struct reader *r, const struct key *key, struct span value)
{
	struct span rest = span_of(key->words), word;

	while (span_word(&rest, &word))
		if (span_same(word, value))
			return 0;
	error_set(r->error, "%s:%d: '%.*s' is no %s", r->file, r->line, CUT(value), key->name);
	return error_fix(r->error, "one of: %s", key->words);
}

static bool is_id(struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		char c = value.at[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
			return false;
	}
	return value.len <= 60;
}

static int read_value(struct reader *r, const struct key *key, struct span value)
{
	void *at = (char *)r->signature + key->at;
	char **text = at;

	if (key->type == KEY_CONDITIONS)
		return add_condition(r, at, value);
	if (key->type == KEY_LIST) {
		if (((struct signature_list *)at)->count >= ITEMS_MAX)
			return error_set(r->error, "%s:%d: more than %d values of '%s'", r->file, r->line, ITEMS_MAX, key->name);
		list_add(at, value);
		return 0;
	}
	if (*text)
		return error_set(r->error, "%s:%d: '%s' is given twice", r->file, r->line, key->name);
	if (key->type == KEY_WORD && read_word(r, key, value) < 0)
		return -1;
	if (key->at == AT(id) && !is_id(value))
		return error_set(r->error, "%s:%d: an id has small letters, digits and '-' only, at most 60", r->file, r->line);
	*text = mem_text_n(value.at, value.len);
	return 0;
}

static int read_key(struct reader *r, struct span name, struct span value)
{
	struct guess g = { .name = name };

	for (size_t i = 0; i < KEYS; i++) {
		if (span_is(name, keys[i].name))
			return read_value(r, &keys[i], value);
		guess_offer(&g, keys[i].name);
	}
	error_set(r->error, "%s:%d: unknown key '%.*s'", r->file, r->line, CUT(name));
	return guess_fix(r, &g);
}

static int read_line(struct reader *r, struct span line)
{
	struct span rest, name;

	if (line.len > LINE_MAX_BYTES)
		return error_set(r->error, "%s:%d: line is longer than %d bytes", r->file, r->line, LINE_MAX_BYTES);
	if (line.len && (line.at[0] == '#' || line.at[0] == ';'))
		return 0;
	line = rest = span_trim(line);
	if (line.len == 0)
		return 0;
	if (memchr(line.at, 0, line.len))
		return error_set(r->error, "%s:%d: a NUL byte: this is no text file", r->file, r->line);
	if (line.at[0] == '[') {
		r->inside = span_is(line, "[signature]");
		return r->inside ? 0 : error_set(r->error, "%s:%d: unknown section %.*s, the only one is [signature]", r->file,
			r->line, CUT(line));
	}
	if (!r->inside)
		return error_set(r->error, "%s:%d: a key before [signature]", r->file, r->line);
	if (span_find_char(line, '=') < 0)
		return error_set(r->error, "%s:%d: expected 'key = value'", r->file, r->line);
	span_cut(&rest, '=', &name);
	name = span_trim(name);
	rest = span_trim(rest);
	if (name.len == 0 || rest.len == 0)
		return error_set(r->error, "%s:%d: expected 'key = value', one of them is empty", r->file, r->line);
	return read_key(r, name, rest);
}

static int check_whole(struct reader *r)
{
	const struct signature *s = r->signature;

	for (size_t i = 0; i < KEYS; i++) {
		const void *at = (const char *)s + keys[i].at;
		bool there = keys[i].type == KEY_LIST ? ((const struct signature_list *)at)->count > 0 : *(char *const *)at != NULL;

		if (keys[i].needed && !there)
			return error_set(r->error, "%s: no '%s'", r->file, keys[i].name);
	}
	if (s->needs.count == 0 && s->any.count == 0)
		return error_set(r->error, "%s: neither 'needs' nor 'any': it would hold always", r->file);
	return 0;
}

struct signature *signature_parse(struct span text, const char *file, struct error *error)
{
	struct reader r = { .file = file, .error = error };
	struct span line;
	int status = 0;

	r.signature = mem_alloc(sizeof *r.signature);
	span_skip(&text, "\xef\xbb\xbf");
	while (status == 0 && span_line(&text, &line)) {
		r.line++;
		status = read_line(&r, line);
	}
	if (status == 0 && check_whole(&r) == 0)
		return r.signature;
	signature_free(r.signature);
	return NULL;
}

void signature_free(struct signature *signature)
{
	if (!signature)
		return;
	for (size_t i = 0; i < KEYS; i++) {
		void *at = (char *)signature + keys[i].at;
		struct signature_conditions *conditions = at;

		if (keys[i].type == KEY_LIST) {
			list_release(at);
		} else if (keys[i].type == KEY_CONDITIONS) {
			for (int j = 0; j < conditions->count; j++)
				condition_release(&conditions->item[j]);
			free(conditions->item);
		} else {
			free(*(char **)at);
		}
	}
	free(signature);
}

void signature_set_add(struct signature_set *set, struct signature *signature)
{
	for (int i = 0; i < set->count; i++) {
		if (strcmp(set->signature[i]->id, signature->id) == 0) {
			signature_free(set->signature[i]);
			set->signature[i] = signature;
			return;
		}
	}
	set->signature = mem_array(set->signature, (size_t)set->count + 1, sizeof set->signature[0]);
	set->signature[set->count++] = signature;
}

const struct signature *signature_find(const struct signature_set *set, const char *id)
{
	for (int i = 0; set && i < set->count; i++)
		if (strcmp(set->signature[i]->id, id) == 0)
			return set->signature[i];
	return NULL;
}

void signature_set_release(struct signature_set *set)
{
	for (int i = 0; i < set->count; i++)
		signature_free(set->signature[i]);
	free(set->signature);
	set->signature = NULL;
	set->count = 0;
}
