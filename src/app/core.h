/* core.h - where observations come together: model, triage, store, and the grid of time.
 *
 * Who: run (live), replay and once. core_observe() stamps an observation with the time it became known and queues it;
 * core_advance() applies everything stamped before each grid point of CORE_STEP_MS and evaluates the triage there. Live and replay
 * run the same two calls, and nothing here reads a clock: that is why a replay is exact.
 */
#ifndef HANGTOP_APP_CORE_H
#define HANGTOP_APP_CORE_H

#include "model/model.h"
#include "model/ranks.h"
#include "model/triage.h"

#define CORE_STEP_MS 100

struct core {
	struct model model;
	struct ranks *ranks;
	struct verdict verdict;        /* at the last grid point */
	struct triage_options triage;
	const char *node;              /* of the front */
	int64_t grid;                  /* last grid point evaluated; 0 before the first */
	int64_t last_stamp;
	struct record **queue;
	bool judge;                    /* the next grid point is judged even without news */
	size_t queued, queue_cap;
	bool replaying;                /* from a recording: what the front adds is in it already */
	/* Every observation that is part of the session, stamped, in order; for the store and --jsonl. May be NULL. */
	void (*record)(void *context, const struct observation *o);
	/* The verdict has changed. May be NULL. */
	void (*changed)(void *context, const struct verdict *verdict);
	void *context;
};

void core_init(struct core *core, const char *node, int64_t stall_ms);
void core_release(struct core *core);
/* From an agent, or from the user: `now` is the front's clock. o->t is the reading's time on the node. */
void core_observe(struct core *core, const struct observation *o, int64_t now);
/* From a recording, in order: stamped already. Recorded verdicts and findings are skipped: they are computed again. */
void core_replay(struct core *core, const struct observation *o);
/* From reader_state_at(), after core_reset(): straight into the model, verdicts too. */
void core_restore(struct core *core, const struct observation *o);
/* Run the grid up to `now`. Returns true when anything was applied or the verdict changed. */
bool core_advance(struct core *core, int64_t now);
/* The grid point whose evaluation has seen everything before t: t rounded down. */
int64_t core_grid(int64_t t);
/* The verdict at the grid point reached, without recording it: after a seek to a point that was not judged live. */
void core_look(struct core *core);
/* Forget everything; the next grid point evaluated is t (a multiple of CORE_STEP_MS). */
void core_reset(struct core *core, int64_t t);
/* Model, verdict and findings as text: what "replay equals live" compares. */
void core_dump(struct core *core, struct buf *out);

#endif
