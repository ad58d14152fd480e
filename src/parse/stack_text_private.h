/* stack_text_private.h - building one process out of lines or JSON: shared by stack_text.c and stack_json.c, implemented in
 * stack_text_build.c. A dump belongs to its scan; spans are copied. All functions are safe past the limits: what is too much is
 * left out. */
#ifndef HANGTOP_PARSE_STACK_TEXT_PRIVATE_H
#define HANGTOP_PARSE_STACK_TEXT_PRIVATE_H

#include "parse/stack_text.h"

/* The dump that lines with this tag go to; NULL none is open. */
struct stack_dump *stack_dump_of(struct stack_scan *s, uint64_t tag);
/* A new process; one that is open with this tag ends. Never NULL. */
struct stack_dump *stack_dump_start(struct stack_scan *s, uint64_t tag, uint64_t offset, int64_t pid, const char *how, bool confirmed);
/* Emitted now, or when those that began before it have ended; `d` is not to be used any more. */
void stack_dump_end(struct stack_scan *s, struct stack_dump *d);

/* An empty `tid`, `state` or `name` is unknown. Ends the thread before it. */
void stack_thread_start(struct stack_dump *d, struct span tid, struct span state, struct span name);
void stack_thread_end(struct stack_dump *d);
void stack_frame(struct stack_dump *d, struct span frame);
/* The frame that is being gathered in d->frame, if any. */
void stack_frame_end(struct stack_dump *d);

#endif
