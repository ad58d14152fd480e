/* gpu_files.h - the contents of the small files of amdgpu and KFD: bytes in, numbers out.
 *
 * Who: source/gpu_sysfs.c. Sources of the formats: kernel docs gpu/amdgpu/thermal and driver-misc, and the KFD topology.
 *   a number      decimal text, LF or nothing after it; a unit as the file has it (uW, m°C, Hz, bytes, %)
 *   a label       one word: edge junction mem sclk mclk
 *   pp_dpm_sclk   lines "1: 2100Mhz *", the current one has the star
 *   properties    lines "key value" of decimal numbers
 */
#ifndef HANGTOP_PARSE_GPU_FILES_H
#define HANGTOP_PARSE_GPU_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "parse/gpu_reading.h"

/* One whole number and nothing else; NAN otherwise. */
double gpu_file_number(struct span content);
/* MHz of the current level of pp_dpm_*; NAN when no line has the star. */
double gpu_file_dpm_mhz(struct span content);
/* One word of letters and digits, e.g. SPX or NPS1. False (out untouched) for anything else, such as "UNKNOWN". */
bool gpu_file_partition(struct span content, char *out, size_t size);

/* properties of a KFD topology node. */
struct kfd_properties {
	uint64_t simd_count;           /* 0: a CPU */
	uint64_t location_id, domain;  /* PCI */
	int64_t render_minor;          /* 128... of renderD128; -1 none */
	uint64_t gfx_target_version;   /* 90402: gfx942 */
	uint64_t unique_id;
};

void gpu_file_properties(struct span content, struct kfd_properties *out);
/* "0000:c1:00.0". The top four bits of location_id are the number of the partition, not PCI. */
void kfd_bdf(const struct kfd_properties *p, char *out, size_t size);
unsigned kfd_partition_id(const struct kfd_properties *p); /* 0: the whole GPU or its first partition */
/* "gfx942", "gfx90a"; "" when unknown. */
void kfd_gfx_name(uint64_t gfx_target_version, char *out, size_t size);
/* PCI_SLOT_NAME of a device's uevent. False when there is none. */
bool gpu_file_slot_name(struct span uevent, char *out, size_t size);

#endif
