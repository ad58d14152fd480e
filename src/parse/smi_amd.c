/* smi_amd.c - rows and lists of amd-smi's text. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parse/amd_smi.h"
#include "parse/smi_private.h"

/* --- monitor --- */

/* The names of all versions; those of one row say the same. */
static const struct column {
	const char *name;
	enum { POWER, TEMP, TEMP_MEM, BUSY, MEM_BUSY, USED, TOTAL, USAGE } what;
} columns[] = {
	{ "POWER", POWER }, { "POWER_USAGE", POWER }, { "PWR", POWER },
	{ "GPU_T", TEMP }, { "GPU_TEMP", TEMP }, { "HOTSPOT_TEMP", TEMP }, { "HOTSPOT", TEMP }, { "TEMP", TEMP },
	{ "MEM_T", TEMP_MEM }, { "MEM_TEMP", TEMP_MEM },
	{ "GFX%", BUSY }, { "GFX_UTIL", BUSY }, { "GFX", BUSY },
	{ "MEM%", MEM_BUSY }, { "MEM_UTIL", MEM_BUSY }, { "MEM", MEM_BUSY },
	{ "VRAM_USED", USED }, { "VRAM_TOTAL", TOTAL }, { "VRAM_USAGE", USAGE },
};

/* What a partition of the GPU before said stays. */
static void put(double *field, double value)
{
	if (isnan(*field))
		*field = value;
}

static void take_usage(struct gpu_reading *g, struct span value, struct span unit)
{
	long slash = span_find_char(value, '/');
	struct span total = span_trim(span_sub(value, (size_t)(slash + 1), value.len));

	put(&g->vram_used, gpu_bytes_of(gpu_number(span_sub(value, 0, slash < 0 ? value.len : (size_t)slash), NULL), unit));
	if (slash >= 0)
		put(&g->vram_total, gpu_bytes_of(gpu_number(total, NULL), unit));
}

static void take_column(struct gpu_reading *g, const char *name, struct span value, struct span unit)
{
	const struct column *c = columns, *end = columns + sizeof columns / sizeof *columns;
	double number = gpu_number(value, NULL);

	while (c < end && strcmp(c->name, name) != 0)
		c++;
	if (c == end)
		return;
	switch (c->what) {
	case POWER:
		put(&g->power_w, number);
		break;
	case TEMP:
		put(&g->temp_junction_c, number);
		break;
	case TEMP_MEM:
		put(&g->temp_mem_c, number);
		break;
	case BUSY:
		put(&g->busy_pct, gpu_percent(number));
		break;
	case MEM_BUSY:
		put(&g->mem_activity_pct, gpu_percent(number));
		break;
	case USED:
		put(&g->vram_used, gpu_bytes_of(number, unit));
		break;
	case TOTAL:
		put(&g->vram_total, gpu_bytes_of(number, unit));
		break;
	case USAGE:
		take_usage(g, value, unit);
		break;
	}
}

bool smi_monitor_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), value[SMI_COLUMNS_MAX], unit[SMI_COLUMNS_MAX];
	int cells = 0, at = smi_column(s, "GPU"), part = smi_column(s, "XCP");
	uint64_t gpu, xcp = 0;
	struct gpu_reading *g;

	while (cells < s->columns && smi_cell(&rest, &value[cells], &unit[cells]))
		cells++;
	if (at < 0 || at >= cells || !span_uint(value[at], &gpu))
		return false;
	if (part >= 0 && part < cells && span_uint(value[part], &xcp) && xcp > 63)
		return false;
	g = smi_row_of(s, gpu, (int64_t)(gpu * 64 + xcp), l->offset);
	for (int i = 0; g && i < cells; i++)
		take_column(g, s->column[i], value[i], unit[i]);
	return g != NULL;
}

/* --- processes --- */

/* "  0   NAME   1266127   0.0 B   0.0 B   2.8 GB ..." under "GPU  NAME  PID  GTT_MEM  CPU_MEM  VRAM_MEM ..." */
bool smi_process_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), value, unit, name = span_make("", 0);
	struct gpu_process_reading *p;
	uint64_t gpu, pid = 0;

	if (!span_word(&rest, &value) || !span_uint(value, &gpu) || gpu >= GPU_READINGS_MAX)
		return false;
	/* A name may hold blanks: up to the first whole number, the PID. */
	rest = span_trim(rest);
	for (size_t i = 0; i < rest.len; i++) {
		struct span probe = span_sub(rest, i, rest.len), word;

		if ((i && rest.at[i - 1] != ' ') || !span_word(&probe, &word) || !span_uint(word, &pid))
			continue;
		name = span_trim(span_sub(rest, 0, i));
		rest = probe;
		break;
	}
	if (!pid || !(p = gpu_list_process(&s->list)))
		return false;
	s->listed = true;
	p->pid = (int64_t)pid;
	p->gpu = (int)gpu;
	p->gpus = 1;
	gpu_text(p->name, sizeof p->name, name);
	for (int column = 3; column < s->columns && smi_cell(&rest, &value, &unit); column++) {
		double bytes = gpu_bytes_of(gpu_number(value, NULL), unit);

		if (strcmp(s->column[column], "VRAM_MEM") == 0 && !isnan(bytes))
			p->vram = (int64_t)bytes;
		else if (strcmp(s->column[column], "CU_OCCUPANCY") == 0)
			p->cu_occupancy = smi_whole(value);
		else if (strcmp(s->column[column], "SDMA_USAGE") == 0)
			p->sdma_us = smi_whole(value);
	}
	return true;
}

/* --- lists: "GPU: 0", then keys --- */

static void end_process(struct smi_scan *s)
{
	struct gpu_process_reading *p;

	if (s->in_process && s->process.pid > 0 && (p = gpu_list_process(&s->list))) {
		*p = s->process;
		s->listed = true;
	}
	s->in_process = false;
}

void smi_list_end(struct smi_scan *s)
{
	end_process(s);
	s->gpu = -1;
	s->group[0] = 0;
}

static void begin_process(struct smi_scan *s)
{
	end_process(s);
	gpu_process_reading_init(&s->process);
	s->in_process = true;
	s->process.gpu = s->gpu;
	s->process.gpus = 1;
}

static void list_process(struct smi_scan *s, struct span key, struct span value)
{
	struct span unit = span_make("", 0);
	int64_t pid;
	double bytes = gpu_bytes_of(gpu_number(value, &unit), unit), number = gpu_number(value, NULL);

	if (span_is(key, "NAME")) {
		if (!s->in_process || s->process.pid > 0 || *s->process.name)
			begin_process(s);
		gpu_text(s->process.name, sizeof s->process.name, value);
	} else if (span_is(key, "PID") && span_int(value, &pid)) {
		if (!s->in_process || s->process.pid > 0)
			begin_process(s);
		s->process.pid = pid;
	} else if (!s->in_process) {
		return;
	} else if (span_is(key, "VRAM_MEM") && !isnan(bytes)) {
		s->process.vram = (int64_t)bytes;
	} else if (span_is(key, "CU_OCCUPANCY")) {
		s->process.cu_occupancy = smi_whole(value);
	} else if (span_is(key, "SDMA_USAGE") && number >= 0) {
		s->process.sdma_us = (int64_t)number;
	}
}

static void list_gpu(struct smi_scan *s, struct span key, struct span value)
{
	struct gpu_reading probe, *g;

	gpu_reading_init(&probe, 0);
	if (amd_smi_take(&probe, span_of(s->group), key, value) && (g = smi_reading(s, s->gpu)))
		amd_smi_take(g, span_of(s->group), key, value);
}

static void list_key(struct smi_scan *s, struct span rest)
{
	long colon = span_find_char(rest, ':');
	struct span key, value;

	if (colon <= 0)
		return;
	key = span_sub(rest, 0, (size_t)colon);
	value = span_trim(span_sub(rest, (size_t)colon + 1, rest.len));
	if (!value.len)
		snprintf(s->group, sizeof s->group, "%.*s", (int)(key.len < 23 ? key.len : 23), key.at);
	else
		list_gpu(s, key, value);
	list_process(s, key, value);
}

bool smi_list_line(struct smi_scan *s, const struct line *l)
{
	struct span rest = l->text;
	uint64_t gpu;

	if (span_skip(&rest, "GPU: ") && span_uint(rest, &gpu) && gpu < GPU_READINGS_MAX) {
		int before = s->gpu;

		smi_end_table(s);
		end_process(s);
		/* The same GPU again, or a smaller one: another report. */
		if (before < 0 || (int)gpu <= before)
			smi_say(s);
		if (!s->listed)
			s->offset = l->offset;
		s->gpu = (int)gpu;
		s->group[0] = 0;
		return true;
	}
	if (s->gpu < 0)
		return false;
	rest = span_trim(l->text);
	if (!span_starts(l->text, " ") && !span_starts(l->text, "\t") && rest.len) {
		smi_list_end(s);
		return false;
	}
	list_key(s, rest);
	return true;
}
