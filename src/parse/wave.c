/* wave.c - blocks of waves, and whose turn a line is. */
#include "config.h"

#include "parse/wave_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void wave_init(struct wave_scan *w, const struct reading_sink *sink)
{
	memset(w, 0, sizeof *w);
	w->sink = sink;
	wrapped_init(&w->header);
	wrapped_init(&w->title);
	w->group = mem_array(NULL, WAVE_GROUP_SLOTS, sizeof *w->group);
	memset(w->group, 0, WAVE_GROUP_SLOTS * sizeof *w->group);
}

char *wave_text_of(struct span s)
{
	char *out;

	s = span_sub(s, 0, NAME_MAX_BYTES);
	out = mem_alloc(s.len + 1);
	memcpy(out, s.at, s.len);
	out[s.len] = 0;
	return out;
}

void wave_code_release(struct wave_code *c)
{
	free(c->title);
	free(c->uri);
	free(c->insn);
	buf_release(&c->text);
	memset(c, 0, sizeof *c);
}

void wave_block_release(struct wave_block *b)
{
	free(b->kernel);
	free(b->reasons);
	wave_code_release(&b->code);
	buf_release(&b->rows);
	memset(b, 0, sizeof *b);
}

void wave_release(struct wave_scan *w)
{
	for (int i = 0; i < WAVES_PENDING; i++)
		wave_block_release(&w->block[i]);
	for (int i = 0; i < w->opens; i++)
		wave_code_release(&w->open[i]);
	wrapped_release(&w->header);
	wrapped_release(&w->title);
	free(w->group);
	memset(w, 0, sizeof *w);
}

struct wave_block *wave_block_at(struct wave_scan *w, int i)
{
	return &w->block[(w->first + i) % WAVES_PENDING];
}

struct wave_block *wave_newest(struct wave_scan *w)
{
	return w->count ? wave_block_at(w, w->count - 1) : NULL;
}

/* The newest wave whose lines have this prefix; any, when none has. */
struct wave_block *wave_newest_of(struct wave_scan *w, uint64_t tag)
{
	for (int i = w->count - 1; i >= 0; i--)
		if (wave_block_at(w, i)->tag == tag)
			return wave_block_at(w, i);
	return wave_newest(w);
}

/* --- blocks --- */

static void start_block(struct wave_scan *w, const struct line *l)
{
	if (w->count == WAVES_PENDING)
		wave_emit_oldest(w);
	while (w->count && wave_block_at(w, 0)->done)
		wave_emit_oldest(w);
	w->count++;
	memset(wave_newest(w), 0, sizeof *wave_newest(w));
	wave_newest(w)->used = true;
	wave_newest(w)->offset = l->offset;
	wave_newest(w)->id = -1;
	wave_newest(w)->tag = line_tag(l);
	memcpy(wave_newest(w)->rank, l->rank, sizeof l->rank);
	buf_init(&wave_newest(w)->rows, WAVE_REGISTERS_MAX);
	w->in_rows = w->keep = false;
}

static void copy(char *out, size_t size, struct span s)
{
	snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.len ? s.at : "");
}

/* A header whose end stands in a line below. */
bool wave_header_is_cut(struct span s)
{
	uint64_t id;

	return span_take_uint(&s, &id) && span_skip(&s, ": pc=") && span_starts(s, "0x");
}

static bool header(struct wave_scan *w, const struct line *l, struct span s)
{
	struct wave_header h;
	struct wave_block *b;
	struct wave_group *g;

	if (!wave_read_header(s, &h))
		return false;
	w->waves++;
	g = h.kernel.len || h.entry.len ? wave_group_by(w, h.pc, h.reasons, h.kernel) : NULL;
	w->light = w->rows >= WAVES_ROWS && g && g->emitted;
	if (w->light) {
		wave_flush(w);
		g->count++;
		return true;
	}
	start_block(w, l);
	b = wave_newest(w);
	b->id = (int64_t)h.id;
	b->pc = h.pc;
	b->running = h.running;
	copy(b->pc_text, sizeof b->pc_text, h.pc_text);
	copy(b->entry, sizeof b->entry, h.entry);
	if (!h.running)
		b->reasons = wave_text_of(h.reasons);
	if (h.kernel.len)
		b->kernel = wave_text_of(h.kernel);
	b->keep = w->keep = !h.running && (!g || g->count == 0) && w->groups <= WAVE_KEPT_GROUPS;
	return true;
}

/* --- the other lines --- */

static void keep_row(struct wave_scan *w, struct span row)
{
	struct wave_block *b = wave_newest(w);

	if (!b || !b->keep || b->rows.cut)
		return;
	buf_span(&b->rows, row);
	buf_char(&b->rows, '\n');
}

/* "name: ffffffff ..." or "0x0000: ffffffff ...": only what registers and memory print. */
static bool plain(const char *p, size_t len)
{
	static const bool row[256] = { ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1,
		['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1,
		['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
		['y'] = 1, ['z'] = 1, [' '] = 1, ['['] = 1, [']'] = 1, [':'] = 1, ['_'] = 1, ['\r'] = 1 };
	size_t i = 0;

	while (i < len && p[i] == ' ')
		i++;
	/* A number is the rank before a line of srun. */
	if (i < 1 || i == len || (p[i] >= '0' && p[i] <= '9' && !(i + 1 < len && p[i + 1] == 'x')))
		return false;
	while (i < len && ((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '_'))
		i++;
	if (i >= len || p[i] != ':')
		return false;
	for (; i < len; i++)
		if (!row[(unsigned char)p[i]])
			return false;
	/* "wave_1: pc=" is told by its '='; a name of a register is short. */
	return true;
}

bool wave_row_slow(struct wave_scan *w, const char *at, size_t len)
{
	int i = 0;

	while (i < WAVE_ROW_LENGTHS && w->row_len[i] != len)
		i++;
	if (i == WAVE_ROW_LENGTHS) {
		if (!plain(at, len))
			return false;
		w->row_len[w->row_next++ % WAVE_ROW_LENGTHS] = len;
	} else if (i) { /* the rows of a section mostly have one length: it is looked for first */
		w->row_len[i] = w->row_len[0];
		w->row_len[0] = len;
	}
	if (w->keep)
		keep_row(w, span_make(at, len));
	return true;
}

/* "120 wavefront(s) found in @PC: 0x00007E36D440A844", "64 wavefront(s) found in XNACK error state @PC: 0x.." */
static bool old_line(struct wave_scan *w, const struct line *l)
{
	struct span s = l->text, rest;
	struct wave_block *b;
	uint64_t count, pc;
	long at = span_find(s, " wavefront(s) found in ");
	size_t digits = at > 0 ? (size_t)at : 0;

	while (digits && s.at[digits - 1] >= '0' && s.at[digits - 1] <= '9')
		digits--;
	rest = span_sub(s, digits, s.len);
	if (at < 0 || !span_take_uint(&rest, &count))
		return false;
	rest = span_after(rest, "@PC: ");
	if (!span_take_hex(&rest, &pc))
		return false;
	start_block(w, l);
	b = wave_newest(w);
	b->old = true;
	b->count = count ? (int64_t)count : 1;
	b->pc = pc;
	snprintf(b->pc_text, sizeof b->pc_text, "0x%llx", (unsigned long long)pc);
	w->waves += count ? count : 1;
	return true;
}

/* "scalar registers:" at the end of the line, whatever stands before it: the bit of its class; 0 when it is none. */
static unsigned registers_title(struct span s)
{
	static const char *const class[] = { "scalar", "system", "trap", "vector", "general" };

	if (!span_ends(s, " registers:"))
		return 0;
	s.len -= strlen(" registers:");
	for (size_t i = 0; i < sizeof class / sizeof *class; i++)
		if (span_ends(s, class[i]))
			return 1u << i;
	return 0;
}

/* Blocks mixed without a prefix: a title that the newest wave has belongs to one before it. */
static void mark_registers(struct wave_scan *w, uint64_t tag, unsigned class)
{
	struct wave_block *b = wave_newest_of(w, tag);

	for (int i = w->count - 1; i >= 0 && b && b->registers & class; i--) {
		struct wave_block *other = wave_block_at(w, i);

		if (other->tag == b->tag && !other->done && !(other->registers & class))
			b = other;
	}
	if (b)
		b->registers |= class;
}

static void rows_begin(struct wave_scan *w, struct span title)
{
	w->in_rows = true;
	keep_row(w, span_trim(title));
}

/* True when the line is more of a header that was broken. */
static bool header_goes_on(struct wave_scan *w, const struct line *l, struct span bare)
{
	struct line first = *l;

	if (line_tag(l) != w->header.tag && line_tag(l)) {
		w->header.open = ++w->header.strangers < WRAPPED_STRANGERS;
		return false;
	}
	if (!bare.len || span_contains(bare, "wave_") || registers_title(bare) || span_contains(bare, "isassembly") || span_starts(bare, "------") ||
		!wrapped_add(&w->header, l, l->text)) {
		w->header.open = false;
		return false;
	}
	first.offset = w->header.offset;
	if (header(w, &first, wrapped_text(&w->header)))
		w->header.open = false;
	return true;
}

bool wave_line(struct wave_scan *w, const struct line *l)
{
	struct span s = l->text, bare = span_trim(s);
	size_t from = 0;
	unsigned class;
	bool any = false;
	long at;

	if (w->header.open && header_goes_on(w, l, bare))
		return true;
	if (w->title.open && wave_title_goes_on(w, l, bare))
		return true;
	/* Two ranks' markers may share a line. */
	while ((at = span_find(span_sub(s, from, s.len), "wave_")) >= 0) {
		struct span rest = span_sub(s, from + (size_t)at + 5, s.len);
		long again = -1;
		struct span probe = rest;

		/* up to the next header in the same line */
		for (size_t skip = 0; (again = span_find(span_sub(rest, skip, rest.len), "wave_")) >= 0; skip += (size_t)again + 5) {
			uint64_t id;

			probe = span_sub(rest, skip + (size_t)again + 5, rest.len);
			if (span_take_uint(&probe, &id) && span_starts(probe, ": pc=")) {
				again += (long)skip;
				break;
			}
		}
		if (header(w, l, again >= 0 ? span_sub(rest, 0, (size_t)again) : rest)) {
			any = true;
		} else if (again < 0 && wave_header_is_cut(rest)) {
			wrapped_start(&w->header, l, rest);
			w->in_rows = w->keep = false;
			any = true;
		}
		from += (size_t)at + 5;
	}
	if (any)
		return true;
	if ((class = registers_title(bare))) {
		if (!w->light)
			mark_registers(w, line_tag(l), class);
		rows_begin(w, bare);
		return true;
	}
	if (span_starts(bare, "Local memory content") || span_starts(bare, "Global memory (kernarg segment")) {
		rows_begin(w, bare);
		return true;
	}
	if ((at = span_find(s, "Disassembly for function ")) >= 0 || span_ends(bare, "Disassembly:")) {
		w->in_rows = false;
		if (!w->light)
			wave_title_line(w, l, at >= 0 ? span_sub(s, (size_t)at + 12, s.len) : span_make("", 0));
		return true;
	}
	if (span_contains(bare, "End of disassembly.")) {
		bool light = w->light;

		w->light = false;
		return light || wave_end_line(w, line_tag(l));
	}
	if (w->opens) {
		if ((at = span_find(s, "code object: ")) >= 0) {
			wave_code_line(w, span_sub(s, (size_t)at + 13, s.len), line_tag(l));
			return true;
		}
		if ((at = span_find(s, "loaded at: ")) >= 0) {
			wave_loaded_line(w, span_sub(s, (size_t)at + 11, s.len), line_tag(l));
			return true;
		}
		if (wave_uri_goes_on(w, bare, line_tag(l)))
			return true;
		wave_keep_code(w, s);
		if ((at = span_find(s, "=> 0x")) >= 0 && wave_arrow_line(w, span_sub(s, (size_t)at + 3, s.len), l->offset, line_tag(l)))
			return true;
		if (span_starts(s, "    0x") || span_is(bare, "..."))
			return true;
	}
	return old_line(w, l);
}

/* --- lines that are the agent's alone --- */

static bool begins(const char *at, size_t len, const char *word, size_t n)
{
	return len >= n && memcmp(at, word, n) == 0;
}

#define BEGINS(word) begins(at, len, word, sizeof word - 1)
#define BEHIND(word) span_make(at + sizeof word - 1, len - (sizeof word - 1))

static bool own_code_line(struct wave_scan *w, const char *at, size_t len, uint64_t offset)
{
	struct wave_block *b = wave_newest(w);
	bool ours = false;

	if (w->light)
		return BEGINS("    0x") || BEGINS(" => 0x") || BEGINS("    code object: ") || BEGINS("    loaded at: [") || BEGINS("    ...");
	if (!w->opens)
		return false;
	if (BEGINS("    0x")) {
		ours = true;
	} else if (BEGINS(" => 0x")) {
		ours = wave_arrow_line(w, BEHIND(" => "), offset, 0);
	} else if (BEGINS("    code object: ")) {
		wave_code_line(w, BEHIND("    code object: "), 0);
		return true;
	} else if (BEGINS("    loaded at: [")) {
		wave_loaded_line(w, BEHIND("    loaded at: "), 0);
		return true;
	}
	if (ours && b && b->keep)
		wave_keep_code(w, span_make(at, len));
	return ours;
}

static bool own_header(struct wave_scan *w, const struct line *l)
{
	struct span s = span_sub(l->raw, 5, l->raw.len);

	/* Another header in the same line is for those who look everywhere. */
	return span_find(s, "wave_") < 0 && header(w, l, s);
}

bool wave_own_line(struct wave_scan *w, const char *at, size_t len, uint64_t offset)
{
	struct line l = { .raw = { at, len }, .text = { at, len }, .offset = offset };

	if (w->header.open || w->title.open)
		return false;
	switch (*at) {
	case ' ':
		return own_code_line(w, at, len, offset);
	case '-':
		return len == 56 && at[55] == '-' && memcmp(at, at + 1, 55) == 0;
	case 'w':
		return BEGINS("wave_") && at[len - 1] == ')' && own_header(w, &l);
	case 's':
	case 't':
	case 'v':
	case 'g':
		if (len >= 20 || len <= 11 || memcmp(at + len - 11, " registers:", 11) != 0)
			return false;
		break;
	case 'L':
		if (!BEGINS("Local memory content"))
			return false;
		break;
	case 'G':
		if (!BEGINS("Global memory (kernarg segment, "))
			return false;
		break;
	case 'D':
		if (!BEGINS("Disassembly for function "))
			return false;
		break;
	case 'E':
		if (len != 19 || !BEGINS("End of disassembly."))
			return false;
		break;
	default:
		return false;
	}
	return wave_line(w, &l);
}

void wave_flush(struct wave_scan *w)
{
	while (w->opens)
		wave_close_code(w, 0, false);
	while (w->count)
		wave_emit_oldest(w);
	w->header.open = w->title.open = false;
	w->in_rows = false;
}
