/* snapshot_compare.c - two snapshots of one process: stuck is only said when nothing whatever has moved. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/snapshots.h"

static struct span text_of(const struct observation *o, int field)
{
	struct span text = { "", 0 };

	observation_get_text(o, field, &text);
	return text;
}

static int64_t number(const struct observation *o, int field)
{
	int64_t value = -1;

	observation_get_int(o, field, &value);
	return value;
}

static bool same(const struct observation *a, const struct observation *b, int field)
{
	return span_same(text_of(a, field), text_of(b, field));
}

/* False, with why, when the pair says nothing at all. */
static bool comparable(const struct snapshot_seen *a, const struct snapshot_seen *b, char *words, size_t size)
{
	int64_t apart = number(b->last, SNAPSHOT_began) - number(a->last, SNAPSHOT_began);

	if (number(a->last, SNAPSHOT_pid) != number(b->last, SNAPSHOT_pid) || number(a->last, SNAPSHOT_start) != number(b->last, SNAPSHOT_start))
		snprintf(words, size, "another process has the pid now");
	else if (!snapshot_is(a, "done") || !snapshot_is(b, "done"))
		snprintf(words, size, "one of the two did not come to its end");
	else if (!a->queue.count || !b->queue.count)
		snprintf(words, size, "the GPU side was not seen in both");
	else if (apart < SNAPSHOT_APART_MS)
		snprintf(words, size, "they are only %.1f s apart", (double)(apart > 0 ? apart : 0) / 1000);
	else
		return true;
	return false;
}

static const struct observation *same_queue(const struct snapshot_rows *rows, const struct observation *q)
{
	for (int i = 0; i < rows->count; i++)
		if (same(rows->row[i], q, GDB_QUEUE_address) && number(rows->row[i], GDB_QUEUE_qid) == number(q, GDB_QUEUE_qid))
			return rows->row[i];
	return NULL;
}

/* True when a pointer moved; `busy` when work is pending in one of them. */
static bool queues_moved(const struct snapshot_seen *a, const struct snapshot_seen *b, bool *busy, char *words, size_t size)
{
	if (a->queue.count != b->queue.count) {
		snprintf(words, size, "%d queues, before %d", b->queue.count, a->queue.count);
		return true;
	}
	for (int i = 0; i < b->queue.count; i++) {
		const struct observation *now = b->queue.row[i], *then = same_queue(&a->queue, now);
		struct span target = text_of(now, GDB_QUEUE_target);
		int64_t read = number(now, GDB_QUEUE_read), write = number(now, GDB_QUEUE_write);

		if (!then) {
			snprintf(words, size, "queue %.*s is new", (int)target.len, target.at);
			return true;
		}
		*busy = *busy || write > read;
		if (number(then, GDB_QUEUE_read) != read) {
			snprintf(words, size, "queue %.*s: read %" PRId64 " -> %" PRId64, (int)target.len, target.at, number(then, GDB_QUEUE_read), read);
			return true;
		}
		if (number(then, GDB_QUEUE_write) != write) {
			snprintf(words, size, "the host goes on launching: queue %.*s: write %" PRId64 " -> %" PRId64, (int)target.len, target.at,
				number(then, GDB_QUEUE_write), write);
			return true;
		}
	}
	return false;
}

static bool has_dispatch(const struct snapshot_rows *rows, const struct observation *d)
{
	for (int i = 0; i < rows->count; i++)
		if (same(rows->row[i], d, GDB_DISPATCH_kernel) && number(rows->row[i], GDB_DISPATCH_pkid) == number(d, GDB_DISPATCH_pkid))
			return true;
	return false;
}

static bool has_group(const struct snapshot_rows *rows, const struct observation *w)
{
	for (int i = 0; i < rows->count; i++)
		if (same(rows->row[i], w, WAVE_kernel) && same(rows->row[i], w, WAVE_pc) && text_of(w, WAVE_pc).len)
			return true;
	return false;
}

static int missing(const struct snapshot_rows *from, const struct snapshot_rows *in, bool (*has)(const struct snapshot_rows *, const struct observation *))
{
	int n = 0;

	for (int i = 0; i < from->count; i++)
		n += !has(in, from->row[i]);
	return n;
}

enum snapshot_proof snapshot_compare(const struct snapshot_seen *a, const struct snapshot_seen *b, char *words, size_t size)
{
	bool busy = false;
	double apart;
	int n;

	if (!comparable(a, b, words, size))
		return PROOF_NOTHING;
	apart = (double)(number(b->last, SNAPSHOT_began) - number(a->last, SNAPSHOT_began)) / 1000;
	if (queues_moved(a, b, &busy, words, size))
		return PROOF_MOVING;
	n = missing(&b->dispatch, &a->dispatch, has_dispatch) + missing(&a->dispatch, &b->dispatch, has_dispatch);
	if (n) {
		snprintf(words, size, "other kernels in flight");
		return PROOF_MOVING;
	}
	if (!b->dispatch.count && !b->wave.count && !busy) {
		snprintf(words, size, "the GPU is idle in both, %.0f s apart: the host holds it", apart);
		return PROOF_IDLE;
	}
	if (!b->dispatch.count || !b->wave.count || !a->wave.count || b->wave.count == SNAPSHOT_ROWS_MAX) {
		snprintf(words, size, "no kernel with waves was seen in both");
		return PROOF_NOTHING;
	}
	n = missing(&b->wave, &a->wave, has_group) + missing(&a->wave, &b->wave, has_group);
	if (n) {
		snprintf(words, size, "waves stand elsewhere: %d of %d groups", n, a->wave.count + b->wave.count);
		return PROOF_MOVING;
	}
	snprintf(words, size, "same dispatch, same pcs, pointers unchanged, %.0f s apart", apart);
	return PROOF_STUCK;
}
