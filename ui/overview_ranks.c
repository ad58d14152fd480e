/* The overview's ranks by class of stack, and the stack of the candidate. */
#include "config.h"

#include "ui/overview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

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

void overview_ranks_size(struct overview *v, int *least, int *good, int *most)
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
	rows_cell(v->b->rows, range_width(v), odd ? STYLE_WARN : STYLE_BOLD,
		span_of(c->class ? c->class->ranges : c->ranges));
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
		rows_right(v->b->rows, 6, STYLE_BOLD, "%s",
			panel_age(text, sizeof text, view, c->class ? c->class->same_since : 0));
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
		rows_print(v->b->rows, STYLE_DIM, " (seen %s ago)",
			panel_age(text, sizeof text, view, view->ranks->newest_stack));
}

void overview_ranks_put(struct overview *v, int rows)
{
	const struct ranks *ranks = v->b->view->ranks;
	int total = cohorts(ranks), n = 0;
	struct cohort *c;

	if (!total) {
		overview_start(v, "ranks", 0, PANEL_RANKS);
		rows_text(v->b->rows, STYLE_DIM,
			v->narrow ? "none found; o enters a PID"
				  : "none found: tried titles, environment, parent tree; o enters a PID");
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

void overview_stack_size(struct overview *v, int *least, int *good, int *most)
{
	const struct observation *o = candidate_stack(v);
	struct buf arena;

	*least = *good = *most = 0;
	buf_init(&arena, 0);
	if (o && rank_main_thread(o, &v->frames, &arena))
		*most = v->frames.frames < 12 ? v->frames.frames : 12;
	buf_release(&arena);
}

void overview_stack_put(struct overview *v, int rows)
{
	struct buf arena;

	buf_init(&arena, 0);
	if (rank_main_thread(candidate_stack(v), &v->frames, &arena)) {
		for (int i = 0; i < rows && i < v->frames.frames; i++) {
			overview_start(v, "stack", i, PANEL_STACKS);
			rows_cell(v->b->rows, 8, STYLE_WARN, span_of(i ? "" : v->b->view->ranks->class[0].ranges));
			rows_gap(v->b->rows, 1);
			rows_span(v->b->rows, i ? STYLE_NORMAL : STYLE_BOLD, v->frames.frame[i]);
		}
	}
	buf_release(&arena);
}
