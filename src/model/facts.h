/* facts.h - what the rules look at, gathered from the model once per evaluation. Who: triage.c only; tests of it.
 *
 * Times are ms since the epoch; 0 means never or unknown. Counts that are unknown are -1: unknown is not zero.
 */
#ifndef HANGTOP_MODEL_FACTS_H
#define HANGTOP_MODEL_FACTS_H

#include "model/model.h"
#include "model/ranks.h"
#include "model/triage.h"

/* What the GPUs of the server look like together. */
enum gpu_pattern {
	GPUS_UNKNOWN,   /* no fresh reading, or busy without a reading of the memory activity */
	GPUS_IDLE,      /* all at 0-5 % */
	GPUS_WORK,      /* busy, and memory moves */
	GPUS_SPIN,      /* all busy, memory still */
	GPUS_MIXED,     /* some busy with memory still, the others idle */
};

struct facts {
	const struct model *model;
	const struct ranks *ranks;
	const struct triage_options *options;
	int64_t now;

	const struct observation *api;         /* newest api process; may be NULL */
	bool api_ended;
	int64_t run_start;                     /* of the server that counts */
	int processes;                         /* alive: api, engine, workers */
	const struct observation *dead;        /* first ended worker or engine of this run; may be NULL */
	int dead_count;

	const struct observation *server;      /* newest HTTP answer */
	bool http_ok, http_refused, http_silent;
	double http_ms;

	const struct observation *fault, *fatal; /* log_mark: first line of the kind in this run */
	int64_t ready_t, loading_t;            /* last log line of the kind in this run */
	struct span loading_text;

	const struct observation *progress;    /* newest */
	int64_t open;                          /* requests; -1 unknown */
	int64_t open_since;
	const struct observation *requests;    /* the one that `open` is from */
	int64_t base;                          /* the stall clock runs from here; 0 when it does not run */
	int64_t stall;                         /* now - base; -1 when it does not run */

	enum gpu_pattern gpus;
	int gpu_count, gpu_busy;               /* of the server's GPUs with a fresh reading */
	int64_t gpu_t;                         /* oldest reading used */

	const struct observation *blind;       /* source: the host agent is late; may be NULL */
	const struct rank *stopped;            /* a rank in state T or t, or D for long; may be NULL */
	bool parked;                           /* every rank with a stack waits for work */
	bool stacks_equal;                     /* all living ranks sampled twice since base, 6 s apart, and the same */
	bool majority_waits;                   /* three ranks or more; most of them so sampled and waiting for the GPU or a collective */
	bool waits_for_gpu;                    /* every rank with a stack waits for the GPU or a collective */
	int stacks_known;                      /* living ranks with a stack taken since base that is more than the kernel's view */
};

#define FACTS_APART_MS 6000     /* two samples closer than this prove nothing */

void facts_gather(struct facts *f, const struct model *m, const struct ranks *ranks, const struct triage_options *options,
	int64_t now);
const char *gpu_pattern_words(enum gpu_pattern p);

#endif
