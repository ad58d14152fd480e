/* fault_queue.c - errors of queues, in the words of CLR, libomptarget and the debug agent. */
#include "config.h"

#include "parse/fault_private.h"

#include <ctype.h>
#include <string.h>

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

void fault_emit_queue_error(struct fault_scan *f, uint64_t offset, struct span s, const char *rank)
{
	static const char *const before_queue[] = { "Queue 0x", "in queue 0x", "Queue ID: " };
	char queue[24] = "", code[24] = "";
	struct span rest, status = status_of(s);
	struct reading r;
	long at;

	for (size_t i = 0; i < sizeof before_queue / sizeof *before_queue && !*queue; i++) {
		if ((at = span_find(s, before_queue[i])) < 0)
			continue;
		rest = span_sub(s, (size_t)at + strlen(before_queue[i]) - (i < 2 ? 2 : 0), s.len);
		if (i < 2) {
			fault_take_address(rest, queue);
			continue;
		}
		for (size_t n = 0; n < rest.len && n < sizeof queue - 1 && isdigit((unsigned char)rest.at[n]); n++)
			queue[n] = rest.at[n], queue[n + 1] = 0;
	}
	at = span_find(s, "code: ");
	if (at < 0)
		at = span_find(s, "Code: ");
	if (at >= 0)
		fault_take_address(span_sub(s, (size_t)at + 6, s.len), code);
	else if ((rest = span_after(s, "with status: ")).len)
		fault_take_address(rest, code);
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
	long at = span_find(s, "ode: ");

	if (at >= 0 && fault_take_address(span_sub(s, (size_t)at + 5, s.len), code))
		return true;
	if (span_contains(s, "Received error in queue")) {
		struct span status = status_of(s);

		return status.len && status.at + status.len < s.at + s.len;
	}
	return span_contains(s, "with status: 0x");
}

static void finish(struct fault_scan *f)
{
	f->queue.open = false;
	fault_emit_queue_error(f, f->queue.offset, wrapped_text(&f->queue), f->queue.rank);
}

void fault_queue_flush(struct fault_scan *f)
{
	if (f->queue.open)
		finish(f);
}

/* The queue's address, and the line ends in it. */
static bool ends_in_queue(struct span s)
{
	struct span rest = span_after(s, "Callback: Queue 0x");
	size_t n = 0;

	while (n < rest.len && isxdigit((unsigned char)rest.at[n]))
		n++;
	return rest.len && n == rest.len;
}

static bool begins(struct span s)
{
	if (span_contains(s, "borting with"))
		return span_contains(s, "Queue 0x") || span_contains(s, "callbackQueue") || span_contains(s, "HSA_STATUS_");
	return span_contains(s, "Received error in queue 0x") || ends_in_queue(s);
}

/* True when the line goes on with the error above. */
static bool goes_on(struct fault_scan *f, const struct line *l)
{
	struct span s = l->text;

	if (span_contains(s, ":0:") || span_contains(s, "Kernel Name:") || span_contains(s, "VGPU") || span_contains(s, "wave_") ||
		span_contains(s, "emory access fault") || (begins(s) && !ends_in_queue(wrapped_text(&f->queue)))) {
		finish(f);
		return false;
	}
	if (!span_trim(s).len || line_tag(l) != f->queue.tag || (l->time[0] && !f->queue.timed)) {
		if (++f->queue.strangers > FAULT_WRAP_LINES)
			finish(f);
		return false;
	}
	if (!wrapped_add(&f->queue, l, s) || whole_error(wrapped_text(&f->queue)) || f->queue.pieces > FAULT_WRAP_LINES + 1)
		finish(f);
	return true;
}

/* A second error in the same line, behind the first one; -1 none. */
static long second(struct span s)
{
	long at = span_find(s, "borting with"), next;

	if (at < 0)
		return -1;
	next = span_find(span_sub(s, (size_t)at, s.len), "Callback: Queue 0x");
	return next < 0 ? -1 : at + next;
}

bool fault_queue_line(struct fault_scan *f, const struct line *l)
{
	struct span s = l->text, rest;
	long next;

	if (f->queue.open && goes_on(f, l))
		return true;
	if (((rest = span_after(s, "Queue error (")).len || (rest = span_after(s, "Queue error - ")).len) && span_starts(rest, "HSA_STATUS")) {
		fault_emit_queue_error(f, l->offset, rest, l->rank);
		return true;
	}
	if (!begins(s))
		return false;
	fault_queue_flush(f);
	for (; (next = second(s)) >= 0; s = span_sub(s, (size_t)next, s.len))
		fault_emit_queue_error(f, l->offset, span_sub(s, 0, (size_t)next), l->rank);
	if (whole_error(s))
		fault_emit_queue_error(f, l->offset, s, l->rank);
	else
		wrapped_start(&f->queue, l, s);
	return true;
}
