/* frame.c - lines out of a byte stream. */
#include "config.h"

#include "transport/frame.h"

#include <string.h>

void frame_init(struct frame *frame, size_t max)
{
	memset(frame, 0, sizeof *frame);
	buf_init(&frame->rest, max);
	frame->max = max;
}

void frame_release(struct frame *frame)
{
	buf_release(&frame->rest);
}

static void deliver(struct frame *frame, struct span line, void (*call)(void *, struct span), void *context)
{
	if (span_ends(line, "\r"))
		line.len--;
	frame->lines++;
	call(context, line);
}

/* The end of a line whose head was kept (or is being skipped). */
static void finish(struct frame *frame, struct span tail, void (*call)(void *, struct span), void *context)
{
	if (frame->skipping || frame->rest.len + tail.len > frame->max) {
		frame->oversized++;
		frame->skipping = false;
	} else {
		buf_span(&frame->rest, tail);
		deliver(frame, buf_as_span(&frame->rest), call, context);
	}
	buf_clear(&frame->rest);
}

static void keep(struct frame *frame, struct span head)
{
	if (frame->skipping)
		return;
	if (frame->rest.len + head.len > frame->max) {
		frame->skipping = true;
		buf_clear(&frame->rest);
		return;
	}
	buf_span(&frame->rest, head);
}

void frame_feed(struct frame *frame, struct span bytes, void (*call)(void *, struct span), void *context)
{
	while (bytes.len) {
		long end = span_find_char(bytes, '\n');
		struct span line;

		if (end < 0) {
			keep(frame, bytes);
			return;
		}
		line = span_sub(bytes, 0, (size_t)end);
		bytes = span_sub(bytes, (size_t)end + 1, bytes.len);
		if (frame->rest.len || frame->skipping || line.len > frame->max)
			finish(frame, line, call, context);
		else
			deliver(frame, line, call, context);
	}
}
