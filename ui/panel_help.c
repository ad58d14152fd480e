/* Help: the key table in words, the keys of the panel one came from first. */
#include "config.h"

#include "ui/panel.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void group(struct build *b, enum key_group which)
{
	bool titled = false;
	int key_w = b->w < 50 ? 12 : 16;

	for (int i = 0; i < binding_count; i++) {
		const struct binding *binding = &binding_table[i];
		char text[80];

		if (b->view->read_only && (binding->action == ACTION_SNAPSHOT || binding->action == ACTION_YES || binding->action == ACTION_ASK_AGENT))
			continue;
		if (binding->group != which || (binding->where && !(binding->where & (1u << b->shown))))
			continue;
		if (!titled) {
			rows_start(b->rows, 0, ROW_HEAD);
			rows_gap(b->rows, 1);
			rows_text(b->rows, STYLE_TITLE, keys_group_title(which));
			if (which == GROUP_PANEL)
				rows_print(b->rows, STYLE_TITLE, ": %s", panel_table[b->shown].name);
			titled = true;
		}
		rows_start(b->rows, rows_key("help", i), 0);
		rows_gap(b->rows, 3);
		if (binding->action == ACTION_PANEL)
			snprintf(text, sizeof text, "1-9");
		else
			keys_names(text, sizeof text, binding);
		rows_cell(b->rows, key_w, STYLE_KEY, span_of(text));
		rows_gap(b->rows, 1);
		rows_text(b->rows, STYLE_NORMAL, binding->words);
	}
}

static void explain(struct build *b, const char *what, const char *words)
{
	rows_start(b->rows, rows_key("explain", (int64_t)map_hash(what, strlen(what))), 0);
	rows_gap(b->rows, 3);
	rows_cell(b->rows, b->w < 50 ? 12 : 16, STYLE_BOLD, span_of(what));
	rows_gap(b->rows, 1);
	rows_text(b->rows, STYLE_NORMAL, words);
}

void panel_help(struct build *b)
{
	for (int g = 0; g < GROUP_COUNT; g++)
		group(b, (enum key_group)g);
	rows_start(b->rows, 0, ROW_HEAD);
	rows_gap(b->rows, 1);
	rows_text(b->rows, STYLE_TITLE, "reading the screen");
	explain(b, "grade",
		"A two independent layers agree, B one deep layer seen twice, C one deep sample, D shallow only");
	explain(b, "value?", "older than three intervals: what was, not what is");
	explain(b, b->ascii ? "-" : "–", "not known; it is never 0");
	explain(b, "candidate", "stands elsewhere than the other ranks; the ones that wait are likely victims");
	explain(b, "x3 2m10s", "three samples in a row with the same functions, for that long");
}
