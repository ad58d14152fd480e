/* Server: what HTTP, the log and the metrics say about the server, each with its age. */
#include "config.h"

#include "ui/panel.h"

#include <stdio.h>

#include "base/text.h"

#define LABEL 12

static int age_column(const struct build *b)
{
	return b->w < 100 ? b->w - 9 : 91;
}

static void line(struct build *b, const char *kind, int64_t number, const char *label)
{
	rows_start(b->rows, rows_key(kind, number), 0);
	rows_gap(b->rows, 1);
	rows_cell(b->rows, LABEL, STYLE_TITLE, span_of(label));
}

static void age(struct build *b, const struct observation *o)
{
	bool stale = panel_stale(b->view, o);
	char text[24];

	if (b->rows->column >= age_column(b))
		return;
	rows_to(b->rows, age_column(b));
	rows_right(b->rows, 7, stale ? STYLE_STALE : STYLE_DIM, "%s", panel_age(text, sizeof text, b->view, o->t));
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

/* "connect 0.2 ms" */
static void timing(struct build *b, const struct observation *o, int field, const char *label)
{
	double value;

	rows_print(b->rows, STYLE_DIM, "%s ", label);
	if (observation_get_real(o, field, &value))
		rows_print(b->rows, panel_stale(b->view, o) ? STYLE_STALE : STYLE_NORMAL, "%.1f ms", value);
	else
		rows_text(b->rows, STYLE_DIM, "–");
	rows_gap(b->rows, 3);
}

static void count(struct build *b, const struct observation *o, int field, const char *label, enum style style)
{
	int64_t value;

	rows_print(b->rows, STYLE_DIM, "%s ", label);
	if (observation_get_int(o, field, &value))
		rows_print(b->rows, style, "%lld", (long long)value);
	else
		rows_text(b->rows, STYLE_DIM, "–");
	rows_gap(b->rows, 3);
}

static void http(struct build *b, const struct observation *o, int n)
{
	struct span class = panel_field(o, SERVER_class);
	enum style style = panel_stale(b->view, o) ? STYLE_STALE : span_is(class, "ok") ? STYLE_OK : STYLE_WARN;
	int64_t status;
	char models[1024];

	line(b, "server", n, "url");
	rows_span(b->rows, STYLE_BOLD, panel_field(o, SERVER_url));
	line(b, "server-http", n, "HTTP");
	if (observation_get_int(o, SERVER_http, &status))
		rows_print(b->rows, style, "%lld ", (long long)status);
	rows_text(b->rows, style, panel_http_words(class));
	rows_print(b->rows, STYLE_DIM, "  (%s)", panel_http_proves(class));
	age(b, o);
	if (panel_field(o, SERVER_error).len) {
		line(b, "server-error", n, "error");
		rows_span(b->rows, STYLE_WARN, panel_field(o, SERVER_error));
	}
	line(b, "server-times", n, "latency");
	timing(b, o, SERVER_total_ms, "total");
	timing(b, o, SERVER_connect_ms, "connect");
	timing(b, o, SERVER_first_byte_ms, "first byte");
	count(b, o, SERVER_bytes, "bytes", STYLE_NORMAL);
	line(b, "server-engine", n, "engine");
	rows_span(
		b->rows, STYLE_BOLD, panel_field(o, SERVER_engine).len ? panel_field(o, SERVER_engine) : span_of("–"));
	if (panel_field(o, SERVER_owned_by).len) {
		rows_text(b->rows, STYLE_DIM, "   models owned by ");
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, SERVER_owned_by));
	}
	line(b, "server-models", n, "models");
	panel_models(o, models, sizeof models);
	rows_text(b->rows, models[0] ? STYLE_BOLD : STYLE_DIM, models[0] ? models : "–");
}

static void requests(struct build *b, const struct observation *o, int n)
{
	int64_t since;
	char text[24];

	line(b, "requests", n, "requests");
	count(b, o, REQUESTS_open, "open", STYLE_BOLD);
	count(b, o, REQUESTS_running, "running", STYLE_NORMAL);
	count(b, o, REQUESTS_waiting, "waiting", STYLE_NORMAL);
	rows_text(b->rows, STYLE_DIM, "by ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, REQUESTS_via));
	age(b, o);
	line(b, "requests-sum", n, "");
	count(b, o, REQUESTS_arrived, "arrived", STYLE_NORMAL);
	count(b, o, REQUESTS_finished, "finished", STYLE_NORMAL);
	if (observation_get_int(o, REQUESTS_open_since, &since) && since)
		rows_print(b->rows, STYLE_DIM, "always one open for %s", panel_age(text, sizeof text, b->view, since));
}

static void progress(struct build *b, const struct observation *o, int n)
{
	double value;

	line(b, "progress", n, n ? "" : "progress");
	rows_cell(b->rows, 28, STYLE_NORMAL, panel_field(o, PROGRESS_counter));
	if (observation_get_real(o, PROGRESS_value, &value))
		rows_right(b->rows, 12, STYLE_BOLD, "%.0f", value);
	else
		panel_missing(b, 12);
	if (observation_get_real(o, PROGRESS_delta, &value))
		rows_right(b->rows, 10, STYLE_DIM, "+%.0f", value);
	age(b, o);
}

static void process(struct build *b, const struct observation *o, int *n)
{
	struct span role = panel_field(o, PROCESS_role);
	int64_t pid = 0, ended = 0, start;
	const struct observation *sample;
	char text[24], key[160];

	if (span_is(role, "worker") || !observation_get_int(o, PROCESS_pid, &pid))
		return;
	line(b, "process", pid, *n ? "" : "processes");
	*n += 1;
	rows_cell(b->rows, 7, STYLE_BOLD, role);
	rows_print(b->rows, STYLE_NORMAL, "%lld  ", (long long)pid);
	snprintf(key, sizeof key, "%.120s/process_sample/%lld", o->node, (long long)pid);
	sample = model_latest(b->view->model, key);
	if (observation_get_int(o, PROCESS_ended, &ended) && ended)
		rows_text(b->rows, STYLE_BAD, ended == 2 ? "zombie  " : "ended  ");
	else if (observation_get_int(o, PROCESS_start, &start) && start)
		rows_print(b->rows, STYLE_DIM, "up %s  ", panel_age(text, sizeof text, b->view, start));
	if (sample)
		rows_span(b->rows, STYLE_NORMAL, panel_field(sample, PROCESS_SAMPLE_state));
	rows_gap(b->rows, 2);
	rows_span(b->rows, STYLE_DIM, panel_field(o, PROCESS_title));
}

/* The whole text of the row, wrapped beneath it. */
static void open_row(struct build *b)
{
	size_t i = b->rows->count - 1;
	struct row row = b->rows->row[i];
	struct buf copy;

	if (!list_is_open(b->list, row.key))
		return;
	buf_init(&copy, 0);
	buf_span(&copy, rows_line(b->rows, i));
	panel_wrap(b, row.key, LABEL + 1, STYLE_NORMAL, span_trim(buf_as_span(&copy)));
	buf_release(&copy);
}

static void each(struct build *b, enum kind kind, void (*put)(struct build *, const struct observation *, int))
{
	const struct observation *o;
	size_t at = 0;

	for (int n = 0; (o = model_next(b->view->model, kind, &at)); n++)
		put(b, o, n);
}

void panel_server(struct build *b)
{
	const struct observation *o;
	size_t at = 0;
	int n = 0;

	each(b, KIND_server, http);
	if (!b->rows->count)
		panel_empty(b, "No HTTP answer yet. The server source asks GET /v1/models every 2 seconds; panel 9 "
			       "says whether it can.");
	each(b, KIND_requests, requests);
	each(b, KIND_progress, progress);
	while ((o = model_next(b->view->model, KIND_process, &at))) {
		process(b, o, &n);
		if (n)
			open_row(b);
	}
}
