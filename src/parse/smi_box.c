/* smi_box.c - the boxes that amd-smi and nvidia-smi draw when they get no command.
 *
 * amd-smi     | 0000:09:00.0    AMD Instinct MI325X | 0 %      49 °C   0          144/1000 W |
 *             |   0       0       3        SPX/NPS1 | 7 %        N/A         26213/262128 MB |
 *             |    0    1266127  python3.12             2.0 MB    2.8 GB     3.0 GB    0.0 % |
 * nvidia-smi  |   0  NVIDIA H100 80GB HBM3          On  |   00000000:C1:00.0 Off |                  Off |
 *             | 30%   47C    P2             90W /  300W |   46867MiB /  49140MiB |    100%      Default |
 */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "parse/smi_private.h"

#define CELLS 4

bool smi_box_header(struct span t, enum smi_table *table)
{
	if (span_contains(t, "Mem-Uti") && span_contains(t, "Power-Usage"))
		*table = SMI_AMD_BOX;
	else if (span_contains(t, "Persistence-M") || (span_contains(t, "Pwr:Usage/Cap") && span_contains(t, "GPU-Util")))
		*table = SMI_NVIDIA_BOX;
	else if (span_contains(t, "Process Name") && span_contains(t, "VRAM_MEM"))
		*table = SMI_PROCESS_BOX;
	else
		return false;
	return true;
}

static int cells_of(struct span t, struct span *cell)
{
	struct span piece;
	int n = 0;

	span_skip(&t, "|");
	while (n < CELLS && span_cut(&t, '|', &piece))
		if (t.at || span_trim(piece).len)
			cell[n++] = span_trim(piece);
	return n;
}

static struct span before(struct span s, char c)
{
	long at = span_find_char(s, c);

	return span_trim(at < 0 ? s : span_sub(s, 0, (size_t)at));
}

static struct span behind(struct span s, char c)
{
	long at = span_find_char(s, c);

	return at < 0 ? span_make("", 0) : span_trim(span_sub(s, (size_t)at + 1, s.len));
}

static struct span last_cell(struct span rest, struct span *unit)
{
	struct span value = span_make("", 0), next, mark = span_make("", 0);

	while (smi_cell(&rest, &next, &mark)) {
		value = next;
		*unit = mark;
	}
	return value;
}

/* The first line of a GPU comes before its index is known: it goes to a reading that waits in no list. */
static bool amd_first(struct smi_scan *s, const struct line *l, struct span right)
{
	buf_clear(&s->row);
	buf_span(&s->row, right);
	if (!s->listed)
		s->offset = l->offset;
	return true;
}

static void amd_numbers(struct smi_scan *s, struct gpu_reading *g, struct span right)
{
	struct span top = buf_as_span(&s->row), value, unit = span_make("", 0), power;

	power = last_cell(top, &unit);
	g->power_w = gpu_number(before(power, '/'), NULL);
	g->power_cap_w = gpu_number(behind(power, '/'), NULL);
	if (smi_cell(&top, &value, &unit))
		g->mem_activity_pct = gpu_percent(gpu_number(value, NULL));
	if (smi_cell(&top, &value, &unit))
		g->temp_junction_c = gpu_number(value, NULL);
	value = last_cell(right, &unit);
	g->vram_used = gpu_bytes_of(gpu_number(before(value, '/'), NULL), unit);
	g->vram_total = gpu_bytes_of(gpu_number(behind(value, '/'), NULL), unit);
	if (smi_cell(&right, &value, &unit))
		g->busy_pct = gpu_percent(gpu_number(value, NULL));
}

static bool amd_row(struct smi_scan *s, const struct line *l, const struct span *cell, int cells)
{
	struct span rest = cell[0], word;
	struct gpu_reading *g;
	uint64_t gpu;

	if (cells < 2 || !span_word(&rest, &word))
		return true;
	if (span_find_char(word, ':') > 0)
		return amd_first(s, l, cell[1]);
	if (!s->row.len || !span_uint(word, &gpu))
		return true; /* the second line of the header */
	if ((g = smi_row_of(s, gpu, (int64_t)gpu, l->offset)))
		amd_numbers(s, g, cell[1]);
	buf_clear(&s->row);
	return true;
}

static void nvidia_numbers(struct gpu_reading *g, const struct span *cell)
{
	struct span rest = cell[0], word, unit = span_make("", 0), used = before(cell[1], '/'), total = behind(cell[1], '/');
	double bytes;

	while (span_word(&rest, &word)) {
		if (word.len > 1 && isdigit((unsigned char)*word.at) && word.at[word.len - 1] == 'C')
			g->temp_junction_c = gpu_number(word, NULL);
		else if (word.len > 1 && isdigit((unsigned char)*word.at) && word.at[word.len - 1] == 'W' && isnan(g->power_w))
			g->power_w = gpu_number(word, NULL);
		if (span_is(word, "/"))
			break; /* the limit is behind it */
	}
	bytes = gpu_number(used, &unit);
	g->vram_used = gpu_bytes_of(bytes, unit);
	bytes = gpu_number(total, &unit);
	g->vram_total = gpu_bytes_of(bytes, unit);
	rest = cell[2];
	if (span_word(&rest, &word))
		g->busy_pct = gpu_percent(gpu_number(word, NULL));
}

static bool nvidia_row(struct smi_scan *s, const struct line *l, const struct span *cell, int cells)
{
	struct span rest = cell[0], word;
	struct gpu_reading *g;
	uint64_t gpu;

	if (cells < 3)
		return cells > 0 && !span_contains(cell[0], "Processes:"); /* theirs is no table of ours */
	if (span_word(&rest, &word) && span_uint(word, &gpu) && smi_row_of(s, gpu, (int64_t)gpu, l->offset)) {
		s->gpu = (int)gpu;
	} else if (s->gpu >= 0 && span_contains(cell[1], "/") && (g = smi_reading(s, s->gpu))) {
		nvidia_numbers(g, cell);
		s->gpu = -1;
	}
	return true;
}

/* Four cells from the right; what is left between PID and them is the name. */
static bool process_row(struct smi_scan *s, struct span t)
{
	struct span rest = t, word, value[SMI_COLUMNS_MAX], unit[SMI_COLUMNS_MAX];
	struct gpu_process_reading *p;
	uint64_t gpu, pid;
	int cells = 0;
	double bytes;

	if (!span_word(&rest, &word) || !span_uint(word, &gpu) || gpu >= GPU_READINGS_MAX || !span_word(&rest, &word) || !span_uint(word, &pid))
		return true; /* "No running processes found" */
	rest = t = span_trim(rest);
	while (cells < SMI_COLUMNS_MAX && smi_cell(&rest, &value[cells], &unit[cells]))
		cells++;
	if (cells < 4 || !(p = gpu_list_process(&s->list)))
		return true;
	s->listed = true;
	p->pid = (int64_t)pid;
	p->gpu = (int)gpu;
	p->gpus = 1;
	bytes = gpu_bytes_of(gpu_number(value[cells - 3], NULL), unit[cells - 3]);
	p->vram = isnan(bytes) ? -1 : (int64_t)bytes;
	gpu_text(p->name, sizeof p->name, span_sub(t, 0, (size_t)(value[cells - 4].at - t.at)));
	return true;
}

bool smi_box_row(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text), cell[CELLS] = { { "", 0 } };
	int cells;

	if (!t.len)
		return s->table == SMI_NVIDIA_BOX;
	if (*t.at == '+' || span_starts(t, "|-") || span_starts(t, "|="))
		return true;
	if (*t.at != '|')
		return false;
	cells = cells_of(t, cell);
	if (s->table == SMI_AMD_BOX)
		return amd_row(s, l, cell, cells);
	if (s->table == SMI_NVIDIA_BOX)
		return nvidia_row(s, l, cell, cells);
	return process_row(s, cell[0]);
}
