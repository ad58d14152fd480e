/* gpu_sysfs.c - find the GPUs of a /sys tree: KFD nodes in ROCm's order, joined with the drm cards that hold their files. */
#include "config.h"

#include "source/gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "parse/gpu_files.h"

#define ENTRIES_MAX 4096       /* of one folder */

/* --- small things --- */

static const char *path_of(char out[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A path too long to be one becomes "", which nothing opens. */
static const char *path_of(char out[PATH_MAX], const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out, PATH_MAX, format, args);
	va_end(args);
	if (n < 0 || n >= PATH_MAX)
		*out = 0;
	return out;
}

/* Read a whole small file; an empty span when it cannot be read. */
static struct span read_file(const char *path, char *block, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, block, size);

	if (fd >= 0)
		close(fd);
	return span_make(block, n > 0 ? (size_t)n : 0);
}

/* Names in a folder that are `prefix` and digits; sorted by number. The caller frees *out. */
static size_t numbered(const char *folder, const char *prefix, unsigned long **out)
{
	DIR *dir = opendir(folder);
	unsigned long *number = NULL;
	size_t n = 0, cap = 0;

	for (struct dirent *e; dir && n < ENTRIES_MAX && (e = readdir(dir));) {
		struct span name = span_of(e->d_name);
		uint64_t value;

		if (!span_skip(&name, prefix) || !span_take_uint(&name, &value) || name.len || value > UINT32_MAX)
			continue;
		if (n == cap)
			number = mem_array(number, cap = cap ? cap * 2 : 16, sizeof *number);
		size_t at = n++;
		for (; at > 0 && number[at - 1] > value; at--)
			number[at] = number[at - 1];
		number[at] = (unsigned long)value;
	}
	if (dir)
		closedir(dir);
	*out = number;
	return n;
}

static bool exists(const char *folder, const char *name)
{
	char path[PATH_MAX];

	return access(path_of(path, "%s/%s", folder, name), F_OK) == 0;
}

/* --- finding files --- */

static void add_slot(struct gpu_device *d, enum gpu_slot slot, const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (!d->path[slot] && exists(folder, name))
		d->path[slot] = mem_text(path_of(path, "%s/%s", folder, name));
}

/* tempN_input and freqN_input by the label beside them; without labels by their usual number. */
static void add_labelled(struct gpu_device *d, const char *hwmon)
{
	static const struct {
		const char *stem, *label;
		int usual;
		enum gpu_slot slot;
	} wanted[] = {
		{ "temp", "edge", 1, SLOT_TEMP_EDGE },
		{ "temp", "junction", 2, SLOT_TEMP_JUNCTION },
		{ "temp", "mem", 3, SLOT_TEMP_MEM },
		{ "freq", "sclk", 1, SLOT_SCLK },
		{ "freq", "mclk", 2, SLOT_MCLK },
	};
	char path[PATH_MAX], block[64], name[32];

	for (int n = 1; n <= 8; n++)
		for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
			struct span label;

			path_of(path, "%s/%s%d_label", hwmon, wanted[i].stem, n);
			label = span_trim(read_file(path, block, sizeof block));
			if (label.len ? !span_is(label, wanted[i].label) : n != wanted[i].usual)
				continue;
			snprintf(name, sizeof name, "%s%d_input", wanted[i].stem, n);
			add_slot(d, wanted[i].slot, hwmon, name);
		}
}

static void add_files(struct gpu_device *d, const char *folder)
{
	unsigned long *hwmon;
	char path[PATH_MAX];
	size_t n;

	for (int i = 0; i < SLOT_COUNT; i++)
		if (gpu_slot_file(i))
			add_slot(d, i, folder, gpu_slot_file(i));
	path_of(path, "%s/hwmon", folder);
	n = numbered(path, "hwmon", &hwmon);
	if (n > 0) {
		path_of(path, "%s/hwmon/hwmon%lu", folder, hwmon[0]);
		add_slot(d, SLOT_POWER_AVERAGE, path, "power1_average");
		add_slot(d, SLOT_POWER_INPUT, path, "power1_input");
		add_slot(d, SLOT_POWER_CAP, path, "power1_cap");
		add_labelled(d, path);
	}
	free(hwmon);
}

/* --- drm cards --- */

struct card {
	char folder[PATH_MAX];         /* .../class/drm/cardN/device */
	char bdf[24];
	unsigned long *minor;          /* renderD numbers of the device */
	size_t minors;
	bool taken;
};

static void find_bdf(struct card *c)
{
	char path[PATH_MAX], block[1024], *real, *name;

	path_of(path, "%s/uevent", c->folder);
	if (gpu_file_slot_name(read_file(path, block, sizeof block), c->bdf, sizeof c->bdf))
		return;
	real = realpath(c->folder, NULL);
	name = real ? strrchr(real, '/') : NULL;
	if (name && strlen(name + 1) < sizeof c->bdf && strchr(name, ':') && strchr(name, '.'))
		snprintf(c->bdf, sizeof c->bdf, "%s", name + 1);
	free(real);
}

static size_t find_cards(const char *root, struct card **out)
{
	char path[PATH_MAX], block[32];
	unsigned long *number;
	size_t n, cards = 0;

	*out = NULL;
	path_of(path, "%s/class/drm", root);
	n = numbered(path, "card", &number);
	for (size_t i = 0; i < n && i < GPU_READINGS_MAX; i++) {
		struct card *c;

		path_of(path, "%s/class/drm/card%lu/device/vendor", root, number[i]);
		if (!span_is(span_trim(read_file(path, block, sizeof block)), "0x1002"))
			continue;
		*out = mem_array(*out, cards + 1, sizeof **out);
		c = memset(&(*out)[cards++], 0, sizeof *c);
		path_of(c->folder, "%s/class/drm/card%lu/device", root, number[i]);
		find_bdf(c);
		path_of(path, "%s/class/drm/card%lu/device/drm", root, number[i]);
		c->minors = numbered(path, "renderD", &c->minor);
	}
	free(number);
	return cards;
}

static void free_cards(struct card *card, size_t cards)
{
	for (size_t i = 0; i < cards; i++)
		free(card[i].minor);
	free(card);
}

static struct card *card_of(struct card *card, size_t cards, const struct kfd_properties *p, const char *bdf)
{
	for (size_t i = 0; i < cards; i++)
		for (size_t j = 0; j < card[i].minors; j++)
			if (p->render_minor >= 0 && card[i].minor[j] == (unsigned long)p->render_minor)
				return &card[i];
	for (size_t i = 0; i < cards; i++)
		if (strcmp(card[i].bdf, bdf) == 0)
			return &card[i];
	return NULL;
}

/* --- devices --- */

static struct gpu_device *add_device(struct gpu_devices *all)
{
	struct gpu_device *d;

	all->at = mem_array(all->at, all->count + 1, sizeof *all->at);
	d = memset(&all->at[all->count], 0, sizeof *d);
	gpu_reading_init(&d->fixed, (int)all->count++);
	for (int i = 0; i < SLOT_COUNT; i++)
		d->fd[i] = -1;
	return d;
}

static void read_name(struct gpu_device *d, const char *folder)
{
	char path[PATH_MAX], block[128];

	path_of(path, "%s/product_name", folder);
	gpu_text(d->fixed.name, sizeof d->fixed.name, read_file(path, block, sizeof block));
}

/* Memory of a partition that has no files of its own. */
static double bank_size(const char *node)
{
	char path[PATH_MAX], block[1024];
	struct span rest, line, key;
	double value = NAN;

	path_of(path, "%s/mem_banks/0/properties", node);
	rest = read_file(path, block, sizeof block);
	while (span_line(&rest, &line))
		if (span_word(&line, &key) && span_is(key, "size_in_bytes"))
			value = gpu_file_number(line);
	return value > 0 ? value : NAN;
}

static void add_node(struct gpu_devices *all, const char *root, unsigned long node, struct card *card, size_t cards)
{
	char folder[PATH_MAX], path[PATH_MAX], block[4096];
	struct kfd_properties p;
	struct gpu_device *d;
	struct card *c;
	struct span id;
	uint64_t number;

	path_of(folder, "%s/class/kfd/kfd/topology/nodes/%lu", root, node);
	path_of(path, "%s/gpu_id", folder);
	id = span_trim(read_file(path, block, 16));
	if (!span_uint(id, &number) || number == 0 || all->count == KFD_GPUS_MAX)
		return; /* a CPU, or a GPU this container may not use */
	d = add_device(all);
	snprintf(d->gpu_id, sizeof d->gpu_id, "%llu", (unsigned long long)number);
	path_of(path, "%s/properties", folder);
	gpu_file_properties(read_file(path, block, sizeof block), &p);
	d->fixed.kfd_node = (int64_t)node;
	kfd_bdf(&p, d->fixed.bdf, sizeof d->fixed.bdf);
	c = kfd_partition_id(&p) == 0 ? card_of(card, cards, &p, d->fixed.bdf) : NULL;
	if (c && !c->taken) {
		c->taken = true;
		read_name(d, c->folder);
		add_files(d, c->folder);
	} else {
		d->fixed.vram_total = bank_size(folder);
	}
	if (!*d->fixed.name)
		kfd_gfx_name(p.gfx_target_version, d->fixed.name, sizeof d->fixed.name);
}

void gpu_devices_scan(const char *root, struct gpu_devices *out)
{
	char path[PATH_MAX];
	unsigned long *node;
	struct card *card;
	size_t cards = find_cards(root, &card), nodes;

	memset(out, 0, sizeof *out);
	path_of(path, "%s/class/kfd/kfd/topology/nodes", root);
	nodes = numbered(path, "", &node);
	for (size_t i = 0; i < nodes; i++)
		add_node(out, root, node[i], card, cards);
	out->kfd = out->count > 0;
	for (size_t i = 0; i < cards && !out->kfd; i++) {
		struct gpu_device *d;

		if (!exists(card[i].folder, "gpu_busy_percent"))
			continue;
		d = add_device(out);
		snprintf(d->fixed.bdf, sizeof d->fixed.bdf, "%s", card[i].bdf);
		read_name(d, card[i].folder);
		add_files(d, card[i].folder);
	}
	free(node);
	free_cards(card, cards);
}

void gpu_devices_release(struct gpu_devices *devices)
{
	for (size_t i = 0; i < devices->count; i++) {
		gpu_device_close(&devices->at[i]);
		for (int j = 0; j < SLOT_COUNT; j++)
			free(devices->at[i].path[j]);
	}
	free(devices->at);
	memset(devices, 0, sizeof *devices);
}

static bool same_path(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool gpu_devices_same(const struct gpu_devices *a, const struct gpu_devices *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (strcmp(a->at[i].gpu_id, b->at[i].gpu_id) != 0 || a->at[i].fixed.kfd_node != b->at[i].fixed.kfd_node ||
			strcmp(a->at[i].fixed.bdf, b->at[i].fixed.bdf) != 0)
			return false;
		for (int j = 0; j < SLOT_COUNT; j++)
			if (!same_path(a->at[i].path[j], b->at[i].path[j]))
				return false;
	}
	return true;
}

bool gpu_device_has_files(const struct gpu_device *d)
{
	for (int i = 0; i < SLOT_COUNT; i++)
		if (d->path[i])
			return true;
	return false;
}
