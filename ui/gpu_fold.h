/* gpu_fold.h - GPUs with readings alike as one line, for nodes with many GPUs or partitions. */
#ifndef HANGTOP_UI_GPU_FOLD_H
#define HANGTOP_UI_GPU_FOLD_H

#include "model/model.h"
#include "ui/view.h"

#define GPUS_MAX 256

struct gpu_fold {
	const struct observation *gpu[GPUS_MAX]; /* by index */
	int group[GPUS_MAX]; /* of gpu[i] */
	int first[GPUS_MAX]; /* of a group: index in gpu */
	int count, groups;
};

/* Alike: busy, memory activity and VRAM within 5 points of the first of the group; none of them known in one only. */
void gpu_fold_build(struct gpu_fold *f, const struct model *m);
/* "0-2,4-7" */
const char *gpu_fold_ranges(const struct gpu_fold *f, int group, char *out, size_t size);
/* Mean of a field over a group; NaN when nobody has it. group -1 with `one`: of that GPU. */
double gpu_fold_mean(const struct gpu_fold *f, int group, int field);
double gpu_vram_pct(const struct observation *gpu); /* NaN unknown */
/* Busy history of a group (mean) or, with group -1, of one GPU. */
const char *gpu_fold_spark(
	const struct gpu_fold *f, int group, int one, const struct view *view, int columns, char *out, size_t size);

#endif
