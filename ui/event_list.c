#include "config.h"

#include "ui/event_list.h"

#include <stdlib.h>

#include "base/text.h"
#include "ui/fault_row.h"

#define WORD 8
#define READ_MS 60000 /* a line and what was read of it become known together, but for the rate limit of lines */

static void add(struct event_list *list, const struct observation *o)
{
	if (list->count < EVENT_LIST_MAX)
		list->event[list->count++] = o;
}

static int by_time(const void *a, const void *b)
{
	const struct observation *x = *(const struct observation *const *)a, *y = *(const struct observation *const *)b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static bool is_fault(const struct observation *o)
{
	return observation_text_is(o, LOG_class, "fault") || observation_text_is(o, LOG_class, "fatal");
}

/* What the log's lines were read as says more than the line. */
static const struct {
	enum kind kind;
	int offset;
} read[] = {
	{ KIND_fault, FAULT_offset },
	{ KIND_hw_exception, HW_EXCEPTION_offset },
	{ KIND_queue_error, QUEUE_ERROR_offset },
	{ KIND_worker_death, WORKER_DEATH_offset },
	{ KIND_collective, COLLECTIVE_offset },
	{ KIND_watchdog, WATCHDOG_offset },
};

static bool is_read(const struct model *m, const struct observation *line)
{
	const struct observation *o;
	int64_t offset, mine;

	if (!observation_get_int(line, LOG_offset, &offset))
		return false;
	for (size_t k = 0; k < sizeof read / sizeof *read; k++)
		for (int i = 0; (o = model_event(m, read[k].kind, i)); i++)
			if (observation_get_int(o, read[k].offset, &mine) && mine == offset && o->t - line->t < READ_MS &&
				line->t - o->t < READ_MS && span_same(span_of(o->node), span_of(line->node)))
				return true;
	return false;
}

void event_list_build(struct event_list *list, const struct model *m)
{
	static const enum kind kinds[] = { KIND_verdict, KIND_finding, KIND_action, KIND_mark, KIND_note, KIND_log,
		KIND_fault, KIND_hw_exception, KIND_queue_error, KIND_worker_death, KIND_collective, KIND_watchdog,
		KIND_page_fault, KIND_driver_event };
	const struct observation *o;
	int64_t ended;
	size_t at = 0;

	list->count = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; (o = model_event(m, kinds[k], i)); i++)
			if (kinds[k] != KIND_log || (is_fault(o) && !is_read(m, o)))
				add(list, o);
	while ((o = model_next(m, KIND_source, &at)))
		if (!observation_text_is(o, SOURCE_state, "ok") && !observation_text_is(o, SOURCE_state, "off"))
			add(list, o);
	at = 0;
	while ((o = model_next(m, KIND_process, &at)))
		if (observation_get_int(o, PROCESS_ended, &ended) && ended)
			add(list, o);
	qsort(list->event, (size_t)list->count, sizeof *list->event, by_time);
}

static void word(struct build *b, enum style style, const char *text)
{
	rows_cell(b->rows, WORD, style, span_of(text));
	rows_gap(b->rows, 1);
}

static void verdict(struct build *b, const struct observation *o)
{
	enum state state = panel_state_by_word(panel_field(o, VERDICT_state));
	struct span where = panel_field(o, VERDICT_place), grade = panel_field(o, VERDICT_grade);

	word(b, panel_state_style(state), state_word(state));
	if (where.len) {
		rows_span(b->rows, STYLE_BOLD, where);
		rows_text(b->rows, STYLE_NORMAL, "  ");
	}
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, VERDICT_reason));
	if (grade.len) {
		rows_text(b->rows, STYLE_DIM, "  grade ");
		rows_span(b->rows, STYLE_DIM, grade);
	}
}

static void process(struct build *b, const struct observation *o)
{
	struct span rank = panel_field(o, PROCESS_rank);
	int64_t pid = 0, ended = 0;

	observation_get_int(o, PROCESS_pid, &pid);
	observation_get_int(o, PROCESS_ended, &ended);
	word(b, STYLE_BAD, ended == 2 ? "zombie" : "ended");
	rows_span(b->rows, STYLE_BOLD, rank.len ? rank : panel_field(o, PROCESS_role));
	rows_print(b->rows, STYLE_NORMAL, " pid %lld  ", (long long)pid);
	rows_span(b->rows, STYLE_DIM, panel_field(o, PROCESS_title));
}

static void action(struct build *b, const struct observation *o)
{
	double took;

	word(b, STYLE_INFO, "action");
	rows_span(b->rows, STYLE_BOLD, panel_field(o, ACTION_what));
	rows_text(b->rows, STYLE_DIM, " by ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, ACTION_who));
	rows_text(b->rows, STYLE_DIM, "  ");
	rows_span(b->rows, observation_text_is(o, ACTION_result, "ok") ? STYLE_OK : STYLE_WARN,
		panel_field(o, ACTION_result));
	if (observation_get_real(o, ACTION_took_ms, &took))
		rows_print(b->rows, STYLE_DIM, "  %.0f ms", took);
}

static void finding(struct build *b, const struct observation *o)
{
	int64_t active = 1;

	observation_get_int(o, FINDING_active, &active);
	word(b, active ? STYLE_WARN : STYLE_DIM, active ? "finding" : "over");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, FINDING_text));
	rows_text(b->rows, STYLE_DIM, "  ");
	rows_span(b->rows, STYLE_DIM, panel_field(o, FINDING_rule));
}

static void fault(struct build *b, const struct observation *o)
{
	enum style style;
	const char *text = fault_word(o, &style);

	word(b, style, text);
	fault_words(b, o);
}

void event_row(struct build *b, const struct observation *o)
{
	switch (o->kind) {
	case KIND_verdict:
		verdict(b, o);
		break;
	case KIND_finding:
		finding(b, o);
		break;
	case KIND_action:
		action(b, o);
		break;
	case KIND_mark:
		word(b, STYLE_KEY, "bookmark");
		rows_span(b->rows, STYLE_BOLD, panel_field(o, MARK_name));
		break;
	case KIND_note:
		word(b, STYLE_KEY, "note");
		rows_span(b->rows, STYLE_BOLD, panel_field(o, NOTE_text));
		break;
	case KIND_log:
		rows_cell(b->rows, WORD, panel_log_style(panel_field(o, LOG_class)), panel_field(o, LOG_class));
		rows_gap(b->rows, 1);
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, LOG_text));
		break;
	case KIND_source:
		word(b, panel_source_style(panel_field(o, SOURCE_state)), "source");
		rows_span(b->rows, STYLE_BOLD, panel_field(o, SOURCE_source));
		rows_text(b->rows, STYLE_NORMAL, " ");
		rows_span(b->rows, panel_source_style(panel_field(o, SOURCE_state)), panel_field(o, SOURCE_state));
		rows_text(b->rows, STYLE_NORMAL, "  ");
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, SOURCE_detail));
		break;
	case KIND_process:
		process(b, o);
		break;
	default:
		if (fault_is(o->kind))
			fault(b, o);
		break;
	}
}
