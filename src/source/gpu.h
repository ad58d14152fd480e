/* gpu.h - the parts of the gpu source: files of amdgpu and KFD, processes of KFD, tools.
 *
 * Who: source/gpu.c starts and joins them. What is said to block is called in the thread pool only.
 */
#ifndef HANGTOP_SOURCE_GPU_H
#define HANGTOP_SOURCE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "parse/gpu_reading.h"
#include "source/source.h"

/* --- gpu_sysfs.c: the GPUs of a /sys tree --- */

enum gpu_slot {
	SLOT_BUSY, SLOT_MEM_BUSY, SLOT_VRAM_USED, SLOT_VRAM_TOTAL, SLOT_POWER_AVERAGE, SLOT_POWER_INPUT, SLOT_POWER_CAP,
	SLOT_TEMP_EDGE, SLOT_TEMP_JUNCTION, SLOT_TEMP_MEM, SLOT_SCLK, SLOT_MCLK, SLOT_DPM_SCLK, SLOT_DPM_MCLK,
	SLOT_COMPUTE_PARTITION, SLOT_MEMORY_PARTITION, SLOT_METRICS, SLOT_COUNT
};

/* One GPU or partition. Used by one thread at a time. */
struct gpu_device {
	struct gpu_reading fixed;      /* what does not change from second to second */
	struct gpu_reading reading;    /* of the last gpu_device_read() */
	char gpu_id[16];               /* KFD's; "" without KFD */
	char *path[SLOT_COUNT];        /* NULL: there is no such file */
	int fd[SLOT_COUNT];            /* kept open; -1 not open */
	bool no_metrics;               /* a format we do not read */
	bool simulated;                /* its files are not sysfs's */
	unsigned rounds;
};

struct gpu_devices {
	struct gpu_device *at;
	size_t count;
	bool kfd;                      /* numbered by KFD (ROCm's order), else by drm card */
};

/* Find all GPUs under `root` (/sys). Blocks. None is no error: count 0. */
void gpu_devices_scan(const char *root, struct gpu_devices *out);
void gpu_devices_release(struct gpu_devices *devices);
bool gpu_devices_same(const struct gpu_devices *a, const struct gpu_devices *b);
bool gpu_device_has_files(const struct gpu_device *device); /* false: a secondary partition */

/* --- gpu_read.c --- */

const char *gpu_slot_file(enum gpu_slot slot); /* name below device/; NULL: below hwmon, found by its label */
void gpu_device_close(struct gpu_device *device);
/* Fill device->reading. Blocks, perhaps for ever. Unreadable is unknown. */
void gpu_device_read(struct gpu_device *device);

/* --- gpu_kfd.c: the processes KFD knows --- */

#define KFD_GPUS_MAX 512

struct kfd_processes {
	char *root, *proc_root;
	char gpu_id[KFD_GPUS_MAX][16]; /* "" none; place is the index of the GPU */
	bool avoid[KFD_GPUS_MAX];      /* do not ask the hardware of this one */
	size_t gpus;
	struct gpu_list list;          /* result: list.process, only those that use a GPU */
	struct kfd_queues *queues;     /* kept between rounds, a process each */
	size_t queue_count;
};

void kfd_processes_init(struct kfd_processes *k, const char *sys_root, const char *proc_root);
void kfd_processes_release(struct kfd_processes *k);
void kfd_processes_read(struct kfd_processes *k); /* blocks */

/* --- gpu_tool.c: rocm-smi, amd-smi, nvidia-smi --- */

struct gpu_health {
	char state[8];                 /* ok late failed; "" not known yet */
	char detail[400], remedy[300];
	double latency_ms;
};

/* mode: auto (the first that works) or the name of one. `files` are the words for what was looked at before, or "". */
struct gpu_tool *gpu_tool_start(struct source_env *env, const char *mode, const char *files);
const struct gpu_health *gpu_tool_health(const struct gpu_tool *tool);
void gpu_tool_stop(struct gpu_tool *tool, void (*closed)(void *context), void *context);

/* --- gpu_say.c --- */

void gpu_emit(struct source_env *env, const struct gpu_reading *r, const char *via);
void gpu_emit_process(struct source_env *env, const struct gpu_process_reading *p);

#endif
