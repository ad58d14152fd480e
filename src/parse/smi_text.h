/* smi_text.h - tables that GPU tools print for people.
 *
 * rocm-smi  1.6 to 7: concise ("GPU  Temp  AvgPwr ... VRAM%  GPU%" to 6.0, without VRAM% to 2.2 and without GPU% to 1.9; "Device  Node
 *           IDs ..." from 6.1), one line a GPU, also wrapped by a narrow terminal;
 *           sections of "GPU[0]		: key: value" (one report, up to its "End of ROCm SMI Log", makes one entry a GPU);
 *           "PID  PROCESS NAME  GPU(s)  VRAM USED  SDMA USED  CU OCCUPANCY", padded with blanks or TABs, rows cut at a colon (5.6, 5.7);
 *           CSV "device,key,..." with rows "card0,..."
 * amd-smi   monitor tables (numbers and units apart, with and without time and partition), PROCESS INFO tables, "GPU: 0 / KEY: value" lists
 *           of metric and process, the box without a command (two lines a GPU), CSV "gpu,name,..."
 * nvidia-smi  CSV with its header, the box (GPUs; its processes have no CUs and are left out)
 * Partitions of a GPU make one entry: what the first one says stays. A table that starts again makes new entries.
 * Who: scan.c. Rows: smi_rocm.c, smi_amd.c, smi_box.c, smi_csv.c.
 */
#ifndef HANGTOP_PARSE_SMI_TEXT_H
#define HANGTOP_PARSE_SMI_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "parse/gpu_reading.h"
#include "parse/line.h"
#include "parse/reading.h"

#define SMI_COLUMNS_MAX 40

enum smi_table { SMI_NONE, SMI_CONCISE, SMI_PIDS, SMI_MONITOR, SMI_PROCESSES, SMI_CSV, SMI_AMD_BOX, SMI_NVIDIA_BOX, SMI_PROCESS_BOX };

struct smi_scan {
	const struct reading_sink *sink;
	enum smi_table table;
	char column[SMI_COLUMNS_MAX][24];
	int columns;
	int64_t row_key;        /* of the last row of the report; -1 none */
	uint64_t offset;
	struct gpu_list list;   /* of the report that is being read */
	bool listed;            /* it has something */
	bool wrapped;           /* the concise header took two lines */
	struct buf row;         /* the row of a wrapped table so far */
	int gpu;                /* of an amd-smi list, or of the second line of a box; -1 none */
	char group[24];         /* heading in the list */
	struct gpu_process_reading process;
	bool in_process;
	struct buf csv;         /* header */
	int (*csv_parse)(struct span, struct gpu_list *, struct error *);
};

void smi_text_init(struct smi_scan *s, const struct reading_sink *sink);
void smi_text_release(struct smi_scan *s);
bool smi_text_line(struct smi_scan *s, const struct line *l);
bool smi_text_open(const struct smi_scan *s);
void smi_text_flush(struct smi_scan *s);

#endif
