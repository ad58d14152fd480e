/* stacks.h - what one stack observation says: its main thread, and what that thread waits for.
 *
 * Who: model.c summarises each stack once as it arrives; panels read the frames when they show them.
 * STACK_threads is a JSON array of {"tid":N,"name":"MainThread","state":"active","gil":true,"frames":["f (file.py:12)",...]},
 * innermost frame first, threads oldest first (the main thread is "MainThread", else the first).
 * Foreign text stays as it came: scrub it before drawing.
 */
#ifndef HANGTOP_MODEL_STACKS_H
#define HANGTOP_MODEL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/observation.h"

#define FRAMES_MAX 256

enum wait_kind {
	WAIT_UNKNOWN,           /* no frames */
	WAIT_GPU,               /* synchronize, .item(), a stream or event wait */
	WAIT_COLLECTIVE,        /* all_reduce, barrier, broadcast, ... */
	WAIT_LOCK,              /* a lock or a condition */
	WAIT_QUEUE,             /* a message queue: no work was given */
	WAIT_IO,                /* socket, poll, select */
	WAIT_HOST_CODE,         /* runs Python or native code */
};
const char *wait_kind_word(enum wait_kind kind);

struct rank_frames {
	int frames;
	struct span frame[FRAMES_MAX]; /* "function (file:line)", innermost first; in the arena */
	struct span thread;            /* name of the thread chosen */
	struct span state;             /* active idle active+gil; empty when unknown */
	bool gil;
};

struct stack_summary {
	uint64_t print;         /* equal for stacks with the same functions and files all the way down; 0 without frames */
	enum wait_kind wait;
	char top[160];          /* "synchronize <- all_reduce": the telling functions, innermost first */
	char where[160];        /* "function (file:line)" of the first frame outside the waiting machinery */
};

/* The main thread of a stack observation. Text is copied into `arena`. False without frames. */
bool rank_main_thread(const struct observation *stack, struct rank_frames *out, struct buf *arena);
/* "function", "file" and "line" of a frame text; false when it has no file part. */
bool frame_split(struct span frame, struct span *function, struct span *file, struct span *line);
void stack_summarise(const struct observation *stack, struct stack_summary *out);

#endif
