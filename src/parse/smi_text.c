/* smi_text.c - rows of tables, keys of lists. */
#include "config.h"

#include "parse/smi_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parse/gpu_say.h"
#include "parse/nvidia_smi.h"

void smi_text_init(struct smi_scan *s, const struct reading_sink *sink)
{
	memset(s, 0, sizeof *s);
	s->sink = sink;
	s->gpu = -1;
	gpu_list_init(&s->list);
	buf_init(&s->csv, 1 << 20);
}

void smi_text_release(struct smi_scan *s)
{
	gpu_list_release(&s->list);
	buf_release(&s->csv);
}

bool smi_text_open(const struct smi_scan *s)
{
	return s->table != SMI_NONE || s->gpu >= 0;
}

/* --- what is emitted --- */

static void say(struct smi_scan *s)
{
	if (s->listed)
		gpu_list_say(&s->list, s->offset, "rocm-smi", s->sink);
	gpu_list_release(&s->list);
	s->listed = false;
}

static void end_process(struct smi_scan *s)
{
	struct gpu_process_reading *p;

	if (s->in_process && s->process.pid > 0 && (p = gpu_list_process(&s->list))) {
		*p = s->process;
		s->listed = true;
	}
	s->in_process = false;
}

static void end_table(struct smi_scan *s)
{
	struct error error;

	if (s->table == SMI_CSV && nvidia_smi_parse(buf_as_span(&s->csv), &s->list, &error) == 0)
		s->listed = true;
	buf_clear(&s->csv);
	s->table = SMI_NONE;
}

static void end_list(struct smi_scan *s)
{
	end_process(s);
	s->gpu = -1;
}

void smi_text_flush(struct smi_scan *s)
{
	end_table(s);
	end_list(s);
	say(s);
}

static void begin(struct smi_scan *s, enum smi_table table, const struct line *l)
{
	end_table(s);
	end_list(s);
	say(s);
	s->table = table;
	s->offset = l->offset;
}

static struct gpu_reading *reading(struct smi_scan *s, int64_t gpu)
{
	s->listed = true;
	return gpu_list_gpu(&s->list, gpu);
}

/* --- rocm-smi, concise --- */

static void take_columns(struct smi_scan *s, struct span header)
{
	struct span word;

	s->columns = 0;
	while (s->columns < SMI_COLUMNS_MAX && span_word(&header, &word))
		snprintf(s->column[s->columns++], sizeof s->column[0], "%.*s", (int)(word.len < 23 ? word.len : 23), word.at);
}

static bool has_column(const struct smi_scan *s, const char *name)
{
	for (int i = 0; i < s->columns; i++)
		if (strcmp(s->column[i], name) == 0)
			return true;
	return false;
}

static bool is_temperature(struct span w)
{
	return w.len > 1 && isdigit((unsigned char)*w.at) && (w.at[w.len - 1] == 'c' || w.at[w.len - 1] == 'C');
}

static bool is_power(struct span w)
{
	return w.len > 1 && isdigit((unsigned char)*w.at) && w.at[w.len - 1] == 'W';
}

static bool concise_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), word, last[2] = { { "", 0 }, { "", 0 } };
	bool temp = false, power = false;
	struct gpu_reading *g;
	uint64_t gpu, node = 0;
	int words = 0;

	if (!span_word(&rest, &word) || !span_uint(word, &gpu) || gpu >= GPU_READINGS_MAX)
		return false;
	g = reading(s, (int64_t)gpu);
	while (span_word(&rest, &word)) {
		if (words == 0 && s->node && span_uint(word, &node))
			g->kfd_node = (int64_t)node;
		if (!temp && is_temperature(word)) {
			g->temp_junction_c = gpu_number(word, NULL);
			temp = true;
		} else if (temp && !power && (is_power(word) || span_is(word, "N/A"))) {
			g->power_w = gpu_number(word, NULL);
			power = true;
		} else if (power && is_power(word)) {
			g->power_cap_w = gpu_number(word, NULL);
		}
		last[0] = last[1];
		last[1] = word;
		words++;
	}
	g->vram_pct = gpu_percent(gpu_number(last[0], NULL));
	g->busy_pct = gpu_percent(gpu_number(last[1], NULL));
	return true;
}

/* --- rocm-smi, sections --- */

static bool key_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), key, value;
	struct gpu_reading *g;
	double number;
	uint64_t gpu;
	long colon;

	if (!span_skip(&rest, "GPU[") || !span_take_uint(&rest, &gpu) || !span_skip(&rest, "]"))
		return false;
	rest = span_trim(rest);
	if (!span_skip(&rest, ":") || gpu >= GPU_READINGS_MAX)
		return false;
	rest = span_trim(rest);
	/* "Temperature (Sensor edge) (C): 31.0": the last colon that a blank follows */
	colon = span_find(rest, "): ");
	colon = colon >= 0 ? colon + 1 : span_find(rest, ": ");
	if (colon < 0)
		return true; /* "get_power_avg, Not supported on the given system" */
	key = span_trim(span_sub(rest, 0, (size_t)colon));
	value = span_trim(span_sub(rest, (size_t)colon + 1, rest.len));
	number = gpu_number(value, NULL);
	if (!s->listed)
		s->offset = l->offset;
	if (!(g = reading(s, (int64_t)gpu)))
		return true;
	if (span_is(key, "GPU use (%)"))
		g->busy_pct = gpu_percent(number);
	else if (span_is(key, "GPU memory use (%)") || span_contains(key, "Memory Read/Write Activity"))
		g->mem_activity_pct = gpu_percent(number);
	else if (span_contains(key, "Memory Allocated (VRAM%)"))
		g->vram_pct = gpu_percent(number);
	else if (span_contains(key, "VRAM Total Memory (B)"))
		g->vram_total = number;
	else if (span_contains(key, "VRAM Total Used Memory (B)"))
		g->vram_used = number;
	else if (span_contains(key, "Graphics Package Power (W)") && !span_contains(key, "Max "))
		g->power_w = number;
	else if (span_contains(key, "Max Graphics Package Power (W)"))
		g->power_cap_w = number;
	else if (span_contains(key, "Sensor junction"))
		g->temp_junction_c = number;
	else if (span_contains(key, "Sensor edge") || (span_is(key, "Temperature (C)") && isnan(g->temp_edge_c)))
		g->temp_edge_c = number;
	else if (span_contains(key, "Sensor memory"))
		g->temp_mem_c = number;
	return true;
}

/* --- rocm-smi, processes --- */

static struct span last_cell(struct span *s, bool tabs)
{
	size_t start;
	struct span cell;

	*s = span_trim(*s);
	start = s->len;
	while (start > 0 && s->at[start - 1] != '\t' && (tabs || s->at[start - 1] != ' '))
		start--;
	cell = span_trim(span_sub(*s, start, s->len));
	s->len = start;
	return cell;
}

static bool is_cell_number(struct span s)
{
	uint64_t n;

	return span_uint(s, &n) || span_is(s, "UNKNOWN") || span_is(s, "N/A") || span_is(s, "unknown");
}

static int64_t cell_number(struct span s)
{
	int64_t n;

	return span_int(s, &n) ? n : -1;
}

static bool pid_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), word, cell[4], probe;
	bool tabs = rest.len && memchr(rest.at, '\t', rest.len);
	struct gpu_process_reading *p;
	uint64_t pid;
	int cells = 0;

	if (!span_word(&rest, &word) || !span_uint(word, &pid))
		return false;
	if (!(p = gpu_list_process(&s->list)))
		return true;
	s->listed = true;
	p->pid = (int64_t)pid;
	probe = rest = span_trim(rest);
	while (cells < 4) {
		struct span before = probe, c = last_cell(&probe, tabs);

		if (!is_cell_number(c)) {
			probe = before;
			break;
		}
		cell[cells++] = c;
	}
	if (cells == 4) {
		p->cu_occupancy = cell_number(cell[0]);
		p->sdma_us = cell_number(cell[1]);
		p->vram = cell_number(cell[2]);
		p->gpus = cell_number(cell[3]);
		rest = span_trim(probe);
	}
	gpu_text(p->name, sizeof p->name, rest);
	return true;
}

/* --- amd-smi tables --- */

static bool is_unit(struct span w)
{
	static const char *const units[] = { "W", "MHz", "Mhz", "%", "MB", "GB", "KB", "TB", "B", "MiB", "GiB", "ns", "us", "ms", "Mb/s", "MB/s", "C", "\302\260C", "mV", "V" };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (span_is(w, units[i]))
			return true;
	return false;
}

/* The next cell: a word, and its unit when that stands apart. */
static bool take_cell(struct span *rest, struct span *value, struct span *unit)
{
	struct span probe;

	*unit = span_make("", 0);
	if (!span_word(rest, value))
		return false;
	probe = *rest;
	if (span_word(&probe, unit) && is_unit(*unit))
		*rest = probe;
	else
		*unit = span_make("", 0);
	return true;
}

static void vram_usage(struct gpu_reading *g, struct span value, struct span unit)
{
	long slash = span_find_char(value, '/');

	if (slash < 0) {
		g->vram_used = gpu_bytes_of(gpu_number(value, NULL), unit);
		return;
	}
	g->vram_used = gpu_bytes_of(gpu_number(span_sub(value, 0, (size_t)slash), NULL), unit);
	g->vram_total = gpu_bytes_of(gpu_number(span_sub(value, (size_t)slash + 1, value.len), NULL), unit);
}

static bool column_is(const char *name, const char *a, const char *b, const char *c)
{
	return strcmp(name, a) == 0 || (b && strcmp(name, b) == 0) || (c && strcmp(name, c) == 0);
}

static bool monitor_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), value, unit;
	struct gpu_reading *g = NULL;
	uint64_t gpu;

	for (int i = 0; i < s->columns && take_cell(&rest, &value, &unit); i++) {
		const char *name = s->column[i];
		double number = gpu_number(value, NULL);

		if (i == 0) {
			if (!span_uint(value, &gpu) || gpu >= GPU_READINGS_MAX || !(g = reading(s, (int64_t)gpu)))
				return false;
		} else if (column_is(name, "POWER", "POWER_USAGE", "PWR")) {
			g->power_w = number;
		} else if (column_is(name, "GPU_T", "GPU_TEMP", "HOTSPOT_TEMP") || column_is(name, "HOTSPOT", "TEMP", NULL)) {
			g->temp_junction_c = number;
		} else if (column_is(name, "MEM_T", "MEM_TEMP", NULL)) {
			g->temp_mem_c = number;
		} else if (column_is(name, "GFX%", "GFX_UTIL", "GFX")) {
			g->busy_pct = gpu_percent(number);
		} else if (column_is(name, "MEM%", "MEM_UTIL", "MEM")) {
			g->mem_activity_pct = gpu_percent(number);
		} else if (column_is(name, "VRAM_USED", NULL, NULL)) {
			g->vram_used = gpu_bytes_of(number, unit);
		} else if (column_is(name, "VRAM_TOTAL", NULL, NULL)) {
			g->vram_total = gpu_bytes_of(number, unit);
		} else if (column_is(name, "VRAM_USAGE", NULL, NULL)) {
			vram_usage(g, value, unit);
		}
	}
	return g != NULL;
}

/* "  0   NAME   1266127   0.0 B   0.0 B   2.8 GB ..." under "GPU  NAME  PID  GTT_MEM  CPU_MEM  VRAM_MEM ..." */
static bool process_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), value, unit, name = span_make("", 0);
	struct gpu_process_reading *p;
	uint64_t gpu, pid = 0;
	int column = 2;

	if (!span_word(&rest, &value) || !span_uint(value, &gpu))
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
	for (column = 3; column < s->columns && take_cell(&rest, &value, &unit); column++) {
		double bytes = gpu_bytes_of(gpu_number(value, NULL), unit);

		if (strcmp(s->column[column], "VRAM_MEM") == 0 && !isnan(bytes))
			p->vram = (int64_t)bytes;
		else if (strcmp(s->column[column], "CU_OCCUPANCY") == 0)
			p->cu_occupancy = cell_number(value);
	}
	return true;
}

/* --- amd-smi lists: "GPU: 0", then keys --- */

static void list_gpu(struct smi_scan *s, struct span key, struct span value)
{
	struct span number_text = value, unit = span_make("", 0), word;
	double number = gpu_number(value, NULL);
	struct gpu_reading *g;

	if (span_word(&number_text, &word))
		span_word(&number_text, &unit);
	if (span_is(key, "GFX_ACTIVITY")) {
		if ((g = reading(s, s->gpu)))
			g->busy_pct = gpu_percent(number);
	} else if (span_is(key, "UMC_ACTIVITY")) {
		if ((g = reading(s, s->gpu)))
			g->mem_activity_pct = gpu_percent(number);
	} else if (span_is(key, "SOCKET_POWER") || span_is(key, "CURRENT_SOCKET_POWER") || span_is(key, "AVERAGE_SOCKET_POWER")) {
		if ((g = reading(s, s->gpu)) && isnan(g->power_w))
			g->power_w = number;
	} else if (span_is(key, "HOTSPOT")) {
		if ((g = reading(s, s->gpu)))
			g->temp_junction_c = number;
	} else if (span_is(key, "EDGE")) {
		if ((g = reading(s, s->gpu)))
			g->temp_edge_c = number;
	} else if (span_is(key, "TOTAL_VRAM")) {
		if ((g = reading(s, s->gpu)))
			g->vram_total = gpu_bytes_of(number, unit);
	} else if (span_is(key, "USED_VRAM")) {
		if ((g = reading(s, s->gpu)))
			g->vram_used = gpu_bytes_of(number, unit);
	}
}

static void list_process(struct smi_scan *s, struct span key, struct span value)
{
	struct span rest = value, word, unit = span_make("", 0);
	int64_t pid;

	if (span_is(key, "NAME")) {
		if (s->process.pid > 0 || *s->process.name)
			end_process(s);
		if (!s->in_process)
			gpu_process_reading_init(&s->process);
		s->in_process = true;
		s->process.gpu = s->gpu;
		s->process.gpus = 1;
		gpu_text(s->process.name, sizeof s->process.name, value);
	} else if (span_is(key, "PID") && span_int(value, &pid)) {
		if (!s->in_process || s->process.pid > 0) {
			end_process(s);
			gpu_process_reading_init(&s->process);
			s->in_process = true;
			s->process.gpu = s->gpu;
			s->process.gpus = 1;
		}
		s->process.pid = pid;
	} else if (span_is(key, "VRAM_MEM") && s->in_process) {
		double bytes;

		if (span_word(&rest, &word))
			span_word(&rest, &unit);
		bytes = gpu_bytes_of(gpu_number(value, NULL), unit);
		if (!isnan(bytes))
			s->process.vram = (int64_t)bytes;
	} else if (span_is(key, "CU_OCCUPANCY") && s->in_process) {
		s->process.cu_occupancy = cell_number(value);
	}
}

static bool list_line(struct smi_scan *s, const struct line *l)
{
	struct span rest = l->text, key, value;
	uint64_t gpu;
	long colon;

	if (span_skip(&rest, "GPU: ") && span_uint(rest, &gpu) && gpu < GPU_READINGS_MAX) {
		end_table(s);
		end_process(s);
		/* The same GPU again, or a smaller one: another report. */
		if (s->gpu < 0 || (int)gpu <= s->gpu)
			say(s);
		if (!s->listed)
			s->offset = l->offset;
		s->gpu = (int)gpu;
		return true;
	}
	if (s->gpu < 0)
		return false;
	if (!span_starts(l->text, " ") && span_trim(l->text).len) {
		end_list(s);
		return false;
	}
	rest = span_trim(l->text);
	colon = span_find_char(rest, ':');
	if (colon <= 0)
		return true;
	key = span_sub(rest, 0, (size_t)colon);
	value = span_trim(span_sub(rest, (size_t)colon + 1, rest.len));
	list_gpu(s, key, value);
	list_process(s, key, value);
	return true;
}

/* --- lines --- */

static bool all_of(struct span s, char c)
{
	s = span_trim(s);
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] != c)
			return false;
	return s.len > 0;
}

static bool header(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text);

	if (span_contains(t, "VRAM%") && span_contains(t, "GPU%") && (span_starts(t, "GPU ") || span_starts(t, "Device ") || span_starts(t, "GPU\t"))) {
		begin(s, SMI_CONCISE, l);
		take_columns(s, t);
		s->node = has_column(s, "Node");
		return true;
	}
	if (span_starts(t, "PID") && span_contains(t, "PROCESS NAME") && span_contains(t, "VRAM USED")) {
		begin(s, SMI_PIDS, l);
		return true;
	}
	if (span_starts(t, "GPU ") && span_contains(t, " PID ") && span_contains(t, "VRAM_MEM")) {
		begin(s, SMI_PROCESSES, l);
		take_columns(s, t);
		return true;
	}
	if (span_starts(t, "GPU ") && (span_contains(t, "POWER") || span_contains(t, "GFX%") || span_contains(t, "GFX_UTIL") || span_contains(t, "VRAM_"))) {
		begin(s, SMI_MONITOR, l);
		take_columns(s, t);
		return true;
	}
	if (span_contains(t, "utilization.gpu") || (span_contains(t, "process_name") && span_contains(t, "pid,")) ||
		(span_starts(t, "index,") && span_contains(t, "memory."))) {
		begin(s, SMI_CSV, l);
		buf_span(&s->csv, t);
		buf_char(&s->csv, '\n');
		return true;
	}
	if (span_contains(t, "ROCm System Management Interface") || span_contains(t, "End of ROCm SMI Log")) {
		smi_text_flush(s);
		return true;
	}
	return false;
}

static bool row(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text);

	switch (s->table) {
	case SMI_CONCISE:
		if (concise_row(s, l))
			return true;
		/* the second line of the header, lines of '=', names of 6.0 */
		if (span_starts(t, "(") || all_of(t, '=') || !t.len || span_starts(l->text, "    "))
			return true;
		break;
	case SMI_PIDS:
		if (pid_row(s, l))
			return true;
		break;
	case SMI_MONITOR:
		if (monitor_row(s, l))
			return true;
		break;
	case SMI_PROCESSES:
		if (process_row(s, l))
			return true;
		break;
	case SMI_CSV:
		if (span_find_char(t, ',') > 0) {
			buf_span(&s->csv, t);
			buf_char(&s->csv, '\n');
			return true;
		}
		break;
	case SMI_NONE:
		return false;
	}
	end_table(s);
	if (!s->listed || s->gpu < 0)
		say(s);
	return false;
}

bool smi_text_line(struct smi_scan *s, const struct line *l)
{
	if (header(s, l))
		return true;
	if (s->table != SMI_NONE && row(s, l))
		return true;
	return key_row(s, l) || list_line(s, l);
}
