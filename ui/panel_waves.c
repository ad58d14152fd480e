/* Waves: faults, then GPU waves folded by kernel, pc and reasons, then what rocgdb saw in flight; Enter shows all of one. */
#include "config.h"

#include "ui/panel.h"

#include <jansson.h>
#include <string.h>

#include "base/map.h"

#define FAULTS_SHOWN 40
#define GROUPS_MAX 256

struct group {
	const struct observation *first;        /* the oldest, which has the registers */
	int64_t waves;
	uint64_t key;
};

static bool same_field(const struct observation *a, const struct observation *b, int field)
{
	return span_same(panel_field(a, field), panel_field(b, field));
}

static bool same_wave(const struct observation *a, const struct observation *b)
{
	return same_field(a, b, WAVE_kernel) && same_field(a, b, WAVE_pc) && same_field(a, b, WAVE_reasons) && same_field(a, b, WAVE_via);
}

/* Oldest first. */
static int fold(const struct model *m, struct group *group)
{
	int groups = 0;

	for (int i = m->event[KIND_wave].count; i-- > 0;) {
		const struct observation *o = model_event(m, KIND_wave, i);
		int64_t n = 1;
		int g = 0;

		observation_get_int(o, WAVE_count, &n);
		while (g < groups && !same_wave(group[g].first, o))
			g++;
		if (g == GROUPS_MAX)
			continue;
		if (g == groups) {
			struct span kernel = panel_field(o, WAVE_kernel), pc = panel_field(o, WAVE_pc);

			group[groups++] = (struct group){ o, 0, rows_key("wave", (int64_t)(map_hash(kernel.at, kernel.len) ^ map_hash(pc.at, pc.len) * 31)) };
		}
		group[g].waves += n > 0 ? n : 1;
	}
	return groups;
}

/* --- one line --- */

/* Both ends of a name stay: the library stands at its start, the types of the call at its end. */
static void kernel_name(struct build *b, enum style style, struct span name, int w)
{
	int tail = w / 3;

	if (!name.len) {
		rows_text(b->rows, STYLE_DIM, "unknown kernel");
		return;
	}
	if ((int)name.len <= w || w < 20) {
		rows_span(b->rows, style, name);
		return;
	}
	rows_span(b->rows, style, span_sub(name, 0, (size_t)(w - tail - 1)));
	rows_text(b->rows, STYLE_DIM, b->ascii ? "~" : "…");
	rows_span(b->rows, style, span_sub(name, name.len - (size_t)tail, (size_t)tail));
}

/* ["A","B"] as A|B. */
static void reasons(struct build *b, struct span json)
{
	json_t *list = json.len ? json_loadb(json.at, json.len, 0, NULL) : NULL;

	for (size_t i = 0; i < json_array_size(list) && i < 8; i++) {
		if (i)
			rows_text(b->rows, STYLE_BAD, "|");
		rows_text(b->rows, STYLE_BAD, json_string_value(json_array_get(list, i)) ? json_string_value(json_array_get(list, i)) : "?");
	}
	json_decref(list);
}

static json_t *object(struct span json)
{
	return json.len ? json_loadb(json.at, json.len, 0, NULL) : NULL;
}

static void arrow(struct build *b, const struct observation *o)
{
	json_t *a = object(panel_field(o, WAVE_arrow));
	const char *insn = json_string_value(json_object_get(a, "insn"));
	const json_t *offset = json_object_get(a, "offset");

	if (json_is_integer(offset))
		rows_print(b->rows, STYLE_DIM, " +%lld", (long long)json_integer_value(offset));
	if (insn) {
		rows_text(b->rows, STYLE_DIM, ": ");
		rows_text(b->rows, STYLE_NORMAL, insn);
	}
	json_decref(a);
}

static void wave_row(struct build *b, const struct group *g)
{
	const struct observation *o = g->first;
	struct span pc = panel_field(o, WAVE_pc), rank = panel_field(o, WAVE_rank);

	rows_start(b->rows, g->key, 0);
	panel_fold(b, g->key);
	rows_right(b->rows, 5, STYLE_BOLD, "%lld", (long long)g->waves);
	rows_text(b->rows, STYLE_DIM, g->waves == 1 ? " wave  " : " waves ");
	if (panel_field(o, WAVE_reasons).len > 2)
		reasons(b, panel_field(o, WAVE_reasons));
	else
		rows_text(b->rows, STYLE_DIM, observation_text_is(o, WAVE_state, "running") ? "running" : "in flight");
	rows_text(b->rows, STYLE_NORMAL, "  ");
	kernel_name(b, STYLE_BOLD, panel_field(o, WAVE_kernel), b->w - 50);
	rows_text(b->rows, STYLE_DIM, " @ ");
	if (pc.len)
		rows_span(b->rows, STYLE_NORMAL, pc);
	else
		rows_text(b->rows, STYLE_DIM, b->ascii ? "-" : "–");
	arrow(b, o);
	if (rank.len) {
		rows_text(b->rows, STYLE_DIM, "  rank ");
		rows_span(b->rows, STYLE_NORMAL, rank);
	}
}

/* --- details --- */

static void wide(struct build *b, uint64_t key, const char *label, enum style style, struct span text)
{
	if (!text.len)
		return;
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 4);
	rows_cell(b->rows, 12, STYLE_DIM, span_of(label));
	rows_gap(b->rows, 1);
	rows_span(b->rows, style, text);
}

static void lines(struct build *b, uint64_t key, const char *label, struct span text)
{
	struct span line;

	for (int i = 0; i < 400 && span_line(&text, &line); i++)
		wide(b, key + (uint64_t)i, i ? "" : label, STYLE_NORMAL, line);
}

static const char *meaning(struct span reasons_json)
{
	static const struct { const char *reason, *words; } table[] = {
		{ "ASSERT_TRAP", "a device-side assert: s_trap 2; the test is some instructions before" },
		{ "MEMORY_VIOLATION", "a page that is not mapped; the pc stands behind the access" },
		{ "ADDRESS_ERROR", "an address outside every aperture, or malformed" },
		{ "APERTURE_VIOLATION", "an address outside every aperture (today ADDRESS_ERROR)" },
		{ "ILLEGAL_INSTRUCTION", "no instruction at the pc: code was overwritten, or a wild jump" },
		{ "ECC_ERROR", "memory error that could not be corrected" },
		{ "FATAL_HALT", "the hardware halted the wave" },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (span_contains(reasons_json, table[i].reason))
			return table[i].words;
	return "";
}

static void details(struct build *b, const struct group *g)
{
	const struct observation *o = g->first;
	json_t *code = object(panel_field(o, WAVE_code_object));
	const char *uri = json_string_value(json_object_get(code, "uri")), *loaded = json_string_value(json_object_get(code, "loaded"));
	char text[80];
	int64_t n;

	panel_wrap(b, g->key + 1, 17, STYLE_BOLD, panel_field(o, WAVE_kernel));
	wide(b, g->key + 40, "means", STYLE_NORMAL, span_of(meaning(panel_field(o, WAVE_reasons))));
	wide(b, g->key + 41, "entry", STYLE_NORMAL, panel_field(o, WAVE_kernel_code_entry));
	wide(b, g->key + 42, "function", STYLE_NORMAL, panel_field(o, WAVE_func));
	wide(b, g->key + 43, "target", STYLE_NORMAL, panel_field(o, WAVE_target));
	wide(b, g->key + 44, "code object", STYLE_NORMAL, span_of(uri));
	wide(b, g->key + 45, "loaded at", STYLE_NORMAL, span_of(loaded));
	if (uri)
		wide(b, g->key + 46, "look at it", STYLE_KEY, span_of("llvm-objdump --disassemble-all SAVED_FILE (saved by --save-code-objects)"));
	wide(b, g->key + 47, "read from", STYLE_DIM, panel_field(o, WAVE_file));
	if (observation_get_int(o, WAVE_offset, &n)) {
		snprintf(text, sizeof text, "%lld", (long long)n);
		wide(b, g->key + 48, "at offset", STYLE_DIM, span_of(text));
	}
	lines(b, g->key + 1000, "disassembly", panel_field(o, WAVE_disassembly));
	lines(b, g->key + 2000, "registers", panel_field(o, WAVE_registers));
	json_decref(code);
}

/* --- faults --- */

static int64_t gpu_of_node(const struct model *m, int64_t node)
{
	const struct observation *o;
	int64_t mine, gpu;
	size_t at = 0;

	while ((o = model_next(m, KIND_gpu, &at)))
		if (observation_get_int(o, GPU_kfd_node, &mine) && mine == node && observation_get_int(o, GPU_gpu, &gpu))
			return gpu;
	return -1;
}

static void where(struct build *b, const struct observation *o, int field)
{
	int64_t node, gpu;

	if (!observation_get_int(o, field, &node))
		return;
	gpu = gpu_of_node(b->view->model, node);
	rows_print(b->rows, STYLE_NORMAL, " KFD node %lld", (long long)node);
	if (gpu >= 0)
		rows_print(b->rows, STYLE_BOLD, " = GPU %lld", (long long)gpu);
}

static void piece(struct build *b, enum style style, struct span text)
{
	if (!text.len)
		return;
	rows_text(b->rows, STYLE_NORMAL, " ");
	rows_span(b->rows, style, text);
}

static void fault_row(struct build *b, const struct observation *o, int i)
{
	char age[24];

	rows_start(b->rows, rows_key(kind_table[o->kind].name, o->t * 64 + i % 64), 0);
	rows_gap(b->rows, 2);
	rows_right(b->rows, 7, STYLE_DIM, "%s", panel_age(age, sizeof age, b->view, o->t));
	rows_gap(b->rows, 1);
	switch (o->kind) {
	case KIND_fault:
		rows_text(b->rows, STYLE_BAD, "memory fault");
		where(b, o, FAULT_kfd_node);
		piece(b, STYLE_BOLD, panel_field(o, FAULT_address));
		piece(b, STYLE_NORMAL, panel_field(o, FAULT_reason));
		piece(b, STYLE_DIM, panel_field(o, FAULT_rank));
		break;
	case KIND_hw_exception:
		rows_text(b->rows, STYLE_BAD, "HW exception");
		where(b, o, HW_EXCEPTION_kfd_node);
		piece(b, STYLE_NORMAL, panel_field(o, HW_EXCEPTION_reason));
		break;
	case KIND_queue_error:
		rows_text(b->rows, STYLE_BAD, "queue error");
		piece(b, STYLE_NORMAL, panel_field(o, QUEUE_ERROR_status));
		piece(b, STYLE_DIM, panel_field(o, QUEUE_ERROR_queue));
		break;
	case KIND_page_fault:
		rows_text(b->rows, STYLE_BAD, "page fault");
		piece(b, STYLE_NORMAL, panel_field(o, PAGE_FAULT_pci));
		piece(b, STYLE_BOLD, panel_field(o, PAGE_FAULT_address));
		piece(b, STYLE_NORMAL, panel_field(o, PAGE_FAULT_process));
		break;
	default:
		rows_text(b->rows, STYLE_WARN, "driver");
		piece(b, STYLE_BOLD, panel_field(o, DRIVER_EVENT_what));
		piece(b, STYLE_NORMAL, panel_field(o, DRIVER_EVENT_text));
		break;
	}
}

static int faults(struct build *b)
{
	static const enum kind kinds[] = { KIND_fault, KIND_hw_exception, KIND_queue_error, KIND_page_fault, KIND_driver_event };
	int shown = 0;

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; i < b->view->model->event[kinds[k]].count && i < FAULTS_SHOWN; i++) {
			if (!shown++) {
				rows_start(b->rows, 0, ROW_HEAD);
				rows_text(b->rows, STYLE_TITLE, "faults");
			}
			fault_row(b, model_event(b->view->model, kinds[k], i), i);
		}
	return shown;
}

/* --- what was in flight --- */

static void dispatch_row(struct build *b, const struct observation *o, int i)
{
	rows_start(b->rows, rows_key("dispatch", o->t * 64 + i % 64), 0);
	rows_gap(b->rows, 2);
	rows_cell(b->rows, 12, STYLE_NORMAL, panel_field(o, GDB_DISPATCH_target));
	rows_gap(b->rows, 1);
	kernel_name(b, STYLE_BOLD, panel_field(o, GDB_DISPATCH_kernel), b->w - 46);
	piece(b, STYLE_DIM, panel_field(o, GDB_DISPATCH_grid));
	piece(b, STYLE_DIM, panel_field(o, GDB_DISPATCH_fence));
}

static void queue_row(struct build *b, const struct observation *o, int i)
{
	int64_t read, write;

	rows_start(b->rows, rows_key("queue", o->t * 64 + i % 64), 0);
	rows_gap(b->rows, 2);
	rows_cell(b->rows, 12, STYLE_NORMAL, panel_field(o, GDB_QUEUE_target));
	rows_gap(b->rows, 1);
	rows_cell(b->rows, 6, STYLE_DIM, panel_field(o, GDB_QUEUE_type));
	if (observation_get_int(o, GDB_QUEUE_read, &read) && observation_get_int(o, GDB_QUEUE_write, &write))
		rows_print(b->rows, write > read ? STYLE_WARN : STYLE_NORMAL, " read %lld write %lld, %lld pending", (long long)read, (long long)write,
			(long long)(write - read));
}

static int in_flight(struct build *b)
{
	const struct model *m = b->view->model;
	int shown = 0;

	for (int i = m->event[KIND_gdb_dispatch].count; i-- > 0;) {
		if (!shown++) {
			rows_start(b->rows, 0, ROW_HEAD);
			rows_text(b->rows, STYLE_TITLE, "in flight, as rocgdb saw it");
		}
		dispatch_row(b, model_event(m, KIND_gdb_dispatch, i), i);
	}
	for (int i = m->event[KIND_gdb_queue].count; i-- > 0;)
		queue_row(b, model_event(m, KIND_gdb_queue, i), i);
	return shown + m->event[KIND_gdb_queue].count;
}

void panel_waves(struct build *b)
{
	static struct group group[GROUPS_MAX + 1];
	int shown = faults(b), groups = fold(b->view->model, group);

	if (groups) {
		rows_start(b->rows, 0, ROW_HEAD);
		rows_text(b->rows, STYLE_TITLE, "waves, by kernel, pc and reason");
	}
	for (int i = 0; i < groups; i++) {
		wave_row(b, &group[i]);
		if (list_is_open(b->list, group[i].key))
			details(b, &group[i]);
	}
	shown += groups + in_flight(b);
	if (!shown)
		panel_empty(b, "No GPU fault and no wave dump seen. The runtime's fault lines and the debug agent's dumps in the server's log come here as they "
			       "are written. To get waves at a fault, start the server with HSA_TOOLS_LIB=librocm-debug-agent.so.2 "
			       "(ROCM_DEBUG_AGENT_OPTIONS=--save-code-objects keeps the code).");
}
