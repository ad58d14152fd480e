/* Log: the lines that matter, newest last. */
#include "config.h"

#include "ui/panel.h"

#include <stdio.h>

#include "base/text.h"

static void line(struct build *b, const struct observation *o, bool dated)
{
	struct span class = panel_field(o, LOG_class), rank = panel_field(o, LOG_rank), text = panel_field(o, LOG_text);
	int64_t offset = -1, repeats = 0;
	uint64_t key;
	char time[32];

	observation_get_int(o, LOG_offset, &offset);
	key = rows_key("log", offset >= 0 ? offset : o->t);
	rows_start(b->rows, key, 0);
	rows_print(b->rows, STYLE_DIM, "%s  ", panel_time(time, sizeof time, o->t, dated));
	rows_cell(b->rows, 8, panel_log_style(class), class);
	rows_gap(b->rows, 1);
	if (b->w >= 60) {
		rows_cell(b->rows, 5, STYLE_BOLD, rank);
		rows_gap(b->rows, 1);
	}
	if (observation_get_int(o, LOG_repeats, &repeats) && repeats)
		rows_print(b->rows, STYLE_DIM, "(+%lld like it) ", (long long)repeats);
	rows_span(b->rows, panel_log_style(class) == STYLE_BAD ? STYLE_BOLD : STYLE_NORMAL, text);
	if (!list_is_open(b->list, key))
		return;
	panel_wrap(b, key + 1, 11, STYLE_NORMAL, text);
	rows_start(b->rows, key + 500, ROW_DETAIL);
	rows_gap(b->rows, 11);
	rows_span(b->rows, STYLE_DIM, panel_field(o, LOG_file));
	rows_print(b->rows, STYLE_DIM, " at byte %lld", (long long)offset);
}

void panel_log(struct build *b)
{
	const struct model *m = b->view->model;
	int count = m->event[KIND_log].count;
	bool dated;

	if (!count) {
		panel_empty(b, "No log line that matters yet. The log source follows the server's output once it knows "
			       "the file; panel 9 says which, or how to name it.");
		return;
	}
	dated = panel_dated(b->view, model_event(m, KIND_log, count - 1)->t);
	for (int i = count; i-- > 0;)
		line(b, model_event(m, KIND_log, i), dated);
}
