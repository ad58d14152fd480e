/* amd_smi.c - the JSON of amd-smi. */
#include "config.h"

#include "parse/amd_smi.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "parse/rocm_smi.h"

enum unit { NUMBER, PERCENT, BYTES };

#define FIELD(f) offsetof(struct gpu_reading, f)

static const struct key {
	const char *group, *name;      /* group NULL: a member of the GPU itself */
	enum unit unit;
	size_t at;
} keys[] = {
	{ NULL, "gfx", PERCENT, FIELD(busy_pct) },
	{ "usage", "gfx_activity", PERCENT, FIELD(busy_pct) },
	{ NULL, "mem", PERCENT, FIELD(mem_activity_pct) },
	{ "usage", "umc_activity", PERCENT, FIELD(mem_activity_pct) },
	{ NULL, "vram_used", BYTES, FIELD(vram_used) },
	{ "mem_usage", "used_vram", BYTES, FIELD(vram_used) },
	{ NULL, "vram_total", BYTES, FIELD(vram_total) },
	{ "mem_usage", "total_vram", BYTES, FIELD(vram_total) },
	{ NULL, "vram_percent", PERCENT, FIELD(vram_pct) },
	{ NULL, "power_usage", NUMBER, FIELD(power_w) },
	{ "power", "socket_power", NUMBER, FIELD(power_w) },
	{ "power", "current_power", NUMBER, FIELD(power_w) },
	{ "power", "average_power", NUMBER, FIELD(power_w) },
	{ "power", "power_limit", NUMBER, FIELD(power_cap_w) },
	{ NULL, "max_power", NUMBER, FIELD(power_cap_w) },
	{ NULL, "hotspot_temperature", NUMBER, FIELD(temp_junction_c) },
	{ "temperature", "hotspot", NUMBER, FIELD(temp_junction_c) },
	{ "temperature", "edge", NUMBER, FIELD(temp_edge_c) },
	{ NULL, "memory_temperature", NUMBER, FIELD(temp_mem_c) },
	{ "temperature", "mem", NUMBER, FIELD(temp_mem_c) },
	{ NULL, "gfx_clock", NUMBER, FIELD(sclk_mhz) },
	{ NULL, "gfx_clk", NUMBER, FIELD(sclk_mhz) },
	{ NULL, "mem_clock", NUMBER, FIELD(mclk_mhz) },
};

/* The number and unit of a value in any of its forms; NAN when unknown. The unit is borrowed from the tree. */
static double number_of(const json_t *value, struct span *unit)
{
	*unit = span_of("");
	if (json_is_object(value)) {
		const char *text = json_string_value(json_object_get(value, "unit"));
		double number = number_of(json_object_get(value, "value"), unit);

		if (text)
			*unit = span_trim(span_of(text));
		return number;
	}
	if (json_is_number(value))
		return json_number_value(value);
	if (json_is_string(value))
		return gpu_number(span_make(json_string_value(value), json_string_length(value)), unit);
	return NAN;
}

static double bytes_of(const json_t *value)
{
	struct span unit;
	double number = number_of(value, &unit);

	return gpu_bytes_of(number, unit);
}

static int64_t whole(double value)
{
	return value >= 0 && value < 9e15 ? (int64_t)value : -1;
}

static double in_unit(enum unit kind, double number, struct span unit)
{
	if (kind == PERCENT)
		return gpu_percent(number);
	return kind == BYTES ? gpu_bytes_of(number, unit) : number;
}

static bool same_name(struct span s, const char *name)
{
	return s.len == strlen(name) && strncasecmp(s.at, name, s.len) == 0;
}

bool amd_smi_take(struct gpu_reading *r, struct span group, struct span name, struct span text)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		double *field = (double *)((char *)r + keys[i].at), number;
		struct span unit = span_of("");

		if (!same_name(name, keys[i].name) || (group.len && !(keys[i].group && same_name(group, keys[i].group))))
			continue;
		number = gpu_number(text, &unit);
		if (isnan(*field))
			*field = in_unit(keys[i].unit, number, unit);
		return true;
	}
	return false;
}

/* The partitions of a GPU share its numbers: what the first one says stays. */
static void read_numbers(struct gpu_reading *r, const json_t *gpu)
{
	bool seen[sizeof keys / sizeof *keys] = { false }, partition = json_integer_value(json_object_get(gpu, "xcp")) > 0;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const json_t *group = keys[i].group ? json_object_get(gpu, keys[i].group) : gpu;
		const json_t *value = json_object_get(group, keys[i].name);
		double *field = (double *)((char *)r + keys[i].at), number;
		struct span unit;
		bool taken = partition && !isnan(*field);

		for (size_t j = 0; j < i; j++)
			taken = taken || (seen[j] && keys[j].at == keys[i].at);
		if (!value || taken)
			continue;
		number = number_of(value, &unit);
		number = in_unit(keys[i].unit, number, unit);
		seen[i] = !isnan(number);
		*field = number;
	}
}

static void read_clocks(struct gpu_reading *r, const json_t *gpu)
{
	const json_t *clock = json_object_get(gpu, "clock");
	struct span unit;
	double mhz = number_of(json_object_get(json_object_get(clock, "gfx_0"), "clk"), &unit);

	if (!isnan(mhz))
		r->sclk_mhz = mhz;
	mhz = number_of(json_object_get(json_object_get(clock, "mem_0"), "clk"), &unit);
	if (!isnan(mhz))
		r->mclk_mhz = mhz;
}

static void read_process(struct gpu_list *list, int gpu, const json_t *info)
{
	const json_t *pid = json_object_get(info, "pid"), *name = json_object_get(info, "name");
	struct gpu_process_reading *p;
	struct span unit;
	double number = number_of(pid, &unit);

	if (!(number > 0) || number > INT32_MAX || !(p = gpu_list_process(list)))
		return;
	p->pid = (int64_t)number;
	p->gpu = gpu;
	p->gpus = 1;
	p->vram = whole(bytes_of(json_object_get(json_object_get(info, "memory_usage"), "vram_mem")));
	if (p->vram < 0)
		p->vram = whole(bytes_of(json_object_get(info, "vram_mem")));
	p->cu_occupancy = whole(number_of(json_object_get(info, "cu_occupancy"), &unit));
	p->evicted_ms = whole(number_of(json_object_get(info, "evicted_time"), &unit));
	p->sdma_us = whole(number_of(json_object_get(info, "sdma_usage"), &unit));
	if (json_is_string(name))
		gpu_text(p->name, sizeof p->name, span_make(json_string_value(name), json_string_length(name)));
}

static void read_processes(struct gpu_list *list, int gpu, const json_t *rows)
{
	size_t i;
	const json_t *row;

	json_array_foreach(rows, i, row) {
		const json_t *info = json_object_get(row, "process_info");

		read_process(list, gpu, info ? info : row);
	}
}

/* Members of one GPU: numbers, a process list, or both (monitor -q). */
static bool read_gpu(struct gpu_list *list, const json_t *gpu)
{
	const json_t *index = json_object_get(gpu, "gpu"), *rows = json_object_get(gpu, "process_list");
	struct span unit;
	double number = number_of(index, &unit);

	if (!(number >= 0) || number >= GPU_READINGS_MAX)
		return false;
	read_processes(list, (int)number, rows);
	if (!rows || json_object_size(gpu) > 2) {
		struct gpu_reading *r = gpu_list_gpu(list, (int64_t)number);

		read_numbers(r, gpu);
		read_clocks(r, gpu);
	}
	return true;
}

static int read_document(struct gpu_list *list, const json_t *document, struct error *error)
{
	const json_t *rows = json_is_object(document) ? json_object_get(document, "gpu_data") : document;
	const char *words = json_string_value(json_object_get(document, "error"));
	const json_t *row;
	size_t i, read = 0;

	if (words)
		return error_set(error, "amd-smi: %s (code %lld)", words,
			(long long)json_integer_value(json_object_get(document, "code")));
	json_array_foreach(rows, i, row)
		read += read_gpu(list, row);
	if (!json_is_array(rows) && read_gpu(list, document)) /* one GPU asked for */
		read++;
	return read ? 0 : error_set(error, "amd-smi: JSON without a GPU");
}

int amd_smi_parse(struct span out, struct gpu_list *list, struct error *error)
{
	json_error_t why = { .line = -1 };
	struct error first = { .text = "" };
	int tries = SMI_JSON_TRIES;
	bool any = false;
	long start;

	if (!span_trim(out).len)
		return error_set(error, "amd-smi printed nothing");
	while ((start = smi_json_start(out, "{[")) >= 0) {
		json_t *document;

		out = span_sub(out, (size_t)start, out.len);
		document = json_loadb(out.at, out.len, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &why);
		if (document) {
			any = (read_document(list, document, first.text[0] ? NULL : &first) == 0) || any;
			json_decref(document);
			out = span_sub(out, (size_t)why.position, out.len);
		} else {
			if (!--tries)
				break;
			out = span_sub(out, 1, out.len); /* [WARNING] or the like */
		}
	}
	if (any)
		return 0;
	if (first.text[0])
		return error_set(error, "%s", first.text);
	return error_set(error, "amd-smi printed no JSON that can be read%s%s", why.line < 0 ? "" : ": ",
		why.line < 0 ? "" : why.text);
}
