/* nvidia_smi.h - what `nvidia-smi --query-gpu=... --format=csv` and `--query-compute-apps=...` print.
 *
 * Who: source/gpu_tool.c and explain.
 * Grammar: a header line "index, uuid, name, utilization.gpu [%], memory.used [MiB], ...", then one line a GPU; columns in any
 * order, found by name. Cells are not quoted: surplus commas belong to the (process) name. Units stand in the cell, or in the
 * header's brackets. [N/A], [Not Supported], [Unknown Error], ERR! ... are unknown. Other lines are noise.
 * `--query-compute-apps` has gpu_uuid (joined with the GPUs already in the list), pid, process_name, used_gpu_memory.
 */
#ifndef HANGTOP_PARSE_NVIDIA_SMI_H
#define HANGTOP_PARSE_NVIDIA_SMI_H

#include "base/error.h"
#include "base/span.h"
#include "parse/gpu_reading.h"

#define NVIDIA_SMI_GPU_COLUMNS \
	"index,uuid,name,utilization.gpu,utilization.memory,memory.used,memory.total,temperature.gpu,power.draw," \
	"power.limit,clocks.sm,clocks.mem,pci.bus_id"
#define NVIDIA_SMI_APP_COLUMNS "gpu_uuid,pid,process_name,used_memory"

/* Either output, told apart by its header. -1 without a header; the error has the tool's own words if it printed any. */
int nvidia_smi_parse(struct span out, struct gpu_list *list, struct error *error);

#endif
