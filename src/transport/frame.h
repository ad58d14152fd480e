/* frame.h - lines out of a byte stream, with a maximum.
 *
 * frame_feed() calls `line` for every complete line (without LF and CR). A line longer than `max` is dropped as a
 * whole and counted in `oversized`. Splitting the input at any byte gives the same lines.
 */
#ifndef HANGTOP_TRANSPORT_FRAME_H
#define HANGTOP_TRANSPORT_FRAME_H

#include "base/buf.h"

struct frame {
	struct buf rest;
	size_t max;
	bool skipping;
	uint64_t lines, oversized;
};

void frame_init(struct frame *frame, size_t max);
void frame_release(struct frame *frame);
void frame_feed(struct frame *frame, struct span bytes, void (*line)(void *context, struct span line), void *context);

#endif
