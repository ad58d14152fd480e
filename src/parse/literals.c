/* literals.c - words that patterns cannot do without, and the search for all of them at once. */
#include "config.h"

#include "parse/literals.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WORD_MAX 32
#define SLOT_BITS 13            /* of the hash of the first bytes of a word: 1 slot in 30 is used, and the table stays in the first cache */
#define SLOTS (1u << SLOT_BITS)

struct word {
	char at[WORD_MAX];
	uint8_t len;
	uint16_t pattern;
	uint16_t next;          /* index + 1 of the next word with the same hash */
};

struct literals {
	struct word *word;
	int count;
	uint16_t head[SLOTS];   /* index + 1 */
};

/* Of the first LITERAL_LEAST bytes. */
static inline unsigned slot(const char *at)
{
	uint32_t bytes;

	memcpy(&bytes, at, sizeof bytes);
	return bytes * UINT32_C(2654435761) >> (32 - SLOT_BITS);
}

struct literals *literals_new(void)
{
	return mem_alloc(sizeof(struct literals));
}

void literals_free(struct literals *l)
{
	if (l)
		free(l->word);
	free(l);
}

/* The run of plain bytes being read, and the best one of this branch so far. */
struct run {
	char now[WORD_MAX], best[WORD_MAX];
	size_t len, best_len;
};

static void run_end(struct run *r)
{
	if (r->len > r->best_len) {
		memcpy(r->best, r->now, r->len);
		r->best_len = r->len;
	}
	r->len = 0;
}

static void run_add(struct run *r, char c)
{
	if (r->len == WORD_MAX)
		run_end(r);
	r->now[r->len++] = c;
}

/* The last byte of [:alpha:], or of the '[' alone when it is none: p stands on its '['. */
static const char *after_posix(const char *p, const char *end)
{
	const char *close = memchr(p, ']', (size_t)(end - p));

	return close && close > p + 2 && close[-1] == ':' ? close : p;
}

/* Behind a character class: p stands on its '['. */
static const char *after_class(const char *p, const char *end)
{
	p++;
	if (p < end && *p == '^')
		p++;
	if (p < end && *p == ']')
		p++;
	for (; p < end && *p != ']'; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '[' && p + 1 < end && p[1] == ':')
			p = after_posix(p, end);
	}
	return p < end ? p + 1 : end;
}

/* Behind a group: p stands on its '('. NULL when it sets options or is a comment or a verb. */
static const char *after_group(const char *p, const char *end)
{
	int depth = 0;

	while (p < end) {
		if (*p == '\\') {
			if (p + 1 < end && (p[1] == 'Q' || p[1] == 'E'))
				return NULL;
			p += 2;
		} else if (*p == '[') {
			p = after_class(p, end);
		} else if (*p == '(') {
			/* (?: (?= (?! (?< (?> (?| (?P< may be jumped over; options, comments, verbs may not */
			if (p + 1 < end && p[1] == '*')
				return NULL;
			if (p + 2 < end && p[1] == '?' && !strchr(":=!<>|P'", p[2]))
				return NULL;
			depth++;
			p++;
		} else if (*p == ')') {
			p++;
			if (--depth == 0)
				return p;
		} else {
			p++;
		}
	}
	return NULL;
}

/* A quantifier makes what is before it optional, or at least ends the run. */
static const char *quantifier(struct run *r, const char *p, const char *end)
{
	const char *close = p;

	if (p >= end || !strchr("?*+{", *p))
		return p;
	if (*p == '{') {
		while (++close < end && strchr("0123456789, ", *close))
			;
		if (close >= end || *close != '}')
			return p; /* a brace that is only a brace */
	}
	if (*p != '+' && r->len)
		r->len--;
	run_end(r);
	p = close + 1;
	if (p < end && (*p == '?' || *p == '+'))
		p++;
	return p;
}

/* One branch: up to '|' or the end. NULL when the syntax is not understood. */
static const char *branch(struct run *r, const char *p, const char *end)
{
	r->len = r->best_len = 0;
	while (p && p < end && *p != '|') {
		if (*p == '(') {
			run_end(r);
			p = after_group(p, end);
		} else if (*p == '[') {
			run_end(r);
			p = after_class(p, end);
		} else if (*p == '\\') {
			if (p + 1 == end || strchr("QExogkNpPXcKC", p[1]) || (p[1] >= '0' && p[1] <= '9'))
				return NULL;
			if ((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z'))
				run_end(r);
			else
				run_add(r, p[1]);
			p += 2;
		} else if (strchr(".^$", *p)) {
			run_end(r);
			p++;
		} else {
			run_add(r, *p++);
		}
		if (p)
			p = quantifier(r, p, end);
	}
	run_end(r);
	return p;
}

static void add_word(struct literals *l, const struct run *r, int number)
{
	struct word *w;

	l->word = mem_array(l->word, (size_t)l->count + 1, sizeof *l->word);
	w = &l->word[l->count++];
	memset(w, 0, sizeof *w);
	memcpy(w->at, r->best, r->best_len);
	w->len = (uint8_t)r->best_len;
	w->pattern = (uint16_t)number;
}

bool literals_add(struct literals *l, struct span pattern, int number)
{
	const char *p = pattern.at, *end = p + pattern.len;
	int before = l->count;
	struct run r;

	if (number < 0 || number >= LITERALS_PATTERNS || pattern.len == 0 || memchr(p, 0, pattern.len))
		return false;
	for (;;) {
		p = branch(&r, p, end);
		if (!p || r.best_len < LITERAL_LEAST || l->count >= 60000) {
			l->count = before;
			return false;
		}
		add_word(l, &r, number);
		if (p == end)
			return true;
		p++;
	}
}

void literals_join(struct literals *l, const struct literals *other, int from)
{
	l->word = mem_array(l->word, (size_t)l->count + (size_t)other->count + 1, sizeof *l->word);
	for (int i = 0; i < other->count; i++)
		if (other->word[i].pattern + from < LITERALS_PATTERNS) {
			l->word[l->count] = other->word[i];
			l->word[l->count++].pattern = (uint16_t)(other->word[i].pattern + from);
		}
}

void literals_ready(struct literals *l)
{
	memset(l->head, 0, sizeof l->head);
	for (int i = 0; i < l->count; i++) {
		unsigned n = slot(l->word[i].at);

		l->word[i].next = l->head[n];
		l->head[n] = (uint16_t)(i + 1);
	}
}

static bool words_at(const struct literals *l, const char *at, size_t left, uint64_t *bits)
{
	bool any = false;

	for (unsigned i = l->head[slot(at)]; i; i = l->word[i - 1].next) {
		const struct word *w = &l->word[i - 1];

		if (w->len <= left && memcmp(at, w->at, w->len) == 0) {
			bits[w->pattern / 64] |= UINT64_C(1) << (w->pattern % 64);
			any = true;
		}
	}
	return any;
}

/* Every place is looked at, four at once: no step waits for the one before, which beats skipping. */
bool literals_scan(const struct literals *l, struct span line, uint64_t *bits)
{
	const char *p = line.at, *end = p + line.len;
	bool any = false;

	if (l->count == 0)
		return false;
	for (; end - p >= LITERAL_LEAST + 3; p += 4)
		if (l->head[slot(p)] | l->head[slot(p + 1)] | l->head[slot(p + 2)] | l->head[slot(p + 3)])
			for (int i = 0; i < 4; i++)
				any |= words_at(l, p + i, (size_t)(end - p) - (size_t)i, bits);
	for (; end - p >= LITERAL_LEAST; p++)
		any |= words_at(l, p, (size_t)(end - p), bits);
	return any;
}
