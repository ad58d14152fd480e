/* pattern.c - PCRE2, compiled once. */
#include "config.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include "parse/pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MATCH_LIMIT 200000

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

struct pattern *pattern_new(const char *text, struct error *error)
{
	struct pattern *p = mem_alloc(sizeof *p);
	int number;
	PCRE2_SIZE offset;

	p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &number, &offset, NULL);
	if (!p->code) {
		PCRE2_UCHAR words[128];

		pcre2_get_error_message(number, words, sizeof words);
		error_set(error, "pattern '%.200s': %s at %zu", text, (const char *)words, (size_t)offset);
		free(p);
		return NULL;
	}
	p->match = pcre2_match_data_create_from_pattern(p->code, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (!p->match || !p->context)
		mem_fatal("pattern");
	pcre2_set_match_limit(p->context, MATCH_LIMIT);
	return p;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_match_data_free(p->match);
	pcre2_match_context_free(p->context);
	pcre2_code_free(p->code);
	free(p);
}

bool pattern_find(const struct pattern *p, struct span text, struct span *group1)
{
	int groups = pcre2_match(p->code, (PCRE2_SPTR)text.at, text.len, 0, 0, p->match, p->context);
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->match);

	if (groups < 0)
		return false;
	if (group1) {
		*group1 = span_make("", 0);
		if (groups > 1 && at[2] != PCRE2_UNSET)
			*group1 = span_sub(text, at[2], at[3] - at[2]);
	}
	return true;
}
