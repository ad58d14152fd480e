#include "config.h"

#include "ui/gpu_fold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/spark.h"

#define ALIKE 5.0

static double real_of(const struct observation *o, int field)
{
	double value = NAN;

	observation_get_real(o, field, &value);
	return value;
}

double gpu_vram_pct(const struct observation *gpu)
{
	double total = real_of(gpu, GPU_vram_total);

	return total > 0 ? real_of(gpu, GPU_vram_used) / total * 100 : NAN;
}

static bool near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= ALIKE;
}

static bool alike(const struct observation *a, const struct observation *b)
{
	return near(real_of(a, GPU_busy_pct), real_of(b, GPU_busy_pct)) &&
	       near(real_of(a, GPU_mem_activity_pct), real_of(b, GPU_mem_activity_pct)) &&
	       near(gpu_vram_pct(a), gpu_vram_pct(b));
}

static int64_t index_of(const struct observation *gpu)
{
	int64_t index = -1;

	observation_get_int(gpu, GPU_gpu, &index);
	return index;
}

static int by_index(const void *a, const void *b)
{
	int64_t x = index_of(*(const struct observation *const *)a),
		y = index_of(*(const struct observation *const *)b);

	return x < y ? -1 : x > y;
}

void gpu_fold_build(struct gpu_fold *f, const struct model *m)
{
	const struct observation *o;
	size_t at = 0;

	f->count = f->groups = 0;
	while (f->count < GPUS_MAX && (o = model_next(m, KIND_gpu, &at)))
		f->gpu[f->count++] = o;
	qsort(f->gpu, (size_t)f->count, sizeof *f->gpu, by_index);
	for (int i = 0; i < f->count; i++) {
		int g = 0;

		while (g < f->groups && !alike(f->gpu[f->first[g]], f->gpu[i]))
			g++;
		if (g == f->groups)
			f->first[f->groups++] = i;
		f->group[i] = g;
	}
}

const char *gpu_fold_ranges(const struct gpu_fold *f, int group, char *out, size_t size)
{
	size_t len = 0;

	out[0] = 0;
	for (int i = 0; i < f->count && len < size; i++) {
		int64_t from, to;
		int n;

		if (f->group[i] != group)
			continue;
		from = to = index_of(f->gpu[i]);
		while (i + 1 < f->count && f->group[i + 1] == group && index_of(f->gpu[i + 1]) == to + 1) {
			to++;
			i++;
		}
		if (from == to)
			n = snprintf(out + len, size - len, "%s%lld", len ? "," : "", (long long)from);
		else
			n = snprintf(
				out + len, size - len, "%s%lld-%lld", len ? "," : "", (long long)from, (long long)to);
		len += n > 0 ? (size_t)n : 0;
	}
	return out;
}

double gpu_fold_mean(const struct gpu_fold *f, int group, int field)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < f->count; i++) {
		double value = f->group[i] == group ? real_of(f->gpu[i], field) : NAN;

		if (!isnan(value)) {
			sum += value;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

static const struct history *busy_history(const struct view *view, const struct observation *gpu)
{
	char key[160];

	snprintf(key, sizeof key, "%s/gpu/%lld", gpu->node, (long long)index_of(gpu));
	return model_history(view->model, key);
}

const char *gpu_fold_spark(
	const struct gpu_fold *f, int group, int one, const struct view *view, int columns, char *out, size_t size)
{
	float sum[HISTORY_POINTS], points[HISTORY_POINTS];
	int count[HISTORY_POINTS] = { 0 };

	memset(sum, 0, sizeof sum);
	for (int i = 0; i < f->count; i++) {
		if (group < 0 ? i != one : f->group[i] != group)
			continue;
		history_points(busy_history(view, f->gpu[i]), view->now, points, HISTORY_POINTS);
		for (int p = 0; p < HISTORY_POINTS; p++) {
			if (isnan(points[p]))
				continue;
			sum[p] += points[p];
			count[p]++;
		}
	}
	for (int p = 0; p < HISTORY_POINTS; p++)
		points[p] = count[p] ? sum[p] / (float)count[p] : NAN;
	return spark_text(out, size, points, HISTORY_POINTS, columns, 100);
}
