/* gpu_metrics.h - the binary gpu_metrics file of amdgpu, formats 1.0 to 1.8.
 *
 * Who: source/gpu_sysfs.c, for what the small files do not give.
 * Header: u16 size, u8 format, u8 content, little endian. 0xFFFF is "not available". 1.4 (MI300) moved the socket power
 * from byte 22 to byte 10. 1.9 is a list of tagged values and 2.x and 3.x are APUs: refused, never guessed.
 */
#ifndef HANGTOP_PARSE_GPU_METRICS_H
#define HANGTOP_PARSE_GPU_METRICS_H

#include "base/error.h"
#include "base/span.h"
#include "parse/gpu_reading.h"

#define GPU_METRICS_MAX 8192           /* bytes of the largest format, with room to grow */

/* Fill only those fields of `r` that are still unknown. -1 when it is no format we know; the error says which it is. */
int gpu_metrics_fill(struct span content, struct gpu_reading *r, struct error *error);

#endif
