/* history.c - short histories for sparklines. */
#include "config.h"

#include <math.h>

#include "model/history.h"

void history_add(struct history *h, int64_t t, double value, bool sum)
{
	int64_t step = t / HISTORY_STEP_MS;
	float *point;

	if (t < 0 || (h->step && step <= h->step - HISTORY_POINTS))
		return; /* no time at all, or too old to be shown */
	point = &h->point[step % HISTORY_POINTS];
	if (!h->step || step > h->step) {
		int64_t from = h->step && step - h->step < HISTORY_POINTS ? h->step + 1 : step - HISTORY_POINTS + 1;

		for (int64_t s = from < 0 ? 0 : from; s <= step; s++)
			h->point[s % HISTORY_POINTS] = NAN;
		h->step = step;
	}
	if (isnan(*point))
		*point = (float)value;
	else if (sum)
		*point += (float)value;
	else if (value > *point)
		*point = (float)value;
}

void history_points(const struct history *h, int64_t now, float *out, int n)
{
	int64_t last = now / HISTORY_STEP_MS;

	for (int i = 0; i < n; i++) {
		int64_t step = last - (n - 1 - i);

		out[i] = NAN;
		if (h && h->step && step <= h->step && step > h->step - HISTORY_POINTS && step >= 0)
			out[i] = h->point[step % HISTORY_POINTS];
	}
}
