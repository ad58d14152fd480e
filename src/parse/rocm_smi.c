/* rocm_smi.c - the JSON of rocm-smi. */
#include "config.h"

#include "parse/rocm_smi.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum unit { NUMBER, PERCENT, BYTES, HOTTEST, NODE, TEXT };

#define REAL_FIELD(f) offsetof(struct gpu_reading, f), 0
#define TEXT_FIELD(f) offsetof(struct gpu_reading, f), sizeof(((struct gpu_reading *)0)->f)

/* Keys of all versions, in any case ("(c)" up to 2.9); the first value stays. Those without a unit are of 1.6 to 2.x. */
static const struct key {
	const char *name;
	enum unit unit;
	size_t at, size;
} keys[] = {
	{ "GPU use (%)", PERCENT, REAL_FIELD(busy_pct) },
	{ "Current GPU use", PERCENT, REAL_FIELD(busy_pct) },
	{ "GPU Memory Read/Write Activity (%)", PERCENT, REAL_FIELD(mem_activity_pct) },
	{ "GPU memory use (%)", PERCENT, REAL_FIELD(mem_activity_pct) },
	{ "GPU Memory Allocated (VRAM%)", PERCENT, REAL_FIELD(vram_pct) },
	{ "VRAM Total Memory (B)", BYTES, REAL_FIELD(vram_total) },
	{ "VRAM Total Used Memory (B)", BYTES, REAL_FIELD(vram_used) },
	{ "Current Socket Graphics Package Power (W)", NUMBER, REAL_FIELD(power_w) },
	{ "Average Graphics Package Power (W)", NUMBER, REAL_FIELD(power_w) },
	{ "Average Graphics Package Power", NUMBER, REAL_FIELD(power_w) },
	{ "Average GPU Power", NUMBER, REAL_FIELD(power_w) },
	{ "Max Graphics Package Power (W)", NUMBER, REAL_FIELD(power_cap_w) },
	{ "Max Graphics Package Power", NUMBER, REAL_FIELD(power_cap_w) },
	{ "Temperature (Sensor junction) (C)", NUMBER, REAL_FIELD(temp_junction_c) },
	{ "Temperature (Sensor edge) (C)", NUMBER, REAL_FIELD(temp_edge_c) },
	{ "Temperature", NUMBER, REAL_FIELD(temp_edge_c) },
	{ "Temperature (C)", NUMBER, REAL_FIELD(temp_edge_c) },
	{ "Temperature (Sensor memory) (C)", NUMBER, REAL_FIELD(temp_mem_c) },
	{ "Temperature (Sensor mem) (C)", NUMBER, REAL_FIELD(temp_mem_c) },
	/* HBM stacks of MI100 and MI200 */
	{ "Temperature (Sensor HBM 0) (C)", HOTTEST, REAL_FIELD(temp_mem_c) },
	{ "Temperature (Sensor HBM 1) (C)", HOTTEST, REAL_FIELD(temp_mem_c) },
	{ "Temperature (Sensor HBM 2) (C)", HOTTEST, REAL_FIELD(temp_mem_c) },
	{ "Temperature (Sensor HBM 3) (C)", HOTTEST, REAL_FIELD(temp_mem_c) },
	{ "Node ID", NODE, offsetof(struct gpu_reading, kfd_node), 0 },
	{ "sclk clock speed:", NUMBER, REAL_FIELD(sclk_mhz) },
	{ "mclk clock speed:", NUMBER, REAL_FIELD(mclk_mhz) },
	{ "PCI Bus", TEXT, TEXT_FIELD(bdf) },
	{ "Device Name", TEXT, TEXT_FIELD(name) },
	{ "Card Series", TEXT, TEXT_FIELD(name) },
	{ "Card series", TEXT, TEXT_FIELD(name) },
	{ "Compute Partition", TEXT, TEXT_FIELD(compute_partition) },
	{ "Memory Partition", TEXT, TEXT_FIELD(memory_partition) },
};

long smi_json_start(struct span text, const char *starts)
{
	struct span rest = text, line;

	while (span_line(&rest, &line))
		if (line.len && strchr(starts, line.at[0]))
			return line.at - text.at;
	return -1;
}

static struct span string_of(const json_t *value)
{
	return span_make(json_string_value(value), json_string_length(value));
}

static void read_number(struct gpu_reading *r, const struct key *k, struct span text)
{
	double value = gpu_number(text, NULL), *field = (double *)((char *)r + k->at);

	if (k->unit == PERCENT)
		value = gpu_percent(value);
	else if (k->unit == BYTES)
		value = gpu_bytes_of(value, span_of(""));
	if (isnan(*field) || (k->unit == HOTTEST && value > *field))
		*field = value;
}

bool rocm_smi_take(struct gpu_reading *r, struct span key, struct span value)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct key *k = &keys[i];
		char *field = (char *)r + k->at;
		uint64_t node;

		if (strlen(k->name) != key.len || strncasecmp(k->name, key.at, key.len) != 0)
			continue;
		if (k->unit == TEXT && !*field)
			gpu_text(field, k->size, value);
		else if (k->unit == NODE && span_uint(value, &node) && node < INT32_MAX)
			r->kfd_node = (int64_t)node;
		else if (k->unit != TEXT && k->unit != NODE)
			read_number(r, k, value);
		return true;
	}
	return false;
}

static void read_card(struct gpu_list *list, struct span number, json_t *card)
{
	struct gpu_reading *r;
	const char *key;
	json_t *value;
	uint64_t gpu;

	if (!span_uint(number, &gpu) || !json_is_object(card) || !(r = gpu_list_gpu(list, (int64_t)gpu)))
		return;
	json_object_foreach(card, key, value)
		if (json_is_string(value))
			rocm_smi_take(r, span_of(key), string_of(value));
}

/* Take the last ", "-separated field off the right. */
static struct span last_field(struct span *rest)
{
	long comma = span_find_last(*rest, ',');
	struct span field;

	if (comma < 0) {
		field = *rest;
		*rest = span_sub(*rest, 0, 0);
	} else {
		field = span_sub(*rest, (size_t)comma + 1, rest->len);
		*rest = span_sub(*rest, 0, (size_t)comma);
	}
	return span_trim(field);
}

static int64_t whole(struct span field)
{
	uint64_t value;

	return span_uint(field, &value) && value < (uint64_t)1 << 53 ? (int64_t)value : -1;
}

/* The GPU column: a count, or a list "[0, 1]" whose blanks became ", " too. */
static int64_t gpu_count(struct span *rest)
{
	struct span field = last_field(rest), list;
	long open;
	int64_t count = 0;

	if (!span_ends(field, "]"))
		return whole(field);
	open = span_find_last(*rest, '[');
	if (span_starts(field, "[") || open < 0)
		return field.len > 2;
	list = span_sub(*rest, (size_t)open, rest->len);
	*rest = span_trim(span_sub(*rest, 0, (size_t)open));
	if (span_ends(*rest, ","))
		*rest = span_sub(*rest, 0, rest->len - 1);
	for (struct span piece; span_cut(&list, ',', &piece);)
		count += span_trim(piece).len > 0;
	return count + 1;
}

static void process_name(struct gpu_process_reading *p, struct span fields)
{
	char name[sizeof p->name];
	struct span piece;
	size_t n = 0;

	while (span_cut(&fields, ',', &piece)) {
		piece = span_trim(piece);
		if (n && n < sizeof name)
			name[n++] = ' ';
		for (size_t i = 0; i < piece.len && n < sizeof name; i++)
			name[n++] = piece.at[i];
	}
	gpu_text(p->name, sizeof p->name, span_make(name, n));
}

static void read_process(struct gpu_list *list, struct span pid, struct span row)
{
	struct gpu_process_reading *p;
	uint64_t number;

	if (!span_uint(pid, &number) || number > INT32_MAX || !(p = gpu_list_process(list)))
		return;
	p->pid = (int64_t)number;
	p->cu_occupancy = whole(last_field(&row));
	p->sdma_us = whole(last_field(&row));
	p->vram = whole(last_field(&row));
	p->gpus = gpu_count(&row);
	process_name(p, row);
}

static void read_document(struct gpu_list *list, json_t *document)
{
	const char *key;
	json_t *value;

	json_object_foreach(document, key, value) {
		struct span name = span_of(key);

		if (span_skip(&name, "card"))
			read_card(list, name, value);
	}
	json_object_foreach(json_object_get(document, "system"), key, value) {
		struct span name = span_of(key);

		if (span_skip(&name, "PID") && json_is_string(value))
			read_process(list, name, string_of(value));
	}
}

int rocm_smi_parse(struct span out, struct gpu_list *list, struct error *error)
{
	json_error_t why = { .line = -1 };
	int tries = SMI_JSON_TRIES;
	long start;

	if (!span_trim(out).len)
		return error_set(error, "rocm-smi printed nothing");
	while ((start = smi_json_start(out, "{")) >= 0 && tries-- > 0) {
		json_t *document;

		out = span_sub(out, (size_t)start, out.len);
		document = json_loadb(out.at, out.len, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &why);
		if (document) {
			read_document(list, document);
			json_decref(document);
			return 0;
		}
		out = span_sub(out, 1, out.len); /* a complaint in braces, perhaps: look on */
	}
	if (why.line < 0)
		return error_set(error, "rocm-smi printed no JSON");
	return error_set(error, "rocm-smi printed JSON that is cut off or broken: %s", why.text);
}
