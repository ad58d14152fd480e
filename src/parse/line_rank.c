/* line_rank.c - whose a line is: ranks as titles, prefixes and command lines spell them. */
#include "config.h"

#include "parse/line_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static char at(struct span s, size_t i)
{
	return i < s.len ? s.at[i] : 0;
}

static const char *const part_names[] = { "TP", "DP", "PP", "EP", "CP", "PCP", "DCP", "SP" };

/* A part like TP3 at i, not in the middle of a word. Returns its length, 0 none. */
static size_t part_at(struct span s, size_t i)
{
	/* All of them have their P in second or third place: most words end here. */
	if ((at(s, i + 1) | 32) != 'p' && (at(s, i + 2) | 32) != 'p')
		return 0;
	for (size_t k = 0; k < sizeof part_names / sizeof *part_names; k++) {
		size_t n = strlen(part_names[k]), end = i + n;

		if (i + n >= s.len || strncasecmp(s.at + i, part_names[k], n) != 0 || !digit(s.at[end]))
			continue;
		while (end < s.len && digit(s.at[end]))
			end++;
		if (end - i <= 8)
			return end - i;
	}
	return 0;
}

bool line_rank_parts(struct span s, char rank[LINE_RANK_MAX])
{
	size_t len = 0, n;

	for (size_t i = 0; i < s.len; i++) {
		bool starts = i == 0 || !isalpha((unsigned char)s.at[i - 1]) || (len && i && digit(s.at[i - 1]));

		if (!starts || !(n = part_at(s, i)) || len + n + 2 > LINE_RANK_MAX)
			continue;
		if (len)
			rank[len++] = '_';
		for (size_t k = 0; k < n; k++)
			rank[len++] = (char)toupper((unsigned char)s.at[i + k]);
		i += n - 1;
	}
	rank[len] = 0;
	return len > 0;
}

bool line_number_after(struct span s, const char *word, char rank[LINE_RANK_MAX])
{
	uint64_t n;
	long i;

	while ((i = span_find(s, word)) >= 0) {
		s = span_sub(s, (size_t)i + strlen(word), s.len);
		if (!span_take_uint(&s, &n) || n > 9999999)
			continue;
		snprintf(rank, LINE_RANK_MAX, "%u", (unsigned)n);
		return true;
	}
	return false;
}

bool line_rank_of_title(struct span title, char rank[LINE_RANK_MAX])
{
	static const char *const words[] = { "--local_rank=", "--local-rank=", "--local_rank ", "--local-rank ", "VllmWorker-", " rank=", "ModelRunner" };

	rank[0] = 0;
	if (span_contains(title, "EngineCore") || span_contains(title, "APIServer") || span_contains(title, "Coordinator") ||
		span_contains(title, "data_parallel_controller") || span_contains(title, "detokenizer"))
		return false;
	/* Command lines have options like --tp-size 8; only titles spell ranks. */
	if ((span_contains(title, "::") || span_contains(title, "orker")) && title.len < 200 && line_rank_parts(title, rank))
		return true;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (line_number_after(title, words[i], rank))
			return true;
	return false;
}

size_t line_label(struct line *l, struct span s)
{
	long close = span_find_char(span_sub(s, 0, LINE_PREFIX_MAX), ')');
	struct span inside, name, rest;
	char rank[LINE_RANK_MAX];
	uint64_t n;
	long i;

	if (close < 0)
		return 0;
	inside = span_sub(s, 1, (size_t)close - 1);
	i = span_find(inside, "pid=");
	if (i < 0 || span_find_char(inside, '(') >= 0)
		return 0;
	rest = span_sub(inside, (size_t)i + 4, inside.len);
	if (!span_take_uint(&rest, &n))
		return 0;
	l->pid = (int64_t)n;
	rest = inside;
	if (i > 0 && span_word(&rest, &name)) {
		snprintf(l->label, sizeof l->label, "%.*s", (int)(name.len < sizeof l->label ? name.len : sizeof l->label - 1), name.at);
		if ((!span_contains(name, "Engine") && !span_contains(name, "API") && line_rank_parts(name, rank)) || line_number_after(inside, "rank=", rank))
			memcpy(l->rank, rank, sizeof rank);
	}
	return at(s, (size_t)close + 1) == ' ' ? (size_t)close + 2 : (size_t)close + 1;
}

uint64_t line_tag(const struct line *l)
{
	uint64_t tag = (uint64_t)l->pid;

	if (!l->cut || (!*l->label && !*l->rank && !l->pid))
		return 0;
	for (const char *c = l->label; *c; c++)
		tag = tag * 131 + (unsigned char)*c;
	for (const char *c = l->rank; *c; c++)
		tag = tag * 131 + (unsigned char)*c;
	return tag << 1 | 1;
}
