/* The overview's server and GPUs. */
#include "config.h"

#include "ui/overview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* --- server --- */

static struct span host_of(struct span url)
{
	long at = span_find(url, "://");

	if (at >= 0)
		url = span_sub(url, (size_t)at + 3, url.len);
	at = span_find_char(url, '/');
	return at >= 0 ? span_sub(url, 0, (size_t)at) : url;
}

void overview_server_size(struct overview *v, int *least, int *good, int *most)
{
	*least = 1;
	*good = *most = v->narrow ? 1 : 2;
}

static void work(struct overview *v)
{
	const struct view *view = v->b->view;
	const struct observation *progress = model_newest(view->model, KIND_progress);
	enum style style = view->verdict->state >= STATE_SLOW ? STYLE_WARN : STYLE_BOLD;
	int64_t open = model_open_requests(view->model, NULL);
	char text[24];

	if (open < 0)
		rows_text(v->b->rows, STYLE_DIM, v->narrow ? "– open" : "requests unknown");
	else
		rows_print(v->b->rows, STYLE_BOLD, "%lld", (long long)open);
	if (open >= 0)
		rows_text(v->b->rows, STYLE_NORMAL,
			v->narrow   ? " open"
			: open == 1 ? " request open"
				    : " requests open");
	rows_text(v->b->rows, STYLE_DIM, v->narrow ? "  last " : "   last progress ");
	if (progress)
		rows_print(v->b->rows, style, "%s", panel_age(text, sizeof text, view, progress->t));
	else
		rows_text(v->b->rows, STYLE_DIM, v->narrow ? "–" : "not seen");
	if (progress && !v->narrow)
		rows_text(v->b->rows, STYLE_DIM, " ago");
}

static void http(struct overview *v, const struct observation *o)
{
	struct span class = panel_field(o, SERVER_class);
	bool stale = panel_stale(v->b->view, o), ok = span_is(class, "ok");
	double ms;

	if (!v->narrow) {
		rows_span(v->b->rows, STYLE_NORMAL, host_of(panel_field(o, SERVER_url)));
		rows_gap(v->b->rows, 1);
	}
	if (v->narrow)
		rows_span(v->b->rows, stale ? STYLE_STALE : ok ? STYLE_OK : STYLE_WARN, class);
	else
		rows_text(v->b->rows, stale ? STYLE_STALE : ok ? STYLE_OK : STYLE_WARN, panel_http_words(class));
	if (ok && observation_get_real(o, SERVER_total_ms, &ms))
		rows_print(v->b->rows, stale ? STYLE_STALE : STYLE_BOLD, v->narrow ? " %.0f ms" : " in %.0f ms", ms);
	if (stale)
		rows_text(v->b->rows, STYLE_STALE, "?");
}

void overview_server_put(struct overview *v, int rows)
{
	const struct view *view = v->b->view;
	const struct observation *o = model_newest(view->model, KIND_server);
	struct span engine = panel_field(o, SERVER_engine);
	char models[256] = "";

	overview_start(v, "server", 0, PANEL_SERVER);
	if (o)
		http(v, o);
	else
		rows_text(v->b->rows, STYLE_DIM, "no HTTP answer yet");
	if (v->narrow) {
		rows_gap(v->b->rows, 2);
		work(v);
		return;
	}
	if (o)
		rows_print(v->b->rows, STYLE_DIM, " (%s)", panel_http_proves(panel_field(o, SERVER_class)));
	if (engine.len && engine.len < 20 && v->b->rows->column + (int)engine.len + 3 <= v->b->w) {
		rows_gap(v->b->rows, 3);
		rows_span(v->b->rows, STYLE_BOLD, engine);
	}
	if (rows < 2)
		return;
	overview_start(v, "server", 1, PANEL_SERVER);
	if (o)
		panel_models(o, models, sizeof models);
	if (models[0]) {
		rows_cell(v->b->rows,
			text_width(span_of(models)) < v->b->w - 58 ? text_width(span_of(models)) : v->b->w - 58,
			STYLE_BOLD, span_of(models));
		rows_gap(v->b->rows, 3);
	}
	work(v);
}

/* --- GPUs --- */

/* Groups when that says more with less; else each GPU. */
static bool grouped(const struct overview *v)
{
	const struct gpu_fold *f = &v->gpus;

	return f->count > 8 ? v->b->h < f->count + 30 : v->b->h < 40 && f->groups * 2 <= f->count;
}

int overview_gpu_names(const struct overview *v)
{
	int w = v->label - 1;
	char text[170];

	for (int g = 0; g < v->gpus.groups && grouped(v) && v->headed; g++) {
		int n = (int)strlen(gpu_fold_ranges(&v->gpus, g, text, sizeof text));

		w = n > w ? n : w;
	}
	return w < RANGE_MAX ? w : RANGE_MAX;
}

void overview_gpu_size(struct overview *v, int *least, int *good, int *most)
{
	int rows = grouped(v) ? v->gpus.groups : v->gpus.count;

	if (!v->gpus.count) {
		*least = *good = *most = 1;
		return;
	}
	*least = 1 + v->headed;
	*good = (rows < 8 ? rows : 8) + v->headed;
	*most = rows + v->headed;
}

static void percent(struct build *b, double value, int w, bool stale, enum style style)
{
	if (isnan(value)) {
		panel_missing(b, w);
		rows_gap(b->rows, 1);
		return;
	}
	rows_right(b->rows, w, stale ? STYLE_STALE : style, "%.0f%%", value);
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

static void unit(struct build *b, double value, int w, bool stale, const char *name)
{
	if (isnan(value)) {
		panel_missing(b, w);
		rows_gap(b->rows, 1);
		return;
	}
	rows_right(b->rows, w, stale ? STYLE_STALE : STYLE_NORMAL, "%.0f%s", value, name);
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

/* One GPU, or a group by its means (they are alike). */
static void gpu_row(struct overview *v, int n, int group, int one, int reserve)
{
	const struct gpu_fold *f = &v->gpus;
	const struct observation *o = f->gpu[group < 0 ? one : f->first[group]];
	bool stale = panel_stale(v->b->view, o);
	char text[4 * 64 + 1], name[170];
	double total, value[4] = { NAN, NAN, NAN, NAN };
	static const int fields[4] = { GPU_busy_pct, GPU_mem_activity_pct, GPU_power_w, GPU_temp_c };
	int64_t index = 0;
	int left;

	for (int i = 0; i < 4; i++) {
		if (group < 0)
			observation_get_real(o, fields[i], &value[i]);
		else
			value[i] = gpu_fold_mean(f, group, fields[i]);
	}
	total = gpu_vram_pct(o);
	observation_get_int(o, GPU_gpu, &index);
	if (group < 0)
		snprintf(text, sizeof text, "%lld", (long long)index);
	else
		gpu_fold_ranges(f, group, text, sizeof text);
	snprintf(name, sizeof name, "%s%.160s", v->headed ? "" : "GPU ", text);
	rows_start(v->b->rows, rows_key("gpu", n), 0);
	rows_target(v->b->rows, PANEL_GPUS);
	rows_cell(v->b->rows, v->gpu_width, STYLE_BOLD, span_of(name));
	rows_gap(v->b->rows, 1);
	percent(v->b, value[0], 4, stale, STYLE_BOLD);
	percent(v->b, value[1], 5, stale, STYLE_BOLD);
	percent(v->b, total, 5, stale, STYLE_NORMAL);
	unit(v->b, value[2], 6, stale, "W");
	unit(v->b, value[3], 5, stale, "°");
	left = v->b->w - v->b->rows->column - 2 - reserve;
	if (left >= 10) {
		rows_gap(v->b->rows, 2);
		rows_text(v->b->rows, STYLE_GRAPH, gpu_fold_spark(f, group, one, v->b->view, left, text, sizeof text));
	}
}

void overview_gpu_put(struct overview *v, int rows)
{
	int total = grouped(v) ? v->gpus.groups : v->gpus.count, n = 0;

	if (!v->gpus.count) {
		overview_start(v, "GPU", 0, PANEL_GPUS);
		rows_text(v->b->rows, STYLE_DIM, "none seen; panel 9 says what was tried");
		return;
	}
	if (v->headed) {
		overview_start(v, "GPU", 0, PANEL_GPUS);
		rows_gap(v->b->rows, v->gpu_width + 1 - v->label);
		rows_text(v->b->rows, STYLE_HEAD, "busy   mem  VRAM  power  temp");
		if (v->b->w >= 62)
			rows_text(v->b->rows, STYLE_HEAD, "   last 2 min");
		rows--;
	}
	for (; n < total && n < rows; n++)
		gpu_row(v, n + 1, grouped(v) ? n : -1, n, n + 1 == rows && rows < total ? 9 : 0);
	if (n < total)
		rows_print(v->b->rows, STYLE_DIM, " +%d more", total - n);
}
