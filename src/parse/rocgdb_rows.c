/* rocgdb_rows.c - whole rows of rocgdb's tables. */
#include "config.h"

#include "parse/rocgdb_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static char *text_of(struct span s)
{
	char *out = mem_alloc(s.len + 1);

	memcpy(out, s.at, s.len);
	out[s.len] = 0;
	return out;
}

bool rocgdb_numbers(struct span s, char *out, size_t size)
{
	size_t len = 1;
	uint64_t n;

	if (!span_skip(&s, "["))
		return false;
	out[0] = '[';
	for (int i = 0; i < 3; i++) {
		s = span_trim(s);
		if (!span_take_uint(&s, &n) || n > INT64_MAX)
			return false;
		len += (size_t)snprintf(out + len, size - len, "%s%llu", i ? "," : "", (unsigned long long)n);
		if (len + 24 > size)
			return false;
		if (!span_skip(&s, ","))
			break;
	}
	if (!span_starts(s, "]"))
		return false;
	snprintf(out + len, size - len, "]");
	return true;
}

/* The last word off the end of `s`. */
struct span rocgdb_last_word(struct span *s)
{
	size_t end, start;

	*s = span_trim(*s);
	end = start = s->len;
	while (start > 0 && s->at[start - 1] != ' ' && s->at[start - 1] != '\t')
		start--;
	end = start;
	{
		struct span word = span_sub(*s, start, s->len);

		s->len = end;
		*s = span_trim(*s);
		return word;
	}
}

static void whole(struct reading *r, const char *name, struct span s)
{
	int64_t n;

	if (span_int(s, &n))
		reading_int(r, name, n);
}

static bool is_state(struct span s)
{
	return s.len == 1 && isupper((unsigned char)*s.at);
}

static void agent_row(struct rocgdb_scan *g, const struct rocgdb_row *row)
{
	struct span rest = row->after, word, location, threads, cores, arch = span_make("", 0);
	struct reading r;
	uint64_t gpuid;

	if (!span_skip(&rest, " (GPUID ") || !span_take_uint(&rest, &gpuid) || !span_skip(&rest, ")"))
		return;
	location = rocgdb_last_word(&rest);
	threads = rocgdb_last_word(&rest);
	cores = rocgdb_last_word(&rest);
	/* The layout before 2021 has no state and no architecture. */
	if (is_state(row->before)) {
		struct span device = rest;

		if (span_word(&device, &word)) {
			arch = word;
			rest = span_trim(device);
		}
	}
	reading_start(&r, "gdb_agent", row->offset);
	if (row->id >= 0)
		reading_int(&r, "number", row->id);
	if (is_state(row->before))
		reading_text(&r, "state", row->before);
	reading_int(&r, "gpuid", (int64_t)gpuid);
	reading_text(&r, "arch", arch);
	reading_text(&r, "device", rest);
	whole(&r, "cores", cores);
	whole(&r, "threads", threads);
	reading_text(&r, "location", location);
	reading_int(&r, "current", row->current);
	reading_emit(&r, g->sink);
	rocgdb_see(g, row->offset, true);
}

/* "8:1 (QID 5)" off `rest`. */
static bool take_target(struct span *rest, const char *word, struct span *target, int64_t *number)
{
	struct span s = *rest;
	uint64_t n;

	s = span_trim(s);
	if (!span_word(&s, target))
		return false;
	s = span_trim(s);
	if (!span_skip(&s, word) || !span_take_uint(&s, &n) || !span_skip(&s, ")"))
		return false;
	*number = (int64_t)n;
	*rest = s;
	return true;
}

static void queue_row(struct rocgdb_scan *g, const struct rocgdb_row *row)
{
	struct span rest = row->after, target, address, size, probe, a, b;
	int64_t qid, read = -1, write = -1, bytes;
	struct reading r;

	if (!take_target(&rest, "(QID ", &target, &qid))
		return;
	address = rocgdb_last_word(&rest);
	size = rocgdb_last_word(&rest);
	probe = rest;
	b = rocgdb_last_word(&probe);
	a = rocgdb_last_word(&probe);
	if (span_int(b, &write) && span_int(a, &read))
		rest = probe;
	else
		read = write = -1;
	reading_start(&r, "gdb_queue", row->offset);
	if (row->id >= 0)
		reading_int(&r, "number", row->id);
	reading_text(&r, "target", target);
	reading_int(&r, "qid", qid);
	reading_text(&r, "type", span_trim(rest));
	if (read >= 0) {
		reading_int(&r, "read", read);
		reading_int(&r, "write", write);
		reading_int(&r, "pending", write - read);
	}
	if (span_int(size, &bytes))
		reading_int(&r, "size", bytes);
	reading_text(&r, "address", address);
	reading_int(&r, "current", row->current);
	reading_emit(&r, g->sink);
	rocgdb_see(g, row->offset, true);
}

bool rocgdb_is_fence(struct span s)
{
	struct span part;
	int parts = 0;

	while (span_cut(&s, '|', &part)) {
		if (!span_is(part, "B") && !span_is(part, "Aa") && !span_is(part, "As") && !span_is(part, "Ra") && !span_is(part, "Rs"))
			return false;
		parts++;
	}
	return parts > 0 && parts < 4;
}

void rocgdb_dispatch(struct rocgdb_scan *g, uint64_t offset, int64_t id, struct span target, int64_t pkid, struct span grid, struct span workgroup,
	bool fence_known, struct span fence, struct span kernel, bool current)
{
	char numbers[2][80];
	struct reading r;

	if (span_starts(kernel, "0x") && span_find_char(kernel, ' ') < 0)
		kernel = span_make("", 0);
	reading_start(&r, "gdb_dispatch", offset);
	if (id >= 0)
		reading_int(&r, "number", id);
	reading_text(&r, "target", target);
	if (pkid >= 0)
		reading_int(&r, "pkid", pkid);
	if (rocgdb_numbers(grid, numbers[0], sizeof numbers[0]))
		reading_word(&r, "grid", numbers[0]);
	if (rocgdb_numbers(workgroup, numbers[1], sizeof numbers[1]))
		reading_word(&r, "workgroup", numbers[1]);
	if (fence_known)
		reading_blank(&r, "fence", fence);
	reading_text(&r, "kernel", kernel);
	reading_int(&r, "current", current);
	reading_emit(&r, g->sink);
	rocgdb_see(g, offset, true);
	if (kernel.len && g->dispatches < ROCGDB_DISPATCHES_MAX) {
		rocgdb_copy(g->dispatch[g->dispatches].target, sizeof g->dispatch[0].target, target);
		g->dispatch[g->dispatches++].kernel = text_of(kernel);
	}
}

static struct span brackets(struct span *rest)
{
	long close;
	struct span out;

	*rest = span_trim(*rest);
	close = span_find_char(*rest, ']');
	if (!span_starts(*rest, "[") || close < 0)
		return span_make("", 0);
	out = span_sub(*rest, 0, (size_t)close + 1);
	*rest = span_sub(*rest, (size_t)close + 1, rest->len);
	return out;
}

/* -full has address spaces, descriptor, arguments and signal before the kernel. */
static struct span behind_full(struct span s)
{
	struct span rest = s, word;
	long close = span_find(s, "Private(");

	if (!span_starts(s, "Shared(") || close < 0)
		return s;
	rest = span_sub(s, (size_t)close, s.len);
	close = span_find_char(rest, ')');
	if (close < 0)
		return s;
	rest = span_sub(rest, (size_t)close + 1, rest.len);
	for (int i = 0; i < 3; i++)
		if (!span_word(&rest, &word))
			return span_make("", 0);
	return span_trim(rest);
}

static void dispatch_row(struct rocgdb_scan *g, const struct rocgdb_row *row)
{
	struct span rest = row->after, target, grid, workgroup, fence = span_make("", 0), word, probe;
	int64_t pkid;

	if (!take_target(&rest, "(PKID ", &target, &pkid))
		return;
	grid = brackets(&rest);
	workgroup = brackets(&rest);
	rest = span_trim(rest);
	probe = rest;
	if (span_word(&probe, &word) && rocgdb_is_fence(word)) {
		fence = word;
		rest = span_trim(probe);
	}
	rocgdb_dispatch(g, row->offset, row->id, target, pkid, grid, workgroup, true, fence, behind_full(rest), row->current);
}

/* "void f(int) () from lib" -> "void f(int)"; "kern (a=1) at x.cpp:7" -> "kern" */
static struct span function_of(struct span s)
{
	long best = -1;

	for (size_t i = 0; i + 1 < s.len; i++) {
		size_t k = i + 1;
		int depth = 0;
		struct span tail;

		if (s.at[i] != ' ' || s.at[k] != '(')
			continue;
		for (; k < s.len; k++) {
			depth += s.at[k] == '(' ? 1 : s.at[k] == ')' ? -1 : 0;
			if (depth == 0)
				break;
		}
		tail = span_sub(s, k + 1, s.len);
		if (k == s.len || !span_trim(tail).len || span_starts(tail, " at ") || span_starts(tail, " from "))
			best = (long)i;
		if (best >= 0 && (k == s.len || span_starts(tail, " at ") || span_starts(tail, " from ")))
			break;
	}
	return span_trim(best < 0 ? s : span_sub(s, 0, (size_t)best));
}

void rocgdb_wave(struct rocgdb_scan *g, uint64_t offset, int64_t id, struct span target, struct span pc, struct span function)
{
	struct rocgdb_wave *w;

	rocgdb_see(g, offset, true);
	if (g->waves == ROCGDB_WAVES_MAX)
		return;
	if (g->waves == g->wave_cap) {
		g->wave_cap = g->wave_cap ? g->wave_cap * 2 : 64;
		g->wave = mem_array(g->wave, (size_t)g->wave_cap, sizeof *g->wave);
	}
	w = &g->wave[g->waves++];
	memset(w, 0, sizeof *w);
	w->offset = offset;
	w->thread = id;
	rocgdb_copy(w->target, sizeof w->target, target);
	rocgdb_copy(w->pc, sizeof w->pc, pc);
	if (function.len && !span_is(function, "??"))
		w->function = text_of(function);
}

static void wave_row(struct rocgdb_scan *g, const struct rocgdb_row *row)
{
	struct span rest = span_trim(row->after), target, pc = span_make("", 0), hex;
	uint64_t value;
	long close;

	if (!span_word(&rest, &target))
		return;
	rest = span_trim(rest);
	if (span_starts(rest, "(")) { /* (x,y,z)/n */
		struct span place;

		if (!span_word(&rest, &place))
			return;
		rest = span_trim(rest);
	}
	if (span_starts(rest, "\"") && (close = span_find_char(span_sub(rest, 1, rest.len), '"')) >= 0)
		rest = span_trim(span_sub(rest, (size_t)close + 2, rest.len));
	hex = rest;
	if (span_starts(rest, "0x") && span_take_hex(&hex, &value) && span_starts(hex, " in ")) {
		pc = span_sub(rest, 0, rest.len - hex.len);
		rest = span_sub(hex, 4, hex.len);
	}
	if (span_is(span_trim(rest), "(running)"))
		rest = span_make("", 0);
	rocgdb_wave(g, row->offset, row->id, target, pc, function_of(rest));
}

static const struct {
	const char *word;
	void (*read)(struct rocgdb_scan *, const struct rocgdb_row *);
} row_kinds[] = {
	[ROW_AGENT] = { "AMDGPU Agent", agent_row },
	[ROW_QUEUE] = { "AMDGPU Queue", queue_row },
	[ROW_DISPATCH] = { "AMDGPU Dispatch", dispatch_row },
	[ROW_WAVE] = { "AMDGPU Wave", wave_row },
};

/* "7"; "1.7" is number 7 of inferior 1. */
bool rocgdb_row_id(struct span word, int64_t *id)
{
	long dot = span_find_last(word, '.');

	return span_int(dot > 0 ? span_sub(word, (size_t)dot + 1, word.len) : word, id);
}

/* Is it a row: "[*] Id [State] AMDGPU X ..."? */
enum rocgdb_row_kind rocgdb_row_kind(struct span s, struct rocgdb_row *row)
{
	struct span rest, word;
	int64_t id;

	for (size_t i = 0; i < sizeof row_kinds / sizeof *row_kinds; i++) {
		long at = span_find(s, row_kinds[i].word);

		if (at < 0 || at > 40)
			continue;
		rest = span_trim(span_sub(s, 0, (size_t)at));
		row->current = span_skip(&rest, "*");
		row->id = -1;
		row->before = span_make("", 0);
		if (!span_word(&rest, &word) || !rocgdb_row_id(word, &id))
			return ROW_NONE;
		row->id = id;
		row->before = span_trim(rest);
		row->after = span_sub(s, (size_t)at + strlen(row_kinds[i].word), s.len);
		return (enum rocgdb_row_kind)i;
	}
	return ROW_NONE;
}

void rocgdb_row_read(struct rocgdb_scan *g, struct span text, uint64_t offset)
{
	struct rocgdb_row row = { .offset = offset };
	enum rocgdb_row_kind kind = rocgdb_row_kind(text, &row);

	if (kind != ROW_NONE)
		row_kinds[kind].read(g, &row);
}

bool rocgdb_is_row(struct span s)
{
	struct rocgdb_row row;

	return rocgdb_row_kind(s, &row) != ROW_NONE;
}

bool rocgdb_host_row(struct span s)
{
	struct span rest = span_trim(s), word;
	int64_t id;

	span_skip(&rest, "*");
	return span_word(&rest, &word) && rocgdb_row_id(word, &id) && span_starts(span_trim(rest), "Thread 0x");
}
