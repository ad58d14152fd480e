/* rocm_smi.h - what `rocm-smi ... --json` prints, ROCm 4.5 to 7; and the keys that its JSON, CSV and text share, of 1.6 to 7.
 *
 * Who: source/gpu_tool.c and explain; the keys: smi_rocm.c, smi_csv.c, which read the text and the CSV.
 * Grammar: any lines of noise (library complaints), then one document {"card0": {...}, ..., "system": {"PID1": "..."}}.
 *   - every value is a string; "N/A", "None", "unknown", "N/A (Secondary die)" are unknown; "(400Mhz)" is a number
 *   - a card that failed every request is missing; a card may have only some keys
 *   - "GPU memory use (%)" (up to 6.0) and "GPU Memory Read/Write Activity (%)" are activity, not occupancy
 *   - "PID12": "pt, main, thread, 1, 1024, 0, 4": blanks became ", ", so four fields from the right are GPUs, VRAM, SDMA,
 *     CUs and the rest is the (lower-cased) name; GPUs may be a list "[0, 1]"
 * Judge by content: exit codes are 0 without a driver and 2 with complete JSON.
 */
#ifndef HANGTOP_PARSE_ROCM_SMI_H
#define HANGTOP_PARSE_ROCM_SMI_H

#include "base/error.h"
#include "base/span.h"
#include "parse/gpu_reading.h"

/* Adds to the list. -1 when there is no whole document in it. */
int rocm_smi_parse(struct span out, struct gpu_list *list, struct error *error);

/* One key and its value, as any of the tool's forms print them, into `r`: what is there already stays. False for a key unknown here. */
bool rocm_smi_take(struct gpu_reading *r, struct span key, struct span value);

/* Shared with amd_smi.c: the offset of the first line that starts with one of `starts`, or -1. Whoever looks on
 * after lines that only look like JSON gives up after so many. */
#define SMI_JSON_TRIES 64
long smi_json_start(struct span text, const char *starts);

#endif
