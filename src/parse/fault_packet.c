/* fault_packet.c - AQL packets that CLR prints under a queue error. */
#include "config.h"

#include "parse/fault_private.h"

#include <ctype.h>
#include <string.h>

#define NAME_WRAPS 40           /* a shorter name was not broken by a terminal */

void fault_packets_init(struct fault_scan *f)
{
	for (int i = 0; i < FAULT_PACKETS; i++) {
		buf_init(&f->packet[i].kernel, FAULT_TEXT_MAX);
		buf_init(&f->packet[i].grid_text, 200);
		buf_init(&f->packet[i].workgroup_text, 200);
	}
}

void fault_packets_release(struct fault_scan *f)
{
	for (int i = 0; i < FAULT_PACKETS; i++) {
		buf_release(&f->packet[i].kernel);
		buf_release(&f->packet[i].grid_text);
		buf_release(&f->packet[i].workgroup_text);
	}
}

static void finish(struct fault_scan *f, struct fault_packet *p)
{
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

bool fault_packets_wait(const struct fault_scan *f)
{
	for (int i = 0; i < FAULT_PACKETS; i++)
		if (f->packet[i].open)
			return true;
	return false;
}

/* In the order in which they began. */
void fault_packets_flush(struct fault_scan *f)
{
	struct fault_packet *first;

	do {
		first = NULL;
		for (int i = 0; i < FAULT_PACKETS; i++)
			if (f->packet[i].open && (!first || f->packet[i].offset < first->offset))
				first = &f->packet[i];
		if (first)
			finish(f, first);
	} while (first);
}

/* The open packet of this prefix; of a line without one, the newest. */
static struct fault_packet *packet_of(struct fault_scan *f, uint64_t tag)
{
	struct fault_packet *newest = NULL;

	for (int i = 0; i < FAULT_PACKETS; i++) {
		struct fault_packet *p = &f->packet[i];

		if (!p->open)
			continue;
		if (p->tag == tag)
			return p;
		if (!newest || p->offset > newest->offset)
			newest = p;
	}
	return tag ? NULL : newest;
}

static struct fault_packet *start(struct fault_scan *f, const struct line *l)
{
	uint64_t tag = line_tag(l);
	struct fault_packet *p = packet_of(f, tag), *oldest = &f->packet[0];

	for (int i = 0; !p && i < FAULT_PACKETS; i++) {
		if (!f->packet[i].open)
			p = &f->packet[i];
		else if (f->packet[i].offset < oldest->offset)
			oldest = &f->packet[i];
	}
	p = p ? p : oldest;
	finish(f, p);
	buf_clear(&p->kernel);
	buf_clear(&p->grid_text);
	buf_clear(&p->workgroup_text);
	p->open = true;
	p->grid = p->vgpu = false;
	p->offset = l->offset;
	p->tag = tag;
	p->rptr = p->wptr = -1;
	return p;
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

/* The rest of a mangled name that a terminal broke. */
static bool name_goes_on(struct fault_packet *p, struct span s)
{
	if (p->vgpu || p->grid || p->kernel.len < NAME_WRAPS || !s.len)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.at[i]) && !strchr("_.$", s.at[i]))
			return false;
	buf_span(&p->kernel, s);
	return true;
}

static bool packet_line(struct fault_scan *f, const struct line *l)
{
	struct fault_packet *p;
	struct span s = span_trim(l->text), rest;
	uint64_t n;
	long at;

	if ((at = span_find(s, "Kernel Name:")) >= 0) {
		p = start(f, l);
		buf_span(&p->kernel, span_trim(span_sub(s, (size_t)at + 12, s.len)));
		return true;
	}
	p = packet_of(f, line_tag(l));
	if (span_contains(s, "VGPU=") || span_contains(s, " hang analysis:")) {
		if (!p || p->vgpu)
			p = start(f, l);
		p->vgpu = true;
		if (!span_contains(s, "grid="))
			return true;
	}
	if (!p)
		return false;
	if ((rest = span_after(s, "grid=")).len && numbers(rest, &p->grid_text)) {
		p->grid = true;
		if ((rest = span_after(s, "workgroup=")).len)
			numbers(rest, &p->workgroup_text);
		if (!span_contains(s, "rptr="))
			return true;
	}
	if ((rest = span_after(s, "rptr=")).len && span_take_uint(&rest, &n)) {
		p->rptr = (int64_t)n;
		if ((rest = span_after(s, "wptr=")).len && span_take_uint(&rest, &n))
			p->wptr = (int64_t)n;
		finish(f, p);
		return true;
	}
	if (span_contains(s, "Dispatch Header") || span_contains(s, "_seg_size=") || span_contains(s, "kernel_obj=") || span_contains(s, "completion_signal="))
		return true;
	/* Other ranks' lines may stand between; a new event ends it. */
	if (span_contains(s, ":0:")) {
		finish(f, p);
		return false;
	}
	return name_goes_on(p, s);
}

bool fault_packet_line(struct fault_scan *f, const struct line *l)
{
	if (packet_line(f, l)) {
		f->packet_strangers = 0;
		return true;
	}
	if (fault_packets_wait(f) && ++f->packet_strangers > WRAPPED_STRANGERS)
		fault_packets_flush(f);
	return false;
}
