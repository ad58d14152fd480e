/* smi_csv.c - tables with commas: header, then rows, each shown to the parser of its tool together with the header.
 *
 * rocm-smi --csv  device,Temperature (Sensor junction) (C),...  rows card0,51.0,...
 * amd-smi --csv   gpu,[xcp,]power_usage,...  rows 0,251,...; process: gpu,name,pid,...,vram_mem,...
 * nvidia-smi      index, uuid, ... (nvidia_smi.h)
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "parse/amd_smi.h"
#include "parse/nvidia_smi.h"
#include "parse/rocm_smi.h"
#include "parse/smi_private.h"

/* The next cell; one in quotes may hold commas. */
static bool cut_cell(struct span *rest, struct span *cell)
{
	if (rest->at && rest->len && *rest->at == '"') {
		struct span inside = span_sub(*rest, 1, rest->len);
		long end = span_find_char(inside, '"');

		if (end >= 0) {
			struct span tail = span_sub(inside, (size_t)end + 1, inside.len), dropped;

			*cell = span_sub(inside, 0, (size_t)end);
			span_cut(&tail, ',', &dropped);
			*rest = tail;
			return true;
		}
	}
	if (!span_cut(rest, ',', cell))
		return false;
	*cell = span_trim(*cell);
	return true;
}

static struct span cell_of(struct span names, struct span row, const char *wanted)
{
	struct span name, cell;

	while (cut_cell(&names, &name) && cut_cell(&row, &cell))
		if (span_is(name, wanted))
			return cell;
	return span_make("", 0);
}

static int rocm_csv(struct span text, struct gpu_list *list, struct error *error)
{
	struct span names, row, name, cell;
	struct gpu_reading *g;
	uint64_t gpu;

	if (!span_line(&text, &names) || !span_line(&text, &row) || !cut_cell(&names, &name) || !cut_cell(&row, &cell) ||
		!span_skip(&cell, "card") || !span_uint(cell, &gpu) || !(g = gpu_list_gpu(list, (int64_t)gpu)))
		return error_set(error, "no row of a card");
	while (cut_cell(&names, &name) && cut_cell(&row, &cell))
		rocm_smi_take(g, name, cell);
	return 0;
}

/* It has no units: bytes of a process, and of memory only the share is certain. */
static int amd_csv(struct span text, struct gpu_list *list, struct error *error)
{
	struct span names, row, rest, name, cell, pid_cell;
	struct gpu_process_reading *p;
	struct gpu_reading *g;
	uint64_t gpu, pid, bytes;

	if (!span_line(&text, &names) || !span_line(&text, &row) || !span_uint(cell_of(names, row, "gpu"), &gpu) || gpu >= GPU_READINGS_MAX)
		return error_set(error, "no row of a GPU");
	pid_cell = cell_of(names, row, "pid");
	if (span_uint(pid_cell, &pid) && pid <= INT32_MAX && (p = gpu_list_process(list))) {
		p->pid = (int64_t)pid;
		p->gpu = (int)gpu;
		p->gpus = 1;
		gpu_text(p->name, sizeof p->name, cell_of(names, row, "name"));
		p->vram = span_uint(cell_of(names, row, "vram_mem"), &bytes) && bytes < INT64_MAX ? (int64_t)bytes : -1;
		p->sdma_us = smi_whole(cell_of(names, row, "sdma_usage"));
		p->cu_occupancy = smi_whole(cell_of(names, row, "cu_occupancy"));
		return 0;
	}
	if (pid_cell.len || !(g = gpu_list_gpu(list, (int64_t)gpu)))
		return error_set(error, "no process");
	for (rest = row; cut_cell(&names, &name) && cut_cell(&rest, &cell);)
		if (!span_is(name, "mem")) /* activity or temperature */
			amd_smi_take(g, span_of(""), name, cell);
	if (isnan(g->vram_pct) && g->vram_total > 0)
		g->vram_pct = 100 * g->vram_used / g->vram_total;
	g->vram_used = g->vram_total = NAN;
	return 0;
}

bool smi_csv_header(struct smi_scan *s, struct span t)
{
	int (*parse)(struct span, struct gpu_list *, struct error *) = NULL;

	if (span_starts(t, "device,"))
		parse = rocm_csv;
	else if (span_starts(t, "gpu,") || span_starts(t, "timestamp,gpu,"))
		parse = amd_csv;
	else if (span_contains(t, "utilization.gpu") || (span_contains(t, "process_name") && span_contains(t, "pid,")) ||
		 (span_starts(t, "index,") && span_contains(t, "memory.")))
		parse = nvidia_smi_parse;
	if (!parse)
		return false;
	smi_list_end(s);
	buf_clear(&s->csv);
	buf_span(&s->csv, t);
	buf_char(&s->csv, '\n');
	s->csv_parse = parse;
	/* The processes of nvidia-smi name their GPU by an id that only the table before has. */
	if (parse != nvidia_smi_parse || !span_contains(t, "pid"))
		smi_say(s);
	return true;
}

bool smi_csv_row(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text);
	size_t header = s->csv.len;
	struct gpu_list one;
	struct error error;
	bool taken;

	if (span_find_char(t, ',') <= 0)
		return false;
	buf_span(&s->csv, t);
	gpu_list_init(&one);
	taken = s->csv_parse(buf_as_span(&s->csv), &one, &error) == 0;
	/* A GPU printed again is another report; another partition of it is not. */
	if (taken && one.gpus) {
		uint64_t xcp = 0;
		struct span names = span_sub(buf_as_span(&s->csv), 0, header - 1);

		span_uint(cell_of(names, t, "xcp"), &xcp);
		smi_row_of(s, (uint64_t)one.gpu[0].gpu, (int64_t)one.gpu[0].gpu * 64 + (int64_t)(xcp & 63), l->offset);
	} else if (taken && one.processes && !s->listed) {
		s->offset = l->offset;
	}
	if (taken && (one.gpus || one.processes)) {
		s->csv_parse(buf_as_span(&s->csv), &s->list, &error);
		s->listed = true;
	}
	gpu_list_release(&one);
	s->csv.len = header;
	return true;
}
