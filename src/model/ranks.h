/* ranks.h - the ranks, their stack classes and the odd one out.
 *
 * A class is the set of processes whose main threads have the same functions and files all the way down
 * (line numbers do not count). Classes are sorted: the odd ones (candidates) first, then by size.
 * What the innermost frames mean is told by stacks.h.
 */
#ifndef HANGTOP_MODEL_RANKS_H
#define HANGTOP_MODEL_RANKS_H

#include <stdbool.h>

#include "model/model.h"
#include "model/stacks.h"

#define RANKS_MAX 1024
#define CLASSES_MAX 64

struct rank {
	const struct observation *process;     /* role worker */
	const struct observation *sample;      /* may be NULL */
	const struct stack_pair *stack;        /* may be NULL */
	char name[32];                         /* rank, or "pid N" */
	int order;                             /* numeric sort key */
	int class;                             /* index into class, -1 without a stack */
	int64_t gpu;                           /* index of the GPU it uses most, -1 unknown */
	bool ended;
};

struct stack_class {
	int members[RANKS_MAX];
	int count;
	char ranges[128];                      /* "[0-2,4-7]" or "TP3" folded */
	char top[160];                         /* "synchronize <- all_reduce": the telling frames, innermost first */
	char where[160];                       /* "function (file:line)" of the first frame of interest */
	enum wait_kind wait;
	bool odd;                              /* a candidate */
	int64_t same_since;                    /* the youngest same_since of its members; 0 when unknown */
	int same_count;                        /* the smallest of its members */
};

struct ranks {
	struct rank rank[RANKS_MAX];
	int count;
	struct stack_class class[CLASSES_MAX];
	int classes;
	int with_stack;
	int64_t oldest_stack, newest_stack;    /* t of last samples; 0 without any */
};

/* Build from the model (heavy struct: allocate once and reuse). Workers only, ordered by rank; the engine cores when there are none. */
void ranks_build(struct ranks *out, const struct model *m);
/* Whom to look at first: a live one of the odd class, else the one that has stood still the longest, else the first. NULL without any. */
const struct rank *ranks_suspect(const struct ranks *ranks);
const struct rank *ranks_by_pid(const struct ranks *ranks, int64_t pid);
/* Fold names like TP0 TP1 TP3 into "TP[0-1,3]" (also numbers and DP1_TP3). */
void ranks_fold(const struct rank *rank, const int *member, int count, char *out, size_t size);

#endif
