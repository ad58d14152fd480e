/* gpu_read.c - read the files of one GPU through descriptors kept open. */
#include "config.h"

#include "source/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "parse/gpu_files.h"
#include "parse/gpu_metrics.h"

#define SLOW_ROUNDS 10         /* what hardly changes is read every so many rounds */
#define FIELD(f) offsetof(struct gpu_reading, f)

enum slot_kind { NUMBER, PERCENT, DPM, PARTITION, METRICS };

static const struct slot_class {
	const char *name;              /* below device/; NULL: below hwmon, found by label */
	enum slot_kind kind;
	double divisor;                /* the file counts millionths of a W, thousandths of a degree */
	size_t at;
	bool slow;
	bool fallback;                 /* only when the field is still unknown */
} slots[SLOT_COUNT] = {
	[SLOT_BUSY] = { "gpu_busy_percent", PERCENT, 1, FIELD(busy_pct), false, false },
	[SLOT_MEM_BUSY] = { "mem_busy_percent", PERCENT, 1, FIELD(mem_activity_pct), false, false },
	[SLOT_VRAM_USED] = { "mem_info_vram_used", NUMBER, 1, FIELD(vram_used), false, false },
	[SLOT_VRAM_TOTAL] = { "mem_info_vram_total", NUMBER, 1, FIELD(vram_total), true, false },
	[SLOT_POWER_AVERAGE] = { NULL, NUMBER, 1e6, FIELD(power_w), false, false },
	[SLOT_POWER_INPUT] = { NULL, NUMBER, 1e6, FIELD(power_w), false, true },
	[SLOT_POWER_CAP] = { NULL, NUMBER, 1e6, FIELD(power_cap_w), true, false },
	[SLOT_TEMP_EDGE] = { NULL, NUMBER, 1e3, FIELD(temp_edge_c), false, false },
	[SLOT_TEMP_JUNCTION] = { NULL, NUMBER, 1e3, FIELD(temp_junction_c), false, false },
	[SLOT_TEMP_MEM] = { NULL, NUMBER, 1e3, FIELD(temp_mem_c), false, false },
	[SLOT_SCLK] = { NULL, NUMBER, 1e6, FIELD(sclk_mhz), false, false },
	[SLOT_MCLK] = { NULL, NUMBER, 1e6, FIELD(mclk_mhz), false, false },
	[SLOT_DPM_SCLK] = { "pp_dpm_sclk", DPM, 1, FIELD(sclk_mhz), false, true },
	[SLOT_DPM_MCLK] = { "pp_dpm_mclk", DPM, 1, FIELD(mclk_mhz), false, true },
	[SLOT_COMPUTE_PARTITION] = { "current_compute_partition", PARTITION, 1, FIELD(compute_partition), true, false },
	[SLOT_MEMORY_PARTITION] = { "current_memory_partition", PARTITION, 1, FIELD(memory_partition), true, false },
	[SLOT_METRICS] = { "gpu_metrics", METRICS, 1, 0, false, true },
};

const char *gpu_slot_file(enum gpu_slot slot)
{
	return slots[slot].name;
}

static void close_slot(struct gpu_device *d, int slot)
{
	if (d->fd[slot] >= 0)
		close(d->fd[slot]);
	d->fd[slot] = -1;
}

void gpu_device_close(struct gpu_device *d)
{
	for (int i = 0; i < SLOT_COUNT; i++)
		close_slot(d, i);
}

/* In sysfs a file that is gone says so (ENODEV) when it is read. A simulated driver may rename over its files: there, look
 * whether ours still lives. */
static bool slot_is_open(struct gpu_device *d, int slot)
{
	struct stat st;
	struct statfs fs;

	if (d->fd[slot] >= 0 && d->simulated && (fstat(d->fd[slot], &st) < 0 || st.st_nlink == 0))
		close_slot(d, slot);
	if (d->fd[slot] >= 0)
		return true;
	d->fd[slot] = open(d->path[slot], O_RDONLY | O_CLOEXEC);
	if (d->fd[slot] >= 0)
		d->simulated = fstatfs(d->fd[slot], &fs) < 0 || fs.f_type != SYSFS_MAGIC;
	return d->fd[slot] >= 0;
}

static struct span slot_content(struct gpu_device *d, int slot, char *block, size_t size)
{
	ssize_t n;

	if (!slot_is_open(d, slot))
		return span_of("");
	n = pread(d->fd[slot], block, size, 0);
	if (n < 0 && errno != EBUSY && errno != EINVAL && errno != EPERM && errno != EINTR)
		close_slot(d, slot); /* ENODEV: gone; opened anew next time */
	return span_make(block, n > 0 ? (size_t)n : 0);
}

static void read_number(struct gpu_device *d, int slot, struct gpu_reading *r)
{
	double *field = (double *)((char *)r + slots[slot].at), value;
	char block[4096];
	struct span content;

	if (slots[slot].fallback && !isnan(*field))
		return;
	content = slot_content(d, slot, block, slots[slot].kind == DPM ? sizeof block : 64);
	value = slots[slot].kind == DPM ? gpu_file_dpm_mhz(content) : gpu_file_number(content) / slots[slot].divisor;
	*field = slots[slot].kind == PERCENT ? gpu_percent(value) : value;
}

static void read_partition(struct gpu_device *d, int slot, struct gpu_reading *r)
{
	char block[64], *field = (char *)r + slots[slot].at;

	if (!gpu_file_partition(slot_content(d, slot, block, sizeof block), field, sizeof r->compute_partition))
		*field = 0;
}

/* One call of the firmware for everything the small files did not give. */
static void read_metrics(struct gpu_device *d, struct gpu_reading *r)
{
	char block[GPU_METRICS_MAX];
	struct span content;

	if (d->no_metrics || !(isnan(r->busy_pct) || isnan(r->mem_activity_pct) || isnan(r->power_w) ||
			isnan(r->temp_junction_c) || isnan(r->sclk_mhz)))
		return;
	content = slot_content(d, SLOT_METRICS, block, sizeof block);
	if (content.len && gpu_metrics_fill(content, r, NULL) < 0)
		d->no_metrics = true;
}

void gpu_device_read(struct gpu_device *d)
{
	bool slow = d->rounds++ % SLOW_ROUNDS == 0;

	for (int i = 0; i < SLOT_COUNT && slow; i++)
		if (d->path[i] && slots[i].slow) {
			if (slots[i].kind == PARTITION)
				read_partition(d, i, &d->fixed);
			else
				read_number(d, i, &d->fixed);
		}
	d->reading = d->fixed;
	for (int i = 0; i < SLOT_COUNT; i++)
		if (d->path[i] && !slots[i].slow && slots[i].kind != METRICS)
			read_number(d, i, &d->reading);
	if (d->path[SLOT_METRICS])
		read_metrics(d, &d->reading);
}
