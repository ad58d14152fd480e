/* smi_rocm.c - rows of rocm-smi's text. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "parse/rocm_smi.h"
#include "parse/smi_private.h"

#define WORDS_MAX 48

/* --- concise --- */

bool smi_concise_header(struct smi_scan *s, struct span t)
{
	(void)s;
	return (span_starts(t, "GPU ") || span_starts(t, "Device ") || span_starts(t, "GPU\t")) && span_contains(t, "Temp") &&
		(span_contains(t, "SCLK") || span_contains(t, "GPU%"));
}

/* How many cells stand behind the column; -1 when there is none. "SCLK OD" is one column. */
static int from_right(const struct smi_scan *s, const char *name)
{
	int behind = 0;

	for (int i = s->columns - 1; i >= 0; i--) {
		if (strcmp(s->column[i], name) == 0 && !(i + 1 < s->columns && strcmp(s->column[i + 1], "OD") == 0))
			return behind;
		if (strcmp(s->column[i], "OD") != 0)
			behind++;
	}
	return -1;
}

static bool ends_in(struct span w, const char *letters)
{
	return w.len > 1 && isdigit((unsigned char)*w.at) && strchr(letters, w.at[w.len - 1]);
}

/* The cells by their place from the right: on the left they hold blanks. */
static bool take_concise(struct smi_scan *s, struct span text, uint64_t offset, bool again)
{
	int cap = from_right(s, "PwrCap"), vram = from_right(s, "VRAM%"), use = from_right(s, "GPU%"), words = 0;
	struct span word[WORDS_MAX];
	struct gpu_reading *g;
	uint64_t gpu, node;

	while (words < WORDS_MAX && span_word(&text, &word[words]))
		words++;
	/* "0     48c ...": at least an index, a temperature, a power, a clock */
	if (words < 4 || !span_uint(word[0], &gpu) || gpu >= GPU_READINGS_MAX)
		return false;
	g = again ? smi_reading(s, (int64_t)gpu) : smi_row_of(s, gpu, (int64_t)gpu, offset);
	if (!g)
		return false;
	if (smi_column(s, "Node") == 1 && span_uint(word[1], &node) && node < INT32_MAX)
		g->kfd_node = (int64_t)node;
	for (int i = 1; i < words; i++) {
		bool is_cap = i == words - 1 - cap && cap >= 0;

		if (isnan(g->temp_junction_c) && ends_in(word[i], "cC"))
			g->temp_junction_c = gpu_number(word[i], NULL);
		else if (ends_in(word[i], "W") && is_cap)
			g->power_cap_w = gpu_number(word[i], NULL);
		else if (ends_in(word[i], "W") && isnan(g->power_w))
			g->power_w = gpu_number(word[i], NULL);
	}
	if (s->wrapped && !again)
		return true; /* its last cells are in the next line */
	if (vram >= 0)
		g->vram_pct = gpu_percent(gpu_number(word[words - 1 - vram], NULL));
	if (use >= 0)
		g->busy_pct = gpu_percent(gpu_number(word[words - 1 - use], NULL));
	return true;
}

static bool all_of(struct span s, const char *letters)
{
	for (size_t i = 0; i < s.len; i++)
		if (!strchr(letters, s.at[i]))
			return false;
	return s.len > 0;
}

static bool starts_row(struct span t)
{
	struct span word, next;
	uint64_t gpu;

	return span_word(&t, &word) && span_uint(word, &gpu) && span_word(&t, &next);
}

/* A narrow terminal cut the rows in two, and the header: the second piece starts with no index. */
static bool wrapped_row(struct smi_scan *s, struct span t, uint64_t offset)
{
	bool again = !starts_row(t);

	if (again && !s->row.len)
		return false;
	if (!again)
		buf_clear(&s->row);
	buf_char(&s->row, ' ');
	buf_span(&s->row, t);
	return take_concise(s, buf_as_span(&s->row), offset, again);
}

bool smi_concise_row(struct smi_scan *s, const struct line *l)
{
	struct span t = span_trim(l->text);

	if (!s->listed && !s->wrapped && (span_ends(t, " GPU%") || span_is(t, "GPU%")) && smi_column(s, "GPU%") < 0) {
		s->wrapped = true;
		smi_take_columns(s, t);
		return true;
	}
	/* the second line of the header, lines of '=' or '.', names of 6.0 */
	if (!t.len || span_starts(t, "(") || all_of(t, "=.-") || (!s->listed && !starts_row(t)))
		return true;
	if (s->wrapped)
		return wrapped_row(s, t, l->offset);
	return take_concise(s, t, l->offset, false) || span_starts(l->text, "    ");
}

/* --- sections --- */

/* A key that comes again for a GPU is another report. */
static bool repeats(const struct gpu_reading *g, struct span key)
{
	struct gpu_reading probe;

	gpu_reading_init(&probe, 0);
	rocm_smi_take(&probe, key, span_of("1"));
	return (!isnan(probe.busy_pct) && !isnan(g->busy_pct)) || (!isnan(probe.power_w) && !isnan(g->power_w)) ||
		(!isnan(probe.vram_pct) && !isnan(g->vram_pct)) || (!isnan(probe.vram_used) && !isnan(g->vram_used)) ||
		(!isnan(probe.temp_junction_c) && !isnan(g->temp_junction_c)) || (!isnan(probe.temp_edge_c) && !isnan(g->temp_edge_c));
}

bool smi_key_row(struct smi_scan *s, const struct line *l)
{
	struct span rest = span_trim(l->text), key, value;
	struct gpu_reading *g;
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
	if (!s->listed)
		s->offset = l->offset;
	if (!(g = smi_reading(s, (int64_t)gpu)))
		return true;
	if (repeats(g, key)) {
		smi_say(s);
		s->offset = l->offset;
		g = smi_reading(s, (int64_t)gpu);
	}
	rocm_smi_take(g, key, value);
	return true;
}

/* --- processes --- */

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

bool smi_pid_row(struct smi_scan *s, const struct line *l)
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
		p->cu_occupancy = smi_whole(cell[0]);
		p->sdma_us = smi_whole(cell[1]);
		p->vram = smi_whole(cell[2]);
		p->gpus = smi_whole(cell[3]);
		rest = span_trim(probe);
	}
	gpu_text(p->name, sizeof p->name, rest);
	return true;
}
