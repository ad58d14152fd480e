/* wave_code.c - disassemblies, and to which wave each belongs. */
#include "config.h"

#include "parse/wave_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- to which wave does a disassembly belong? --- */

static bool takes_code(const struct wave_block *b)
{
	return !b->code.used && !b->old;
}

static struct wave_block *owner_of(struct wave_scan *w, const struct wave_code *c)
{
	struct wave_block *last = NULL;
	bool tagged = false;

	/* The newest wave that was told before it: of the same prefix, when any has it. */
	for (int i = w->count - 1; i >= 0 && !tagged; i--) {
		struct wave_block *b = wave_block_at(w, i);

		if (b->offset > c->offset)
			continue;
		tagged = b->tag == c->tag;
		if (tagged || !last)
			last = b;
	}
	if (!last)
		return NULL;
	if (c->has_arrow) {
		if (takes_code(last) && last->pc == c->arrow_pc)
			return last;
		for (int i = 0; i < w->count; i++) {
			struct wave_block *b = wave_block_at(w, i);

			if (takes_code(b) && b->pc == c->arrow_pc && !b->done && b->tag == c->tag && b->offset < c->offset)
				return b;
		}
	}
	/* The arrow may stand beside the pc of its wave; not in another code object. */
	if (!takes_code(last))
		return NULL;
	if (c->high && last->pc && (last->pc < c->low || last->pc >= c->high))
		return NULL;
	return last;
}

void wave_close_code(struct wave_scan *w, int i, bool ended)
{
	struct wave_code c = w->open[i];
	struct wave_block *owner;

	w->opens--;
	memmove(&w->open[i], &w->open[i + 1], (size_t)(w->opens - i) * sizeof c);
	memset(&w->open[w->opens], 0, sizeof c);
	c.ended = ended;
	owner = owner_of(w, &c);
	if (owner) {
		owner->code = c;
		owner->done = ended;
	} else {
		wave_emit_orphan(w, &c);
		wave_code_release(&c);
	}
}

static struct wave_code *open_code(struct wave_scan *w, uint64_t offset, uint64_t tag)
{
	if (w->opens == (int)(sizeof w->open / sizeof w->open[0]))
		wave_close_code(w, 0, false);
	memset(&w->open[w->opens], 0, sizeof w->open[0]);
	w->open[w->opens].used = true;
	w->open[w->opens].offset = offset;
	w->open[w->opens].tag = tag;
	buf_init(&w->open[w->opens].text, WAVE_DISASSEMBLY_MAX);
	return &w->open[w->opens++];
}

/* Its ':' is there, and no bracket is open: a terminal can break a name behind one of its own. */
static bool title_is_whole(struct span s)
{
	int open = 0;

	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] == '(' || s.at[i] == '<')
			open++;
		else if (s.at[i] == ')' || (s.at[i] == '>' && (i == 0 || s.at[i - 1] != '-')))
			open--;
	return span_ends(s, ":") && open == 0;
}

static void set_title(struct wave_code *c, struct span name)
{
	if (span_ends(name, ":"))
		name.len--;
	free(c->title);
	c->title = wave_text_of(name);
}

/* Disassemblies whose end will not come: of the same process; without a prefix, those after which a wave was told with its registers. */
static void close_cut(struct wave_scan *w, uint64_t tag)
{
	struct wave_block *last = wave_newest(w);

	for (int i = 0; i < w->opens; i++)
		if (w->open[i].tag == tag && (tag || (last && last->registers && last->offset > w->open[i].offset && last->offset > w->open[i].arrow_at)))
			wave_close_code(w, i--, false);
}

void wave_title_line(struct wave_scan *w, const struct line *l, struct span rest)
{
	struct span bare = span_trim(rest);
	struct wave_code *c;

	close_cut(w, line_tag(l));
	c = open_code(w, l->offset, line_tag(l));
	w->title.open = false;
	if (span_skip(&bare, "for function ")) {
		set_title(c, bare);
		if (!title_is_whole(bare))
			wrapped_start(&w->title, l, span_sub(rest, (size_t)(bare.at - rest.at), rest.len));
	}
	w->in_rows = false;
}

/* True when the line is more of a title that was broken. */
bool wave_title_goes_on(struct wave_scan *w, const struct line *l, struct span bare)
{
	struct wave_code *c = NULL;

	for (int i = 0; i < w->opens; i++)
		if (w->open[i].offset == w->title.offset)
			c = &w->open[i];
	if (line_tag(l) != w->title.tag && line_tag(l) && c && ++w->title.strangers < WRAPPED_STRANGERS)
		return false;
	if (!c || w->title.strangers >= WRAPPED_STRANGERS || !bare.len || span_contains(bare, "code object: ") || span_contains(bare, "loaded at: ") || span_contains(bare, "=> 0x") ||
		span_starts(bare, "0x") || span_contains(bare, "isassembly") || span_contains(bare, ": pc=0x") || span_starts(bare, "------") ||
		span_ends(bare, " registers:") || !wrapped_add(&w->title, l, l->text)) {
		w->title.open = false;
		return false;
	}
	set_title(c, span_trim(wrapped_text(&w->title)));
	return true;
}

/* The open disassembly of this prefix that misses a part; the newest when none does. */
static struct wave_code *lacking(struct wave_scan *w, int part, uint64_t tag)
{
	struct wave_code *any = NULL;

	for (int i = 0; i < w->opens; i++) {
		struct wave_code *c = &w->open[i];

		if (!((part == 0 && !c->uri) || (part == 1 && !c->high)))
			continue;
		if (c->tag == tag)
			return c;
		if (!any)
			any = c;
	}
	return any ? any : w->opens ? &w->open[w->opens - 1] : NULL;
}

void wave_code_line(struct wave_scan *w, struct span uri, uint64_t tag)
{
	struct wave_code *c = lacking(w, 0, tag);

	uri = span_trim(uri);
	if (c && !c->uri && (span_starts(uri, "memory://") || span_starts(uri, "file://")))
		c->uri = wave_text_of(uri);
}

/* Below the URI: the rest of it, when a terminal broke it. */
bool wave_uri_goes_on(struct wave_scan *w, struct span rest, uint64_t tag)
{
	struct wave_code *c = lacking(w, 1, tag);
	struct buf whole;

	if (!c || !c->uri || c->high || c->has_arrow || !rest.len || span_starts(rest, "0x") || span_is(rest, "...") || span_find_char(rest, ' ') >= 0)
		return false;
	buf_init(&whole, NAME_MAX_BYTES);
	buf_text(&whole, c->uri);
	buf_span(&whole, rest);
	free(c->uri);
	c->uri = wave_text_of(buf_as_span(&whole));
	buf_release(&whole);
	return true;
}

void wave_loaded_line(struct wave_scan *w, struct span range, uint64_t tag)
{
	struct wave_code *c = lacking(w, 1, tag);
	uint64_t low, high;

	range = span_trim(range);
	if (c && !c->high && span_skip(&range, "[") && span_take_hex(&range, &low) && span_skip(&range, "-") && span_take_hex(&range, &high)) {
		c->low = low;
		c->high = high;
	}
}

static struct wave_code *code_of_pc(struct wave_scan *w, uint64_t pc, uint64_t tag)
{
	for (int i = w->opens - 1; tag && i >= 0; i--)
		if (!w->open[i].has_arrow && w->open[i].tag == tag)
			return &w->open[i];
	for (int i = 0; i < w->opens; i++)
		if (!w->open[i].has_arrow && w->open[i].high && pc >= w->open[i].low && pc < w->open[i].high)
			return &w->open[i];
	for (int i = w->opens - 1; i >= 0; i--)
		if (!w->open[i].has_arrow)
			return &w->open[i];
	return NULL;
}

/* "0x7f20f5e534c4 <+3012>:    s_endpgm" */
bool wave_arrow_line(struct wave_scan *w, struct span s, uint64_t offset, uint64_t tag)
{
	struct span rest = s, number;
	struct wave_code *c;
	int64_t distance = 0;
	uint64_t pc;
	bool known = false;

	if (!span_take_hex(&rest, &pc))
		return false;
	number = span_sub(s, 0, s.len - rest.len);
	if (span_skip(&rest, " <")) {
		known = span_take_int(&rest, &distance);
		if (!known || !span_skip(&rest, ">"))
			return false;
	}
	if (!span_skip(&rest, ":"))
		return false;
	c = code_of_pc(w, pc, tag);
	if (!c)
		return false;
	c->has_arrow = true;
	c->arrow_pc = pc;
	c->arrow_at = offset;
	c->arrow_offset = distance;
	c->arrow_known = known;
	snprintf(c->arrow_address, sizeof c->arrow_address, "%.*s", (int)(number.len < 20 ? number.len : 20), number.at);
	c->insn = wave_text_of(span_trim(rest));
	return true;
}

void wave_keep_code(struct wave_scan *w, struct span text)
{
	if (w->opens && !w->open[w->opens - 1].text.cut) {
		buf_span(&w->open[w->opens - 1].text, text);
		buf_char(&w->open[w->opens - 1].text, '\n');
	}
}

bool wave_end_line(struct wave_scan *w, uint64_t tag)
{
	int best = -1;

	for (int i = 0; tag && i < w->opens && best < 0; i++)
		if (w->open[i].tag == tag)
			best = i;
	for (int i = 0; i < w->opens && best < 0; i++)
		if (w->open[i].has_arrow)
			best = i;
	if (best < 0)
		best = w->opens - 1;
	if (best < 0)
		return false;
	wave_close_code(w, best, true);
	return true;
}
