/* GPUs: a table; equal ones are folded when there are many. Beneath it the processes on them. */
#include "config.h"

#include "ui/panel.h"

#include <math.h>

#include "base/text.h"
#include "ui/gpu_fold.h"

#define FOLD_ABOVE 16 /* GPUs: more are folded */

enum { GPU, BUSY, MEM, VRAM, USED, TOTAL, POWER, TEMP, TEMP_MEM, SCLK, MCLK, PART, BDF, VIA, SPARK, NAME, COLUMNS };

static const struct column columns[COLUMNS] = {
	[GPU] = { "  GPU", 6, 0, false },
	[BUSY] = { "busy", 5, 0, true },
	[MEM] = { "mem", 5, 0, true },
	[VRAM] = { "VRAM", 5, 0, true },
	[USED] = { "used", 6, 3, true },
	[TOTAL] = { "total", 6, 4, true },
	[POWER] = { "power", 6, 1, true },
	[TEMP] = { "temp", 5, 1, true },
	[TEMP_MEM] = { "HBM", 5, 6, true },
	[SCLK] = { "sclk", 7, 5, true },
	[MCLK] = { "mclk", 7, 6, true },
	[PART] = { "partition", 9, 7, false },
	[BDF] = { "address", 12, 8, false },
	[VIA] = { "via", 10, 8, false },
	[SPARK] = { " last 2 min", 31, 2, false },
	[NAME] = { "name", 0, 8, false },
};

static void text_cell(struct build *b, const bool *shown, int column, struct span text)
{
	if (!shown[column])
		return;
	rows_cell(b->rows, columns[column].w, text.len ? STYLE_NORMAL : STYLE_DIM, text.len ? text : span_of("–"));
	rows_gap(b->rows, 1);
}

static void number(struct build *b, const bool *shown, int column, const struct observation *o, int field,
	const char *unit, enum style style)
{
	if (shown[column])
		panel_number(b, o, field, columns[column].w, 0, unit, style);
}

static void readings(struct build *b, const struct observation *o, const bool *shown)
{
	bool stale = panel_stale(b->view, o);
	double vram = gpu_vram_pct(o);

	number(b, shown, BUSY, o, GPU_busy_pct, "%", STYLE_BOLD);
	number(b, shown, MEM, o, GPU_mem_activity_pct, "%", STYLE_BOLD);
	if (isnan(vram)) {
		panel_missing(b, 5);
		rows_gap(b->rows, 1);
	} else {
		rows_right(b->rows, 5, stale ? STYLE_STALE : STYLE_NORMAL, "%.0f%%", vram);
		rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
	}
	if (shown[USED])
		panel_bytes(b, o, GPU_vram_used, columns[USED].w);
	if (shown[TOTAL])
		panel_bytes(b, o, GPU_vram_total, columns[TOTAL].w);
	number(b, shown, POWER, o, GPU_power_w, "W", STYLE_NORMAL);
	number(b, shown, TEMP, o, GPU_temp_c, "°", STYLE_NORMAL);
	number(b, shown, TEMP_MEM, o, GPU_temp_mem_c, "°", STYLE_NORMAL);
	number(b, shown, SCLK, o, GPU_sclk_mhz, "MHz", STYLE_NORMAL);
	number(b, shown, MCLK, o, GPU_mclk_mhz, "MHz", STYLE_NORMAL);
	text_cell(b, shown, PART, panel_field(o, GPU_partition));
	text_cell(b, shown, BDF, panel_field(o, GPU_bdf));
	text_cell(b, shown, VIA, panel_field(o, GPU_via));
}

static void tail(struct build *b, const struct gpu_fold *f, int group, int one, const bool *shown)
{
	const struct observation *o = f->gpu[group < 0 ? one : f->first[group]];
	char spark[4 * 32 + 1];

	if (shown[SPARK]) {
		rows_gap(b->rows, 1);
		rows_cell(b->rows, columns[SPARK].w - 1, STYLE_GRAPH,
			span_of(gpu_fold_spark(f, group, one, b->view, columns[SPARK].w - 1, spark, sizeof spark)));
		rows_gap(b->rows, 1);
	}
	if (shown[NAME])
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_name));
}

static void detail(struct build *b, const struct observation *o, uint64_t key)
{
	double value;
	int64_t node;

	rows_start(b->rows, key + 1, ROW_DETAIL);
	rows_gap(b->rows, 9);
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_name));
	rows_text(b->rows, STYLE_DIM, "  address ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_bdf));
	rows_text(b->rows, STYLE_DIM, "  partition ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_partition));
	rows_text(b->rows, STYLE_DIM, "  read by ");
	rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_via));
	rows_start(b->rows, key + 2, ROW_DETAIL);
	rows_gap(b->rows, 9);
	if (observation_get_int(o, GPU_kfd_node, &node))
		rows_print(b->rows, STYLE_NORMAL, "KFD node-%lld  ", (long long)node);
	if (observation_get_real(o, GPU_power_cap_w, &value))
		rows_print(b->rows, STYLE_NORMAL, "cap %.0f W  ", value);
	if (observation_get_real(o, GPU_sclk_mhz, &value))
		rows_print(b->rows, STYLE_NORMAL, "sclk %.0f MHz  ", value);
	if (observation_get_real(o, GPU_mclk_mhz, &value))
		rows_print(b->rows, STYLE_NORMAL, "mclk %.0f MHz  ", value);
	if (observation_get_real(o, GPU_temp_edge_c, &value))
		rows_print(b->rows, STYLE_NORMAL, "edge %.0f°  ", value);
	if (observation_get_real(o, GPU_temp_mem_c, &value))
		rows_print(b->rows, STYLE_NORMAL, "HBM %.0f°", value);
}

static void one_gpu(struct build *b, const struct gpu_fold *f, int i, const bool *shown, unsigned flags)
{
	int64_t index = 0;
	uint64_t key;

	observation_get_int(f->gpu[i], GPU_gpu, &index);
	key = rows_key("gpu", index);
	rows_start(b->rows, key, flags);
	if (flags)
		rows_gap(b->rows, 2);
	else
		panel_fold(b, key);
	rows_right(b->rows, columns[GPU].w - 2, STYLE_BOLD, "%lld", (long long)index);
	rows_gap(b->rows, 1);
	readings(b, f->gpu[i], shown);
	tail(b, f, -1, i, shown);
	if (!flags && list_is_open(b->list, key))
		detail(b, f->gpu[i], key);
}

/* The line of a group shows the readings of its first GPU: the others are within 5 points. */
static void group(struct build *b, const struct gpu_fold *f, int g, const bool *shown)
{
	uint64_t key = rows_key("gpus", f->first[g]);
	char ranges[160];

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_cell(b->rows, columns[GPU].w - 2, STYLE_BOLD, span_of(gpu_fold_ranges(f, g, ranges, sizeof ranges)));
	rows_gap(b->rows, 1);
	readings(b, f->gpu[f->first[g]], shown);
	tail(b, f, g, 0, shown);
	for (int i = 0; list_is_open(b->list, key) && i < f->count; i++)
		if (f->group[i] == g)
			one_gpu(b, f, i, shown, ROW_DETAIL);
}

static void process(struct build *b, const struct observation *o)
{
	int64_t pid = 0, gpu = -1, value;
	const struct observation *owner;
	char text[24];

	observation_get_int(o, GPU_PROCESS_pid, &pid);
	observation_get_int(o, GPU_PROCESS_gpu, &gpu);
	owner = model_process(b->view->model, o->node, pid);
	rows_start(b->rows, rows_key("gpu-process", pid * 1000 + gpu), 0);
	rows_gap(b->rows, 2);
	if (gpu < 0)
		panel_missing(b, 4);
	else
		rows_right(b->rows, 4, STYLE_BOLD, "%lld", (long long)gpu);
	rows_right(b->rows, 9, STYLE_NORMAL, "%lld", (long long)pid);
	rows_gap(b->rows, 2);
	rows_cell(b->rows, 9, STYLE_BOLD,
		panel_field(owner, PROCESS_rank).len ? panel_field(owner, PROCESS_rank)
						     : panel_field(owner, PROCESS_role));
	panel_bytes(b, o, GPU_PROCESS_vram, 6);
	panel_number(b, o, GPU_PROCESS_queues, 6, 0, "", STYLE_NORMAL);
	panel_number(b, o, GPU_PROCESS_cu_occupancy, 6, 0, "", STYLE_NORMAL);
	if (observation_get_int(o, GPU_PROCESS_evicted_ms, &value))
		rows_right(b->rows, 8, value ? STYLE_WARN : STYLE_NORMAL, "%s",
			value ? text_duration(text, sizeof text, value) : "0");
	else
		panel_missing(b, 8);
	rows_gap(b->rows, 2);
	if (panel_field(o, GPU_PROCESS_name).len)
		rows_span(b->rows, STYLE_NORMAL, panel_field(o, GPU_PROCESS_name));
	else
		rows_text(b->rows, STYLE_WARN, "process is gone, its memory is not");
}

static void processes(struct build *b)
{
	const struct observation *o;
	size_t at = 0;

	if (!model_next(b->view->model, KIND_gpu_process, &at))
		return;
	rows_start(b->rows, 0, ROW_HEAD);
	rows_start(b->rows, 0, ROW_HEAD);
	rows_text(b->rows, STYLE_HEAD, "   GPU      pid  rank        VRAM queues     CUs  evicted  process");
	at = 0;
	while ((o = model_next(b->view->model, KIND_gpu_process, &at)))
		process(b, o);
}

void panel_gpus(struct build *b)
{
	struct gpu_fold f;
	bool shown[COLUMNS];

	gpu_fold_build(&f, b->view->model);
	if (!f.count) {
		panel_empty(b, "No GPU seen. The gpu source reads sysfs and KFD files, and asks rocm-smi, amd-smi or "
			       "nvidia-smi when they are there; panel 9 says what it found and what to install.");
		return;
	}
	panel_columns(columns, COLUMNS, b->w, 16, shown);
	panel_heading(b, columns, COLUMNS, shown, ROW_PIN);
	if (f.count > FOLD_ABOVE)
		for (int g = 0; g < f.groups; g++)
			group(b, &f, g, shown);
	else
		for (int i = 0; i < f.count; i++)
			one_gpu(b, &f, i, shown, 0);
	processes(b);
}
