/* core.c - stamping, the grid of time, and the order in which things are applied and recorded. */
#include "config.h"

#include "app/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/mem.h"

#define CORE_QUEUE_MAX 100000

void core_init(struct core *core, const char *node, int64_t stall_ms)
{
	memset(core, 0, sizeof *core);
	model_init(&core->model);
	core->ranks = mem_alloc(sizeof *core->ranks);
	core->triage.stall_ms = stall_ms;
	core->node = node;
	core->judge = true;
}

static void empty_queue(struct core *core)
{
	for (size_t i = 0; i < core->queued; i++)
		record_free(core->queue[i]);
	core->queued = 0;
}

void core_release(struct core *core)
{
	empty_queue(core);
	free(core->queue);
	free(core->ranks);
	model_release(&core->model);
	memset(core, 0, sizeof *core);
}

static void enqueue(struct core *core, const struct observation *o)
{
	if (core->queued >= CORE_QUEUE_MAX) {
		core->model.dropped++;
		return;
	}
	if (core->queued == core->queue_cap) {
		core->queue_cap = core->queue_cap ? core->queue_cap * 2 : 256;
		core->queue = mem_array(core->queue, core->queue_cap, sizeof *core->queue);
	}
	core->queue[core->queued++] = record_new(o);
}

void core_observe(struct core *core, const struct observation *seen, int64_t now)
{
	struct observation o = *seen;

	if (now < core->last_stamp)
		now = core->last_stamp; /* the wall clock was set back: time in a session never is */
	if (now < core->grid)
		now = core->grid;
	core->last_stamp = now;
	o.lag = now > o.t ? now - o.t : 0;
	o.t = now;
	enqueue(core, &o);
}

void core_replay(struct core *core, const struct observation *o)
{
	if (o->kind != KIND_verdict && o->kind != KIND_finding)
		enqueue(core, o);
}

void core_restore(struct core *core, const struct observation *o)
{
	model_observe(&core->model, o);
}

static void record(struct core *core, const struct observation *o)
{
	if (core->record && o)
		core->record(core->context, o);
}

static void apply(struct core *core, const struct observation *o)
{
	struct observation mark;

	if (o->kind == KIND_log && !core->replaying && model_log_mark(&core->model, o, &mark)) {
		record(core, model_observe(&core->model, &mark));
	}
	record(core, model_observe(&core->model, o));
}

static size_t apply_before(struct core *core, int64_t t)
{
	size_t n = 0;

	while (n < core->queued && core->queue[n]->o.t < t) {
		apply(core, &core->queue[n]->o);
		record_free(core->queue[n]);
		n++;
	}
	if (n) {
		core->queued -= n;
		memmove(core->queue, core->queue + n, core->queued * sizeof *core->queue);
	}
	return n;
}

static bool evaluate(struct core *core, int64_t t)
{
	struct observation o;
	struct buf arena;

	triage(&core->verdict, &core->model, core->ranks, &core->triage, t);
	if (!verdict_changed(model_event(&core->model, KIND_verdict, 0), &core->verdict))
		return false;
	buf_init(&arena, 1 << 20);
	verdict_observation(&core->verdict, &o, core->node, t, &arena);
	record(core, model_observe(&core->model, &o));
	buf_release(&arena);
	if (core->changed)
		core->changed(core->context, &core->verdict);
	return true;
}

void core_look(struct core *core)
{
	triage(&core->verdict, &core->model, core->ranks, &core->triage, core->grid);
}

int64_t core_grid(int64_t t)
{
	return t / CORE_STEP_MS * CORE_STEP_MS;
}

/* Without news only ages move: judged once a second, and more seldom the longer nothing has come. It depends only on what is
 * recorded, so a replay judges the same grid points. */
static int64_t quiet_step(const struct core *core)
{
	int64_t silence = core->grid - core->model.last_t;

	return silence < 600000 ? 1000 : silence < 86400000 ? 60000 : silence < 30 * INT64_C(86400000) ? 3600000 : 30 * INT64_C(86400000);
}

/* Nothing is queued before `until`: to the grid point before the next one that is judged. */
static void skip_quiet(struct core *core, int64_t until)
{
	int64_t step = quiet_step(core), next = (core->grid / step + 1) * step;

	if (core->queued && core_grid(core->queue[0]->o.t) < until)
		until = core_grid(core->queue[0]->o.t);
	if (next > until)
		next = until;
	if (next - CORE_STEP_MS > core->grid)
		core->grid = next - CORE_STEP_MS;
}

bool core_advance(struct core *core, int64_t now)
{
	int64_t last = core_grid(now);
	bool moved = false;

	if (!core->grid)
		core->grid = last - CORE_STEP_MS;
	while (core->grid < last) {
		bool news;

		if (!core->judge)
			skip_quiet(core, last);
		core->grid += CORE_STEP_MS;
		news = apply_before(core, core->grid) > 0;
		if (news || core->judge || core->grid % quiet_step(core) == 0)
			news = evaluate(core, core->grid) || news;
		core->judge = false;
		moved = moved || news;
	}
	return moved;
}

void core_reset(struct core *core, int64_t t)
{
	empty_queue(core);
	model_clear(&core->model);
	memset(&core->verdict, 0, sizeof core->verdict);
	core->grid = core_grid(t) - CORE_STEP_MS;
	core->last_stamp = 0;
	core->judge = true;
}

void core_dump(struct core *core, struct buf *out)
{
	struct observation o;
	struct buf arena;

	core_look(core);
	model_dump(&core->model, out);
	buf_init(&arena, 1 << 20);
	verdict_observation(&core->verdict, &o, core->node, core->grid, &arena);
	buf_text(out, "verdict ");
	observation_encode(&o, out);
	buf_char(out, '\n');
	buf_release(&arena);
}
