#include "config.h"

#include "ui/event_list.h"

#include <stdlib.h>

#include "base/text.h"

#define WORD 8

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

void event_list_build(struct event_list *list, const struct model *m)
{
	static const enum kind kinds[] = { KIND_verdict, KIND_finding, KIND_action, KIND_mark, KIND_note, KIND_log,
		KIND_page_fault, KIND_driver_event };
	const struct observation *o;
	int64_t ended;
	size_t at = 0;

	list->count = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; (o = model_event(m, kinds[k], i)); i++)
			if (kinds[k] != KIND_log || is_fault(o))
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
	case KIND_page_fault:
		word(b, STYLE_BAD, "fault");
		rows_text(b->rows, STYLE_NORMAL, "GPU page fault in the kernel log  ");
		rows_span(b->rows, STYLE_BOLD, panel_field(o, PAGE_FAULT_pci));
		rows_text(b->rows, STYLE_NORMAL, " ");
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, PAGE_FAULT_process));
		break;
	case KIND_driver_event:
		word(b, STYLE_WARN, "driver");
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, DRIVER_EVENT_text));
		break;
	default:
		break;
	}
}
