/* explain.h - what a pile of observations says without a clock: the verdict of a text, its suspect kernels, its odd ranks.
 *
 * The words are those of verdict_word() (triage.h). Rules stand in one table (explain.c); the first that holds counts. Those that need no
 * clock either way (a device error, a death) are the same functions that triage.c asks about the live model. Each rule says in a sentence
 * why it holds and what to do next. Who: app/cmd_explain; triage.c for explain_is_fault().
 */
#ifndef HANGTOP_MODEL_EXPLAIN_H
#define HANGTOP_MODEL_EXPLAIN_H

#include "model/observation.h"
#include "model/stacks.h"

#define EXPLAIN_RANKS_MAX 1024
#define EXPLAIN_SUSPECTS_MAX 64

struct explain_rank {
	const struct observation *stack;
	char name[32];
	struct stack_summary summary;
	int group;
};

struct explain_group {
	int members, first;     /* how many; index of the first in rank */
	enum wait_kind wait;
	char top[160];
	bool odd;
};

struct explain {
	const char *word;       /* NULL: cannot be told */
	const char *rule;
	char reason[300], next[300];
	struct span suspect[EXPLAIN_SUSPECTS_MAX];      /* kernels, the first one first; borrowed from the observations */
	int suspects;
	const char *suspect_from;       /* what names them: "waves" ... */
	struct explain_rank rank[EXPLAIN_RANKS_MAX];
	int ranks;
	struct explain_group group[EXPLAIN_RANKS_MAX];
	int groups;
	char outlier[EXPLAIN_RANKS_MAX][32];
	int outliers;
};

/* Does this observation alone prove that the GPU, its driver or its runtime reports an error? */
bool explain_is_fault(const struct observation *o);
/* Or that a worker, engine or server died? */
bool explain_is_crash(const struct observation *o);
/* `out` is large: allocate it. The list is in order of input; it must outlive `out`. */
void explain(struct explain *out, const struct observation *const *list, size_t n);

#endif
