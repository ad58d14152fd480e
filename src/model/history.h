/* history.h - a short history of one number, for a sparkline. Who: model.c fills it, panels read it. */
#ifndef HANGTOP_MODEL_HISTORY_H
#define HANGTOP_MODEL_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_POINTS 60       /* of HISTORY_STEP_MS each: two minutes */
#define HISTORY_STEP_MS 2000
#define HISTORY_MOVES_PCT 1.0   /* memory activity that proves work */

/* The maximum (or sum) in each step of wall time. */
struct history {
	int64_t step;           /* number of the newest step: t / HISTORY_STEP_MS; 0 when empty */
	int64_t moved_t;        /* of a GPU: t of the last sample with memory activity of HISTORY_MOVES_PCT or more; 0 none */
	float point[HISTORY_POINTS]; /* ring by step % HISTORY_POINTS; NaN is no data */
};

void history_add(struct history *h, int64_t t, double value, bool sum);
/* Values of the newest `n` steps up to `now`, oldest first; NaN where there is none. h may be NULL. */
void history_points(const struct history *h, int64_t now, float *out, int n);

#endif
