/* literals.c - words that patterns cannot do without, and the search for all of them at once. */
#include "config.h"

#include "parse/literals.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WORD_MAX 32
#define WINDOW_MAX 8            /* bytes of each word that steer the skips */
#define SLOTS 4096              /* of the hash of two bytes */

struct word {
	char at[WORD_MAX];
	uint8_t len;
	uint16_t pattern;
	uint16_t next;          /* index + 1 of the next word whose window ends in the same two bytes */
};

struct literals {
	struct word *word;
	int count;
	int window;             /* shortest word, at most WINDOW_MAX */
	uint8_t shift[SLOTS];
	uint16_t head[SLOTS];   /* index + 1 */
};

static unsigned slot(const char *at)
{
	return ((unsigned)(unsigned char)at[0] << 5 ^ (unsigned char)at[1]) & (SLOTS - 1);
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

void literals_ready(struct literals *l)
{
	l->window = WINDOW_MAX;
	for (int i = 0; i < l->count; i++)
		if (l->word[i].len < l->window)
			l->window = l->word[i].len;
	memset(l->shift, l->window - 1, sizeof l->shift);
	memset(l->head, 0, sizeof l->head);
	for (int i = 0; i < l->count; i++) {
		struct word *w = &l->word[i];

		for (int k = 0; k + 1 < l->window; k++) {
			unsigned s = slot(w->at + k);
			uint8_t left = (uint8_t)(l->window - 2 - k);

			if (left < l->shift[s])
				l->shift[s] = left;
			if (left == 0) {
				w->next = l->head[s];
				l->head[s] = (uint16_t)(i + 1);
			}
		}
	}
}

bool literals_scan(const struct literals *l, struct span line, uint64_t *bits)
{
	size_t window = (size_t)l->window, at = window - 2;
	bool any = false;

	if (l->count == 0)
		return false;
	while (at + 1 < line.len) {
		unsigned s = slot(line.at + at);
		const char *from = line.at + at + 2 - window;
		size_t left = line.len - (size_t)(from - line.at);

		if (l->shift[s]) {
			at += l->shift[s];
			continue;
		}
		for (unsigned i = l->head[s]; i; i = l->word[i - 1].next) {
			const struct word *w = &l->word[i - 1];

			if (w->len <= left && memcmp(from, w->at, w->len) == 0) {
				bits[w->pattern / 64] |= UINT64_C(1) << (w->pattern % 64);
				any = true;
			}
		}
		at++;
	}
	return any;
}
