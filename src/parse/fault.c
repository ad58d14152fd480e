/* fault.c - memory faults and exceptions of the GPU; whose turn a line is. */
#include "config.h"

#include "parse/fault_private.h"

#include <stdio.h>
#include <string.h>

void fault_init(struct fault_scan *f, const struct reading_sink *sink)
{
	memset(f, 0, sizeof *f);
	f->sink = sink;
	fault_packets_init(f);
	wrapped_init(&f->queue);
	wrapped_init(&f->fault);
	buf_init(&f->page_reason, 400);
	buf_init(&f->clr, FAULT_TEXT_MAX);
}

void fault_release(struct fault_scan *f)
{
	fault_packets_release(f);
	wrapped_release(&f->queue);
	wrapped_release(&f->fault);
	buf_release(&f->page_reason);
	buf_release(&f->clr);
}

/* --- ROCr, libomptarget --- */

#define BY_GPU "emory access fault by GPU "
#define BY_AGENT "emory critical error by agent "
#define EXCEPTION "HW Exception by GPU "

/* The text from its first word on, when one is told. */
static bool fault_begin(struct span s, struct span *text)
{
	static const char *const words[] = { BY_GPU, BY_AGENT, EXCEPTION };
	long first = -1, at;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((at = span_find(s, words[i])) >= 0 && (first < 0 || at < first))
			first = at;
	if (first < 0)
		return false;
	*text = span_sub(s, (size_t)first, s.len);
	return true;
}

static bool whole_fault(struct span s)
{
	struct span reason = fault_behind_reason(s);

	return span_trim(reason).len && !fault_reason_is_cut(reason);
}

static void read_exception(struct fault_scan *f, uint64_t offset, struct span s, const char *rank)
{
	struct span rest = span_after(s, EXCEPTION);
	struct reading r;
	char mended[80];
	int64_t node = span_starts(rest, "node-") ? fault_take_node(span_sub(rest, 5, rest.len)) : -1;

	reading_start(&r, "hw_exception", offset);
	if (node >= 0)
		reading_int(&r, "kfd_node", node);
	reading_text(&r, "reason", fault_reason_of(fault_behind_reason(rest), mended, sizeof mended));
	reading_word(&r, "rank", rank);
	reading_emit(&r, f->sink);
}

static void read_fault(struct fault_scan *f, uint64_t offset, struct span s, const char *rank)
{
	struct fault_told t;
	struct span rest;
	char mended[80];

	if (span_starts(s, EXCEPTION)) {
		read_exception(f, offset, s, rank);
		return;
	}
	fault_start_told(&t, offset, rank);
	if ((rest = span_after(span_sub(s, 0, 60), "node-")).len)
		t.node = fault_take_node(rest);
	if ((rest = span_after(s, "gent handle: ")).len || (rest = span_after(s, "(agent ")).len)
		fault_take_address(rest, t.agent);
	if ((rest = span_after(s, "ddress ")).len)
		fault_take_address(rest, t.address);
	fault_set_reason(&t, fault_reason_of(fault_behind_reason(s), mended, sizeof mended));
	if (*t.address || *t.agent || t.node >= 0)
		fault_tell(f, &t);
}

static void finish_fault(struct fault_scan *f)
{
	f->fault.open = false;
	read_fault(f, f->fault.offset, wrapped_text(&f->fault), f->fault.rank);
}

/* Could these words stand in a fault where its line was broken? */
static bool fault_word(struct span s)
{
	static const char *const words[] = { "(Agent", "Agent handle", "handle:", "on address", "address ", "node-", "Reason", "reason", ":GPU Hang", ":ECC" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (span_starts(s, words[i]))
			return true;
	return span_contains(span_sub(s, 0, 80), "eason: ");
}

/* True when the line goes on with the fault above. */
static bool fault_goes_on(struct fault_scan *f, const struct line *l)
{
	struct span s = span_trim(l->text), before, other;
	bool has_reason;

	if (fault_begin(s, &other)) {
		finish_fault(f);
		return false;
	}
	before = wrapped_text(&f->fault);
	has_reason = span_trim(fault_behind_reason(before)).len > 0;
	if (s.len && line_tag(l) == f->fault.tag && (has_reason || fault_word(s))) {
		struct wrapped *w = &f->fault;
		size_t len = w->raw.len;
		int pieces = w->pieces;
		struct span reason;

		if (wrapped_add(w, l, s)) {
			reason = fault_behind_reason(wrapped_text(w));
			if (!has_reason || fault_reason_is_cut(reason)) {
				if (whole_fault(buf_as_span(&w->text)))
					finish_fault(f);
				return true;
			}
			if (fault_reason_is_known(reason)) {
				finish_fault(f);
				return true;
			}
			w->raw.len = len;       /* not its end after all */
			w->pieces = pieces;
		}
	}
	if (++f->fault.strangers > FAULT_WRAP_LINES)
		finish_fault(f);
	return false;
}

static bool rocr_line(struct fault_scan *f, const struct line *l)
{
	struct span text, next;
	bool any = false;

	for (struct span s = l->text; fault_begin(s, &text); s = next) {
		next = span_sub(text, 10, text.len);
		any = true;
		if (fault_begin(next, &next))
			text.len = (size_t)(next.at - text.at);
		if (whole_fault(text) || next.at != text.at + 10) {
			read_fault(f, l->offset, text, l->rank);
			continue;
		}
		wrapped_start(&f->fault, l, text);
	}
	return any;
}

/* The thunk's own words, with no node: "[GPU Memory Error] Addr: 0x.. Reason: R." */
static bool thunk_line(struct fault_scan *f, const struct line *l)
{
	struct span rest = span_after(l->text, "[GPU Memory Error] Addr: ");
	struct fault_told t;
	char mended[80];

	if (!rest.len)
		return false;
	fault_start_told(&t, l->offset, l->rank);
	if (!fault_take_address(rest, t.address))
		return false;
	fault_set_reason(&t, fault_reason_of(fault_behind_reason(rest), mended, sizeof mended));
	fault_tell(f, &t);
	return true;
}

/* --- CLR --- */

/* The parts in any order. */
static void clr_kernel(struct fault_scan *f, uint64_t offset, struct span s)
{
	struct span kernel = span_trim(span_after(s, "kernel: "));
	struct reading r;

	if (span_ends(kernel, "]"))
		kernel.len--;
	if (!kernel.len || span_is(kernel, "<unknown>"))
		return;
	reading_start(&r, "kernel_hint", offset);
	reading_text(&r, "kernel", kernel);
	reading_word(&r, "how", "faulted");
	reading_emit(&r, f->sink);
}

static void clr_fault(struct fault_scan *f, uint64_t offset, const char *rank, struct span s)
{
	static const char *const nodes[] = { "node-", "node: ", "node " }, *const agents[] = { "gent: ", "gent handle: ", "gent " },
		*const addresses[] = { "faulting addr: ", "ddress: ", "ddress ", "page: ", "VA: " };
	struct fault_told t;
	struct span rest;
	char mended[80];

	fault_start_told(&t, offset, rank);
	for (size_t i = 0; i < 3 && t.node < 0; i++)
		if ((rest = span_after(s, nodes[i])).len)
			t.node = fault_take_node(rest);
	for (size_t i = 0; i < 3 && !*t.agent; i++)
		if ((rest = span_after(s, agents[i])).len)
			fault_take_address(rest, t.agent);
	for (size_t i = 0; i < sizeof addresses / sizeof *addresses && !*t.address; i++)
		if ((rest = span_after(s, addresses[i])).len)
			fault_take_address(rest, t.address);
	fault_set_reason(&t, fault_reason_of(fault_behind_reason(s), mended, sizeof mended));
	fault_tell(f, &t);
	clr_kernel(f, offset, s);
}

static bool clr_line(struct fault_scan *f, const struct line *l)
{
	struct span rest = span_after(l->text, "Memory Fault Error [");

	if (!rest.len)
		return false;
	if (span_find_char(rest, ']') >= 0 || span_contains(rest, "kernel: ")) {
		clr_fault(f, l->offset, l->rank, rest);
		return true;
	}
	buf_clear(&f->clr);
	buf_span(&f->clr, rest);
	f->clr_lines = FAULT_WRAP_LINES;
	f->clr_offset = l->offset;
	return true;
}

/* The rest of one that was wrapped; false when the line begins something else. */
static bool clr_goes_on(struct fault_scan *f, const struct line *l)
{
	struct span text;
	bool other = fault_begin(l->text, &text) || span_contains(l->text, "Memory Fault Error [");

	if (!other) {
		buf_char(&f->clr, ' ');
		buf_span(&f->clr, span_trim(l->text));
		if (--f->clr_lines && span_find_char(l->text, ']') < 0)
			return true;
	}
	f->clr_lines = 0;
	clr_fault(f, f->clr_offset, l->rank, buf_as_span(&f->clr));
	return !other;
}

/* --- hints --- */

static bool hint(struct fault_scan *f, const struct line *l, const char *word, const char *how)
{
	struct span rest = span_after(l->text, word), name;
	struct reading r;
	long end;

	if (!rest.len)
		return false;
	rest = span_trim(rest);
	end = span_find(rest, " hsaco: ");
	name = end >= 0 ? span_sub(rest, 0, (size_t)end) : rest;
	reading_start(&r, "kernel_hint", l->offset);
	reading_text(&r, "kernel", span_trim(name));
	reading_word(&r, "how", how);
	reading_emit(&r, f->sink);
	return true;
}

/* --- the debug agent: an event, and its page, node or queue in the lines below --- */

static void await_page(struct fault_scan *f, int64_t node, struct span reason, bool queue)
{
	f->page_lines = FAULT_WRAP_LINES + 1;
	f->page_node = node;
	f->page_queue = queue;
	buf_clear(&f->page_reason);
	buf_span(&f->page_reason, reason);
}

static bool page_line(struct fault_scan *f, const struct line *l)
{
	struct span s = span_trim(l->text), rest, reason = buf_as_span(&f->page_reason);
	struct fault_told t;
	long open;

	if (f->page_node < 0 && (rest = span_after(s, "Node: ")).len && (f->page_node = fault_take_node(rest)) >= 0)
		return true;
	if (f->page_queue) {
		if (!span_contains(s, "Queue ID: "))
			return false;
		f->page_lines = 0;
		fault_emit_queue_error(f, l->offset, s, l->rank);
		return true;
	}
	fault_start_told(&t, l->offset, l->rank);
	if (!(rest = span_after(s, "Faulting page: ")).len && !(rest = span_after(s, "Address: ")).len)
		return false;
	if (!fault_take_address(rest, t.address))
		return false;
	open = span_find(rest, " (");
	if (open >= 0 && span_ends(rest, ")"))
		reason = span_sub(rest, (size_t)open + 2, rest.len - (size_t)open - 3);
	while (reason.len && reason.at[reason.len - 1] == ';')
		reason.len--;
	t.node = f->page_node;
	fault_set_reason(&t, reason);
	fault_tell(f, &t);
	f->page_lines = 0;
	return true;
}

static bool event_line(struct fault_scan *f, const struct line *l)
{
	struct span rest;
	long at;

	if ((rest = span_after(l->text, "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT")).len) {
		at = span_find_char(rest, ')');
		rest = span_sub(rest, 0, at >= 0 ? (size_t)at : rest.len);
		span_skip(&rest, ": ");
		await_page(f, -1, rest, false);
		return true;
	}
	if ((rest = span_after(l->text, "Memory access fault at GPU Node: ")).len) {
		await_page(f, fault_take_node(rest), span_make("", 0), false);
		return true;
	}
	if (span_contains(l->text, "Memory access fault by GPU agent: ") || span_contains(l->text, "Queue error state in GPU agent: ")) {
		await_page(f, -1, span_make("", 0), span_contains(l->text, "Queue error"));
		return true;
	}
	return false;
}

bool fault_waits(const struct fault_scan *f)
{
	return f->clr_lines || f->queue.open || f->fault.open || f->page_lines || fault_packets_wait(f);
}

bool fault_line(struct fault_scan *f, const struct line *l)
{
	if (f->fault.open && fault_goes_on(f, l))
		return true;
	if (f->clr_lines && clr_goes_on(f, l))
		return true;
	if (f->page_lines) {
		if (page_line(f, l))
			return true;
		f->page_lines--;
	}
	if (fault_queue_line(f, l) || event_line(f, l) || fault_packet_line(f, l))
		return true;
	if (rocr_line(f, l) || clr_line(f, l) || thunk_line(f, l))
		return true;
	return hint(f, l, "ShaderName : ", "launched") || hint(f, l, "LoadKernel: ", "loaded");
}

void fault_flush(struct fault_scan *f)
{
	fault_queue_flush(f);
	fault_packets_flush(f);
	f->page_lines = 0;
	if (f->fault.open)
		finish_fault(f);
	if (f->clr_lines)
		clr_fault(f, f->clr_offset, "", buf_as_span(&f->clr));
	f->clr_lines = 0;
	fault_told_flush(f);
}
