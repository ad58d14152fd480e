/* rocgdb_wrap.c - rows out of lines: gdb and the terminal's width cut them. */
#include "config.h"

#include "parse/rocgdb_private.h"

#include <ctype.h>
#include <string.h>

#define HARD_WRAP_MIN 60        /* no terminal is narrower: shorter lines are whole */
#define CUT_ROW_MAX 8192        /* no name is longer: a bracket that never closes must not take what follows */

void rocgdb_row_end(struct rocgdb_scan *g)
{
	if (g->row.len)
		rocgdb_row_read(g, buf_as_span(&g->row), g->row_offset);
	buf_clear(&g->row);
}

static int open_brackets(struct span s)
{
	int depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (strchr("([{<", s.at[i]))
			depth++;
		else if (strchr(")]}", s.at[i]) || (s.at[i] == '>' && i && s.at[i - 1] != '-'))
			depth--;
	}
	return depth;
}

/* "0000:05:00.0", "0a:00.0" */
static bool is_location(struct span s)
{
	return s.len >= 7 && s.at[s.len - 2] == '.' && s.at[s.len - 5] == ':' && isdigit((unsigned char)s.at[s.len - 1]);
}

/* Does the open row lack its end? Decided by what its kind ends in. */
static bool is_cut(struct span s)
{
	struct rocgdb_row row;
	struct span rest = s, end = rocgdb_last_word(&rest);

	switch (rocgdb_row_kind(s, &row)) {
	case ROW_AGENT:
		return !is_location(end);
	case ROW_QUEUE:
		return !span_starts(end, "0x") || end.len < 18;
	case ROW_DISPATCH:
		return open_brackets(s) > 0 || span_ends(end, "]") || rocgdb_is_fence(end) || span_ends(end, "|");
	case ROW_WAVE:
		return open_brackets(s) > 0 || span_is(end, "in") || (span_starts(end, "0x") && span_find(s, " in ") < 0);
	case ROW_NONE:
		break;
	}
	return false;
}

/* A wave without any frame: "AMDGPU Wave 1:2:1:1 (0,0,0)/0" and perhaps its name. */
static bool lacks_frame(struct span s)
{
	struct rocgdb_row row;
	struct span rest = s, end = rocgdb_last_word(&rest);

	return rocgdb_row_kind(s, &row) == ROW_WAVE && ((span_starts(end, "(") && span_find(end, ")/") > 0) || span_ends(end, "\""));
}

/* What gdb prints at the start of a line is no rest of a row. */
static bool begins_anew(struct span s)
{
	static const char *const words[] = { "(gdb)", "[New ", "[Thread ", "[Switching ", "[Inferior ", "[AMDGPU ", "=== ", "No ", "warning:", "Thread ",
		"#", "=>", "^", "~\"", "&\"", "Detaching " };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (span_starts(s, words[i]))
			return true;
	return false;
}

/* The lines of a row that the terminal cut are all as wide as it is, but for a blank at their end. */
static bool goes_on(const struct rocgdb_scan *g, struct span s)
{
	struct span row = buf_as_span(&g->row);

	if (!s.len || begins_anew(s) || row.len > CUT_ROW_MAX)
		return false;
	return lacks_frame(row) || (g->row_last >= HARD_WRAP_MIN && g->row_last + 2 >= g->row_width && is_cut(row));
}

static void add_line(struct rocgdb_scan *g, struct span s)
{
	buf_span(&g->row, s);
	g->row_last = s.len;
	if (s.len > g->row_width)
		g->row_width = s.len;
}

bool rocgdb_row_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = l->text;

	if (rocgdb_is_row(s)) {
		rocgdb_row_end(g);
		g->row_offset = l->offset;
		g->row_width = 0;
		add_line(g, s);
		return true;
	}
	if (!g->row.len)
		return false;
	/* gdb indents what it wraps itself; at the terminal's width it breaks anywhere, in a word too. */
	if (span_starts(s, "  ") && span_trim(s).len && !rocgdb_host_row(s) && !span_contains(s, "Target Id")) {
		buf_char(&g->row, ' ');
		while (span_skip(&s, " "))
			;
		add_line(g, s);
		return true;
	}
	if (goes_on(g, s)) {
		if (lacks_frame(buf_as_span(&g->row)))
			buf_char(&g->row, ' ');
		add_line(g, s);
		return true;
	}
	rocgdb_row_end(g);
	return false;
}
