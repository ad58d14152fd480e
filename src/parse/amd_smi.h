/* amd_smi.h - what `amd-smi monitor|metric|process --json` prints, ROCm 6 and 7.
 *
 * Who: source/gpu_tool.c and explain; the names: smi_amd.c, smi_csv.c, which read its text and CSV.
 * Grammar: noise lines, then one or more JSON documents one after the other (-w prints one a round; later ones win), each
 *   [ {"gpu": 0, ...}, ... ]          or {"gpu_data": [ ... ]} (7)        or {"error": "...", "code": 34}
 * A value is {"value": 100, "unit": "%"}, a number, a string "97 %" or "N/A"; whole objects can be "N/A". Units are used as
 * given: MB and GB are powers of 1024.
 *   monitor  power_usage hotspot_temperature memory_temperature gfx gfx_clk mem mem_clock vram_used vram_total
 *   metric   usage.gfx_activity .umc_activity power.socket_power temperature.edge .hotspot .mem mem_usage.total_vram .used_vram
 *   process  process_list[].process_info: an object, or "No running processes detected"
 */
#ifndef HANGTOP_PARSE_AMD_SMI_H
#define HANGTOP_PARSE_AMD_SMI_H

#include "base/error.h"
#include "base/span.h"
#include "parse/gpu_reading.h"

/* Adds to the list. -1 when there is no document in it, or only an error object (the error has its words). */
int amd_smi_parse(struct span out, struct gpu_list *list, struct error *error);

/* One value by its name (any case, as the text and the CSV print it too) into `r`: what is there already stays. `group` is the
 * heading above it, "" when it is not known. False for a name unknown here. */
bool amd_smi_take(struct gpu_reading *r, struct span group, struct span name, struct span text);

#endif
