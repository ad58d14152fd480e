/* gpu_reading.h - what one look at the GPUs of a node gives, whoever told it.
 *
 * Who: the parsers of GPU files and GPU tools fill it; source/gpu*.c makes observations of it; explain prints it.
 * Unknown is NAN (reals), -1 (whole numbers) or "" (text), never 0.
 */
#ifndef HANGTOP_PARSE_GPU_READING_H
#define HANGTOP_PARSE_GPU_READING_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define GPU_READINGS_MAX 512           /* 64 sockets of 8 partitions */
#define GPU_PROCESSES_MAX 4096

struct gpu_reading {
	int gpu;                       /* index as the tool counts */
	double busy_pct, mem_activity_pct; /* % of time; not occupancy */
	double vram_used, vram_total;  /* bytes */
	double vram_pct;               /* occupancy, only when the tool prints it instead of bytes */
	double power_w, power_cap_w;
	double temp_junction_c, temp_edge_c, temp_mem_c;
	double sclk_mhz, mclk_mhz;
	int64_t kfd_node;
	char bdf[24], uuid[48], name[64];
	char compute_partition[8], memory_partition[8]; /* SPX, NPS1 */
};

struct gpu_process_reading {
	int64_t pid;
	int gpu;                       /* index; -1 when the tool only says how many */
	int64_t gpus;                  /* how many it uses */
	int64_t vram;                  /* bytes */
	int64_t sdma_us, cu_occupancy, queues, evicted_ms;
	char name[64];                 /* "" unknown, or the process is gone */
};

/* GPUs in order of index. */
struct gpu_list {
	struct gpu_reading *gpu;
	size_t gpus, gpu_cap;
	struct gpu_process_reading *process;
	size_t processes, process_cap;
};

void gpu_reading_init(struct gpu_reading *r, int gpu);       /* everything unknown */
void gpu_process_reading_init(struct gpu_process_reading *p);
double gpu_reading_temp(const struct gpu_reading *r);        /* junction, else edge */

void gpu_list_init(struct gpu_list *list);
void gpu_list_release(struct gpu_list *list);
/* The reading of that index, made when there is none; NULL for a senseless index or past the maximum. Others may move. */
struct gpu_reading *gpu_list_gpu(struct gpu_list *list, int64_t gpu);
/* A new one, all unknown; NULL past the maximum. */
struct gpu_process_reading *gpu_list_process(struct gpu_list *list);

/* Helpers of the parsers. Copy text that is known: not "", N/A, None, unknown, UNKNOWN, [N/A]. */
void gpu_text(char *out, size_t size, struct span text);
/* "341.0", "(400Mhz)", "97 %", "52.0c" -> the number; `unit` (may be NULL) is what follows it. NAN when it is no number. */
double gpu_number(struct span text, struct span *unit);
double gpu_percent(double value);      /* NAN outside 0..100: firmware says 65535 for unknown */
double gpu_bytes_of(double value, struct span unit); /* B KB MB GB TB KiB MiB GiB; no unit is bytes; NAN for others */

#endif
