/* Overview: everything triage needs on 80x24: server, GPUs, ranks, log, events, ill sources, evidence, next step. */
#include "config.h"

#include "ui/overview.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

void overview_start(struct overview *v, const char *name, int n, enum panel_id target)
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

		overview_start(v, "sources", i, PANEL_SOURCES);
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

		overview_start(v, "evidence", i, PANEL_EVENTS);
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
		overview_start(v, "next", i, PANEL_EVENTS);
		rows_span(v->b->rows, STYLE_BOLD, i == rows - 1 ? rest : panel_words(&rest, v->b->w - v->label));
	}
	buf_release(&clean);
}

/* --- dealing out the rows --- */

static const struct section sections[] = {
	{ "reason", PANEL_EVENTS, reason_size, reason_put },
	{ "server", PANEL_SERVER, overview_server_size, overview_server_put },
	{ "GPU", PANEL_GPUS, overview_gpu_size, overview_gpu_put },
	{ "ranks", PANEL_RANKS, overview_ranks_size, overview_ranks_put },
	{ "stack", PANEL_STACKS, overview_stack_size, overview_stack_put },
	{ "log", PANEL_LOG, overview_log_size, overview_log_put },
	{ "events", PANEL_EVENTS, overview_events_size, overview_events_put },
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
	v.gpu_width = overview_gpu_names(&v);
	event_list_build(v.events, b->view->model);
	buf_init(&clean, 4096);
	text_scrub(&clean, span_of(panel_arrows(reason, sizeof reason, b->view->verdict->reason, b->ascii)));
	rest = buf_as_span(&clean);
	panel_words(&rest, b->w - 1);
	buf_init(&v.reason, 4096);
	if (rest.len)
		buf_text(&v.reason, "… ");
	buf_span(&v.reason, rest);
	deal(&v, rows);
	for (int i = 0; i < SECTIONS; i++)
		if (rows[i])
			sections[i].put(&v, rows[i]);
	buf_release(&v.reason);
	buf_release(&clean);
	free(v.events);
}
