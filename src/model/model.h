/* model.h - the current state of the world, from observations alone.
 *
 * Who: app/core feeds it; triage, panels, the dump and the reports read it. It does no I/O and reads no clock.
 * The state is: the latest record of every subject, the last events of each event kind, short
 * histories for plots, and stack classes. Feeding observations of different subjects in any order gives
 * the same model; a seek to T rebuilds it from "latest row at or before T" (store/reader.h).
 *
 * Ownership: the model owns all records; pointers it hands out live until the next model_observe().
 * Bounds: MODEL_SUBJECTS_MAX subjects, MODEL_EVENTS_MAX events a kind; more are dropped, oldest first, and counted.
 */
#ifndef HANGTOP_MODEL_MODEL_H
#define HANGTOP_MODEL_MODEL_H

#include "base/map.h"
#include "model/history.h"
#include "model/observation.h"
#include "model/stacks.h"

#define MODEL_SUBJECTS_MAX 20000
#define MODEL_EVENTS_MAX 500
/* The last two stack samples of one process that had frames, and what the last one says. */
struct stack_pair {
	struct record *last, *before;
	struct stack_summary summary;  /* of last */
	int64_t same_since;     /* t of the oldest sample since which the main thread's frames are equal */
	int64_t same_count;     /* samples in that run, 1 when the last differs from the one before */
};

/* A ring of the last records of one event kind, oldest first from `start`. */
struct events {
	struct record *record[MODEL_EVENTS_MAX];
	int start, count;
};

struct model {
	struct map subject;             /* observation_key -> struct record, STATE and SAMPLE kinds */
	bool unsorted;                  /* subjects were added: sorted before the next walk, so that no answer depends on arrival */
	struct map history;             /* "node/gpu/3" busy (max), "node/progress" (sum) -> struct history */
	struct map stack;               /* "node/pid" -> struct stack_pair */
	struct events event[KIND_COUNT];/* EVENT kinds, and the changes of verdict and finding */
	int64_t last_t;                 /* largest t fed */
	int64_t progress_t;             /* t of the last progress observation; 0 never */
	int64_t first_t;                /* t of the first observation */
	uint64_t dropped;
};

void model_init(struct model *m);
void model_release(struct model *m);
void model_clear(struct model *m);
/* Feed one. Returns the model's own record of it, with the fields that the front fills in (STACK_same_since, REQUESTS_open_since);
 * NULL when it was not kept. */
const struct observation *model_observe(struct model *m, const struct observation *o);

/* The latest record of a subject, or NULL. Walk m->subject.entry for all. */
const struct observation *model_latest(const struct model *m, const char *key);
/* The latest of a kind in order of their keys: start with *at = 0; NULL at the end. */
const struct observation *model_next(const struct model *m, enum kind kind, size_t *at);
/* The i-th newest event of a kind (0 is the newest), or NULL. */
const struct observation *model_event(const struct model *m, enum kind kind, int i);
/* The newest observation of a kind over all subjects, or NULL. */
const struct observation *model_newest(const struct model *m, enum kind kind);
const struct stack_pair *model_stack(const struct model *m, const char *node, int64_t pid);
/* The process record of a pid, or NULL. */
const struct observation *model_process(const struct model *m, const char *node, int64_t pid);
/* Start (ms since the epoch) of the newest API process: what is older belongs to an earlier run of the server. 0 unknown. */
int64_t model_run_start(const struct model *m);
/* When a log line is to be remembered beyond the last events (see kind log_mark), fill `mark` and return true. */
bool model_log_mark(const struct model *m, const struct observation *log, struct observation *mark);
/* Requests the server has open, -1 unknown: the larger of what the log and the counters of this run say, because an engine that
 * hangs publishes old counters and a log follower that started late knows nothing. `from` (may be NULL): the record it is from. */
int64_t model_open_requests(const struct model *m, const struct observation **from);
const struct observation *model_mark(const struct model *m, const char *class);
const struct history *model_history(const struct model *m, const char *key);
/* The whole state as text, sorted by key: what "replay equals live" compares. */
void model_dump(const struct model *m, struct buf *out);

#endif
