/* queue.c - a bounded list of records. */
#include "config.h"

#include "store/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t size_of(const struct record *record)
{
	const struct observation *o = &record->o;
	size_t size = sizeof *record + 16;

	for (int i = 0; i < kind_table[o->kind].fields; i++)
		if (o->value[i].type == VALUE_TEXT)
			size += o->value[i].text.len + 1;
	return size;
}

static void make_room(struct queue *q, size_t more)
{
	if (q->count + more <= q->cap)
		return;
	q->cap = q->cap ? q->cap * 2 : 256;
	if (q->cap < q->count + more)
		q->cap = q->count + more;
	q->record = mem_array(q->record, q->cap, sizeof(struct record *));
}

void queue_clear(struct queue *q)
{
	for (size_t i = 0; i < q->count; i++)
		record_free(q->record[i]);
	q->count = q->bytes = 0;
}

void queue_release(struct queue *q)
{
	queue_clear(q);
	free(q->record);
	memset(q, 0, sizeof *q);
}

void queue_add(struct queue *q, struct record *record)
{
	make_room(q, 1);
	q->record[q->count++] = record;
	q->bytes += size_of(record);
}

void queue_move(struct queue *q, struct queue *to, size_t n)
{
	if (n > q->count)
		n = q->count;
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		q->bytes -= size_of(q->record[i]);
		queue_add(to, q->record[i]);
	}
	q->count -= n;
	memmove(q->record, q->record + n, q->count * sizeof(struct record *));
}

void queue_return(struct queue *q, struct queue *from)
{
	if (!from->count)
		return;
	make_room(q, from->count);
	memmove(q->record + from->count, q->record, q->count * sizeof(struct record *));
	memcpy(q->record, from->record, from->count * sizeof(struct record *));
	q->count += from->count;
	q->bytes += from->bytes;
	from->count = from->bytes = 0;
}

bool queue_matters(enum kind kind)
{
	return kind == KIND_verdict || kind == KIND_finding || kind == KIND_action || kind == KIND_note ||
	       kind == KIND_mark;
}

/* 0 goes first. */
static int worth(enum kind kind)
{
	return kind_table[kind].storage == STORAGE_SAMPLE ? 0 : queue_matters(kind) ? 2 : 1;
}

static void drop_worth(struct queue *q, int least, size_t count, size_t bytes)
{
	size_t kept = 0;

	for (size_t i = 0; i < q->count; i++) {
		struct record *record = q->record[i];
		bool enough = q->count - i + kept <= count && q->bytes <= bytes;

		if (enough || worth(record->o.kind) > least) {
			q->record[kept++] = record;
			continue;
		}
		q->bytes -= size_of(record);
		record_free(record);
	}
	q->count = kept;
}

size_t queue_trim(struct queue *q, size_t held)
{
	size_t before = q->count, bytes = held < QUEUE_BYTES_MAX ? QUEUE_BYTES_MAX - held : 0;

	if (q->count <= QUEUE_COUNT_MAX && q->bytes <= bytes)
		return 0;
	for (int least = 0; least < 3; least++)
		drop_worth(q, least, QUEUE_COUNT_MAX / 8 * 7, bytes / 8 * 7);
	return before - q->count;
}
