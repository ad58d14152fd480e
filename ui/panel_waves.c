/* Waves: faults, then GPU waves folded by kernel, pc and reasons, then what rocgdb saw in flight; Enter shows all of one. */
#include "config.h"

#include "ui/panel.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/stop_reason.h"
#include "parse/code_object.h"
#include "ui/fault_row.h"
#include "ui/waves_fold.h"

#define FAULTS_SHOWN 20
#define FLIGHT_SHOWN 60
#define REASONS_SHOWN 4
#define LINES_SHOWN 900

static void title(struct build *b, const char *text, int shown)
{
	if (shown)
		rows_start(b->rows, 0, ROW_HEAD);
	rows_start(b->rows, 0, ROW_HEAD);
	rows_text(b->rows, STYLE_TITLE, text);
}

static uint64_t event_key(const struct observation *o, const char *what)
{
	uint64_t key = rows_key(what, o->t);

	for (int i = 0; i < kind_table[o->kind].fields; i++) {
		const struct value *v = &o->value[i];

		key = key * 31 + (v->type == VALUE_INT ? (uint64_t)v->number : v->type == VALUE_TEXT ? map_hash(v->text.at, v->text.len) : 0);
	}
	return key | 1;
}

static void kernel(struct build *b, struct span name, int columns)
{
	struct buf text;

	if (!name.len) {
		rows_text(b->rows, STYLE_DIM, "unknown kernel");
		return;
	}
	buf_init(&text, 0);
	waves_kernel(&text, name, columns > 16 ? columns : 16, b->ascii ? "~" : "…");
	rows_span(b->rows, STYLE_BOLD, buf_as_span(&text));
	buf_release(&text);
}

static json_t *json_of(const struct observation *o, int field)
{
	struct span text = panel_field(o, field);

	return text.len ? json_loadb(text.at, text.len, JSON_DECODE_ANY, NULL) : NULL;
}

/* --- faults --- */

static int newest_first(const void *a, const void *b)
{
	const struct observation *x = *(const struct observation *const *)a, *y = *(const struct observation *const *)b;

	if (x->t != y->t)
		return x->t < y->t ? 1 : -1;
	return (int)x->kind - (int)y->kind;
}

static void fault_row(struct build *b, const struct observation *o)
{
	uint64_t key = event_key(o, kind_table[o->kind].name);
	char age[24];

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_right(b->rows, 7, STYLE_DIM, "%s", panel_age(age, sizeof age, b->view, o->t));
	rows_gap(b->rows, 1);
	if (o->kind == KIND_driver_event)
		rows_text(b->rows, STYLE_WARN, "driver: ");
	fault_words(b, o);
	if (list_is_open(b->list, key))
		panel_fields(b, key + 1, 4, o);
}

/* The newest, and the one that came before all others. */
static int faults(struct build *b)
{
	static const enum kind kinds[] = { KIND_fault, KIND_hw_exception, KIND_queue_error, KIND_packet, KIND_page_fault,
		KIND_driver_event };
	static const struct observation *list[sizeof kinds / sizeof *kinds * MODEL_EVENTS_MAX];
	const struct observation *o;
	int n = 0, left;

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; (o = model_event(b->view->model, kinds[k], i)); i++)
			list[n++] = o;
	if (!n)
		return 0;
	qsort(list, (size_t)n, sizeof *list, newest_first);
	title(b, "faults, newest first", 0);
	left = n - FAULTS_SHOWN;
	for (int i = 0; i < n; i++) {
		if (left > 0 && i == FAULTS_SHOWN - 1) {
			rows_start(b->rows, 0, ROW_HEAD);
			rows_print(b->rows, STYLE_DIM, "          %d more, and the first:", left);
			i = n - 1;
		}
		fault_row(b, list[i]);
	}
	return n;
}

/* --- waves --- */

static const char *string_in(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* ["A","B"] as A|B; what is no such array, as it is. Returns false when there is none. */
static bool reasons(struct build *b, const struct observation *o)
{
	json_t *list = json_of(o, WAVE_reasons);
	size_t n = json_array_size(list);
	bool some = n > 0;

	for (size_t i = 0; i < n && i < REASONS_SHOWN; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		rows_text(b->rows, STYLE_BAD, i ? "|" : "");
		rows_text(b->rows, STYLE_BAD, text ? text : "?");
	}
	if (n > REASONS_SHOWN)
		rows_text(b->rows, STYLE_BAD, "|...");
	if (!json_is_array(list) && panel_field(o, WAVE_reasons).len) {
		rows_cell(b->rows, 20, STYLE_BAD, panel_field(o, WAVE_reasons));
		some = true;
	}
	json_decref(list);
	return some;
}

/* "@ +3012  s_endpgm  rank TP3" below its kernel. */
static void place(struct build *b, const struct waves_fold *fold, int g)
{
	const struct observation *o = fold->group[g].wave;
	json_t *arrow = json_of(o, WAVE_arrow);
	const json_t *offset = json_object_get(arrow, "offset");
	const char *insn = string_in(arrow, "insn");
	struct span pc = panel_field(o, WAVE_pc);
	char ranks[128];

	rows_start(b->rows, fold->group[g].key + 1, ROW_DETAIL);
	rows_gap(b->rows, 8);
	rows_text(b->rows, STYLE_DIM, "@ ");
	if (json_is_integer(offset))
		rows_print(b->rows, STYLE_NORMAL, "+%lld ", (long long)json_integer_value(offset));
	if (pc.len)
		rows_span(b->rows, json_is_integer(offset) ? STYLE_DIM : STYLE_NORMAL, pc);
	else if (!json_is_integer(offset))
		rows_text(b->rows, STYLE_DIM, "–");
	if (insn) {
		rows_text(b->rows, STYLE_DIM, "  ");
		rows_text(b->rows, STYLE_BOLD, insn);
	}
	waves_ranks(fold, b->view->model, g, ranks, sizeof ranks);
	if (ranks[0]) {
		rows_text(b->rows, STYLE_DIM, "  rank ");
		rows_text(b->rows, STYLE_BOLD, ranks);
	}
	json_decref(arrow);
}

/* The Python call or the library's routine behind the kernel. */
static void in_words(struct build *b, uint64_t key, struct span name)
{
	const struct kernel_row *known = b->view->kernels ? kernels_words(b->view->kernels, name) : NULL;
	struct buf text;

	if (!known)
		return;
	buf_init(&text, 1024);
	kernel_say(known, name, &text);
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 8);
	rows_text(b->rows, STYLE_DIM, "= ");
	rows_span(b->rows, STYLE_INFO, buf_as_span(&text));
	buf_release(&text);
}

static void wave_row(struct build *b, const struct waves_fold *fold, int g)
{
	const struct wave_group *group = &fold->group[g];

	rows_start(b->rows, group->key, 0);
	panel_fold(b, group->key);
	rows_right(b->rows, 5, STYLE_BOLD, "%lld", (long long)group->waves);
	rows_text(b->rows, STYLE_DIM, group->waves == 1 ? " wave  " : " waves ");
	if (!reasons(b, group->wave))
		rows_text(b->rows, STYLE_INFO, observation_text_is(group->wave, WAVE_state, "running") ? "running" : "in flight");
	rows_text(b->rows, STYLE_NORMAL, "  ");
	kernel(b, panel_field(group->wave, WAVE_kernel), b->w - b->rows->column);
	place(b, fold, g);
	in_words(b, group->key + 2, panel_field(group->wave, WAVE_kernel));
}

/* --- one wave in full --- */

static void item(struct build *b, uint64_t key, const char *label, enum style style, struct span text)
{
	if (!text.len)
		return;
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 4);
	rows_cell(b->rows, 12, STYLE_DIM, span_of(label));
	rows_gap(b->rows, 1);
	rows_span(b->rows, style, text);
}

/* As printed, line by line; the arrow's line stands out. */
static void lines(struct build *b, uint64_t key, const char *heading, struct span text)
{
	struct span line;

	if (!text.len)
		return;
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 4);
	rows_text(b->rows, STYLE_TITLE, heading);
	for (int i = 1; i < LINES_SHOWN && span_line(&text, &line); i++) {
		rows_start(b->rows, key + (uint64_t)i, ROW_DETAIL);
		rows_gap(b->rows, 4);
		rows_span(b->rows, span_starts(span_trim(line), "=>") ? STYLE_BOLD : STYLE_NORMAL, line);
	}
}

static void number(struct build *b, uint64_t key, const char *label, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	char text[32];

	if (!json_is_integer(value))
		return;
	snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
	item(b, key, label, STYLE_NORMAL, span_of(text));
}

/* What to type to see the code around the pc. */
static void disassemble(struct build *b, uint64_t key, const json_t *code, struct span pc)
{
	const char *uri = string_in(code, "uri");
	struct span loaded = span_of(string_in(code, "loaded"));
	uint64_t base = 0, address = 0;
	struct buf text;

	buf_init(&text, 0);
	if (!span_take_hex(&loaded, &base) || !span_take_hex(&pc, &address))
		base = 0;
	if (uri && code_object_command(span_of(uri), base, address, &text)) {
		rows_start(b->rows, key, ROW_DETAIL);
		rows_gap(b->rows, 4);
		rows_text(b->rows, STYLE_DIM, "disassemble");
		panel_wrap(b, key, 6, STYLE_KEY, buf_as_span(&text));
		if (span_starts(span_of(uri), "memory:"))
			panel_wrap(b, key, 6, STYLE_DIM,
				span_of("where the debug agent saved it: ROCM_DEBUG_AGENT_OPTIONS=--save-code-objects=DIR"));
	}
	buf_release(&text);
}

static void code_object(struct build *b, uint64_t key, const json_t *code, struct span pc)
{
	item(b, key, "code object", STYLE_NORMAL, span_of(string_in(code, "uri")));
	number(b, key + 1, "at offset", code, "offset");
	number(b, key + 2, "size", code, "size");
	item(b, key + 3, "loaded at", STYLE_NORMAL, span_of(string_in(code, "loaded")));
	disassemble(b, key + 4, code, pc);
}

static void meaning(struct build *b, uint64_t key, const struct observation *o)
{
	json_t *list = json_of(o, WAVE_reasons);

	for (size_t i = 0; i < json_array_size(list) && i < REASONS_SHOWN; i++) {
		struct span reason = span_of(json_string_value(json_array_get(list, i)));
		const char *words = stop_reason_words(reason);

		item(b, key + 20 * i, "stopped by", STYLE_BAD, reason);
		if (words)
			panel_wrap(b, key + 20 * i, 17, STYLE_NORMAL, span_of(words));
	}
	json_decref(list);
}

static void read_from(struct build *b, uint64_t key, const struct observation *o, int file, int offset)
{
	struct span path = panel_field(o, file);
	char text[40];
	int64_t at;

	item(b, key, "read from", STYLE_DIM, path);
	if (!observation_get_int(o, offset, &at))
		return;
	snprintf(text, sizeof text, "byte %lld", (long long)at);
	item(b, key + 1, path.len ? "" : "read from", STYLE_DIM, span_of(text));
}

static void full_name(struct build *b, uint64_t key, struct span name)
{
	if (!name.len)
		return;
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 4);
	rows_text(b->rows, STYLE_DIM, "kernel");
	panel_wrap(b, key, 6, STYLE_BOLD, name);
}

static void wave_details(struct build *b, const struct wave_group *group)
{
	const struct observation *o = group->wave;
	uint64_t key = group->key + 1000;
	json_t *code = json_of(o, WAVE_code_object);
	int64_t complete = 1;

	full_name(b, key, panel_field(o, WAVE_kernel));
	meaning(b, key + 2000, o);
	item(b, key + 2120, "pc", STYLE_NORMAL, panel_field(o, WAVE_pc));
	item(b, key + 2121, "entry", STYLE_NORMAL, panel_field(o, WAVE_kernel_code_entry));
	item(b, key + 2122, "function", STYLE_NORMAL, panel_field(o, WAVE_func));
	item(b, key + 2123, "target", STYLE_NORMAL, panel_field(o, WAVE_target));
	code_object(b, key + 2130, code, panel_field(o, WAVE_pc));
	item(b, key + 2180, "seen by", STYLE_NORMAL, panel_field(o, WAVE_via));
	read_from(b, key + 2181, o, WAVE_file, WAVE_offset);
	if (observation_get_int(o, WAVE_complete, &complete) && !complete)
		item(b, key + 2183, "cut", STYLE_WARN, span_of("the dump ends before this wave does"));
	lines(b, key + 3000, "disassembly", panel_field(o, WAVE_disassembly));
	lines(b, key + 4000, "registers", panel_field(o, WAVE_registers));
	json_decref(code);
}

static int waves(struct build *b, int shown)
{
	static struct waves_fold fold;
	char text[120];

	waves_fold(&fold, b->view->model);
	if (!fold.groups)
		return 0;
	snprintf(text, sizeof text, "%s%lld wave%s, by kernel, pc and reason", fold.full ? "the last " : "", (long long)fold.waves,
		fold.waves == 1 ? "" : "s");
	title(b, text, shown);
	for (int i = 0; i < fold.groups; i++) {
		wave_row(b, &fold, fold.order[i]);
		if (list_is_open(b->list, fold.group[fold.order[i]].key))
			wave_details(b, &fold.group[fold.order[i]]);
	}
	return fold.groups;
}

/* --- code without a wave --- */

static void disassembly_row(struct build *b, const struct observation *o)
{
	uint64_t key = event_key(o, "disassembly");
	json_t *arrow = json_of(o, DISASSEMBLY_arrow), *code = json_of(o, DISASSEMBLY_code_object);
	const char *insn = string_in(arrow, "insn");

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	if (insn) {
		rows_text(b->rows, STYLE_NORMAL, insn);
		rows_text(b->rows, STYLE_DIM, "  in ");
	}
	kernel(b, panel_field(o, DISASSEMBLY_kernel), b->w - b->rows->column);
	if (list_is_open(b->list, key)) {
		full_name(b, key + 1, panel_field(o, DISASSEMBLY_kernel));
		code_object(b, key + 2000, code, span_of(string_in(arrow, "pc")));
		read_from(b, key + 2080, o, DISASSEMBLY_file, DISASSEMBLY_offset);
	}
	json_decref(arrow);
	json_decref(code);
}

/* --- what was in flight --- */

static void dispatch_row(struct build *b, const struct observation *o)
{
	struct span grid = panel_field(o, GDB_DISPATCH_grid), fence = panel_field(o, GDB_DISPATCH_fence);
	int room = b->w - 17 - (int)grid.len - (int)fence.len;

	rows_cell(b->rows, 12, STYLE_NORMAL, panel_field(o, GDB_DISPATCH_target));
	rows_gap(b->rows, 1);
	kernel(b, panel_field(o, GDB_DISPATCH_kernel), room < 30 ? 30 : room);
	rows_text(b->rows, STYLE_DIM, " ");
	rows_span(b->rows, STYLE_DIM, grid);
	rows_text(b->rows, STYLE_DIM, " ");
	rows_span(b->rows, STYLE_DIM, fence);
}

static void queue_row(struct build *b, const struct observation *o)
{
	int64_t read, write, pending;

	rows_cell(b->rows, 12, STYLE_NORMAL, panel_field(o, GDB_QUEUE_target));
	rows_gap(b->rows, 1);
	rows_cell(b->rows, 6, STYLE_DIM, panel_field(o, GDB_QUEUE_type));
	if (observation_get_int(o, GDB_QUEUE_read, &read) && observation_get_int(o, GDB_QUEUE_write, &write)) {
		rows_print(b->rows, STYLE_NORMAL, " read %lld write %lld", (long long)read, (long long)write);
		if (!observation_get_int(o, GDB_QUEUE_pending, &pending) && __builtin_sub_overflow(write, read, &pending))
			return;
		rows_print(b->rows, pending > 0 ? STYLE_WARN : STYLE_NORMAL, ", %lld pending", (long long)pending);
	}
}

static void agent_row(struct build *b, const struct observation *o)
{
	int64_t n;

	if (observation_get_int(o, GDB_AGENT_number, &n))
		rows_right(b->rows, 3, STYLE_NORMAL, "%lld", (long long)n);
	rows_text(b->rows, STYLE_NORMAL, "  ");
	rows_cell(b->rows, 8, STYLE_NORMAL, panel_field(o, GDB_AGENT_arch));
	rows_gap(b->rows, 1);
	rows_cell(b->rows, 14, STYLE_NORMAL, panel_field(o, GDB_AGENT_location));
	rows_gap(b->rows, 1);
	rows_span(b->rows, STYLE_DIM, panel_field(o, GDB_AGENT_device));
	if (observation_text_is(o, GDB_AGENT_state, "U"))
		rows_text(b->rows, STYLE_WARN, "  not supported by the debugger");
}

struct table {
	enum kind kind;
	const char *title;
	int subject; /* a later row of the same subject replaces an earlier one; -1: none does */
	void (*row)(struct build *b, const struct observation *o);
};

static bool same_subject(const struct observation *a, const struct observation *b, int field)
{
	int64_t x = 0, y = 0;

	return observation_get_int(a, field, &x) == observation_get_int(b, field, &y) && x == y &&
	       span_same(panel_field(a, field), panel_field(b, field));
}

static int table(struct build *b, const struct table *t, int shown)
{
	const struct observation *list[FLIGHT_SHOWN], *o;
	int n = 0, more = 0;

	for (int i = 0; (o = model_event(b->view->model, t->kind, i)); i++) {
		int k = 0;

		while (k < n && (t->subject < 0 || !same_subject(list[k], o, t->subject)))
			k++;
		if (k < n)
			continue;
		if (n < FLIGHT_SHOWN)
			list[n++] = o;
		else
			more++;
	}
	if (!n)
		return 0;
	title(b, t->title, shown);
	while (n-- > 0) {
		uint64_t key = event_key(list[n], t->title);

		if (t->kind == KIND_disassembly) {
			t->row(b, list[n]);
			continue;
		}
		rows_start(b->rows, key, 0);
		panel_fold(b, key);
		t->row(b, list[n]);
		if (list_is_open(b->list, key))
			panel_fields(b, key + 1, 4, list[n]);
	}
	if (more) {
		rows_start(b->rows, 0, ROW_HEAD);
		rows_print(b->rows, STYLE_DIM, "  %d older ones", more);
	}
	return 1;
}

void panel_waves(struct build *b)
{
	static const struct table tables[] = {
		{ KIND_disassembly, "code without a wave", -1, disassembly_row },
		{ KIND_gdb_dispatch, "dispatches in flight, as rocgdb saw them", GDB_DISPATCH_target, dispatch_row },
		{ KIND_gdb_queue, "queues", GDB_QUEUE_target, queue_row },
		{ KIND_gdb_agent, "agents", GDB_AGENT_number, agent_row },
	};
	int shown = faults(b);

	shown += waves(b, shown);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		shown += table(b, &tables[i], shown);
	if (!shown)
		panel_empty(b, "No GPU fault and no wave dump seen. Fault lines of the runtime and dumps of the ROCm debug agent come here as the "
			       "server's log gets them. To get waves at the next fault, start the server with "
			       "HSA_TOOLS_LIB=librocm-debug-agent.so.2 (ROCM_DEBUG_AGENT_OPTIONS=--save-code-objects keeps the code), or look "
			       "for a fault in the log (panel 7).");
}
