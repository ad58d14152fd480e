/* Overview: everything triage needs on 80x24: server, GPUs, ranks, log, events, ill sources, evidence, next step.
 *
 * Each section says how many rows it needs at least, to be good, and at most; the rows of the screen are dealt out in that order.
 */
#include "config.h"

#include "ui/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/event_list.h"
#include "ui/gpu_fold.h"

#define LOG_LINES_MAX 40
#define RANGE_MAX 16            /* columns for the names of a class */

struct overview {
	struct build *b;
	struct gpu_fold gpus;
	struct event_list *events;
	const struct observation *log[LOG_LINES_MAX];
	int label;                      /* columns of the section names */
	int gpu_width;                  /* of the names of GPUs */
	bool narrow;                    /* under 60 columns: short forms */
	bool headed;                    /* tables have headings */
	struct buf reason;              /* what did not fit on line 2 */
	struct rank_frames frames;      /* scratch */
};

struct section {
	const char *name;
	enum panel_id target;
	void (*size)(struct overview *v, int *least, int *good, int *most);
	void (*put)(struct overview *v, int rows);
};

static void start(struct overview *v, const char *name, int n, enum panel_id target)
{
	rows_start(v->b->rows, rows_key(name, n), 0);
	rows_target(v->b->rows, target);
	rows_cell(v->b->rows, v->label, STYLE_TITLE, span_of(n ? "" : name));
}

/* --- the rest of the reason --- */

static void reason_size(struct overview *v, int *least, int *good, int *most)
{
	struct span rest = buf_as_span(&v->reason);
	int n = 0;

	while (rest.len && n < 3 && panel_words(&rest, v->b->w).len)
		n++;
	*least = *good = *most = n;
}

static void reason_put(struct overview *v, int rows)
{
	struct span rest = buf_as_span(&v->reason);

	for (int i = 0; i < rows; i++) {
		rows_start(v->b->rows, rows_key("reason", i), 0);
		rows_target(v->b->rows, PANEL_EVENTS);
		rows_span(v->b->rows, STYLE_NORMAL, panel_words(&rest, v->b->w));
	}
}

/* --- server --- */

static struct span host_of(struct span url)
{
	long at = span_find(url, "://");

	if (at >= 0)
		url = span_sub(url, (size_t)at + 3, url.len);
	at = span_find_char(url, '/');
	return at >= 0 ? span_sub(url, 0, (size_t)at) : url;
}

static void server_size(struct overview *v, int *least, int *good, int *most)
{
	*least = 1;
	*good = *most = v->narrow ? 1 : 2;
}

static int64_t open_requests(const struct model *m)
{
	const struct observation *o, *best = NULL;
	int64_t n, open = -1;
	size_t at = 0;

	while ((o = model_next(m, KIND_requests, &at))) {
		if (observation_get_int(o, REQUESTS_open, &n) && (!best || o->t > best->t)) {
			best = o;
			open = n;
		}
	}
	return open;
}

static void work(struct overview *v)
{
	const struct view *view = v->b->view;
	const struct observation *progress = model_newest(view->model, KIND_progress);
	enum style style = view->verdict->state >= STATE_SLOW ? STYLE_WARN : STYLE_BOLD;
	int64_t open = open_requests(view->model);
	char text[24];

	if (open < 0)
		rows_text(v->b->rows, STYLE_DIM, v->narrow ? "– open" : "requests unknown");
	else
		rows_print(v->b->rows, STYLE_BOLD, "%lld", (long long)open);
	if (open >= 0)
		rows_text(v->b->rows, STYLE_NORMAL, v->narrow ? " open" : open == 1 ? " request open" : " requests open");
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

static void server_put(struct overview *v, int rows)
{
	const struct view *view = v->b->view;
	const struct observation *o = model_newest(view->model, KIND_server);
	struct span engine = panel_field(o, SERVER_engine);
	char models[256] = "";

	start(v, "server", 0, PANEL_SERVER);
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
	start(v, "server", 1, PANEL_SERVER);
	if (o)
		panel_models(o, models, sizeof models);
	if (models[0]) {
		rows_cell(v->b->rows, text_width(span_of(models)) < v->b->w - 58 ? text_width(span_of(models)) : v->b->w - 58, STYLE_BOLD,
			span_of(models));
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

static int gpu_names(const struct overview *v)
{
	int w = v->label - 1;
	char text[170];

	for (int g = 0; g < v->gpus.groups && grouped(v) && v->headed; g++) {
		int n = (int)strlen(gpu_fold_ranges(&v->gpus, g, text, sizeof text));

		w = n > w ? n : w;
	}
	return w < RANGE_MAX ? w : RANGE_MAX;
}

static void gpu_size(struct overview *v, int *least, int *good, int *most)
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

static void gpu_put(struct overview *v, int rows)
{
	int total = grouped(v) ? v->gpus.groups : v->gpus.count, n = 0;

	if (!v->gpus.count) {
		start(v, "GPU", 0, PANEL_GPUS);
		rows_text(v->b->rows, STYLE_DIM, "none seen; panel 8 says what was tried");
		return;
	}
	if (v->headed) {
		start(v, "GPU", 0, PANEL_GPUS);
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

/* --- ranks --- */

/* A line of the section: a class of stacks, or the ranks without one. */
struct cohort {
	const struct stack_class *class; /* NULL without stacks */
	const char *word;
	char ranges[128];
	int member[RANKS_MAX];
	int count;
};

static void no_stack_cohort(const struct ranks *ranks, struct cohort *c, bool ended)
{
	c->class = NULL;
	c->count = 0;
	for (int i = 0; i < ranks->count; i++)
		if (ranks->rank[i].ended == ended && (ended || ranks->rank[i].class < 0))
			c->member[c->count++] = i;
	c->word = ended ? "ended" : "no stack yet";
	ranks_fold(ranks->rank, c->member, c->count, c->ranges, sizeof c->ranges);
}

static int cohorts(const struct ranks *ranks)
{
	int alive = 0, ended = 0;

	for (int i = 0; i < ranks->count; i++) {
		ended += ranks->rank[i].ended;
		alive += !ranks->rank[i].ended && ranks->rank[i].class < 0;
	}
	return ranks->classes + (alive > 0) + (ended > 0);
}

static void ranks_size(struct overview *v, int *least, int *good, int *most)
{
	int rows = cohorts(v->b->view->ranks);

	if (!rows) {
		*least = *good = *most = 1;
		return;
	}
	*least = (rows < 2 ? rows : 2) + v->headed;
	*good = (rows < 8 ? rows : 8) + v->headed;
	*most = rows + v->headed;
}

/* "R 100%", or "6R 1D" when they differ. */
static void states(const struct ranks *ranks, const int *member, int count, char *out, size_t size)
{
	int seen[128] = { 0 }, kinds = 0, n = 0;
	size_t len = 0;
	double cpu = 0, value;

	out[0] = 0;
	for (int i = 0; i < count; i++) {
		const struct observation *o = ranks->rank[member[i]].ended ? NULL : ranks->rank[member[i]].sample;
		struct span state = panel_field(o, PROCESS_SAMPLE_state);

		if (state.len && (unsigned char)state.at[0] < 128)
			kinds += !seen[(unsigned char)state.at[0]]++;
		if (o && observation_get_real(o, PROCESS_SAMPLE_cpu_pct, &value)) {
			cpu += value;
			n++;
		}
	}
	for (int c = 'A'; c <= 'z' && len < size; c++) {
		int wrote = 0;

		if (seen[c] && kinds == 1)
			wrote = n ? snprintf(out, size, "%c %.0f%%", c, cpu / n) : snprintf(out, size, "%c", c);
		else if (seen[c])
			wrote = snprintf(out + len, size - len, "%s%d%c", len ? " " : "", seen[c], c);
		len += wrote > 0 ? (size_t)wrote : 0;
	}
	if (!out[0])
		snprintf(out, size, "–");
}

static bool any_stale(const struct view *view, const int *member, int count)
{
	for (int i = 0; i < count; i++)
		if (!view->ranks->rank[member[i]].ended && panel_stale(view, view->ranks->rank[member[i]].sample))
			return true;
	return false;
}

static int range_width(const struct overview *v)
{
	const struct ranks *ranks = v->b->view->ranks;
	int w = v->label - 1;

	for (int i = 0; i < ranks->classes; i++)
		if (text_width(span_of(ranks->class[i].ranges)) > w)
			w = text_width(span_of(ranks->class[i].ranges));
	return w < RANGE_MAX ? w : RANGE_MAX;
}

static int role_width(const struct overview *v)
{
	return v->b->w < 76 ? 10 : 26;
}

/* Why the first of them has no stack. */
static struct span no_stack_reason(const struct view *view, const struct cohort *c)
{
	const struct observation *process = view->ranks->rank[c->member[0]].process;
	char key[160];
	int64_t pid;

	if (!observation_get_int(process, PROCESS_pid, &pid))
		return span_of("");
	snprintf(key, sizeof key, "%.120s/stack/%lld", process->node, (long long)pid);
	return panel_field(model_latest(view->model, key), STACK_error);
}

static void cohort_row(struct overview *v, const struct cohort *c, int n)
{
	const struct view *view = v->b->view;
	bool stale = any_stale(view, c->member, c->count), odd = c->class && c->class->odd;
	enum style style = c->class ? panel_role_style(view->ranks, c->class) : STYLE_DIM;
	char role[160], text[64], where[320];

	rows_start(v->b->rows, rows_key("ranks", n), 0);
	rows_target(v->b->rows, c->class ? PANEL_STACKS : PANEL_RANKS);
	rows_cell(v->b->rows, range_width(v), odd ? STYLE_WARN : STYLE_BOLD, span_of(c->class ? c->class->ranges : c->ranges));
	rows_gap(v->b->rows, 1);
	snprintf(role, sizeof role, "%s", c->word);
	if (c->class)
		panel_role(view->ranks, c->class, role, sizeof role);
	if (c->word && !strcmp(c->word, "ended"))
		style = STYLE_BAD;
	rows_cell(v->b->rows, role_width(v), style, span_of(role_width(v) < 20 && c->class && !odd ? "waits" : role));
	rows_gap(v->b->rows, 1);
	if (!v->narrow) {
		int start_column = v->b->rows->column;

		states(view->ranks, c->member, c->count, text, sizeof text);
		rows_text(v->b->rows, stale ? STYLE_STALE : STYLE_NORMAL, text);
		if (stale)
			rows_text(v->b->rows, STYLE_STALE, "?");
		rows_to(v->b->rows, start_column + 8);
		rows_right(v->b->rows, 6, STYLE_BOLD, "%s", panel_age(text, sizeof text, view, c->class ? c->class->same_since : 0));
		rows_gap(v->b->rows, 2);
	}
	if (!c->class) {
		rows_span(v->b->rows, STYLE_WARN, no_stack_reason(view, c));
		return;
	}
	if (odd && v->b->w >= 120) {
		rows_text(v->b->rows, STYLE_WARN, c->class->where);
		return;
	}
	rows_text(v->b->rows, odd ? STYLE_WARN : STYLE_NORMAL,
		panel_where(where, sizeof where, c->class->where, c->class->top, odd, v->b->ascii));
	if (v->b->w >= 120) {
		rows_text(v->b->rows, STYLE_DIM, "  in ");
		rows_text(v->b->rows, STYLE_DIM, c->class->where);
	}
}

static void ranks_heading(struct overview *v)
{
	const struct view *view = v->b->view;
	char text[24];

	rows_start(v->b->rows, rows_key("ranks", 0), 0);
	rows_target(v->b->rows, PANEL_RANKS);
	rows_cell(v->b->rows, range_width(v) + 1, STYLE_TITLE, span_of("ranks"));
	rows_gap(v->b->rows, role_width(v) + 1);
	rows_text(v->b->rows, STYLE_HEAD, "state   ");
	rows_right(v->b->rows, 6, STYLE_HEAD, "for");
	rows_text(v->b->rows, STYLE_HEAD, "  where");
	if (view->stacks_running)
		rows_print(v->b->rows, STYLE_INFO, " (taking %d more)", view->stacks_running);
	else if (view->ranks->newest_stack)
		rows_print(v->b->rows, STYLE_DIM, " (seen %s ago)", panel_age(text, sizeof text, view, view->ranks->newest_stack));
}

static void ranks_put(struct overview *v, int rows)
{
	const struct ranks *ranks = v->b->view->ranks;
	int total = cohorts(ranks), n = 0;
	struct cohort *c;

	if (!total) {
		start(v, "ranks", 0, PANEL_RANKS);
		rows_text(v->b->rows, STYLE_DIM, v->narrow ? "none found; o enters a PID" :
			"none found: tried titles, environment, parent tree; o enters a PID");
		return;
	}
	if (v->headed) {
		ranks_heading(v);
		rows--;
	}
	c = mem_alloc(sizeof *c);
	for (int i = 0; i < ranks->classes && n < rows; i++, n++) {
		c->class = &ranks->class[i];
		c->word = "";
		c->count = c->class->count;
		memcpy(c->member, c->class->members, (size_t)c->count * sizeof *c->member);
		cohort_row(v, c, n + 1);
	}
	for (int ended = 1; ended >= 0; ended--) {
		no_stack_cohort(ranks, c, ended);
		if (c->count && n < rows)
			cohort_row(v, c, ++n);
	}
	free(c);
	if (n < total)
		rows_print(v->b->rows, STYLE_DIM, "  +%d more", total - n);
}

/* --- the stack of the candidate, where there is room --- */

static const struct observation *candidate_stack(const struct overview *v)
{
	const struct ranks *ranks = v->b->view->ranks;

	if (v->b->h < 40 || !ranks->classes || !ranks->class[0].odd || !ranks->class[0].count)
		return NULL;
	return &ranks->rank[ranks->class[0].members[0]].stack->last->o;
}

static void stack_size(struct overview *v, int *least, int *good, int *most)
{
	const struct observation *o = candidate_stack(v);
	struct buf arena;

	*least = *good = *most = 0;
	buf_init(&arena, 0);
	if (o && rank_main_thread(o, &v->frames, &arena))
		*most = v->frames.frames < 12 ? v->frames.frames : 12;
	buf_release(&arena);
}

static void stack_put(struct overview *v, int rows)
{
	struct buf arena;

	buf_init(&arena, 0);
	if (rank_main_thread(candidate_stack(v), &v->frames, &arena)) {
		for (int i = 0; i < rows && i < v->frames.frames; i++) {
			start(v, "stack", i, PANEL_STACKS);
			rows_cell(v->b->rows, 8, STYLE_WARN, span_of(i ? "" : v->b->view->ranks->class[0].ranges));
			rows_gap(v->b->rows, 1);
			rows_span(v->b->rows, i ? STYLE_NORMAL : STYLE_BOLD, v->frames.frame[i]);
		}
	}
	buf_release(&arena);
}

/* --- log and events --- */

static bool severe(const struct observation *o)
{
	return panel_log_style(panel_field(o, LOG_class)) == STYLE_BAD;
}

static bool has(const struct overview *v, int n, const struct observation *o, bool class_only)
{
	for (int i = 0; i < n; i++)
		if (v->log[i] == o || (class_only && span_same(panel_field(v->log[i], LOG_class), panel_field(o, LOG_class))))
			return true;
	return false;
}

/* Which lines matter most: the newest fault, then the newest line of each class, then the newest. In order of time. */
static int pick_log(struct overview *v, int rows)
{
	const struct model *m = v->b->view->model;
	const struct observation *o;
	int n = 0;

	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; n < rows && n < LOG_LINES_MAX && (o = model_event(m, KIND_log, i)); i++)
			if (pass == 2 ? !has(v, n, o, false) : (pass == 1 || severe(o)) && !has(v, n, o, true))
				v->log[n++] = o;
	for (int i = 1; i < n; i++) {
		const struct observation *at = v->log[i];
		int j = i;

		for (; j > 0 && v->log[j - 1]->t > at->t; j--)
			v->log[j] = v->log[j - 1];
		v->log[j] = at;
	}
	return n;
}

static void log_size(struct overview *v, int *least, int *good, int *most)
{
	int n = v->b->view->model->event[KIND_log].count;

	*least = 1;
	*good = n < 3 ? n > 0 ? n : 1 : 3;
	*most = n < LOG_LINES_MAX ? n > 0 ? n : 1 : LOG_LINES_MAX;
}

static void log_put(struct overview *v, int rows)
{
	int n = pick_log(v, rows);
	char text[32];

	if (!n) {
		start(v, "log", 0, PANEL_LOG);
		rows_text(v->b->rows, STYLE_DIM, "no line that matters yet");
	}
	for (int i = 0; i < n; i++) {
		struct span class = panel_field(v->log[i], LOG_class);

		start(v, "log", i, PANEL_LOG);
		rows_print(v->b->rows, STYLE_DIM, "%s ", panel_time(text, sizeof text, v->log[i]->t, panel_dated(v->b->view, v->log[i]->t)));
		rows_cell(v->b->rows, 8, panel_log_style(class), class);
		rows_gap(v->b->rows, 1);
		rows_span(v->b->rows, severe(v->log[i]) ? STYLE_BOLD : STYLE_NORMAL, panel_field(v->log[i], LOG_text));
	}
}

static void events_size(struct overview *v, int *least, int *good, int *most)
{
	int n = v->events->count;

	*least = 0;
	*good = n < 2 ? n : 2;
	*most = n < 12 ? n : 12;
}

static void events_put(struct overview *v, int rows)
{
	char text[32];

	for (int i = 0; i < rows; i++) {
		const struct observation *o = v->events->event[v->events->count - rows + i];

		start(v, "events", i, PANEL_EVENTS);
		rows_print(v->b->rows, STYLE_DIM, "%s ", panel_time(text, sizeof text, o->t, panel_dated(v->b->view, o->t)));
		event_row(v->b, o);
	}
}

/* --- sources that are ill --- */

static const struct observation *next_ill(const struct overview *v, size_t *at)
{
	const struct observation *o;

	while ((o = model_next(v->b->view->model, KIND_source, at)))
		if (!observation_text_is(o, SOURCE_state, "ok") && !observation_text_is(o, SOURCE_state, "off"))
			return o;
	return NULL;
}

static void sources_size(struct overview *v, int *least, int *good, int *most)
{
	size_t at = 0;
	int n = 0;

	while (next_ill(v, &at))
		n++;
	*least = n > 0;
	*good = *most = n;
}

static void sources_put(struct overview *v, int rows)
{
	const struct observation *o;
	size_t at = 0;

	for (int i = 0; i < rows && (o = next_ill(v, &at)); i++) {
		struct span state = panel_field(o, SOURCE_state), remedy = panel_field(o, SOURCE_remedy);

		start(v, "sources", i, PANEL_SOURCES);
		rows_span(v->b->rows, STYLE_BOLD, panel_field(o, SOURCE_source));
		rows_gap(v->b->rows, 1);
		rows_span(v->b->rows, panel_source_style(state), state);
		rows_text(v->b->rows, STYLE_DIM, ": ");
		rows_span(v->b->rows, STYLE_NORMAL, panel_field(o, SOURCE_detail));
		if (remedy.len) {
			rows_text(v->b->rows, STYLE_DIM, "; ");
			rows_span(v->b->rows, STYLE_BOLD, remedy);
		}
	}
}

/* --- evidence and next step --- */

static void why_size(struct overview *v, int *least, int *good, int *most)
{
	*least = 0;
	*good = *most = v->b->view->verdict->evidence_count;
}

static void why_put(struct overview *v, int rows)
{
	const struct verdict *verdict = v->b->view->verdict;
	char text[24];

	for (int i = 0; i < rows; i++) {
		const struct evidence *e = &verdict->evidence[i];

		start(v, "evidence", i, PANEL_EVENTS);
		rows_cell(v->b->rows, 14, STYLE_DIM, span_of(e->what));
		rows_gap(v->b->rows, 1);
		panel_top(v->b, STYLE_NORMAL, e->value);
		if (e->t)
			rows_print(v->b->rows, STYLE_DIM, "  %s ago", panel_age(text, sizeof text, v->b->view, e->t));
	}
}

static void next_size(struct overview *v, int *least, int *good, int *most)
{
	struct span rest = span_of(v->b->view->verdict->next);
	int n = 0;

	while (rest.len && n < 3 && panel_words(&rest, v->b->w - v->label).len)
		n++;
	*least = n > 0;
	*good = *most = n;
}

static void next_put(struct overview *v, int rows)
{
	struct buf clean;
	struct span rest;

	buf_init(&clean, 4096);
	text_scrub(&clean, span_of(v->b->view->verdict->next));
	rest = buf_as_span(&clean);
	for (int i = 0; i < rows && rest.len; i++) {
		start(v, "next", i, PANEL_EVENTS);
		rows_span(v->b->rows, STYLE_BOLD, i == rows - 1 ? rest : panel_words(&rest, v->b->w - v->label));
	}
	buf_release(&clean);
}

/* --- dealing out the rows --- */

static const struct section sections[] = {
	{ "reason", PANEL_EVENTS, reason_size, reason_put },
	{ "server", PANEL_SERVER, server_size, server_put },
	{ "GPU", PANEL_GPUS, gpu_size, gpu_put },
	{ "ranks", PANEL_RANKS, ranks_size, ranks_put },
	{ "stack", PANEL_STACKS, stack_size, stack_put },
	{ "log", PANEL_LOG, log_size, log_put },
	{ "events", PANEL_EVENTS, events_size, events_put },
	{ "sources", PANEL_SOURCES, sources_size, sources_put },
	{ "evidence", PANEL_EVENTS, why_size, why_put },
	{ "next", PANEL_EVENTS, next_size, next_put },
};

#define SECTIONS ((int)(sizeof sections / sizeof *sections))

/* Who gets more first: indexes into sections. */
static const int turn[SECTIONS] = { 0, 3, 2, 9, 1, 7, 6, 5, 8, 4 };

static void deal(struct overview *v, int *rows)
{
	int least[SECTIONS], good[SECTIONS], most[SECTIONS], left = v->b->h;
	bool grew = true;

	for (int i = 0; i < SECTIONS; i++) {
		sections[i].size(v, &least[i], &good[i], &most[i]);
		rows[i] = least[i];
		left -= rows[i];
	}
	for (int i = 0; i < SECTIONS; i++) {
		int s = turn[i];

		for (; rows[s] < good[s] && left > 0; left--)
			rows[s]++;
	}
	while (grew && left > 0) {
		grew = false;
		for (int i = 0; i < SECTIONS && left > 0; i++) {
			int s = turn[i];

			if (rows[s] >= most[s])
				continue;
			rows[s]++;
			left--;
			grew = true;
		}
	}
}

void panel_overview(struct build *b)
{
	struct overview v = { .b = b, .narrow = b->w < 60 };
	char reason[400];
	struct span rest;
	struct buf clean;
	int rows[SECTIONS];

	v.headed = !v.narrow && b->h >= 12;
	v.label = v.narrow ? 9 : 10;
	v.events = mem_alloc(sizeof *v.events);
	gpu_fold_build(&v.gpus, b->view->model);
	v.gpu_width = gpu_names(&v);
	event_list_build(v.events, b->view->model);
	buf_init(&clean, 4096);
	text_scrub(&clean, span_of(panel_arrows(reason, sizeof reason, b->view->verdict->reason, b->ascii)));
	rest = buf_as_span(&clean);
	panel_words(&rest, b->w);
	buf_init(&v.reason, 4096);
	buf_span(&v.reason, rest);
	deal(&v, rows);
	for (int i = 0; i < SECTIONS; i++)
		if (rows[i])
			sections[i].put(&v, rows[i]);
	buf_release(&v.reason);
	buf_release(&clean);
	free(v.events);
}
