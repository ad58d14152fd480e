/* fault.c - faults, exceptions, queue errors, packets. */
#include "config.h"

#include "parse/fault.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 8192

static const char *const reasons[] = { "Page not present or supervisor privilege", "Write access to a read-only page",
	"Execute access to a page marked NX", "Host access only", "DRAM ECC failure", "SRAM ECC failure", "Generic hang recovery",
	"Memory in use", "Unknown", "GPU Hang", "ECC" };

void fault_init(struct fault_scan *f, const struct reading_sink *sink)
{
	memset(f, 0, sizeof *f);
	f->sink = sink;
	buf_init(&f->packet.kernel, TEXT_MAX);
	buf_init(&f->packet.grid_text, 200);
	buf_init(&f->packet.workgroup_text, 200);
	buf_init(&f->wrapped, TEXT_MAX);
	buf_init(&f->page_reason, 400);
	buf_init(&f->clr, TEXT_MAX);
}

void fault_release(struct fault_scan *f)
{
	buf_release(&f->packet.kernel);
	buf_release(&f->packet.grid_text);
	buf_release(&f->packet.workgroup_text);
	buf_release(&f->wrapped);
	buf_release(&f->page_reason);
	buf_release(&f->clr);
}

/* 0x7f.., 0x7E..xxx, (nil) -> as a word; false when it is none of them. */
static bool take_address(struct span s, char out[24])
{
	size_t n = 0;

	s = span_trim(s);
	if (span_starts(s, "(nil)")) {
		memcpy(out, "0x0", 4);
		return true;
	}
	if (!span_starts(s, "0x"))
		return false;
	for (n = 2; n < s.len && n < 22 && (isxdigit((unsigned char)s.at[n]) || s.at[n] == 'x' || s.at[n] == 'X'); n++)
		;
	memcpy(out, s.at, n);
	out[n] = 0;
	return n > 2;
}

/* Equal but for blanks and case: how many bytes of s it takes; 0 when it is not. */
static size_t same_words(struct span s, const char *known)
{
	size_t i = 0;

	for (; *known; known++) {
		if (*known == ' ')
			continue;
		while (i < s.len && s.at[i] == ' ')
			i++;
		if (i == s.len || tolower((unsigned char)s.at[i]) != tolower((unsigned char)*known))
			return 0;
		i++;
	}
	return i;
}

/* The reason without what is glued to it; a word that the paste split is mended. */
static struct span reason_of(struct span s, char *mended, size_t size)
{
	long dot;

	s = span_trim(s);
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		size_t n = same_words(s, reasons[i]);

		if (n && n != strlen(reasons[i])) {
			snprintf(mended, size, "%s", reasons[i]);
			return span_of(mended);
		}
		if (n && (n == s.len || !islower((unsigned char)s.at[n])))
			return span_sub(s, 0, n);
	}
	dot = span_find_char(s, '.');
	if (dot >= 0)
		s.len = (size_t)dot;
	return span_trim(s);
}

static bool known_address(struct fault_scan *f, const char *address)
{
	for (int i = 0; i < FAULT_ADDRESSES; i++)
		if (*f->address[i] && strcasecmp(f->address[i], address) == 0)
			return true;
	return false;
}

static void emit_fault(struct fault_scan *f, uint64_t offset, int64_t node, const char *agent, const char *address, struct span reason,
	const char *rank)
{
	struct reading r;

	/* Another wording of a fault that was told with its node. */
	if (node < 0 && !*agent && *address && known_address(f, address))
		return;
	if (*address)
		snprintf(f->address[f->address_next++ % FAULT_ADDRESSES], sizeof f->address[0], "%s", address);
	reading_start(&r, "fault", offset);
	if (node >= 0)
		reading_int(&r, "kfd_node", node);
	reading_word(&r, "agent", agent);
	reading_word(&r, "address", address);
	reading_text(&r, "reason", reason);
	reading_word(&r, "rank", rank);
	reading_emit(&r, f->sink);
	f->faults++;
}

static int64_t take_node(struct span s)
{
	uint64_t n;

	return span_take_uint(&s, &n) && n < 100000 ? (int64_t)n : -1;
}

/* `s` starts behind "emory access fault by GPU " or the like. */
static bool memory_fault(struct fault_scan *f, const struct line *l, struct span s)
{
	char agent[24] = "", address[24] = "", mended[80];
	struct span reason = span_make("", 0), rest = s;
	long at = span_find(s, "ddress ");
	int64_t node = -1;

	if (span_skip(&rest, "node-"))
		node = take_node(rest);
	if ((rest = span_after(s, "Agent handle: ")).len || (rest = span_after(s, "(agent ")).len)
		take_address(rest, agent);
	if (at >= 0)
		take_address(span_sub(s, (size_t)at + 7, s.len), address);
	if ((rest = span_after(s, "Reason: ")).len || (rest = span_after(s, "Reasons: ")).len || (rest = span_after(s, "reason: ")).len)
		reason = reason_of(rest, mended, sizeof mended);
	if (!*address && node < 0 && !*agent)
		return false;
	emit_fault(f, l->offset, node, agent, address, reason, l->rank);
	return true;
}

/* CLR: the parts in any order. */
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

static bool clr_fault(struct fault_scan *f, const struct line *l, struct span s)
{
	char agent[24] = "", address[24] = "", mended[80];
	struct span reason = span_make("", 0), rest;
	int64_t node = -1;

	if ((rest = span_after(s, "node-")).len || (rest = span_after(s, "node: ")).len || (rest = span_after(s, "node ")).len)
		node = take_node(rest);
	if ((rest = span_after(s, "gent: ")).len || (rest = span_after(s, "gent handle: ")).len || (rest = span_after(s, "gent ")).len)
		take_address(rest, agent);
	if ((rest = span_after(s, "faulting addr: ")).len || (rest = span_after(s, "ddress: ")).len || (rest = span_after(s, "ddress ")).len || (rest = span_after(s, "page: ")).len || (rest = span_after(s, "VA: ")).len)
		take_address(rest, address);
	if ((rest = span_after(s, "eason: ")).len || (rest = span_after(s, "easons: ")).len)
		reason = reason_of(rest, mended, sizeof mended);
	emit_fault(f, l->offset, node, agent, address, reason, l->rank);
	clr_kernel(f, l->offset, s);
	return true;
}

static bool hw_exception(struct fault_scan *f, const struct line *l, struct span s)
{
	struct span rest = s, reason;
	struct reading r;
	char mended[80];
	int64_t node = -1;

	if (span_skip(&rest, "node-"))
		node = take_node(rest);
	reason = span_after(s, "reason :");
	if (!reason.len)
		reason = span_after(s, "reason:");
	if (!reason.len)
		reason = span_after(s, "Reason: ");
	reading_start(&r, "hw_exception", l->offset);
	if (node >= 0)
		reading_int(&r, "kfd_node", node);
	reading_text(&r, "reason", reason_of(reason, mended, sizeof mended));
	reading_word(&r, "rank", l->rank);
	reading_emit(&r, f->sink);
	return true;
}

/* --- queue errors --- */

static struct span status_of(struct span s)
{
	long at = span_find(s, "HSA_STATUS_");
	size_t n = 0;

	if (at < 0)
		return span_make("", 0);
	s = span_sub(s, (size_t)at, s.len);
	while (n < s.len && (isupper((unsigned char)s.at[n]) || s.at[n] == '_' || isdigit((unsigned char)s.at[n])))
		n++;
	return span_sub(s, 0, n);
}

static void emit_queue_error(struct fault_scan *f, uint64_t offset, struct span s, const char *rank)
{
	char queue[24] = "", code[24] = "";
	struct span rest, status = status_of(s);
	struct reading r;
	long at;

	if ((rest = span_after(s, "Queue 0x")).len)
		take_address(span_sub(s, (size_t)(rest.at - s.at) - 2, s.len), queue);
	at = span_find(s, "code: ");
	if (at < 0)
		at = span_find(s, "Code: ");
	if (at >= 0)
		take_address(span_sub(s, (size_t)at + 6, s.len), code);
	else if ((rest = span_after(s, "with status: ")).len)
		take_address(rest, code);
	reading_start(&r, "queue_error", offset);
	reading_text(&r, "status", status);
	reading_word(&r, "code", code);
	reading_word(&r, "queue", queue);
	reading_word(&r, "rank", rank);
	reading_emit(&r, f->sink);
}

static bool whole_error(struct span s)
{
	char code[24];
	long at = span_find(s, "ode: 0x");

	if (at >= 0 && take_address(span_sub(s, (size_t)at + 5, s.len), code))
		return true;
	return span_contains(s, "with status: 0x");
}

static void flush_wrapped(struct fault_scan *f)
{
	if (!f->wrapped_lines)
		return;
	f->wrapped_lines = 0;
	emit_queue_error(f, f->wrapped_offset, buf_as_span(&f->wrapped), f->wrapped_rank);
}

static bool queue_error(struct fault_scan *f, const struct line *l)
{
	struct span s = l->text;
	long at = span_find(s, "aborting with");

	if (at < 0)
		at = span_find(s, "Aborting with");
	if (at < 0 || !(span_contains(s, "Queue 0x") || span_contains(s, "callbackQueue") || span_contains(s, "HSA_STATUS_")))
		return false;
	flush_wrapped(f);
	if (whole_error(s)) {
		emit_queue_error(f, l->offset, s, l->rank);
		return true;
	}
	buf_clear(&f->wrapped);
	buf_span(&f->wrapped, s);
	f->wrapped_lines = 1;
	f->wrapped_offset = l->offset;
	memcpy(f->wrapped_rank, l->rank, sizeof l->rank);
	return true;
}

/* True when the line goes on with the error above. */
static bool wrapped_line(struct fault_scan *f, const struct line *l)
{
	struct span s = l->text;

	if (!span_trim(s).len || span_starts(s, ":0:") || span_contains(s, "Kernel Name:") || span_contains(s, "VGPU=") || l->time[0] ||
		span_contains(s, "wave_") || span_contains(s, "emory access fault")) {
		flush_wrapped(f);
		return false;
	}
	buf_span(&f->wrapped, s);
	if (whole_error(buf_as_span(&f->wrapped)) || ++f->wrapped_lines > FAULT_WRAP_LINES)
		flush_wrapped(f);
	return true;
}

/* --- packets --- */

static void flush_packet(struct fault_scan *f)
{
	struct fault_packet *p = &f->packet;
	struct reading r;

	if (!p->open)
		return;
	p->open = false;
	if (!p->grid)
		return;
	reading_start(&r, "packet", p->offset);
	reading_text(&r, "kernel", buf_as_span(&p->kernel));
	reading_text(&r, "grid", buf_as_span(&p->grid_text));
	reading_text(&r, "workgroup", buf_as_span(&p->workgroup_text));
	if (p->rptr >= 0)
		reading_int(&r, "rptr", p->rptr);
	if (p->wptr >= 0)
		reading_int(&r, "wptr", p->wptr);
	if (p->rptr >= 0 && p->wptr >= 0)
		reading_int(&r, "pending", p->wptr - p->rptr);
	reading_emit(&r, f->sink);
}

static void start_packet(struct fault_scan *f, uint64_t offset)
{
	struct fault_packet *p = &f->packet;

	flush_packet(f);
	buf_clear(&p->kernel);
	buf_clear(&p->grid_text);
	buf_clear(&p->workgroup_text);
	p->open = true;
	p->grid = p->vgpu = false;
	p->offset = offset;
	p->rptr = p->wptr = -1;
}

/* "[a, b, c]" as JSON, instead of what is in `out`. */
static bool numbers(struct span s, struct buf *out)
{
	uint64_t n;
	bool first = true;

	buf_clear(out);
	if (!span_skip(&s, "["))
		return false;
	buf_char(out, '[');
	for (int i = 0; i < 3; i++) {
		while (s.len && *s.at == ' ')
			s = span_sub(s, 1, s.len);
		if (!span_take_uint(&s, &n) || n > INT64_MAX)
			break;
		buf_printf(out, "%s%llu", first ? "" : ",", (unsigned long long)n);
		first = false;
		while (s.len && *s.at == ' ')
			s = span_sub(s, 1, s.len);
		if (!span_skip(&s, ","))
			break;
	}
	buf_char(out, ']');
	if (first)
		buf_clear(out);
	return !first;
}

static bool packet_line(struct fault_scan *f, const struct line *l)
{
	struct fault_packet *p = &f->packet;
	struct span s = span_trim(l->text), rest;
	uint64_t n;

	rest = s;
	if (span_skip(&rest, "Kernel Name:")) {
		start_packet(f, l->offset);
		buf_span(&p->kernel, span_trim(rest));
		return true;
	}
	if (span_starts(s, "VGPU=")) {
		if (!p->open || p->vgpu)
			start_packet(f, l->offset);
		p->vgpu = true;
		return true;
	}
	if (!p->open)
		return false;
	if ((rest = span_after(s, "grid=")).len && numbers(rest, &p->grid_text)) {
		p->grid = true;
		if ((rest = span_after(s, "workgroup=")).len)
			numbers(rest, &p->workgroup_text);
		return true;
	}
	if ((rest = span_after(s, "rptr=")).len && span_take_uint(&rest, &n)) {
		p->rptr = (int64_t)n;
		if ((rest = span_after(s, "wptr=")).len && span_take_uint(&rest, &n))
			p->wptr = (int64_t)n;
		flush_packet(f);
		return true;
	}
	if (span_starts(s, "Dispatch Header") || span_contains(s, "_seg_size=") || span_contains(s, "kernel_obj=") || span_contains(s, "completion_signal="))
		return true;
	/* Other ranks' lines may stand between; a new event ends it. */
	if (span_starts(s, ":0:"))
		flush_packet(f);
	return false;
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

/* --- the page that follows its event --- */

static bool page_line(struct fault_scan *f, const struct line *l)
{
	struct span s = span_trim(l->text), rest = s, reason = buf_as_span(&f->page_reason);
	char address[24] = "";
	long open;

	if (!span_skip(&rest, "Faulting page: ") && !span_skip(&rest, "Address: "))
		return false;
	if (!take_address(rest, address))
		return false;
	open = span_find(rest, " (");
	if (open >= 0 && span_ends(rest, ")"))
		reason = span_sub(rest, (size_t)open + 2, rest.len - (size_t)open - 3);
	while (reason.len && reason.at[reason.len - 1] == ';')
		reason.len--;
	emit_fault(f, l->offset, f->page_node, "", address, reason, l->rank);
	f->page_lines = 0;
	return true;
}

static void await_page(struct fault_scan *f, int64_t node, struct span reason)
{
	f->page_lines = 4;
	f->page_node = node;
	buf_clear(&f->page_reason);
	buf_span(&f->page_reason, reason);
}

static bool event_line(struct fault_scan *f, const struct line *l)
{
	struct span rest;
	long at;

	if ((rest = span_after(l->text, "Queue error (")).len && span_starts(rest, "HSA_STATUS")) {
		emit_queue_error(f, l->offset, rest, l->rank);
		return true;
	}
	if ((rest = span_after(l->text, "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT")).len) {
		at = span_find_char(rest, ')');
		rest = span_sub(rest, 0, at >= 0 ? (size_t)at : rest.len);
		span_skip(&rest, ": ");
		await_page(f, -1, rest);
		return true;
	}
	if ((rest = span_after(l->text, "Memory access fault at GPU Node: ")).len) {
		await_page(f, take_node(rest), span_make("", 0));
		return true;
	}
	return false;
}

/* The rest of a "Memory Fault Error [" that was wrapped. */
static void clr_line(struct fault_scan *f, const struct line *l)
{
	struct line whole = *l;

	buf_char(&f->clr, ' ');
	buf_span(&f->clr, span_trim(l->text));
	if (--f->clr_lines && span_find_char(l->text, ']') < 0)
		return;
	f->clr_lines = 0;
	whole.offset = f->clr_offset;
	clr_fault(f, &whole, buf_as_span(&f->clr));
}

bool fault_waits(const struct fault_scan *f)
{
	return f->clr_lines || f->wrapped_lines || f->page_lines || f->packet.open;
}

bool fault_line(struct fault_scan *f, const struct line *l)
{
	struct span s = l->text, rest;

	if (f->wrapped_lines && wrapped_line(f, l))
		return true;
	if (f->clr_lines) {
		clr_line(f, l);
		return true;
	}
	if (f->page_lines) {
		if (page_line(f, l))
			return true;
		f->page_lines--;
	}
	if (event_line(f, l) || packet_line(f, l))
		return true;
	if ((rest = span_after(s, "emory access fault by GPU ")).len || (rest = span_after(s, "Memory critical error by agent ")).len)
		return memory_fault(f, l, rest);
	if ((rest = span_after(s, "Memory Fault Error [")).len) {
		if (span_find_char(rest, ']') >= 0 || span_contains(rest, "kernel: "))
			return clr_fault(f, l, rest);
		buf_clear(&f->clr);
		buf_span(&f->clr, rest);
		f->clr_lines = 3;
		f->clr_offset = l->offset;
		return true;
	}
	if ((rest = span_after(s, "HW Exception by GPU ")).len)
		return hw_exception(f, l, rest);
	if (queue_error(f, l))
		return true;
	return hint(f, l, "ShaderName : ", "launched") || hint(f, l, "LoadKernel: ", "loaded");
}

void fault_flush(struct fault_scan *f)
{
	struct line none = { .offset = f->clr_offset };

	flush_wrapped(f);
	flush_packet(f);
	f->page_lines = 0;
	if (f->clr_lines)
		clr_fault(f, &none, buf_as_span(&f->clr));
	f->clr_lines = 0;
}
