/* Events: what has happened, newest last; Enter shows evidence and the next step. */
#include "config.h"

#include "ui/panel.h"

#include <jansson.h>

#include "base/text.h"
#include "ui/event_list.h"
#include "ui/fault_row.h"

static void evidence(struct build *b, uint64_t key, struct span text)
{
	json_t *list = text.len ? json_loadb(text.at, text.len, 0, NULL) : NULL, *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *what = json_string_value(json_object_get(item, "what"));
		const char *value = json_string_value(json_object_get(item, "value"));
		const json_t *age = json_object_get(item, "age_ms");
		char words[24];

		rows_start(b->rows, key + i, ROW_DETAIL);
		rows_gap(b->rows, 11);
		rows_cell(b->rows, 16, STYLE_DIM, span_of(what));
		rows_gap(b->rows, 1);
		rows_text(b->rows, STYLE_NORMAL, value);
		if (json_is_number(age))
			rows_print(b->rows, STYLE_DIM, "  %s before",
				text_duration(words, sizeof words, (int64_t)json_number_value(age)));
	}
	json_decref(list);
}

static void details(struct build *b, const struct observation *o, uint64_t key)
{
	bool verdict = o->kind == KIND_verdict;
	struct span next = panel_field(o, FINDING_next);

	switch (o->kind) {
	case KIND_verdict:
	case KIND_finding:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, verdict ? VERDICT_reason : FINDING_text));
		evidence(b, key + 100, panel_field(o, verdict ? VERDICT_evidence : FINDING_evidence));
		if (verdict)
			next = panel_field(o, VERDICT_next);
		panel_wrap(b, key + 200, 11, STYLE_BOLD, next);
		break;
	case KIND_action:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, ACTION_argv));
		break;
	case KIND_source:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, SOURCE_detail));
		panel_wrap(b, key + 100, 11, STYLE_BOLD, panel_field(o, SOURCE_remedy));
		break;
	case KIND_log:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, LOG_text));
		break;
	case KIND_note:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, NOTE_text));
		break;
	case KIND_process:
		panel_wrap(b, key + 1, 11, STYLE_NORMAL, panel_field(o, PROCESS_title));
		break;
	default:
		if (fault_is(o->kind))
			panel_fields(b, key + 1, 11, o);
		break;
	}
}

void panel_events(struct build *b)
{
	struct event_list list;
	bool dated;

	event_list_build(&list, b->view->model);
	if (!list.count) {
		panel_empty(b, "Nothing has happened yet. Changes of the verdict, faults, ended processes, "
			       "bookmarks (m) and notes (:note TEXT) come here.");
		return;
	}
	dated = panel_dated(b->view, list.event[0]->t);
	for (int i = 0; i < list.count; i++) {
		const struct observation *o = list.event[i];
		uint64_t key = rows_key(
			kind_table[o->kind].name, o->t * 64 + (i && list.event[i - 1]->t == o->t ? i % 64 : 0));
		char text[32];
		int64_t at;

		rows_start(b->rows, key, 0);
		if (o->kind == KIND_mark)
			rows_target(b->rows, observation_get_int(o, MARK_at, &at) ? at : o->t);
		rows_print(b->rows, STYLE_DIM, "%s  ", panel_time(text, sizeof text, o->t, dated));
		event_row(b, o);
		if (list_is_open(b->list, key))
			details(b, o, key);
	}
}
