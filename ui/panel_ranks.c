/* Ranks: one line each, in order of rank; Enter shows what the process is. */
#include "config.h"

#include "ui/panel.h"

#include <jansson.h>

#include "base/text.h"

enum { RANK, PID, STATE, FOR, CPU, GPU, AGE, WHERE, WCHAN, THREADS, RSS, TRACER, HOW, COLUMNS };

/* The order on the screen is this one; the priority says what stays when it is narrow. */
static const struct column columns[COLUMNS] = {
	[RANK] = { "  rank", 10, 0, false },
	[PID] = { "pid", 7, 2, true },
	[STATE] = { "state", 5, 0, false },
	[FOR] = { "for", 7, 1, true },
	[CPU] = { "CPU", 5, 0, true },
	[GPU] = { "GPU", 3, 2, true },
	[AGE] = { "stack", 7, 1, true },
	[WCHAN] = { "wchan", 16, 4, false },
	[THREADS] = { "thr", 4, 5, true },
	[RSS] = { "RSS", 6, 6, true },
	[TRACER] = { "tracer", 7, 3, true },
	[HOW] = { "found by", 11, 7, false },
	[WHERE] = { "where", 36, 0, false },
};

static enum style state_style(struct span state)
{
	if (span_is(state, "D") || span_is(state, "T") || span_is(state, "t") || span_is(state, "Z") ||
		span_is(state, "X"))
		return STYLE_BAD;
	return STYLE_NORMAL;
}

static void state(struct build *b, const struct rank *rank, const bool *shown)
{
	const struct observation *o = rank->sample;
	bool stale = panel_stale(b->view, o);
	struct span word = panel_field(o, PROCESS_SAMPLE_state);
	int64_t since;
	char text[24];

	if (rank->ended) {
		rows_cell(b->rows, columns[STATE].w + 1, STYLE_BAD, span_of("ended"));
	} else {
		int start = b->rows->column;

		rows_span(b->rows,
			stale	   ? STYLE_STALE
			: word.len ? state_style(word)
				   : STYLE_DIM,
			word.len ? word : span_of("–"));
		rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
		rows_to(b->rows, start + columns[STATE].w + 1);
	}
	if (!shown[FOR])
		return;
	if (rank->ended)
		since = rank->process->t;
	else if (!o || !observation_get_int(o, PROCESS_SAMPLE_state_since, &since))
		since = 0;
	rows_right(b->rows, columns[FOR].w, stale ? STYLE_STALE : STYLE_NORMAL, "%s",
		panel_age(text, sizeof text, b->view, since));
	rows_gap(b->rows, 1);
}

static void number(
	struct build *b, const bool *shown, int column, const struct observation *o, int field, const char *unit)
{
	if (shown[column])
		panel_number(b, o, field, columns[column].w, 0, unit, STYLE_NORMAL);
}

static void gpu_cell(struct build *b, const bool *shown, int64_t gpu)
{
	if (!shown[GPU])
		return;
	if (gpu < 0)
		panel_missing(b, columns[GPU].w);
	else
		rows_right(b->rows, columns[GPU].w, STYLE_NORMAL, "%lld", (long long)gpu);
	rows_gap(b->rows, 1);
}

static void text_cell(struct build *b, const bool *shown, int column, struct span text)
{
	if (!shown[column])
		return;
	rows_cell(b->rows, columns[column].w, text.len ? STYLE_NORMAL : STYLE_DIM, text.len ? text : span_of("–"));
	rows_gap(b->rows, 1);
}

static void stack_age(struct build *b, const struct rank *rank)
{
	const struct observation *o = rank->stack && rank->stack->last ? &rank->stack->last->o : NULL;
	bool stale = panel_stale(b->view, o);
	char text[24];

	rows_right(b->rows, columns[AGE].w, stale ? STYLE_STALE : STYLE_DIM, "%s",
		panel_age(text, sizeof text, b->view, o ? o->t : 0));
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

static void where(struct build *b, const struct rank *rank, const bool *shown)
{
	bool odd = rank->class >= 0 && b->view->ranks->class[rank->class].odd;
	bool last = !shown[WCHAN];
	const struct stack_summary *s = rank->stack ? &rank->stack->summary : NULL;
	enum style style = odd ? STYLE_WARN : s ? STYLE_NORMAL : STYLE_DIM;
	char text[320] = "–";

	if (s)
		panel_where(text, sizeof text, s->where, s->top, odd, b->ascii);
	if (last) {
		rows_text(b->rows, style, text);
		return;
	}
	rows_cell(b->rows, columns[WHERE].w, style, span_of(text));
	rows_gap(b->rows, 1);
}

static void environment(struct build *b, uint64_t key, struct span env)
{
	json_t *object = env.len ? json_loadb(env.at, env.len, 0, NULL) : NULL, *value;
	const char *name;
	int n = 0;

	json_object_foreach(object, name, value)
	{
		rows_start(b->rows, key + (uint64_t)++n, ROW_DETAIL);
		rows_gap(b->rows, 11);
		rows_print(b->rows, STYLE_DIM, "%s=", name);
		if (json_is_string(value))
			rows_text(b->rows, STYLE_NORMAL, json_string_value(value));
	}
	json_decref(object);
}

static void labelled(struct build *b, uint64_t key, const char *label, struct span text)
{
	if (!text.len)
		return;
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 4);
	rows_cell(b->rows, 7, STYLE_TITLE, span_of(label));
	rows_span(b->rows, STYLE_NORMAL, text);
}

static void details(struct build *b, const struct rank *rank, uint64_t key)
{
	const struct observation *o = rank->process, *s = rank->sample;
	int64_t start, voluntary, forced, tracer;
	char text[24];

	labelled(b, key + 1, "title", panel_field(o, PROCESS_title));
	labelled(b, key + 2, "exe", panel_field(o, PROCESS_exe));
	labelled(b, key + 3, "found", panel_field(o, PROCESS_rank_how));
	if (observation_get_int(o, PROCESS_start, &start) && start) {
		labelled(b, key + 4, "up", span_of(panel_age(text, sizeof text, b->view, start)));
		rows_print(b->rows, STYLE_DIM, "  engine %.*s", (int)panel_field(o, PROCESS_engine).len,
			panel_field(o, PROCESS_engine).at);
	}
	if (s && observation_get_int(s, PROCESS_SAMPLE_vol_switches, &voluntary) &&
		observation_get_int(s, PROCESS_SAMPLE_invol_switches, &forced)) {
		labelled(b, key + 5, "sched", span_of("context switches:"));
		rows_print(
			b->rows, STYLE_NORMAL, " %lld voluntary, %lld forced", (long long)voluntary, (long long)forced);
	}
	if (s && observation_get_int(s, PROCESS_SAMPLE_tracer, &tracer) && tracer) {
		labelled(b, key + 6, "tracer", span_of("held by the debugger"));
		rows_print(b->rows, STYLE_BAD, " pid %lld", (long long)tracer);
	}
	environment(b, key + 16, panel_field(o, PROCESS_env));
}

static void rank_row(struct build *b, const struct rank *rank, const bool *shown)
{
	const struct observation *o = rank->process, *s = rank->ended ? NULL : rank->sample;
	bool odd = rank->class >= 0 && b->view->ranks->class[rank->class].odd;
	int64_t pid = 0;
	uint64_t key;

	observation_get_int(o, PROCESS_pid, &pid);
	key = rows_key("rank", pid);
	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_cell(b->rows, columns[RANK].w - 2, odd ? STYLE_WARN : STYLE_BOLD, span_of(rank->name));
	rows_gap(b->rows, 1);
	number(b, shown, PID, o, PROCESS_pid, "");
	state(b, rank, shown);
	number(b, shown, CPU, s, PROCESS_SAMPLE_cpu_pct, "%");
	gpu_cell(b, shown, rank->gpu);
	if (shown[AGE])
		stack_age(b, rank);
	where(b, rank, shown);
	text_cell(b, shown, WCHAN, panel_field(s, PROCESS_SAMPLE_wchan));
	number(b, shown, THREADS, s, PROCESS_SAMPLE_threads, "");
	if (shown[RSS])
		panel_bytes(b, s, PROCESS_SAMPLE_rss, columns[RSS].w);
	number(b, shown, TRACER, s, PROCESS_SAMPLE_tracer, "");
	text_cell(b, shown, HOW, panel_field(o, PROCESS_rank_how));
	if (list_is_open(b->list, key))
		details(b, rank, key);
}

void panel_ranks(struct build *b)
{
	const struct ranks *ranks = b->view->ranks;
	bool shown[COLUMNS];

	if (!ranks->count) {
		panel_empty(b, "No ranks found: tried process titles, environment, and the parent tree of the server. "
			       "Press o to enter the PID of a worker.");
		return;
	}
	panel_columns(columns, COLUMNS, b->w, 0, shown);
	panel_heading(b, columns, COLUMNS, shown, ROW_PIN);
	for (int i = 0; i < ranks->count; i++)
		rank_row(b, &ranks->rank[i], shown);
}
