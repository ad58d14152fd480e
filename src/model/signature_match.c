/* signature_match.c - which signatures hold in a list of observations. */
#include "config.h"

#include "model/signature_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define KEY_BYTES 512           /* of a value that is told apart from others */

/* The observations of each kind, in the order of the list. */
struct kinds {
	const struct observation **of[KIND_COUNT];
	size_t count[KIND_COUNT];
};

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

static bool same_letters(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (lower(a[i]) != lower(b[i]))
			return false;
	return true;
}

/* Where piece begins in text, small and capital letters alike; -1 when it does not. Horspool's search: names of kernels have thousands
 * of bytes, and every one is looked through for many pieces. */
static long find(struct span text, struct span piece)
{
	uint8_t skip[256];
	size_t last = piece.len - 1, most = piece.len < UINT8_MAX ? piece.len : UINT8_MAX;

	if (piece.len == 0)
		return 0;
	memset(skip, (int)most, sizeof skip);
	for (size_t i = 0; i < last; i++)
		skip[lower(piece.at[i])] = (uint8_t)(last - i < most ? last - i : most);
	for (size_t at = 0; at + piece.len <= text.len; at += skip[lower(text.at[at + last])])
		if (same_letters(text.at + at, piece.at, piece.len))
			return (long)at;
	return -1;
}

/* The pieces between the stars, one after the other. */
static bool contains(struct span text, const char *value)
{
	struct span rest = span_of(value), piece;

	while (span_cut(&rest, '*', &piece)) {
		long at = find(text, piece);

		if (at < 0)
			return false;
		text = span_sub(text, (size_t)at + piece.len, text.len);
	}
	return true;
}

static bool text_number(struct span text, double *number)
{
	struct span rest = text;
	uint64_t address;

	if (!span_starts(text, "0x"))
		return span_real(text, number);
	if (!span_take_hex(&rest, &address) || rest.len)
		return false;
	*number = (double)address;
	return true;
}

/* A value as text; numbers are written into room. */
static struct span value_text(const struct value *v, char room[64])
{
	int n = 0;

	if (v->type == VALUE_TEXT)
		return v->text;
	if (v->type == VALUE_INT)
		n = snprintf(room, 64, "%lld", (long long)v->number);
	else if (v->type == VALUE_REAL)
		n = snprintf(room, 64, "%.17g", v->real);
	return span_make(room, (size_t)n);
}

static bool value_number(const struct value *v, double *number)
{
	if (v->type == VALUE_TEXT)
		return text_number(v->text, number);
	*number = v->type == VALUE_INT ? (double)v->number : v->real;
	return true;
}

static bool same(const struct value *v, const char *wanted)
{
	double a, b;

	if (v->type == VALUE_TEXT)
		return span_is(v->text, wanted);
	return text_number(span_of(wanted), &b) && value_number(v, &a) && a == b;
}

static bool in_order(enum signature_op op, const struct value *v, const char *wanted)
{
	double a, b;

	if (!value_number(v, &a) || !text_number(span_of(wanted), &b))
		return false;
	return op == OP_LESS ? a < b : op == OP_MORE ? a > b : op == OP_AT_MOST ? a <= b : a >= b;
}

static bool fits_one(enum signature_op op, const struct value *v, const char *wanted)
{
	char room[64];

	switch (op) {
	case OP_IS:
	case OP_IS_NOT:
		return same(v, wanted);
	case OP_HAS:
	case OP_HAS_NOT:
		return contains(value_text(v, room), wanted);
	default:
		return in_order(op, v, wanted);
	}
}

static bool term_holds(const struct signature_term *term, const struct observation *o)
{
	const struct value *v = &o->value[term->field];
	bool negative = term->op == OP_IS_NOT || term->op == OP_HAS_NOT;

	if (term->op == OP_NULL || v->type == VALUE_NULL)
		return term->op == OP_NULL && v->type == VALUE_NULL;
	if (term->op == OP_KNOWN)
		return true;
	for (int i = 0; i < term->value.count; i++)
		if (fits_one(term->op, v, term->value.item[i]))
			return !negative;
	return negative;
}

static bool holds(const struct signature_condition *c, const struct observation *o)
{
	for (int i = 0; i < c->terms; i++)
		if (!term_holds(&c->term[i], o))
			return false;
	return true;
}

/* A field that a term compares is null: the observation says neither yes nor no. */
static bool says_nothing(const struct signature_condition *c, const struct observation *o)
{
	for (int i = 0; i < c->terms; i++)
		if (c->term[i].value.count && observation_is_null(o, c->term[i].field))
			return true;
	return false;
}

/* The first so many parts between colons. */
static struct span first_parts(struct span text, int parts)
{
	for (size_t i = 0; parts > 0 && i < text.len; i++)
		if (text.at[i] == ':' && --parts == 0)
			return span_sub(text, 0, i);
	return text;
}

/* The value of the counted field as a key of a map. Null is no value. */
static bool counted_value(const struct signature_condition *c, const struct observation *o, char key[KEY_BYTES])
{
	char room[64];
	struct span text;

	if (observation_is_null(o, c->field))
		return false;
	text = first_parts(value_text(&o->value[c->field], room), c->parts);
	text = span_sub(text, 0, KEY_BYTES - 1);
	if (text.len)
		memcpy(key, text.at, text.len);
	key[text.len] = 0;
	return true;
}

/* How many things an observation stands for. */
static uint64_t weight(const struct observation *o)
{
	int64_t n;

	return o->kind == KIND_wave && observation_get_int(o, WAVE_count, &n) && n > 1 ? (uint64_t)n : 1;
}

struct tally {
	struct map seen;        /* value to its place in sum */
	uint64_t *sum;
	size_t best;            /* place of the largest sum */
};

static void tally_add(struct tally *t, const char *key, uint64_t n)
{
	uintptr_t place = (uintptr_t)map_get(&t->seen, key);

	if (!place) {
		place = t->seen.count + 1;
		t->sum = mem_array(t->sum, place, sizeof t->sum[0]);
		t->sum[place - 1] = 0;
		map_set(&t->seen, key, (void *)place);
	}
	t->sum[place - 1] += n;
	if (t->sum[place - 1] > t->sum[t->best])
		t->best = place - 1;
}

/* What a condition found; evidence is copied from here. */
struct found {
	const struct observation *some[SIGNATURE_EVIDENCE_MAX];
	size_t held;
};

static void found_add(struct found *f, const struct observation *o)
{
	if (f->held < SIGNATURE_EVIDENCE_MAX)
		f->some[f->held] = o;
	f->held++;
}

/* Of "same": only those with the value that most have. */
static void keep_same(const struct signature_condition *c, const struct kinds *kinds, const char *value, struct found *f)
{
	char key[KEY_BYTES];

	f->held = 0;
	for (size_t i = 0; i < kinds->count[c->kind]; i++) {
		const struct observation *o = kinds->of[c->kind][i];

		if (counted_value(c, o, key) && strcmp(key, value) == 0 && holds(c, o))
			found_add(f, o);
	}
}

/* Of "distinct": one observation of each value; the others say nothing new. */
static bool condition_by_value(const struct signature_condition *c, const struct kinds *kinds, struct found *f)
{
	struct tally t = { .best = 0 };
	char key[KEY_BYTES];
	bool enough;

	map_init(&t.seen, NULL);
	for (size_t i = 0; i < kinds->count[c->kind]; i++) {
		const struct observation *o = kinds->of[c->kind][i];
		size_t before = t.seen.count;

		if (!holds(c, o) || !counted_value(c, o, key))
			continue;
		tally_add(&t, key, weight(o));
		if (t.seen.count > before)
			found_add(f, o);
	}
	if (c->count == COUNT_DISTINCT) {
		enough = t.seen.count >= c->least;
	} else {
		enough = t.seen.count && t.sum[t.best] >= c->least;
		if (enough)
			keep_same(c, kinds, t.seen.entry[t.best].key, f);
	}
	map_release(&t.seen);
	free(t.sum);
	return enough;
}

static bool condition_holds(const struct signature_condition *c, const struct kinds *kinds, struct found *f)
{
	size_t n = kinds->count[c->kind];
	uint64_t sum = 0;

	f->held = 0;
	if (c->count == COUNT_DISTINCT || c->count == COUNT_SAME)
		return condition_by_value(c, kinds, f);
	for (size_t i = 0; i < n; i++) {
		const struct observation *o = kinds->of[c->kind][i];

		if (holds(c, o)) {
			sum += weight(o);
			found_add(f, o);
		} else if (c->count == COUNT_ALL && !says_nothing(c, o)) {
			return false;
		}
	}
	return sum >= c->least;
}

static void hit_add(struct signature_hit *hit, const struct found *f)
{
	size_t n = f->held < SIGNATURE_EVIDENCE_MAX ? f->held : SIGNATURE_EVIDENCE_MAX;

	hit->held += f->held;
	for (size_t i = 0; i < n && hit->count < SIGNATURE_EVIDENCE_MAX; i++) {
		bool there = false;

		for (size_t j = 0; j < hit->count; j++)
			there = there || hit->evidence[j] == f->some[i];
		if (!there)
			hit->evidence[hit->count++] = f->some[i];
	}
}

static bool signature_holds(const struct signature *s, const struct kinds *kinds, struct signature_hit *hit)
{
	bool one = s->any.count == 0;
	struct found f;

	*hit = (struct signature_hit){ .signature = s };
	for (int i = 0; i < s->needs.count; i++) {
		if (!condition_holds(&s->needs.item[i], kinds, &f))
			return false;
		hit_add(hit, &f);
	}
	for (int i = 0; i < s->any.count; i++) {
		if (!condition_holds(&s->any.item[i], kinds, &f))
			continue;
		hit_add(hit, &f);
		one = true;
	}
	for (int i = 0; one && i < s->unless.count; i++)
		if (condition_holds(&s->unless.item[i], kinds, &f))
			return false;
	return one;
}

static void kinds_fill(struct kinds *kinds, const struct observation *const *list, size_t n)
{
	memset(kinds, 0, sizeof *kinds);
	for (size_t i = 0; i < n; i++)
		kinds->count[list[i]->kind]++;
	for (int k = 0; k < KIND_COUNT; k++) {
		if (kinds->count[k])
			kinds->of[k] = mem_array(NULL, kinds->count[k], sizeof kinds->of[k][0]);
		kinds->count[k] = 0;
	}
	for (size_t i = 0; i < n; i++)
		kinds->of[list[i]->kind][kinds->count[list[i]->kind]++] = list[i];
}

size_t signatures_match(const struct signature_set *set, const struct observation *const *list, size_t n,
	struct signature_hit *out, size_t max)
{
	struct kinds kinds;
	size_t hits = 0;

	kinds_fill(&kinds, list, n);
	for (char grade = 'A'; grade <= 'D'; grade++)
		for (int i = 0; i < set->count && hits < max; i++)
			if (set->signature[i]->grade[0] == grade && signature_holds(set->signature[i], &kinds, &out[hits]))
				hits++;
	for (int k = 0; k < KIND_COUNT; k++)
		free(kinds.of[k]);
	return hits;
}

/* The longest piece between stars. */
static struct span longest_piece(const char *value)
{
	struct span rest = span_of(value), piece, best = { NULL, 0 };

	while (span_cut(&rest, '*', &piece))
		if (piece.len > best.len)
			best = piece;
	return best;
}

static void add_words(const struct signature_conditions *list, struct signature_words *words)
{
	for (int i = 0; i < list->count; i++) {
		const struct signature_condition *c = &list->item[i];

		for (int j = 0; c->kind == KIND_log && j < c->terms; j++) {
			const struct signature_term *term = &c->term[j];

			if (term->field != LOG_text || (term->op != OP_HAS && term->op != OP_IS))
				continue;
			words->word = mem_array(words->word, words->count + (size_t)term->value.count, sizeof words->word[0]);
			for (int k = 0; k < term->value.count; k++)
				words->word[words->count++] = longest_piece(term->value.item[k]);
		}
	}
}

void signatures_log_words(const struct signature_set *set, struct signature_words *words)
{
	words->word = NULL;
	words->count = 0;
	for (int i = 0; i < set->count; i++) {
		add_words(&set->signature[i]->needs, words);
		add_words(&set->signature[i]->any, words);
		add_words(&set->signature[i]->unless, words);
	}
}

bool signatures_log_line(const struct signature_words *words, struct span line)
{
	for (size_t i = 0; i < words->count; i++)
		if (find(line, words->word[i]) >= 0)
			return true;
	return false;
}
