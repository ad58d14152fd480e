/* triage.h - the verdict: pure rules over the model and `now`.
 *
 * Rules stand in one table (triage.c), each with an id, what it needs, what it never concludes from, and
 * the next step in words. The first rule that holds in table order gives the verdict. There is no hidden state:
 * "since" comes from times in the evidence, so the same model and the same now give the same verdict.
 */
#ifndef HANGTOP_MODEL_TRIAGE_H
#define HANGTOP_MODEL_TRIAGE_H

#include "model/model.h"
#include "model/ranks.h"

enum state { STATE_UNKNOWN, STATE_HEALTHY, STATE_IDLE, STATE_LOADING, STATE_SLOW, STATE_SUSPECT,
	STATE_HUNG, STATE_FAULT, STATE_DEAD };

#define EVIDENCE_MAX 8

struct evidence {
	char what[40];          /* "last progress" */
	char value[120];        /* "log:output 12 requests" */
	int64_t t;              /* when it was seen; 0 without a time */
};

struct verdict {
	enum state state;
	char where[16];         /* kernel collective host, or "" */
	char grade;             /* A B C D */
	int64_t since;
	char reason[240];
	char next[240];
	struct evidence evidence[EVIDENCE_MAX];
	int evidence_count;
	char candidates[128];   /* folded ranks, "" when none */
	const char *rule;
};

struct triage_options {
	bool clockless;         /* a session made by explain: what was found in texts, all at one time; judged by explain.h */
	int64_t stall_ms;       /* HUNG this long after the last progress at the latest; default 30000 */
};

const char *state_word(enum state state);              /* HEALTHY ... */
const char *verdict_word(const struct verdict *v);     /* "silent livelock" ...; NULL for unknown */
/* ranks is scratch space owned by the caller, filled here; its odd classes are marked only when the verdict is SUSPECT or HUNG. */
void triage(struct verdict *out, const struct model *m, struct ranks *ranks, const struct triage_options *options, int64_t now);
/* The verdict as an observation (text points into `arena`). */
void verdict_observation(const struct verdict *v, struct observation *o, const char *node, int64_t t, struct buf *arena);
/* True when the verdict says something else than the recorded one (NULL: none yet): state, where or candidates.
 * Grade and words may move within one verdict. */
bool verdict_changed(const struct observation *recorded, const struct verdict *v);
/* True when stacks should be taken at once (SUSPECT has begun, or a second sample is due for HUNG). */
bool triage_wants_stacks(const struct verdict *v, const struct ranks *ranks, int64_t now);

#endif
