/* The overview's lines of the log that matter, and the last events. */
#include "config.h"

#include "ui/overview.h"

/* --- log and events --- */

static bool severe(const struct observation *o)
{
	return panel_log_style(panel_field(o, LOG_class)) == STYLE_BAD;
}

static bool has(const struct overview *v, int n, const struct observation *o, bool class_only)
{
	for (int i = 0; i < n; i++)
		if (v->log[i] == o ||
			(class_only && span_same(panel_field(v->log[i], LOG_class), panel_field(o, LOG_class))))
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

void overview_log_size(struct overview *v, int *least, int *good, int *most)
{
	int n = v->b->view->model->event[KIND_log].count;

	*least = 1;
	*good = n < 3 ? n > 0 ? n : 1 : 3;
	*most = n < LOG_LINES_MAX ? n > 0 ? n : 1 : LOG_LINES_MAX;
}

void overview_log_put(struct overview *v, int rows)
{
	int n = pick_log(v, rows);
	char text[32];

	if (!n) {
		overview_start(v, "log", 0, PANEL_LOG);
		rows_text(v->b->rows, STYLE_DIM, "no line that matters yet");
	}
	for (int i = 0; i < n; i++) {
		struct span class = panel_field(v->log[i], LOG_class);

		overview_start(v, "log", i, PANEL_LOG);
		rows_print(v->b->rows, STYLE_DIM, "%s ",
			panel_time(text, sizeof text, v->log[i]->t, panel_dated(v->b->view, v->log[i]->t)));
		rows_cell(v->b->rows, 8, panel_log_style(class), class);
		rows_gap(v->b->rows, 1);
		rows_span(v->b->rows, severe(v->log[i]) ? STYLE_BOLD : STYLE_NORMAL, panel_field(v->log[i], LOG_text));
	}
}

void overview_events_size(struct overview *v, int *least, int *good, int *most)
{
	int n = v->events->count;

	*least = 0;
	*good = n < 2 ? n : 2;
	*most = n < 12 ? n : 12;
}

void overview_events_put(struct overview *v, int rows)
{
	char text[32];

	for (int i = 0; i < rows; i++) {
		const struct observation *o = v->events->event[v->events->count - rows + i];

		overview_start(v, "events", i, PANEL_EVENTS);
		rows_print(v->b->rows, STYLE_DIM, "%s ",
			panel_time(text, sizeof text, o->t, panel_dated(v->b->view, o->t)));
		event_row(v->b, o);
	}
}
