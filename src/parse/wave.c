/* wave.c - headers, disassemblies, and which belongs to which. */
#include "config.h"

#include "parse/wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/mem.h"

#define NAME_MAX_BYTES 16384

void wave_init(struct wave_scan *w, const struct reading_sink *sink)
{
	memset(w, 0, sizeof *w);
	w->sink = sink;
	wrapped_init(&w->header);
	wrapped_init(&w->title);
	w->group = mem_array(NULL, WAVE_GROUP_SLOTS, sizeof *w->group);
	memset(w->group, 0, WAVE_GROUP_SLOTS * sizeof *w->group);
}

static char *text_of(struct span s)
{
	char *out;

	s = span_sub(s, 0, NAME_MAX_BYTES);
	out = mem_alloc(s.len + 1);
	memcpy(out, s.at, s.len);
	out[s.len] = 0;
	return out;
}

static void code_release(struct wave_code *c)
{
	free(c->title);
	free(c->uri);
	free(c->insn);
	buf_release(&c->text);
	memset(c, 0, sizeof *c);
}

static void block_release(struct wave_block *b)
{
	free(b->kernel);
	free(b->reasons);
	code_release(&b->code);
	buf_release(&b->rows);
	memset(b, 0, sizeof *b);
}

void wave_release(struct wave_scan *w)
{
	for (int i = 0; i < WAVES_PENDING; i++)
		block_release(&w->block[i]);
	for (int i = 0; i < w->opens; i++)
		code_release(&w->open[i]);
	wrapped_release(&w->header);
	wrapped_release(&w->title);
	free(w->group);
	memset(w, 0, sizeof *w);
}

static struct wave_block *block_at(struct wave_scan *w, int i)
{
	return &w->block[(w->first + i) % WAVES_PENDING];
}

static struct wave_block *newest(struct wave_scan *w)
{
	return w->count ? block_at(w, w->count - 1) : NULL;
}

/* The newest wave whose lines have this prefix; any, when none has. */
static struct wave_block *newest_of(struct wave_scan *w, uint64_t tag)
{
	for (int i = w->count - 1; i >= 0; i--)
		if (block_at(w, i)->tag == tag)
			return block_at(w, i);
	return newest(w);
}

/* --- what is emitted --- */

static void reasons_json(const char *reasons, struct buf *out)
{
	struct span rest = span_of(reasons ? reasons : ""), word;
	struct json_write j;

	jw_start(&j, out);
	jw_array(&j, NULL);
	while (reasons && span_cut(&rest, '|', &word))
		if (span_trim(word).len)
			jw_text(&j, NULL, span_trim(word));
	jw_end_array(&j);
}

/* "memory://PID#offset=0x..&size=N", "file://PATH#offset=N&size=N" */
static void code_json(const struct wave_code *c, struct buf *out)
{
	struct span uri = span_of(c->uri), rest = uri, number;
	bool memory = span_starts(uri, "memory://");
	struct json_write j;
	uint64_t value;
	long at;
	char range[60];

	jw_start(&j, out);
	jw_object(&j, NULL);
	jw_string(&j, "scheme", memory ? "memory" : "file");
	rest = span_sub(uri, memory ? 9 : 7, uri.len);
	if (memory && span_take_uint(&rest, &value))
		jw_int(&j, "pid", (int64_t)value);
	else
		jw_null(&j, "pid");
	for (int k = 0; k < 2; k++) {
		const char *word = k ? "size=" : "offset=";

		at = span_find(uri, word);
		number = at < 0 ? span_make("", 0) : span_sub(uri, (size_t)at + strlen(word), uri.len);
		if (span_starts(number, "0x") ? span_take_hex(&number, &value) : span_take_uint(&number, &value))
			jw_int(&j, k ? "size" : "offset", (int64_t)value);
		else
			jw_null(&j, k ? "size" : "offset");
	}
	jw_text(&j, "uri", uri);
	if (c->high) {
		snprintf(range, sizeof range, "0x%llx-0x%llx", (unsigned long long)c->low, (unsigned long long)c->high);
		jw_string(&j, "loaded", range);
	}
	jw_end_object(&j);
}

static void arrow_json(const struct wave_code *c, struct buf *out)
{
	struct json_write j;

	jw_start(&j, out);
	jw_object(&j, NULL);
	jw_string(&j, "pc", c->arrow_address);
	if (c->arrow_known)
		jw_int(&j, "offset", c->arrow_offset);
	else
		jw_null(&j, "offset");
	jw_string(&j, "insn", c->insn);
	jw_end_object(&j);
}

static void put_code(struct reading *r, const struct wave_code *c, struct buf *code, struct buf *arrow)
{
	if (c->uri) {
		code_json(c, code);
		reading_text(r, "code_object", buf_as_span(code));
	}
	if (c->has_arrow) {
		arrow_json(c, arrow);
		reading_text(r, "arrow", buf_as_span(arrow));
	}
}

/* Eight bytes a step: names of kernels are long. */
static uint64_t hash_of(uint64_t hash, const char *at, size_t len)
{
	uint64_t word;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	for (; len; at++, len--)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return hash;
}

/* NULL when there are too many. */
static struct wave_group *group_by(struct wave_scan *w, uint64_t pc, struct span reasons, struct span kernel)
{
	uint64_t key = hash_of(hash_of(pc * 31 + 1, reasons.at, reasons.len) + 1, kernel.at, kernel.len) | 1;

	for (size_t i = key % WAVE_GROUP_SLOTS;; i = (i + 1) % WAVE_GROUP_SLOTS) {
		struct wave_group *g = &w->group[i];

		if (g->key == key)
			return g;
		if (!g->key) {
			if (w->groups == WAVE_GROUPS_MAX)
				return NULL;
			w->groups++;
			g->key = key;
			return g;
		}
	}
}

static struct wave_group *group_of(struct wave_scan *w, const struct wave_block *b, const char *kernel)
{
	return group_by(w, b->pc, span_of(b->reasons), span_of(kernel));
}

static void emit_block(struct wave_scan *w, struct wave_block *b)
{
	const char *kernel = b->kernel ? b->kernel : b->code.used ? b->code.title : NULL;
	struct wave_group *g = group_of(w, b, kernel);
	struct buf reasons, code, arrow;
	struct reading r;

	if (g)
		g->count += b->count > 0 ? (uint64_t)b->count : 1;
	if (w->rows >= WAVES_ROWS && (!g || g->emitted))
		return;
	w->rows++;
	if (g)
		g->emitted++;
	buf_init(&reasons, 4096);
	buf_init(&code, 4 * NAME_MAX_BYTES);
	buf_init(&arrow, 4 * NAME_MAX_BYTES);
	reading_start(&r, "wave", b->offset);
	reading_word(&r, "via", b->old ? "old-agent" : "agent");
	if (b->id >= 0)
		reading_int(&r, "wave", b->id);
	reading_word(&r, "state", b->running ? "running" : "stopped");
	reasons_json(b->reasons, &reasons);
	reading_text(&r, "reasons", buf_as_span(&reasons));
	reading_word(&r, "pc", b->pc_text);
	reading_word(&r, "kernel", kernel);
	reading_word(&r, "kernel_code_entry", b->entry);
	reading_int(&r, "complete", b->registers != 0 && b->code.used && b->code.ended);
	if (b->count > 0)
		reading_int(&r, "count", b->count);
	if (b->code.used)
		put_code(&r, &b->code, &code, &arrow);
	reading_word(&r, "rank", b->rank);
	reading_text(&r, "registers", buf_as_span(&b->rows));
	if (b->code.used && g && g->emitted == 1)
		reading_text(&r, "disassembly", buf_as_span(&b->code.text));
	reading_emit(&r, w->sink);
	buf_release(&reasons);
	buf_release(&code);
	buf_release(&arrow);
}

static void emit_orphan(struct wave_scan *w, struct wave_code *c)
{
	struct buf code, arrow;
	struct reading r;

	if (!c->title && !c->uri && !c->has_arrow)
		return;
	buf_init(&code, 4 * NAME_MAX_BYTES);
	buf_init(&arrow, 4 * NAME_MAX_BYTES);
	reading_start(&r, "disassembly", c->offset);
	reading_word(&r, "kernel", c->title);
	put_code(&r, c, &code, &arrow);
	reading_emit(&r, w->sink);
	buf_release(&code);
	buf_release(&arrow);
}

static void emit_oldest(struct wave_scan *w)
{
	struct wave_block *b = block_at(w, 0);

	emit_block(w, b);
	block_release(b);
	w->first = (w->first + 1) % WAVES_PENDING;
	w->count--;
}

/* --- to which wave does a disassembly belong? --- */

static bool takes_code(const struct wave_block *b)
{
	return !b->code.used && !b->old;
}

static struct wave_block *owner_of(struct wave_scan *w, const struct wave_code *c)
{
	struct wave_block *last = newest_of(w, c->tag);

	if (c->has_arrow) {
		if (last && takes_code(last) && last->pc == c->arrow_pc)
			return last;
		for (int i = 0; i < w->count; i++)
			if (takes_code(block_at(w, i)) && block_at(w, i)->pc == c->arrow_pc && !block_at(w, i)->done && block_at(w, i)->tag == c->tag)
				return block_at(w, i);
	}
	/* The arrow may stand beside the pc of its wave; not in another code object. */
	if (!last || !takes_code(last) || c->offset < last->offset)
		return NULL;
	if (c->high && last->pc && (last->pc < c->low || last->pc >= c->high))
		return NULL;
	return last;
}

static void close_code(struct wave_scan *w, int i, bool ended)
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
		emit_orphan(w, &c);
		code_release(&c);
	}
}

static struct wave_code *open_code(struct wave_scan *w, uint64_t offset, uint64_t tag)
{
	if (w->opens == (int)(sizeof w->open / sizeof w->open[0]))
		close_code(w, 0, false);
	memset(&w->open[w->opens], 0, sizeof w->open[0]);
	w->open[w->opens].used = true;
	w->open[w->opens].offset = offset;
	w->open[w->opens].tag = tag;
	buf_init(&w->open[w->opens].text, WAVE_DISASSEMBLY_MAX);
	return &w->open[w->opens++];
}

/* --- header --- */

/* The end of the header: " (running)" or " (stopped, reason: X)"; the last one counts, names can hold the words. */
static long header_end(struct span s, struct span *reasons, bool *running)
{
	long best = -1;
	size_t from = 0;
	long at;

	*running = false;
	/* As a rule it stands at the end of the line. */
	if (s.len > 300 && span_find(span_sub(s, s.len - 300, 300), " (stopped, reason: ") >= 0)
		from = s.len - 300;
	while ((at = span_find(span_sub(s, from, s.len), " (stopped, reason: ")) >= 0) {
		best = (long)from + at;
		from = (size_t)best + 1;
	}
	if (best >= 0) {
		struct span rest = span_sub(s, (size_t)best + 19, s.len);
		size_t n = 0;

		while (n < rest.len && ((rest.at[n] >= 'A' && rest.at[n] <= 'Z') || (rest.at[n] >= '0' && rest.at[n] <= '9') || rest.at[n] == '_' ||
						rest.at[n] == '|'))
			n++;
		*reasons = span_sub(rest, 0, n);
		return best;
	}
	from = 0;
	while ((at = span_find(span_sub(s, from, s.len), " (running)")) >= 0) {
		best = (long)from + at;
		from = (size_t)best + 1;
	}
	*running = best >= 0;
	return best;
}

/* "(kernel_code_entry=0x..[ <NAME>][, kernargs=0x..])": the number as printed, and the name. */
static void entry_of(struct span s, struct span *number, struct span *kernel)
{
	struct span rest = s, hex;
	uint64_t value;
	size_t from = 0;
	long at = -1, next;

	*number = *kernel = span_make("", 0);
	if (!span_skip(&rest, "(kernel_code_entry=") || span_starts(rest, "not available"))
		return;
	hex = rest;
	if (!span_take_hex(&hex, &value))
		return;
	*number = span_sub(rest, 0, rest.len - hex.len);
	rest = hex;
	if (span_ends(rest, ")"))
		rest.len--;
	if (rest.len > 60)
		from = rest.len - 60; /* the last one counts: names can hold anything */
	while ((next = span_find(span_sub(rest, from, rest.len), ", kernargs=0x")) >= 0) {
		at = (long)from + next;
		from = (size_t)at + 1;
	}
	if (at >= 0)
		rest.len = (size_t)at;
	if (span_skip(&rest, " <") && span_ends(rest, ">"))
		*kernel = span_sub(rest, 0, rest.len - 1);
}

static void start_block(struct wave_scan *w, const struct line *l)
{
	if (w->count == WAVES_PENDING)
		emit_oldest(w);
	while (w->count && block_at(w, 0)->done)
		emit_oldest(w);
	w->count++;
	memset(newest(w), 0, sizeof *newest(w));
	newest(w)->used = true;
	newest(w)->offset = l->offset;
	newest(w)->id = -1;
	newest(w)->tag = line_tag(l);
	memcpy(newest(w)->rank, l->rank, sizeof l->rank);
	buf_init(&newest(w)->rows, WAVE_REGISTERS_MAX);
	w->in_rows = w->keep = false;
}

struct header {
	uint64_t id, pc;
	bool running;
	struct span pc_text, reasons, entry, kernel;
};

/* `s` starts behind "wave_". */
static bool read_header(struct span s, struct header *h)
{
	struct span rest = s, pc;
	long end;

	memset(h, 0, sizeof *h);
	if (!span_take_uint(&rest, &h->id) || !span_skip(&rest, ": pc="))
		return false;
	end = header_end(rest, &h->reasons, &h->running);
	if (end < 0)
		return false;
	pc = rest;
	if (!span_take_hex(&pc, &h->pc))
		return true;
	h->pc_text = span_sub(rest, 0, rest.len - pc.len);
	entry_of(span_trim(span_sub(pc, 0, (size_t)end - h->pc_text.len)), &h->entry, &h->kernel);
	return true;
}

static void copy(char *out, size_t size, struct span s)
{
	snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.len ? s.at : "");
}

/* A header whose end stands in a line below. */
static bool header_is_cut(struct span s)
{
	uint64_t id;

	return span_take_uint(&s, &id) && span_skip(&s, ": pc=") && span_starts(s, "0x");
}

static bool header(struct wave_scan *w, const struct line *l, struct span s)
{
	struct header h;
	struct wave_block *b;
	struct wave_group *g;

	if (!read_header(s, &h))
		return false;
	w->waves++;
	g = h.kernel.len || h.entry.len ? group_by(w, h.pc, h.reasons, h.kernel) : NULL;
	w->light = w->rows >= WAVES_ROWS && g && g->emitted;
	if (w->light) {
		wave_flush(w);
		g->count++;
		return true;
	}
	start_block(w, l);
	b = newest(w);
	b->id = (int64_t)h.id;
	b->pc = h.pc;
	b->running = h.running;
	copy(b->pc_text, sizeof b->pc_text, h.pc_text);
	copy(b->entry, sizeof b->entry, h.entry);
	if (!h.running)
		b->reasons = text_of(h.reasons);
	if (h.kernel.len)
		b->kernel = text_of(h.kernel);
	b->keep = w->keep = !h.running && (!g || g->count == 0) && w->groups <= WAVE_KEPT_GROUPS;
	return true;
}

/* --- the other lines --- */

static void keep_row(struct wave_scan *w, struct span row)
{
	struct wave_block *b = newest(w);

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
	c->title = text_of(name);
}

/* Disassemblies whose end will not come: of the same process; without a prefix, those after whose arrow a wave was told. */
static void close_cut(struct wave_scan *w, uint64_t tag)
{
	struct wave_block *last = newest(w);

	for (int i = 0; i < w->opens; i++)
		if (w->open[i].tag == tag && (tag || (w->open[i].has_arrow && last && last->offset > w->open[i].arrow_at)))
			close_code(w, i--, false);
}

static void title_line(struct wave_scan *w, const struct line *l, struct span rest)
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
static bool title_goes_on(struct wave_scan *w, const struct line *l, struct span bare)
{
	struct wave_code *c = NULL;

	for (int i = 0; i < w->opens; i++)
		if (w->open[i].offset == w->title.offset)
			c = &w->open[i];
	if (line_tag(l) != w->title.tag && line_tag(l) && c)
		return false;
	if (!c || !bare.len || span_contains(bare, "code object: ") || span_contains(bare, "loaded at: ") || span_contains(bare, "=> 0x") ||
		span_starts(bare, "0x") || span_contains(bare, "isassembly") || !wrapped_add(&w->title, l, l->text)) {
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

static void code_line(struct wave_scan *w, struct span uri, uint64_t tag)
{
	struct wave_code *c = lacking(w, 0, tag);

	uri = span_trim(uri);
	if (c && !c->uri && (span_starts(uri, "memory://") || span_starts(uri, "file://")))
		c->uri = text_of(uri);
}

/* Below the URI: the rest of it, when a terminal broke it. */
static bool uri_goes_on(struct wave_scan *w, struct span rest, uint64_t tag)
{
	struct wave_code *c = lacking(w, 1, tag);
	struct buf whole;

	if (!c || !c->uri || c->high || c->has_arrow || !rest.len || span_starts(rest, "0x") || span_is(rest, "...") || span_find_char(rest, ' ') >= 0)
		return false;
	buf_init(&whole, NAME_MAX_BYTES);
	buf_text(&whole, c->uri);
	buf_span(&whole, rest);
	free(c->uri);
	c->uri = text_of(buf_as_span(&whole));
	buf_release(&whole);
	return true;
}

static void loaded_line(struct wave_scan *w, struct span range, uint64_t tag)
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
static bool arrow_line(struct wave_scan *w, struct span s, uint64_t offset, uint64_t tag)
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
	c->insn = text_of(span_trim(rest));
	return true;
}

static void keep_code(struct wave_scan *w, struct span text)
{
	if (w->opens && !w->open[w->opens - 1].text.cut) {
		buf_span(&w->open[w->opens - 1].text, text);
		buf_char(&w->open[w->opens - 1].text, '\n');
	}
}

static bool end_line(struct wave_scan *w, uint64_t tag)
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
	close_code(w, best, true);
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
	b = newest(w);
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
	struct wave_block *b = newest_of(w, tag);

	for (int i = w->count - 1; i >= 0 && b && b->registers & class; i--) {
		struct wave_block *other = block_at(w, i);

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

	if (line_tag(l) != w->header.tag && line_tag(l))
		return false;
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
	if (w->title.open && title_goes_on(w, l, bare))
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
		} else if (again < 0 && header_is_cut(rest)) {
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
			title_line(w, l, at >= 0 ? span_sub(s, (size_t)at + 12, s.len) : span_make("", 0));
		return true;
	}
	if (span_contains(bare, "End of disassembly.")) {
		bool light = w->light;

		w->light = false;
		return light || end_line(w, line_tag(l));
	}
	if (w->opens) {
		if ((at = span_find(s, "code object: ")) >= 0) {
			code_line(w, span_sub(s, (size_t)at + 13, s.len), line_tag(l));
			return true;
		}
		if ((at = span_find(s, "loaded at: ")) >= 0) {
			loaded_line(w, span_sub(s, (size_t)at + 11, s.len), line_tag(l));
			return true;
		}
		if (uri_goes_on(w, bare, line_tag(l)))
			return true;
		keep_code(w, s);
		if ((at = span_find(s, "=> 0x")) >= 0 && arrow_line(w, span_sub(s, (size_t)at + 3, s.len), l->offset, line_tag(l)))
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
	struct wave_block *b = newest(w);
	bool ours = false;

	if (w->light)
		return BEGINS("    0x") || BEGINS(" => 0x") || BEGINS("    code object: ") || BEGINS("    loaded at: [") || BEGINS("    ...");
	if (!w->opens)
		return false;
	if (BEGINS("    0x")) {
		ours = true;
	} else if (BEGINS(" => 0x")) {
		ours = arrow_line(w, BEHIND(" => "), offset, 0);
	} else if (BEGINS("    code object: ")) {
		code_line(w, BEHIND("    code object: "), 0);
		return true;
	} else if (BEGINS("    loaded at: [")) {
		loaded_line(w, BEHIND("    loaded at: "), 0);
		return true;
	}
	if (ours && b && b->keep)
		keep_code(w, span_make(at, len));
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
		close_code(w, 0, false);
	while (w->count)
		emit_oldest(w);
	w->header.open = w->title.open = false;
	w->in_rows = false;
}
