/* snapshots.c - rows gathered by their id. */
#include "config.h"

#include "model/snapshots.h"

#include <string.h>

static struct span text_of(const struct observation *o, int field)
{
	struct span text = { "", 0 };

	if (o)
		observation_get_text(o, field, &text);
	return text;
}

static void collect(struct snapshot_rows *rows, const struct model *m, enum kind kind, int field, struct span id)
{
	const struct observation *o;

	rows->count = 0;
	for (int i = MODEL_EVENTS_MAX - 1; i >= 0; i--)
		if ((o = model_event(m, kind, i)) && rows->count < SNAPSHOT_ROWS_MAX && span_same(text_of(o, field), id))
			rows->row[rows->count++] = o;
}

static void collect_guard(struct snapshot_rows *rows, const struct model *m, struct span id)
{
	const struct observation *o;
	size_t at = 0;

	rows->count = 0;
	while ((o = model_next(m, KIND_guard, &at)))
		if (rows->count < SNAPSHOT_ROWS_MAX && span_same(text_of(o, GUARD_snapshot), id))
			rows->row[rows->count++] = o;
}

static bool known(const struct snapshots *all, struct span id)
{
	for (int i = 0; i < all->count; i++)
		if (span_same(all->seen[i].id, id))
			return true;
	return false;
}

static void fill(struct snapshot_seen *s, const struct model *m)
{
	struct snapshot_rows debugger;

	collect(&s->dispatch, m, KIND_gdb_dispatch, GDB_DISPATCH_snapshot, s->id);
	collect(&s->queue, m, KIND_gdb_queue, GDB_QUEUE_snapshot, s->id);
	collect(&s->wave, m, KIND_wave, WAVE_snapshot, s->id);
	collect(&s->stack, m, KIND_gdb_stack, GDB_STACK_snapshot, s->id);
	collect(&debugger, m, KIND_debugger, DEBUGGER_snapshot, s->id);
	s->debugger = debugger.count ? debugger.row[debugger.count - 1] : NULL;
	collect_guard(&s->guard, m, s->id);
}

void snapshots_gather(struct snapshots *out, const struct model *m)
{
	const struct observation *o;

	out->count = 0;
	for (int i = 0; out->count < SNAPSHOTS_MAX && (o = model_event(m, KIND_snapshot, i)); i++) {
		struct span id = text_of(o, SNAPSHOT_snapshot);
		struct snapshot_seen *s = &out->seen[out->count];

		if (!id.len || known(out, id))
			continue;
		s->id = id;
		s->last = o;
		fill(s, m);
		out->count++;
	}
}

bool snapshot_is(const struct snapshot_seen *s, const char *state)
{
	return observation_text_is(s->last, SNAPSHOT_state, state);
}

static bool ended(const struct snapshot_seen *s)
{
	return snapshot_is(s, "done") || snapshot_is(s, "failed");
}

const struct snapshot_seen *snapshot_before(const struct snapshots *all, const struct snapshot_seen *s)
{
	int64_t pid = 0, other = 0;

	observation_get_int(s->last, SNAPSHOT_pid, &pid);
	for (const struct snapshot_seen *b = s + 1; b < all->seen + all->count; b++)
		if (ended(b) && observation_get_int(b->last, SNAPSHOT_pid, &other) && other == pid)
			return b;
	return NULL;
}

static bool acknowledged(const struct model *m, struct span id)
{
	const struct observation *o;

	for (int i = 0; (o = model_event(m, KIND_action, i)); i++) {
		struct span argv = text_of(o, ACTION_argv);

		/* argv is ["ID"] */
		if (observation_text_is(o, ACTION_what, "acknowledge") && argv.len == id.len + 4 && memcmp(argv.at + 2, id.at, id.len) == 0)
			return true;
	}
	return false;
}

const struct snapshot_seen *snapshots_alarm(const struct snapshots *all, const struct model *m)
{
	for (int i = 0; i < all->count; i++) {
		const struct snapshot_seen *s = &all->seen[i];
		struct span verified = text_of(s->last, SNAPSHOT_verified);

		if (ended(s) && verified.len && !span_is(verified, "ok") && !span_is(verified, "repaired") && !acknowledged(m, s->id))
			return s;
	}
	return NULL;
}
