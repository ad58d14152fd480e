/* waves_fold.h - what the Waves panel shows of GPU waves: equal ones folded, names made short.
 *
 * Who: panel_waves.c. No drawing. Equal is: same kernel, pc, reasons and tool.
 * The model keeps the last MODEL_EVENTS_MAX rows, so `waves` counts what is left of a longer dump: `full` says so.
 */
#ifndef HANGTOP_UI_WAVES_FOLD_H
#define HANGTOP_UI_WAVES_FOLD_H

#include "model/model.h"

#define WAVES_RANKS_MAX 64

struct wave_group {
	const struct observation *wave; /* the oldest with registers, else with a disassembly, else the oldest */
	int64_t waves;
	uint64_t key;                   /* of its row: the same in the next frame */
	bool stopped;                   /* with a reason */
};

struct waves_fold {
	struct wave_group group[MODEL_EVENTS_MAX];
	int order[MODEL_EVENTS_MAX];    /* of groups: stopped ones first, then the many */
	int of[MODEL_EVENTS_MAX];       /* group of the i-th newest wave */
	int groups;
	int64_t waves;
	bool full;                      /* there may have been more */
};

void waves_fold(struct waves_fold *fold, const struct model *m);
/* "TP[0-3]": the ranks of a group's waves; "" when none is known. Returns out. */
const char *waves_ranks(const struct waves_fold *fold, const struct model *m, int group, char *out, size_t size);
/* Scrubbed, at most `columns` wide: whole, else without arguments, else without namespaces, else with its middle left out. */
void waves_kernel(struct buf *out, struct span name, int columns, const char *ellipsis);

#endif
