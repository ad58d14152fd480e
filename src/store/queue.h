/* queue.h - observations waiting to be written, bounded: what goes when there is no room is old samples. Who: writer.c.
 *
 * No lock here. The queue owns the records in it.
 */
#ifndef HANGTOP_STORE_QUEUE_H
#define HANGTOP_STORE_QUEUE_H

#include "model/observation.h"

#define QUEUE_COUNT_MAX 200000
#define QUEUE_BYTES_MAX ((size_t)64 << 20)

struct queue {
	struct record **record;
	size_t count, cap, bytes;
};

void queue_release(struct queue *q);
void queue_clear(struct queue *q);
void queue_add(struct queue *q, struct record *record);
/* Move the oldest, at most `n`, to the end of `to`. */
void queue_move(struct queue *q, struct queue *to, size_t n);
/* Put all of `from` back before the others. */
void queue_return(struct queue *q, struct queue *from);
/* When q and `held` bytes elsewhere pass the maximum, drop an eighth: oldest samples first, then other rows, what
 * people and rules said last. Returns how many were dropped. */
size_t queue_trim(struct queue *q, size_t held);
/* Verdicts, findings, actions, notes and marks: committed at once, dropped last. */
bool queue_matters(enum kind kind);

#endif
