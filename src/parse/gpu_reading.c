/* gpu_reading.c - readings with unknown fields, and the words GPU tools use for unknown. */
#include "config.h"

#include "parse/gpu_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

void gpu_reading_init(struct gpu_reading *r, int gpu)
{
	memset(r, 0, sizeof *r);
	r->gpu = gpu;
	r->busy_pct = r->mem_activity_pct = r->vram_used = r->vram_total = r->vram_pct = NAN;
	r->power_w = r->power_cap_w = r->temp_junction_c = r->temp_edge_c = r->temp_mem_c = NAN;
	r->sclk_mhz = r->mclk_mhz = NAN;
	r->kfd_node = -1;
}

void gpu_process_reading_init(struct gpu_process_reading *p)
{
	memset(p, 0, sizeof *p);
	p->gpu = -1;
	p->gpus = p->vram = p->sdma_us = p->cu_occupancy = p->queues = p->evicted_ms = -1;
}

double gpu_reading_temp(const struct gpu_reading *r)
{
	return isnan(r->temp_junction_c) ? r->temp_edge_c : r->temp_junction_c;
}

void gpu_list_init(struct gpu_list *list)
{
	memset(list, 0, sizeof *list);
}

void gpu_list_release(struct gpu_list *list)
{
	free(list->gpu);
	free(list->process);
	gpu_list_init(list);
}

struct gpu_reading *gpu_list_gpu(struct gpu_list *list, int64_t gpu)
{
	size_t at = list->gpus;

	if (gpu < 0 || gpu >= GPU_READINGS_MAX)
		return NULL;
	while (at > 0 && list->gpu[at - 1].gpu > gpu)
		at--;
	if (at > 0 && list->gpu[at - 1].gpu == gpu)
		return &list->gpu[at - 1];
	if (list->gpus == list->gpu_cap) {
		list->gpu_cap = list->gpu_cap ? list->gpu_cap * 2 : 8;
		list->gpu = mem_array(list->gpu, list->gpu_cap, sizeof *list->gpu);
	}
	memmove(&list->gpu[at + 1], &list->gpu[at], (list->gpus - at) * sizeof *list->gpu);
	list->gpus++;
	gpu_reading_init(&list->gpu[at], (int)gpu);
	return &list->gpu[at];
}

struct gpu_process_reading *gpu_list_process(struct gpu_list *list)
{
	if (list->processes == GPU_PROCESSES_MAX)
		return NULL;
	if (list->processes == list->process_cap) {
		list->process_cap = list->process_cap ? list->process_cap * 2 : 8;
		list->process = mem_array(list->process, list->process_cap, sizeof *list->process);
	}
	gpu_process_reading_init(&list->process[list->processes]);
	return &list->process[list->processes++];
}

/* --- text and numbers --- */

static bool same_word(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

static bool means_unknown(struct span s)
{
	static const char *const words[] = { "", "N/A", "None", "unknown", "Unsupported", "not supported", "ERR!", NULL };

	if (s.len && s.at[0] == '[')
		return true; /* [N/A], [Unknown Error], [GPU requires reset] */
	for (int i = 0; words[i]; i++)
		if (same_word(s, words[i]))
			return true;
	return s.len >= 4 && strncasecmp(s.at, "N/A ", 4) == 0; /* N/A (Secondary die) */
}

void gpu_text(char *out, size_t size, struct span text)
{
	size_t n;

	text = span_trim(text);
	if (means_unknown(text))
		return;
	n = text.len < size - 1 ? text.len : size - 1;
	memcpy(out, text.at, n);
	while (n > 0 && n < text.len && ((unsigned char)text.at[n] & 0xc0) == 0x80)
		n--; /* do not cut a character in two */
	out[n] = 0;
}

double gpu_number(struct span text, struct span *unit)
{
	double value;

	text = span_trim(text);
	if (text.len >= 2 && text.at[0] == '(' && text.at[text.len - 1] == ')')
		text = span_trim(span_sub(text, 1, text.len - 2));
	if (!span_take_real(&text, &value))
		return NAN;
	text = span_trim(text);
	if (text.len > 8) /* "0 (unknown), ..." is a sentence, not a unit */
		return NAN;
	if (unit)
		*unit = text;
	return value;
}

double gpu_percent(double value)
{
	return value >= 0 && value <= 100 ? value : NAN;
}

double gpu_bytes_of(double value, struct span unit)
{
	static const char powers[] = "KMGT";
	const char *p;

	if (!(value >= 0) || value >= 9e15) /* 16.0 EB: an underflow of the driver */
		return NAN;
	if (!unit.len || span_is(unit, "B"))
		return value;
	p = memchr(powers, unit.at[0] == 'k' ? 'K' : unit.at[0], sizeof powers - 1);
	if (!p || !(unit.len == 1 || span_is(span_sub(unit, 1, 9), "B") || span_is(span_sub(unit, 1, 9), "iB")))
		return NAN;
	value = ldexp(value, 10 * (int)(p - powers + 1));
	return value < 9e15 ? value : NAN;
}
