/* smi_text.c - which table a line opens, and where a report ends. */
#include "config.h"

#include "parse/smi_text.h"

#include <stdio.h>
#include <string.h>

#include "parse/gpu_say.h"
#include "parse/smi_private.h"

void smi_text_init(struct smi_scan *s, const struct reading_sink *sink)
{
	memset(s, 0, sizeof *s);
	s->sink = sink;
	s->gpu = -1;
	s->row_key = -1;
	gpu_list_init(&s->list);
	buf_init(&s->csv, 1 << 14);
	buf_init(&s->row, 1 << 12);
}

void smi_text_release(struct smi_scan *s)
{
	gpu_list_release(&s->list);
	buf_release(&s->csv);
	buf_release(&s->row);
}

bool smi_text_open(const struct smi_scan *s)
{
	return s->table != SMI_NONE || s->gpu >= 0;
}

/* --- reports --- */

void smi_say(struct smi_scan *s)
{
	if (s->listed)
		gpu_list_say(&s->list, s->offset, "rocm-smi", s->sink);
	gpu_list_release(&s->list);
	s->listed = false;
	s->row_key = -1;
}

void smi_end_table(struct smi_scan *s)
{
	buf_clear(&s->csv);
	buf_clear(&s->row);
	s->table = SMI_NONE;
	s->gpu = -1;
}

void smi_text_flush(struct smi_scan *s)
{
	smi_list_end(s);
	smi_end_table(s);
	smi_say(s);
}

static void begin(struct smi_scan *s, enum smi_table table, const struct line *l)
{
	smi_text_flush(s);
	s->table = table;
	s->offset = l->offset;
	s->columns = 0;
	s->wrapped = false;
}

struct gpu_reading *smi_reading(struct smi_scan *s, int64_t gpu)
{
	struct gpu_reading *g = gpu_list_gpu(&s->list, gpu);

	s->listed = s->listed || g;
	return g;
}

struct gpu_reading *smi_row_of(struct smi_scan *s, uint64_t gpu, int64_t key, uint64_t offset)
{
	if (gpu >= GPU_READINGS_MAX)
		return NULL;
	if (key <= s->row_key)
		smi_say(s);
	if (!s->listed)
		s->offset = offset;
	s->row_key = key;
	return smi_reading(s, (int64_t)gpu);
}

/* --- columns and cells --- */

void smi_take_columns(struct smi_scan *s, struct span header)
{
	struct span word;

	while (s->columns < SMI_COLUMNS_MAX && span_word(&header, &word))
		snprintf(s->column[s->columns++], sizeof s->column[0], "%.*s", (int)(word.len < 23 ? word.len : 23), word.at);
}

int smi_column(const struct smi_scan *s, const char *name)
{
	for (int i = 0; i < s->columns; i++)
		if (strcmp(s->column[i], name) == 0)
			return i;
	return -1;
}

static bool is_unit(struct span w)
{
	static const char *const units[] = { "W", "MHz", "Mhz", "%", "MB", "GB", "KB", "TB", "B", "MiB", "GiB", "ns", "us", "ms", "Mb/s", "MB/s", "C", "\302\260C", "mV", "V" };

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (span_is(w, units[i]))
			return true;
	return false;
}

bool smi_cell(struct span *rest, struct span *value, struct span *unit)
{
	struct span probe;

	*unit = span_make("", 0);
	if (!span_word(rest, value))
		return false;
	probe = *rest;
	/* "22.0/ 24.0 GB": one cell */
	if (span_ends(*value, "/") && span_word(&probe, unit) && unit->at > value->at) {
		value->len = (size_t)(unit->at + unit->len - value->at);
		*rest = probe;
	}
	if (span_word(&probe, unit) && is_unit(*unit))
		*rest = probe;
	else
		*unit = span_make("", 0);
	return true;
}

int64_t smi_whole(struct span s)
{
	int64_t n;

	return span_int(s, &n) ? n : -1;
}

/* --- lines --- */

static bool has_one(struct span t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_contains(t, words[i]))
			return true;
	return false;
}

static bool monitor_header(struct span t)
{
	static const char *const columns[] = { "POWER", "GFX%", "GFX_UTIL", "VRAM_", "GPU_T" };

	return (span_starts(t, "GPU ") || span_starts(t, "TIMESTAMP ")) && span_contains(t, "GPU ") && has_one(t, columns, 5);
}

static bool header(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text);
	enum smi_table box;

	if (span_starts(t, "PID") && span_contains(t, "PROCESS NAME") && span_contains(t, "VRAM USED")) {
		begin(s, SMI_PIDS, l);
	} else if (span_starts(t, "GPU ") && span_contains(t, " PID ") && span_contains(t, "VRAM_MEM")) {
		begin(s, SMI_PROCESSES, l);
		smi_take_columns(s, t);
	} else if (monitor_header(t)) {
		begin(s, SMI_MONITOR, l);
		smi_take_columns(s, t);
	} else if (smi_concise_header(s, t)) {
		begin(s, SMI_CONCISE, l);
		smi_take_columns(s, t);
	} else if (t.len && *t.at == '|' && smi_box_header(t, &box)) {
		/* The processes of a box belong to its report. */
		if (box == SMI_PROCESS_BOX && s->table == SMI_NONE)
			s->table = box;
		else
			begin(s, box, l);
	} else if (smi_csv_header(s, t)) {
		/* It may be one half of a report: GPUs, and processes that name them. */
		s->table = SMI_CSV;
	} else if (span_contains(t, "ROCm System Management Interface") || span_contains(t, "End of ROCm SMI Log")) {
		smi_text_flush(s);
	} else {
		return false;
	}
	return true;
}

static bool row(struct smi_scan *s, const struct line *l)
{
	bool (*const rows[])(struct smi_scan *, const struct line *) = { [SMI_CONCISE] = smi_concise_row, [SMI_PIDS] = smi_pid_row,
		[SMI_MONITOR] = smi_monitor_row, [SMI_PROCESSES] = smi_process_row, [SMI_CSV] = smi_csv_row, [SMI_AMD_BOX] = smi_box_row,
		[SMI_NVIDIA_BOX] = smi_box_row, [SMI_PROCESS_BOX] = smi_box_row };
	enum smi_table table = s->table;

	if (rows[table](s, l))
		return true;
	smi_end_table(s);
	/* A box and a CSV go on behind their next header. */
	if (table != SMI_AMD_BOX && table != SMI_CSV)
		smi_say(s);
	return false;
}

bool smi_text_line(struct smi_scan *s, const struct line *l)
{
	if (header(s, l))
		return true;
	if (s->table != SMI_NONE && row(s, l))
		return true;
	return smi_key_row(s, l) || smi_list_line(s, l);
}
