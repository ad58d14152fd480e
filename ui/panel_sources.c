/* Sources: where the observations come from, which are ill, and how to mend them. The smallest panel: copy this one. */
#include "config.h"

#include "ui/panel.h"

#include "base/text.h"

enum { SOURCE, STATE, AGE, LATENCY, DETAIL, COLUMNS };

static const struct column columns[COLUMNS] = {
	{ "  source", 14, 0, false },
	{ "state", 6, 0, false },
	{ "age", 7, 1, true },
	{ "took ms", 7, 2, true },
	{ "detail", 0, 0, false },
};

static void agent(struct build *b, const struct observation *o)
{
	uint64_t key = rows_key("hello", o->t);
	char text[24];

	rows_start(b->rows, key, 0);
	rows_gap(b->rows, 2);
	rows_text(b->rows, STYLE_DIM, "agent ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, HELLO_agent));
	rows_text(b->rows, STYLE_DIM, " version ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, HELLO_version));
	rows_text(b->rows, STYLE_DIM, " on ");
	rows_text(b->rows, STYLE_NORMAL, o->node);
	rows_print(b->rows, STYLE_DIM, " for %s: ", panel_age(text, sizeof text, b->view, o->t));
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, HELLO_sources));
	rows_text(b->rows, STYLE_DIM, "  ");
	rows_span(b->rows, STYLE_DIM, panel_field(o, HELLO_host));
}

static void source(struct build *b, const struct observation *o, const bool *shown)
{
	struct span name = panel_field(o, SOURCE_source), state = panel_field(o, SOURCE_state);
	struct span detail = panel_field(o, SOURCE_detail), remedy = panel_field(o, SOURCE_remedy);
	uint64_t key = rows_key("source", (int64_t)map_hash(name.at, name.len));
	char text[24];

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_cell(b->rows, columns[SOURCE].w - 2, STYLE_BOLD, name);
	rows_gap(b->rows, 1);
	rows_cell(b->rows, columns[STATE].w, panel_source_style(state), state);
	rows_gap(b->rows, 1);
	if (shown[AGE]) {
		rows_right(b->rows, columns[AGE].w, STYLE_DIM, "%s", panel_age(text, sizeof text, b->view, o->t));
		rows_gap(b->rows, 1);
	}
	if (shown[LATENCY])
		panel_number(b, o, SOURCE_latency_ms, columns[LATENCY].w, 1, "", STYLE_NORMAL);
	rows_span(b->rows, STYLE_NORMAL, detail);
	if (remedy.len && !span_is(state, "ok")) {
		rows_start(b->rows, key + 1, ROW_DETAIL);
		rows_gap(b->rows, 15);
		rows_text(b->rows, STYLE_WARN, "mend: ");
		rows_span(b->rows, STYLE_BOLD, remedy);
	}
	if (list_is_open(b->list, key)) {
		panel_wrap(b, key + 16, 15, STYLE_NORMAL, detail);
		panel_wrap(b, key + 256, 15, STYLE_BOLD, remedy);
	}
}

void panel_sources(struct build *b)
{
	const struct observation *o;
	bool shown[COLUMNS];
	size_t at = 0;

	panel_columns(columns, COLUMNS, b->w, 12, shown);
	panel_heading(b, columns, COLUMNS, shown, ROW_PIN);
	while ((o = model_next(b->view->model, KIND_source, &at)))
		source(b, o, shown);
	if (b->rows->count == 1)
		panel_empty(
			b, "No source has reported yet. Each reports within a few seconds of the start of its agent.");
	at = 0;
	if (model_next(b->view->model, KIND_hello, &at)) {
		rows_start(b->rows, 0, ROW_HEAD);
		rows_start(b->rows, 0, ROW_HEAD);
		rows_text(b->rows, STYLE_HEAD, "  agents");
		at = 0;
		while ((o = model_next(b->view->model, KIND_hello, &at)))
			agent(b, o);
	}
}
