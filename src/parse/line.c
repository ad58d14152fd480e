/* line.c - prefixes off, and what they tell. */
#include "config.h"

#include "parse/line_private.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "parse/log_class.h"

#define ROUNDS_MAX 12

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static void copy(char *out, size_t size, struct span text)
{
	size_t n = text.len < size - 1 ? text.len : size - 1;

	memcpy(out, text.at, n);
	out[n] = 0;
}

static char at(struct span s, size_t i)
{
	return i < s.len ? s.at[i] : 0;
}

static struct span from(struct span s, size_t i)
{
	return span_sub(s, i, s.len);
}

/* --- colours --- */

/* "[1;36m" at i, whatever stood before it. */
static bool colour_at(struct span s, size_t i)
{
	size_t k = i + 1;

	while (k < s.len && (digit(s.at[k]) || s.at[k] == ';'))
		k++;
	return k < s.len && k - i <= 16 && (s.at[k] == 'm' || s.at[k] == 'K') && (k > i + 1 || (i && s.at[i - 1] == '\033'));
}

static bool has_colour(struct span s)
{
	const char *p = s.at, *end = s.at + s.len;

	while (p < end && (p = memchr(p, '[', (size_t)(end - p)))) {
		if (colour_at(s, (size_t)(p - s.at)))
			return true;
		p++;
	}
	return s.len && memchr(s.at, '\033', s.len);
}

/* --- pieces of prefixes --- */

static bool clock_at(struct span s, size_t i)
{
	return i + 8 <= s.len && digit(s.at[i]) && digit(s.at[i + 1]) && s.at[i + 2] == ':' && digit(s.at[i + 3]) && digit(s.at[i + 4]) &&
		s.at[i + 5] == ':' && digit(s.at[i + 6]) && digit(s.at[i + 7]);
}

static bool date_at(struct span s, size_t i)
{
	return i + 10 <= s.len && digit(s.at[i]) && digit(s.at[i + 3]) && s.at[i + 4] == '-' && digit(s.at[i + 5]) && s.at[i + 7] == '-' &&
		digit(s.at[i + 8]) && digit(s.at[i + 9]);
}

static void take_time(struct line *l, struct span s, size_t i)
{
	memcpy(l->time, s.at + i, 8);
	l->time[8] = 0;
}

static size_t blanks(struct span s, size_t i)
{
	while (i < s.len && s.at[i] == ' ')
		i++;
	return i;
}

/* Behind a fraction of a second and a zone. */
static size_t after_fraction(struct span s, size_t i)
{
	if (at(s, i) == '.' || at(s, i) == ',')
		for (i++; digit(at(s, i)); i++)
			;
	if (at(s, i) == 'Z')
		return i + 1;
	if ((at(s, i) == '+' || at(s, i) == '-') && digit(at(s, i + 1)))
		for (i++; digit(at(s, i)) || at(s, i) == ':'; i++)
			;
	return i;
}

static bool words_only(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.at[i]) && s.at[i] != '_' && s.at[i] != '-' && s.at[i] != '.' && s.at[i] != '+')
			return false;
	return s.len > 0;
}

/* "rank3", "default3", "trainer3": a role of torchrun and a number. */
static bool role(struct span inside, struct span *number)
{
	size_t i = 0;

	while (islower((unsigned char)at(inside, i)) || at(inside, i) == '_')
		i++;
	*number = from(inside, i);
	return i >= 4 && digit(at(inside, i));
}

/* "TP0", "DP1_TP3" */
static bool part_only(struct span inside)
{
	char rank[LINE_RANK_MAX];

	return inside.len < LINE_RANK_MAX && (at(inside, 1) | 32) == 'p' && line_rank_parts(inside, rank) && strlen(rank) == inside.len;
}

/* What stands in square brackets before the message. */
static size_t bracket(struct line *l, struct span s)
{
	long close = span_find_char(span_sub(s, 0, 100), ']'), job;
	struct span inside, word, rest;
	size_t end, clock;
	uint64_t a, b;

	if (close < 2)
		return 0;
	inside = span_sub(s, 1, (size_t)close - 1);
	end = (size_t)close + 1;
	if (date_at(inside, 0) && (at(inside, 10) == ' ' || at(inside, 10) == 'T') && clock_at(inside, 11)) {
		take_time(l, inside, 11);
		rest = from(inside, after_fraction(inside, 19));
		if (rest.len && !line_rank_parts(rest, l->rank) && rest.at[0] != ' ')
			return 0;
		return at(s, end) == ' ' ? end + 1 : end;
	}
	/* "[16:43:31 TP0] " of SGLang in 2024 */
	rest = clock_at(inside, 0) ? from(inside, after_fraction(inside, 8)) : inside;
	if (clock_at(inside, 0) && (!rest.len || (*rest.at == ' ' && line_rank_parts(rest, l->rank)))) {
		take_time(l, inside, 0);
		return at(s, end) == ' ' ? end + 1 : end;
	}
	rest = inside;
	if (span_word(&rest, &word) && words_only(word) && clock_at((rest = span_trim(rest)), 0) && rest.len < 16) {
		copy(l->label, sizeof l->label, word);
		take_time(l, rest, 0);
		return at(s, end) == ' ' ? end + 1 : end;
	}
	rest = inside;
	if (at(s, end) == ':' && role(inside, &rest) && span_uint(rest, &a)) {
		snprintf(l->rank, sizeof l->rank, "%u", (unsigned)a);
		return at(s, end + 1) == ' ' ? end + 2 : end + 1;
	}
	if (part_only(inside) && at(s, end) == ' ') {
		line_rank_parts(inside, l->rank);
		return end + 1;
	}
	if (span_starts(inside, "pod/")) {
		copy(l->label, sizeof l->label, from(inside, 4));
		return at(s, end) == ' ' ? end + 1 : end;
	}
	job = span_find_char(inside, '@');
	rest = job > 0 && span_starts(inside, "prte") ? from(inside, (size_t)job + 1) : inside;
	if (span_take_uint(&rest, &a) && span_skip(&rest, ",") && span_uint(rest, &b) && at(s, end) == '<') {
		long gt = span_find_char(span_sub(s, 0, end + 12), '>');

		if (gt < 0)
			return 0;
		snprintf(l->rank, sizeof l->rank, "%u", (unsigned)b);
		end = at(s, (size_t)gt + 1) == ':' ? (size_t)gt + 2 : (size_t)gt + 1;
		return job > 0 && at(s, end) == ' ' ? end + 1 : end;
	}
	if (span_uint(inside, &a) && digit(inside.at[0]) && at(s, end) == ' ' && at(s, end + 1) != ' ')
		return end + 1; /* the number of a line */
	/* "[E1218 20:27:21.426 ProcessGroupNCCL.cpp:629] ", "[W ProcessGroup..." */
	if (strchr("IWEF", inside.at[0]) && (digit(at(inside, 1)) || at(inside, 1) == ' ')) {
		for (clock = 1; clock < inside.len && clock < 12; clock++)
			if (clock_at(inside, clock))
				take_time(l, inside, clock);
		l->level = inside.at[0];
		return at(s, end) == ' ' ? end + 1 : end;
	}
	return 0;
}

static const char *const months = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* "unit[pid]": the pid tells the lines of one rank from another's. */
static bool take_unit(struct line *l, struct span unit)
{
	long open = span_find_char(unit, '[');
	struct span rest;
	uint64_t pid;

	if (open < 1 || !words_only(span_sub(unit, 0, (size_t)open)))
		return false;
	rest = from(unit, (size_t)open + 1);
	if (!span_take_uint(&rest, &pid) || !span_is(rest, "]"))
		return false;
	l->pid = (int64_t)pid;
	return true;
}

/* "host unit[pid]: " behind an ISO time. Returns its length, 0 none. */
static size_t host_and_unit(struct line *l, struct span s)
{
	long blank = span_find_char(span_sub(s, 0, 80), ' '), colon;

	if (blank < 1 || !words_only(span_sub(s, 0, (size_t)blank)))
		return 0;
	colon = span_find(span_sub(s, (size_t)blank + 1, 80), "]: ");
	if (colon < 1 || !take_unit(l, span_sub(s, (size_t)blank + 1, (size_t)colon + 1)))
		return 0;
	return (size_t)blank + (size_t)colon + 4;
}

/* "Jan 09 18:55:45 host1 unit[pid]: " */
static size_t journal(struct line *l, struct span s)
{
	size_t i = 3, host;
	bool month = false;

	if (!strchr("JFMASOND", s.at[0]))
		return 0;
	for (int m = 0; m < 12; m++)
		month = month || memcmp(s.at, months + 3 * m, 3) == 0;
	if (!month || at(s, 3) != ' ')
		return 0;
	i = blanks(s, i);
	if (!digit(at(s, i)))
		return 0;
	while (digit(at(s, i)))
		i++;
	if (at(s, i) != ' ' || !clock_at(s, i + 1))
		return 0;
	take_time(l, s, i + 1);
	i += 9;
	if (at(s, i) != ' ')
		i = after_fraction(s, i);
	host = ++i;
	while (i < s.len && s.at[i] != ' ')
		i++;
	if (i == host || i >= s.len)
		return 0;
	for (size_t k = i + 1; k < s.len && k < i + 80; k++)
		if (s.at[k] == ':' && at(s, k + 1) == ' ') {
			take_unit(l, span_sub(s, i + 1, k - i - 1));
			return k + 2;
		}
	return 0;
}

/* "INFO 06-11 11:46:37 [loggers.py:118] ", "INFO:     " stays. */
static size_t level(struct line *l, struct span s)
{
	static const char *const words[] = { "INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL" };
	size_t i = 0;

	if (!strchr("IDWEC", s.at[0]))
		return 0;
	for (size_t k = 0; k < sizeof words / sizeof *words && !i; k++)
		if (span_starts(s, words[k]))
			i = strlen(words[k]);
	if (!i || at(s, i) != ' ' || !digit(at(s, i + 1)) || at(s, i + 3) != '-' || !clock_at(s, i + 7))
		return 0;
	l->level = s.at[0];
	take_time(l, s, i + 7);
	i = after_fraction(s, i + 15);
	if (at(s, i) == ' ' && at(s, i + 1) == '[') {
		long close = span_find_char(span_sub(s, i, 120), ']');

		if (close > 0) {
			struct span file = span_sub(s, i + 2, (size_t)close - 2);
			long colon = span_find_char(file, ':'), slash = span_find_last(file, '/');

			file = span_sub(file, 0, colon > 0 ? (size_t)colon : file.len);
			copy(l->file, sizeof l->file, slash >= 0 && (size_t)slash < file.len ? from(file, (size_t)slash + 1) : file);
			i += (size_t)close + 1;
		}
	}
	return at(s, i) == ' ' ? i + 1 : i;
}

/* "W0902 15:10:48.626000 719010 torch/...py:900] " */
static size_t glog(struct line *l, struct span s)
{
	long close;

	if (!strchr("IWEF", s.at[0]) || !digit(at(s, 1)) || !digit(at(s, 4)) || at(s, 5) != ' ' || !clock_at(s, 6))
		return 0;
	close = span_find(span_sub(s, 0, LINE_PREFIX_MAX), "] ");
	if (close < 0)
		return 0;
	l->level = s.at[0];
	take_time(l, s, 6);
	return (size_t)close + 2;
}

/* "2025-06-24T05:49:37.1506573Z ", and behind it CRI's "stderr F ", GitLab's "01E ", a journal's "host unit[pid]: ". */
static size_t iso(struct line *l, struct span s)
{
	struct span rest;
	size_t i;

	if (!date_at(s, 0) || at(s, 10) != 'T' || !clock_at(s, 11))
		return 0;
	i = after_fraction(s, 19);
	if (i < s.len && s.at[i] != ' ')
		return 0;
	take_time(l, s, 11);
	i = i < s.len ? i + 1 : i;
	rest = from(s, i);
	if ((span_skip(&rest, "stdout ") || span_skip(&rest, "stderr ")) && rest.len && (*rest.at == 'F' || *rest.at == 'P') &&
		(rest.len == 1 || rest.at[1] == ' ')) {
		l->partial = *rest.at == 'P';
		return rest.len > 1 ? s.len - rest.len + 2 : s.len;
	}
	if (digit(at(s, i)) && digit(at(s, i + 1)) && (at(s, i + 2) == 'O' || at(s, i + 2) == 'E') && at(s, i + 3) == ' ')
		return i + 4;
	return i + host_and_unit(l, from(s, i));
}

/* " 581: ": a rank of srun -l. */
static size_t srun(struct line *l, struct span s)
{
	size_t i = blanks(s, 0), start = i;

	if (i > 8)
		return 0;
	while (digit(at(s, i)))
		i++;
	if (i == start || i - start > 7 || at(s, i) != ':' || (i + 1 < s.len && s.at[i + 1] != ' '))
		return 0;
	copy(l->rank, sizeof l->rank, span_sub(s, start, i - start));
	return i + 1 < s.len ? i + 2 : i + 1;
}

/* "0|" of pm2: its length. */
static size_t number_bar(struct span s)
{
	size_t i = 0;

	while (digit(at(s, i)))
		i++;
	return i && at(s, i) == '|' ? i + 1 : 0;
}

/* "sglang-1  | " of compose, "0|sglang  | " of pm2, "node12: " of clush. */
static size_t name(struct line *l, struct span s)
{
	size_t i = 0, end;
	bool digits = false;

	if (digit(s.at[0]) && (i = number_bar(s)) == 0)
		return 0;
	while (i < s.len && i < 64 && (isalnum((unsigned char)s.at[i]) || s.at[i] == '_' || s.at[i] == '-' || s.at[i] == '.')) {
		digits = digit(s.at[i]);
		i++;
	}
	end = blanks(s, i);
	if (i && end > i && at(s, end) == '|' && (end + 1 == s.len || s.at[end + 1] == ' ')) {
		copy(l->label, sizeof l->label, span_sub(s, 0, i));
		return end + 1 == s.len ? end + 1 : end + 2;
	}
	if (i >= 3 && digits && islower((unsigned char)s.at[0]) && islower((unsigned char)s.at[1]) && at(s, i) == ':' && at(s, i + 1) == ' ' &&
		!memchr(s.at, '_', i)) {
		copy(l->label, sizeof l->label, span_sub(s, 0, i));
		return i + 2;
	}
	return 0;
}

/* "0.26.045.217 I " of llama.cpp since 2026: minutes, seconds, ms, us of its run */
static size_t run_time(struct line *l, struct span s)
{
	static const char form[] = ".dd.ddd.ddd l ";
	size_t i = 0;

	while (digit(at(s, i)) && i < 7)
		i++;
	for (size_t k = 0; form[k]; k++, i++)
		if (form[k] == 'd' ? !digit(at(s, i)) : form[k] == 'l' ? !strchr("DIWE", at(s, i)) : at(s, i) != form[k])
			return 0;
	l->level = s.at[i - 2];
	return i;
}

static size_t one_prefix(struct line *l, struct span s)
{
	size_t n;

	switch (s.at[0]) {
	case '(':
		return line_label(l, s);
	case '[':
		return bracket(l, s);
	case ' ':
		return srun(l, s);
	case '>': /* quoted in a mail or an issue; curl's "> GET" is no log line either way */
		return s.len == 1 || s.at[1] == '>' ? 1 : s.at[1] == ' ' ? 2 : 0;
	default:
		break;
	}
	if (digit(s.at[0]))
		return (n = iso(l, s)) || (n = run_time(l, s)) || (n = srun(l, s)) ? n : name(l, s);
	if (!isalpha((unsigned char)s.at[0]) || s.len < 4)
		return 0;
	if ((n = level(l, s)) || (n = journal(l, s)) || (n = glog(l, s)))
		return n;
	return name(l, s);
}

/* docker's json-file: {"log":"text\n","stream":"stderr","time":"..."} */
static bool docker(struct line *l, struct buf *scratch)
{
	json_t *root;
	const char *text;
	struct span s;

	if (!span_starts(l->text, "{\"log\":\"") && !span_starts(l->text, "{\"log\": \""))
		return false;
	root = json_loadb(l->text.at, l->text.len, JSON_ALLOW_NUL, NULL);
	text = json_string_value(json_object_get(root, "log"));
	if (!text) {
		json_decref(root);
		return false;
	}
	buf_clear(scratch);
	buf_text(scratch, text);
	json_decref(root);
	s = buf_as_span(scratch);
	while (s.len && (s.at[s.len - 1] == '\n' || s.at[s.len - 1] == '\r'))
		s.len--;
	l->text = s;
	return true;
}

static void strip_colours(struct line *l, struct buf *scratch)
{
	struct buf plain;

	buf_init(&plain, l->text.len + 64);
	log_strip_colours(l->text, &plain);
	buf_clear(scratch);
	buf_span(scratch, buf_as_span(&plain));
	buf_release(&plain);
	l->text = buf_as_span(scratch);
}

void line_read(struct line *l, struct span raw, uint64_t offset, struct buf *scratch)
{
	size_t n;

	l->raw = l->text = raw;
	l->offset = offset;
	l->rank[0] = l->label[0] = l->file[0] = l->time[0] = l->level = 0;
	l->pid = 0;
	l->partial = false;
	if (raw.len && raw.at[0] == '{')
		docker(l, scratch);
	if (has_colour(l->text))
		strip_colours(l, scratch);
	for (int i = 0; i < ROUNDS_MAX && l->text.len; i++) {
		n = one_prefix(l, l->text);
		if (!n)
			break;
		l->text = from(l->text, n);
		if (l->text.len && l->text.at[0] == '{' && docker(l, scratch) && has_colour(l->text))
			strip_colours(l, scratch);
	}
	l->cut = l->text.at != raw.at;
}
