#include "config.h"

#include "ui/waves_fold.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/ranks.h"

#define WAVES_OF_ONE_ROW_MAX INT64_C(1000000000000) /* more is garbage, and sums must not overflow */
#define NAME_MAX_BYTES 8192                          /* longer names are only cut */

static struct span field(const struct observation *o, int field)
{
	struct span s = { "", 0 };

	observation_get_text(o, field, &s);
	return s;
}

/* --- equal waves --- */

static const int same_fields[] = { WAVE_kernel, WAVE_pc, WAVE_reasons, WAVE_via, WAVE_func };
#define SAME_FIELDS (sizeof same_fields / sizeof *same_fields)

static uint64_t key_of(const struct observation *o)
{
	uint64_t key = 0;

	for (size_t i = 0; i < SAME_FIELDS; i++) {
		struct span s = field(o, same_fields[i]);

		key = key * 0x9e3779b97f4a7c15u + map_hash(s.at, s.len);
	}
	return key | 1;
}

static bool same(const struct observation *a, const struct observation *b)
{
	for (size_t i = 0; i < SAME_FIELDS; i++)
		if (!span_same(field(a, same_fields[i]), field(b, same_fields[i])))
			return false;
	return true;
}

static int richness(const struct observation *o)
{
	return field(o, WAVE_registers).len ? 2 : field(o, WAVE_disassembly).len ? 1 : 0;
}

static bool before(const struct wave_group *a, const struct wave_group *b)
{
	return a->stopped != b->stopped ? a->stopped : a->waves > b->waves;
}

static void sort(struct waves_fold *fold)
{
	for (int i = 0; i < fold->groups; i++) {
		int j = i;

		for (; j > 0 && before(&fold->group[i], &fold->group[fold->order[j - 1]]); j--)
			fold->order[j] = fold->order[j - 1];
		fold->order[j] = i;
	}
}

void waves_fold(struct waves_fold *fold, const struct model *m)
{
	int count = m->event[KIND_wave].count;

	fold->groups = 0;
	fold->waves = 0;
	fold->full = count == MODEL_EVENTS_MAX;
	for (int i = count; i-- > 0;) {
		const struct observation *o = model_event(m, KIND_wave, i);
		uint64_t key = key_of(o);
		int64_t n = 1;
		int g = 0;

		while (g < fold->groups && (fold->group[g].key != key || !same(fold->group[g].wave, o)))
			g++;
		if (g == fold->groups)
			fold->group[fold->groups++] = (struct wave_group){ .wave = o, .key = key,
				.stopped = field(o, WAVE_reasons).len > 2 };
		if (richness(o) > richness(fold->group[g].wave))
			fold->group[g].wave = o;
		observation_get_int(o, WAVE_count, &n);
		n = n < 1 ? 1 : n > WAVES_OF_ONE_ROW_MAX ? WAVES_OF_ONE_ROW_MAX : n;
		fold->group[g].waves += n;
		fold->waves += n;
		fold->of[i] = g;
	}
	sort(fold);
}

/* --- ranks --- */

static int by_name(const void *a, const void *b)
{
	return span_compare(span_of(((const struct rank *)a)->name), span_of(((const struct rank *)b)->name));
}

/* Short names first, so that numbers rise. */
static int by_length(const void *a, const void *b)
{
	size_t x = strlen(((const struct rank *)a)->name), y = strlen(((const struct rank *)b)->name);

	return x != y ? (x < y ? -1 : 1) : by_name(a, b);
}

const char *waves_ranks(const struct waves_fold *fold, const struct model *m, int group, char *out, size_t size)
{
	static struct rank rank[WAVES_RANKS_MAX];
	int member[WAVES_RANKS_MAX], n = 0;

	for (int i = 0; i < m->event[KIND_wave].count && n < WAVES_RANKS_MAX; i++) {
		struct span name = field(model_event(m, KIND_wave, i), WAVE_rank);
		int k = 0;

		if (fold->of[i] != group || !name.len)
			continue;
		name = span_sub(name, 0, sizeof rank[0].name - 1);
		while (k < n && !span_is(name, rank[k].name))
			k++;
		if (k < n)
			continue;
		memcpy(rank[n].name, name.at, name.len);
		rank[n].name[name.len] = 0;
		member[n] = n;
		n++;
	}
	qsort(rank, (size_t)n, sizeof *rank, by_length);
	ranks_fold(rank, member, n, out, size);
	return out;
}

/* --- names --- */

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~';
}

/* Take off what stands between an opening byte and its closing one. */
static void skip_group(struct span *rest, char open, char close)
{
	size_t n = 0;
	int depth = 0;

	while (n < rest->len) {
		depth += rest->at[n] == open ? 1 : rest->at[n] == close ? -1 : 0;
		n++;
		if (!depth)
			break;
	}
	*rest = span_sub(*rest, n, rest->len);
}

/* "void a::f<4, a::g<int>(long)::{lambda(int)#1}>(long)" to "a::f<4, a::g<int>>", and without namespaces to "f<4, g<int>>". */
static void simplify(struct buf *out, struct span rest, bool namespaces)
{
	span_skip(&rest, "void ");
	while (rest.len) {
		size_t n = 0;

		if (span_skip(&rest, "(anonymous namespace)::") || span_skip(&rest, "::operator()") || span_skip(&rest, " const"))
			continue;
		if (span_starts(rest, "::{") || *rest.at == '{') {
			span_skip(&rest, "::");
			skip_group(&rest, '{', '}');
			continue;
		}
		if (*rest.at == '(') {
			skip_group(&rest, '(', ')');
			continue;
		}
		if (span_starts(rest, " >"))
			rest = span_sub(rest, 1, rest.len);
		while (n < rest.len && word_char(rest.at[n]))
			n++;
		if (n && !namespaces && span_starts(span_sub(rest, n, rest.len), "::") && rest.len > n + 2 && word_char(rest.at[n + 2])) {
			rest = span_sub(rest, n + 2, rest.len);
			continue;
		}
		n = n ? n : 1;
		buf_add(out, rest.at, n);
		rest = span_sub(rest, n, rest.len);
	}
}

static void cut_middle(struct buf *out, struct span clean, int columns, const char *ellipsis)
{
	int gap = text_width(span_of(ellipsis)), width = text_width(clean), room = columns > gap ? columns - gap : 0;
	struct span head = text_fit(clean, (room + 1) / 2), tail = clean;
	uint32_t code;

	while (tail.len && width > room - text_width(head)) {
		text_next(&tail, &code);
		width -= text_code_width(code);
	}
	buf_span(out, head);
	buf_text(out, ellipsis);
	buf_span(out, tail);
}

void waves_kernel(struct buf *out, struct span name, int columns, const char *ellipsis)
{
	struct buf text, clean;

	buf_init(&text, 0);
	buf_init(&clean, 0);
	for (int step = 0; step < 3; step++) {
		if (step && (name.len > NAME_MAX_BYTES || text_width(buf_as_span(&clean)) <= columns))
			break;
		buf_clear(&text);
		if (step)
			simplify(&text, name, step == 1);
		else
			buf_span(&text, name);
		if (step && !text.len)
			break;
		buf_clear(&clean);
		text_scrub(&clean, buf_as_span(&text));
	}
	if (text_width(buf_as_span(&clean)) <= columns)
		buf_span(out, buf_as_span(&clean));
	else
		cut_middle(out, buf_as_span(&clean), columns, ellipsis);
	buf_release(&text);
	buf_release(&clean);
}
