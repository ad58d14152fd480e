/* nvidia_smi.c - the CSV of nvidia-smi. */
#include "config.h"

#include "parse/nvidia_smi.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MAX 64

enum unit { NUMBER, PERCENT, BYTES, TEXT };

#define REAL_FIELD(f) offsetof(struct gpu_reading, f), 0
#define TEXT_FIELD(f) offsetof(struct gpu_reading, f), sizeof(((struct gpu_reading *)0)->f)

static const struct column {
	const char *name;
	enum unit unit;
	size_t at, size;
} columns[] = {
	{ "uuid", TEXT, TEXT_FIELD(uuid) },
	{ "name", TEXT, TEXT_FIELD(name) },
	{ "pci.bus_id", TEXT, TEXT_FIELD(bdf) },
	{ "utilization.gpu", PERCENT, REAL_FIELD(busy_pct) },
	{ "utilization.memory", PERCENT, REAL_FIELD(mem_activity_pct) },
	{ "memory.used", BYTES, REAL_FIELD(vram_used) },
	{ "memory.total", BYTES, REAL_FIELD(vram_total) },
	{ "temperature.gpu", NUMBER, REAL_FIELD(temp_junction_c) },
	{ "temperature.memory", NUMBER, REAL_FIELD(temp_mem_c) },
	{ "power.draw", NUMBER, REAL_FIELD(power_w) },
	{ "power.limit", NUMBER, REAL_FIELD(power_cap_w) },
	{ "clocks.current.sm", NUMBER, REAL_FIELD(sclk_mhz) },
	{ "clocks.sm", NUMBER, REAL_FIELD(sclk_mhz) },
	{ "clocks.current.memory", NUMBER, REAL_FIELD(mclk_mhz) },
	{ "clocks.mem", NUMBER, REAL_FIELD(mclk_mhz) },
};

struct table {
	struct span name[COLUMNS_MAX], unit[COLUMNS_MAX]; /* of the header */
	struct span cell[COLUMNS_MAX];                     /* of the row */
	int columns;
	int text;              /* column that may hold commas, -1 none */
};

static int split(struct span line, struct span *piece)
{
	int n = 0;

	while (n < COLUMNS_MAX && span_cut(&line, ',', &piece[n])) {
		piece[n] = span_trim(piece[n]);
		n++;
	}
	return n;
}

static int column_of(const struct table *t, const char *name)
{
	for (int i = 0; i < t->columns; i++)
		if (span_is(t->name[i], name))
			return i;
	return -1;
}

/* True when the line is a header we know. */
static bool read_header(struct table *t, struct span line)
{
	t->columns = split(line, t->name);
	t->text = -1;
	for (int i = 0; i < t->columns; i++) {
		long open = span_find(t->name[i], " [");

		t->unit[i] = span_of("");
		if (open >= 0) {
			t->unit[i] = span_sub(t->name[i], (size_t)open + 2, t->name[i].len);
			t->unit[i] = span_sub(t->unit[i], 0, t->unit[i].len - 1);
			t->name[i] = span_sub(t->name[i], 0, (size_t)open);
		}
		if (span_is(t->name[i], "name") || span_is(t->name[i], "process_name"))
			t->text = i;
	}
	return t->columns > 1 && (column_of(t, "index") >= 0 || column_of(t, "pid") >= 0);
}

/* Cells of a row; false when they are too few. Surplus pieces are put back into the name. */
static bool read_row(struct table *t, struct span line)
{
	struct span piece[COLUMNS_MAX];
	int n = split(line, piece), more = n - t->columns;

	if (more < 0 || (more > 0 && t->text < 0))
		return false;
	for (int i = 0; i < t->columns; i++)
		t->cell[i] = piece[i > t->text ? i + more : i];
	if (more > 0) {
		const struct span *last = &piece[t->text + more];

		t->cell[t->text].len = (size_t)(last->at + last->len - t->cell[t->text].at);
	}
	return true;
}

static double cell_number(const struct table *t, int column, struct span *unit)
{
	double value;

	*unit = span_of("");
	value = gpu_number(t->cell[column], unit);
	if (!unit->len)
		*unit = t->unit[column];
	return value;
}

static void read_gpu(struct gpu_list *list, const struct table *t)
{
	struct gpu_reading *r;
	struct span unit;
	uint64_t index;

	if (!span_uint(t->cell[column_of(t, "index")], &index) || index >= GPU_READINGS_MAX)
		return;
	r = gpu_list_gpu(list, (int64_t)index);
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		int at = column_of(t, columns[i].name);
		void *field = (char *)r + columns[i].at;

		if (at < 0)
			continue;
		if (columns[i].unit == TEXT)
			gpu_text(field, columns[i].size, t->cell[at]);
		else
			*(double *)field = cell_number(t, at, &unit);
		if (columns[i].unit == PERCENT)
			*(double *)field = gpu_percent(*(double *)field);
		if (columns[i].unit == BYTES)
			*(double *)field = gpu_bytes_of(*(double *)field, unit);
	}
}

static int gpu_of_uuid(const struct gpu_list *list, struct span uuid)
{
	for (size_t i = 0; i < list->gpus; i++)
		if (list->gpu[i].uuid[0] && span_is(uuid, list->gpu[i].uuid))
			return list->gpu[i].gpu;
	return -1;
}

static void read_app(struct gpu_list *list, const struct table *t)
{
	int uuid = column_of(t, "gpu_uuid"), name = column_of(t, "process_name"), used = column_of(t, "used_gpu_memory");
	struct gpu_process_reading *p;
	struct span unit;
	double bytes;
	uint64_t pid;

	if (!span_uint(t->cell[column_of(t, "pid")], &pid) || pid > INT32_MAX || !(p = gpu_list_process(list)))
		return;
	p->pid = (int64_t)pid;
	p->gpus = 1;
	if (uuid >= 0)
		p->gpu = gpu_of_uuid(list, t->cell[uuid]);
	if (name >= 0)
		gpu_text(p->name, sizeof p->name, t->cell[name]);
	if (used < 0)
		used = column_of(t, "used_memory");
	if (used >= 0) {
		bytes = cell_number(t, used, &unit);
		bytes = gpu_bytes_of(bytes, unit);
		p->vram = isnan(bytes) ? -1 : (int64_t)bytes;
	}
}

int nvidia_smi_parse(struct span out, struct gpu_list *list, struct error *error)
{
	struct span line, words = { NULL, 0 };
	struct table t = { .columns = 0 };
	bool header = false;

	while (span_line(&out, &line)) {
		line = span_trim(line);
		if (!words.len)
			words = line;
		if (!header) {
			header = read_header(&t, line);
		} else if (read_row(&t, line)) {
			if (column_of(&t, "pid") >= 0)
				read_app(list, &t);
			else
				read_gpu(list, &t);
		}
	}
	if (header)
		return 0;
	if (words.len)
		return error_set(error, "nvidia-smi: %.*s", (int)(words.len < 300 ? words.len : 300), words.at);
	return error_set(error, "nvidia-smi printed nothing");
}
