/* rocgdb.c - rows and messages. */
#include "config.h"

#include "parse/rocgdb.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "parse/gdb_mi.h"

#define ROW_MAX 16384

void rocgdb_init(struct rocgdb_scan *g, const struct reading_sink *sink)
{
	memset(g, 0, sizeof *g);
	g->sink = sink;
	buf_init(&g->row, ROW_MAX);
	buf_init(&g->mi_text, 1 << 20);
}

static void clear(struct rocgdb_scan *g)
{
	for (int i = 0; i < g->dispatches; i++)
		free(g->dispatch[i].kernel);
	for (int i = 0; i < g->waves; i++)
		free(g->wave[i].function);
	g->dispatches = g->waves = 0;
	g->seen = g->detached = g->failed = g->rows = g->signal_thread = false;
	g->attach = ATTACH_UNKNOWN;
	g->why[0] = g->signal[0] = 0;
}

void rocgdb_release(struct rocgdb_scan *g)
{
	clear(g);
	free(g->wave);
	buf_release(&g->row);
	buf_release(&g->mi_text);
}

static char *text_of(struct span s)
{
	char *out = mem_alloc(s.len + 1);

	memcpy(out, s.at, s.len);
	out[s.len] = 0;
	return out;
}

static void copy(char *out, size_t size, struct span s)
{
	snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.at);
}

void rocgdb_see(struct rocgdb_scan *g, uint64_t offset, bool rows)
{
	if (!g->seen)
		g->offset = offset;
	g->seen = true;
	g->rows = g->rows || rows;
}

/* --- the end of a session --- */

/* The kernel of the dispatch that a wave's target begins with. */
static const char *kernel_of(const struct rocgdb_scan *g, const char *target)
{
	for (int i = g->dispatches - 1; i >= 0; i--) {
		size_t n = strlen(g->dispatch[i].target);

		if (n && strncmp(g->dispatch[i].target, target, n) == 0 && target[n] == ':')
			return g->dispatch[i].kernel;
	}
	return NULL;
}

static void emit_wave(struct rocgdb_scan *g, const struct rocgdb_wave *w)
{
	const char *kernel = kernel_of(g, w->target);
	struct reading r;

	reading_start(&r, "wave", w->offset);
	reading_word(&r, "via", "rocgdb");
	reading_word(&r, "pc", w->pc);
	reading_word(&r, "kernel", kernel ? kernel : w->function);
	if (w->thread >= 0)
		reading_int(&r, "thread", w->thread);
	reading_word(&r, "target", w->target);
	if (kernel)
		reading_word(&r, "func", w->function);
	reading_emit(&r, g->sink);
}

static const char *attach_word(const struct rocgdb_scan *g)
{
	switch (g->attach) {
	case ATTACH_REFUSED:
		return "refused";
	case ATTACH_TRACED:
		return "already_traced";
	case ATTACH_CPU_ONLY:
		return "cpu_only";
	case ATTACH_OK:
		return "ok";
	case ATTACH_UNKNOWN:
		break;
	}
	return g->rows ? "ok" : "unknown";
}

static void end_row(struct rocgdb_scan *g);

static void end_session(struct rocgdb_scan *g)
{
	struct reading r;

	end_row(g);
	buf_clear(&g->mi_text);
	if (!g->seen)
		return;
	for (int i = 0; i < g->waves; i++)
		emit_wave(g, &g->wave[i]);
	reading_start(&r, "debugger", g->offset);
	reading_word(&r, "attach", attach_word(g));
	reading_int(&r, "detached", g->detached);
	reading_int(&r, "complete", g->detached && !g->failed);
	reading_word(&r, "why", g->why);
	reading_word(&r, "signal", g->signal);
	reading_emit(&r, g->sink);
	clear(g);
}

void rocgdb_flush(struct rocgdb_scan *g)
{
	end_session(g);
}

bool rocgdb_waits(const struct rocgdb_scan *g)
{
	return g->row.len > 0 || g->signal_thread || g->mi_text.len > 0;
}

/* --- rows --- */

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
static struct span last_word(struct span *s)
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

struct row {
	uint64_t offset;
	bool current;
	int64_t id;             /* -1 unknown */
	struct span before, after; /* what stands before "AMDGPU X", and behind it */
};

static void agent_row(struct rocgdb_scan *g, const struct row *row)
{
	struct span rest = row->after, word, location, threads, cores, arch = span_make("", 0);
	struct reading r;
	uint64_t gpuid;

	if (!span_skip(&rest, " (GPUID ") || !span_take_uint(&rest, &gpuid) || !span_skip(&rest, ")"))
		return;
	location = last_word(&rest);
	threads = last_word(&rest);
	cores = last_word(&rest);
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

static void queue_row(struct rocgdb_scan *g, const struct row *row)
{
	struct span rest = row->after, target, address, size, probe, a, b;
	int64_t qid, read = -1, write = -1, bytes;
	struct reading r;

	if (!take_target(&rest, "(QID ", &target, &qid))
		return;
	address = last_word(&rest);
	size = last_word(&rest);
	probe = rest;
	b = last_word(&probe);
	a = last_word(&probe);
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

static bool is_fence(struct span s)
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
		copy(g->dispatch[g->dispatches].target, sizeof g->dispatch[0].target, target);
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

static void dispatch_row(struct rocgdb_scan *g, const struct row *row)
{
	struct span rest = row->after, target, grid, workgroup, fence = span_make("", 0), word, probe;
	int64_t pkid;

	if (!take_target(&rest, "(PKID ", &target, &pkid))
		return;
	grid = brackets(&rest);
	workgroup = brackets(&rest);
	rest = span_trim(rest);
	probe = rest;
	if (span_word(&probe, &word) && is_fence(word)) {
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
	copy(w->target, sizeof w->target, target);
	copy(w->pc, sizeof w->pc, pc);
	if (function.len && !span_is(function, "??"))
		w->function = text_of(function);
}

static void wave_row(struct rocgdb_scan *g, const struct row *row)
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
	void (*read)(struct rocgdb_scan *, const struct row *);
} row_kinds[] = {
	{ "AMDGPU Agent", agent_row },
	{ "AMDGPU Queue", queue_row },
	{ "AMDGPU Dispatch", dispatch_row },
	{ "AMDGPU Wave", wave_row },
};

/* Is it a row: "[*] Id [State] AMDGPU X ..."? Returns which, -1 none. */
static int row_kind(struct span s, struct row *row)
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
		if (!span_word(&rest, &word))
			return -1;
		if (span_find_last(word, '.') > 0)
			word = span_sub(word, (size_t)span_find_last(word, '.') + 1, word.len);
		if (!span_int(word, &id))
			return -1;
		row->id = id;
		row->before = span_trim(rest);
		row->after = span_sub(s, (size_t)at + strlen(row_kinds[i].word), s.len);
		return (int)i;
	}
	return -1;
}

static void end_row(struct rocgdb_scan *g)
{
	struct row row = { .offset = g->row_offset };
	int kind;

	if (!g->row.len)
		return;
	kind = row_kind(buf_as_span(&g->row), &row);
	if (kind >= 0)
		row_kinds[kind].read(g, &row);
	buf_clear(&g->row);
}

/* The agent's thread among the host's tells why the GPU side is refused. */
static bool agent_row_of_host(struct rocgdb_scan *g, struct span s)
{
	if (!span_contains(s, "RocrDebugAgent"))
		return false;
	snprintf(g->why, sizeof g->why, "thread RocrDebugAgent: the debug agent is loaded and holds the debugger's place");
	return true;
}

static bool host_row(struct span s)
{
	struct span rest = span_trim(s), word;
	int64_t id;

	span_skip(&rest, "*");
	return span_word(&rest, &word) && span_int(word, &id) && span_starts(span_trim(rest), "Thread 0x");
}

/* --- messages --- */

static void say_why(struct rocgdb_scan *g, struct span s)
{
	if (!g->why[0])
		copy(g->why, sizeof g->why, span_trim(s));
}

static const struct {
	const char *part;
	enum rocgdb_attach attach;
} attach_lines[] = {
	{ "is already traced by process", ATTACH_TRACED },
	{ "ptrace: ", ATTACH_REFUSED },
	{ "Could not attach to process", ATTACH_REFUSED },
	{ "is a zombie - the process has already terminated", ATTACH_REFUSED },
	{ "unable to enable GPU debugging", ATTACH_CPU_ONLY },
	{ "GPU debugging will not be available", ATTACH_CPU_ONLY },
	{ "At least one agent is busy", ATTACH_CPU_ONLY },
	{ "amd-dbgapi library version mismatch", ATTACH_CPU_ONLY },
	{ "[New LWP ", ATTACH_OK },
	{ "[Thread debugging using libthread_db enabled]", ATTACH_OK },
	{ "Using host libthread_db library", ATTACH_OK },
	{ "Attaching to process ", ATTACH_UNKNOWN },
};

static const char *const failures[] = { "Error in sourced command file", "Undefined info command", "Undefined command", "No stack.",
	"The program is not being run.", "You can't do that without a process to debug.", "_get_info failed", "No symbol table is loaded",
	"failed to suspend os_queue_id", "suspend_queues failed", "corrupted control stack" };

static bool attach_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = l->text;

	for (size_t i = 0; i < sizeof attach_lines / sizeof *attach_lines; i++) {
		enum rocgdb_attach a = attach_lines[i].attach;

		if (!span_contains(s, attach_lines[i].part))
			continue;
		/* dbgapi's "could not attach ..., GPU debugging will not be available" is of the GPU side only. */
		if (a == ATTACH_REFUSED && span_contains(s, "amd-dbgapi"))
			a = ATTACH_CPU_ONLY;
		if (span_starts(s, "ptrace: ") && g->attach == ATTACH_TRACED)
			return true;
		if (a == ATTACH_UNKNOWN && g->seen && (g->detached || g->rows))
			end_session(g);
		rocgdb_see(g, l->offset, false);
		if (a != ATTACH_UNKNOWN && a != ATTACH_OK) {
			g->attach = a;
			say_why(g, s);
		} else if (a == ATTACH_OK && g->attach == ATTACH_UNKNOWN) {
			g->attach = a;
		}
		return true;
	}
	return false;
}

static bool signal_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span rest, word;

	if (g->signal_thread) {
		g->signal_thread = false;
		if (!span_contains(l->text, "AMDGPU "))
			g->signal[0] = 0;
		return g->signal[0] != 0;
	}
	rest = span_after(l->text, " received signal ");
	if (!rest.len || !span_contains(l->text, "hread "))
		return false;
	if (g->signal[0] || !span_word(&rest, &word))
		return true;
	if (span_ends(word, ","))
		word.len--;
	copy(g->signal, sizeof g->signal, word);
	rocgdb_see(g, l->offset, false);
	g->signal_thread = !span_contains(l->text, "AMDGPU ");
	return true;
}

static bool message(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = span_trim(l->text);

	if (signal_line(g, l) || attach_line(g, l))
		return true;
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
		if (!span_contains(s, failures[i]))
			continue;
		if (!g->seen && (span_is(s, "No stack.") || i > 5))
			return false;
		rocgdb_see(g, l->offset, false);
		g->failed = true;
		/* "Error in sourced command file" only says where; the line behind it says what. */
		if (span_contains(span_of(g->why), "Error in sourced command file"))
			g->why[0] = 0;
		say_why(g, s);
		return true;
	}
	if (span_starts(s, "[Inferior ") && span_ends(s, "detached]")) {
		rocgdb_see(g, l->offset, false);
		g->detached = true;
		return true;
	}
	if (span_starts(s, "Detaching from program")) {
		rocgdb_see(g, l->offset, false);
		g->detached = true;
		return true;
	}
	if (span_ends(s, " are currently active.") && (span_starts(s, "No agents") || span_starts(s, "No queues") || span_starts(s, "No dispatches"))) {
		rocgdb_see(g, l->offset, false);
		return true;
	}
	if (span_starts(s, "(gdb)") || span_starts(s, "=== info ") || (span_starts(s, "Id ") && span_contains(s, "Target Id"))) {
		rocgdb_see(g, l->offset, false);
		return true;
	}
	return false;
}

bool rocgdb_line(struct rocgdb_scan *g, const struct line *l)
{
	struct row row = { .offset = l->offset };
	struct span s = l->text;

	if (g->mi_text.len)
		return gdb_mi_line(g, l);

	if (row_kind(s, &row) >= 0) {
		end_row(g);
		buf_span(&g->row, s);
		g->row_offset = l->offset;
		return true;
	}
	if (g->row.len) {
		/* A row goes on when the line is indented and is no other row. */
		if (span_starts(s, "  ") && span_trim(s).len && !host_row(s) && !span_contains(s, "Target Id")) {
			buf_char(&g->row, ' ');
			buf_span(&g->row, span_trim(s));
			return true;
		}
		end_row(g);
	}
	if (gdb_mi_line(g, l))
		return true;
	if (host_row(s)) {
		rocgdb_see(g, l->offset, false);
		agent_row_of_host(g, s);
		return true;
	}
	return message(g, l);
}
