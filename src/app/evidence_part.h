/* evidence_part.h - read files that may never answer: one forked child a part, killed at its deadline.
 *
 * A read of a wedged driver or of a process that holds its memory map sleeps in state D, where no signal reaches it; a thread
 * that sleeps so would hold up our own end. So each part (a process, a GPU, the log ...) is a child of its own, which has nothing
 * of us but a pipe. What it has read until its deadline is kept; a child that cannot be killed is left to the kernel, and said.
 *
 * Who: cmd_evidence.c makes parts of items (evidence_items.c), evidence_read.c has what runs in the child.
 * The pipe carries frames (struct part_frame, then `len` bytes); both ends are the same program.
 */
#ifndef HANGTOP_APP_EVIDENCE_PART_H
#define HANGTOP_APP_EVIDENCE_PART_H

#include <limits.h>
#include <uv.h>

#include "app/evidence_bundle.h"

#define PART_LABEL 100

struct reading;

/* One piece to be. Filled before the start; the rest comes back. */
struct item {
	char path[160];                /* in the bundle */
	char from[PATH_MAX];           /* what is read; the child may say it better */
	void (*read)(struct reading *r, const struct item *item); /* in the child */
	size_t cap;                    /* bytes kept; 0: EVIDENCE_FILE_MAX */
	const void *context;           /* for read; the child has a copy of our memory */

	bool ended;
	enum evidence_state state;
	char why[200];
	bool lost;
	int64_t at;
	struct buf text;               /* released after part.item_done */
};

struct part {
	char label[PART_LABEL];        /* for messages */
	char dir[PATH_MAX];            /* names of items are below it; "" none */
	int64_t start_ticks;           /* dir is a process that started then; 0 any */
	struct item *item;
	int items;
	int deadline_ms;
	void (*secret)(struct part *part, struct span value); /* an environment has it; only to be masked elsewhere. May be NULL */
	void (*item_done)(struct part *part, struct item *item); /* once an item */
	void (*done)(struct part *part);       /* after the last item; the part may be freed when part.closed is called */
	void (*closed)(struct part *part);
	void *context;

	/* of evidence_part.c */
	pid_t pid;
	int fd;
	uv_poll_t poll;
	uv_timer_t timer;
	struct buf in;
	int next, handles;
	bool late, over;
};

/* Start reading on the loop. A failure to start is told through item_done. */
void part_start(struct part *part, uv_loop_t *loop);
/* Now: kill the child and end all items with what is there. */
void part_stop(struct part *part, const char *why);

/* --- for evidence_read.c --- */

enum part_frame_type { FRAME_BYTES, FRAME_FROM, FRAME_SECRET, FRAME_END };

struct part_frame {
	uint32_t type, len;
	uint32_t state, lost;          /* of FRAME_END, whose bytes are why */
};

#define PART_FRAME_MAX 65536

/* In the child; ends it. */
_Noreturn void part_child(const struct part *part, int fd);

#endif
