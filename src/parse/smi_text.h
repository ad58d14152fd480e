/* smi_text.h - tables that GPU tools print for people.
 *
 * rocm-smi  1.7 to 7: concise ("GPU  Temp  AvgPwr ... VRAM%  GPU%" to 6.0, "Device  Node  IDs ..." from 6.1), one line a GPU;
 *           sections of "GPU[0]		: key: value" (one report, up to its "End of ROCm SMI Log", makes one entry a GPU);
 *           "PID  PROCESS NAME  GPU(s)  VRAM USED  SDMA USED  CU OCCUPANCY", padded with blanks or TABs, rows cut at a colon (5.6, 5.7)
 * amd-smi   monitor tables (numbers and units apart), PROCESS INFO tables, "GPU: 0 / KEY: value" lists of metric and process
 * nvidia-smi  CSV with its header
 * Who: scan.c.
 */
#ifndef HANGTOP_PARSE_SMI_TEXT_H
#define HANGTOP_PARSE_SMI_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/gpu_reading.h"
#include "parse/line.h"
#include "parse/reading.h"

#define SMI_COLUMNS_MAX 24

enum smi_table { SMI_NONE, SMI_CONCISE, SMI_PIDS, SMI_MONITOR, SMI_PROCESSES, SMI_CSV };

struct smi_scan {
	const struct reading_sink *sink;
	enum smi_table table;
	char column[SMI_COLUMNS_MAX][24];
	int columns;
	bool node;              /* the concise table has the KFD node */
	uint64_t offset;
	struct gpu_list list;   /* of the report that is being read */
	bool listed;            /* it has something */
	int gpu;                /* of an amd-smi list; -1 none */
	struct gpu_process_reading process;
	bool in_process;
	struct buf csv;
};

void smi_text_init(struct smi_scan *s, const struct reading_sink *sink);
void smi_text_release(struct smi_scan *s);
bool smi_text_line(struct smi_scan *s, const struct line *l);
bool smi_text_open(const struct smi_scan *s);
void smi_text_flush(struct smi_scan *s);

#endif
