/* fault.h - lines by which the GPU runtimes say that something broke, every generation.
 *
 * ROCr      Memory access fault by GPU node-N (Agent handle: 0x..) on address 0x..[ text]. Reason: R.
 *           Memory critical error by agent node-N (...) ...   HW Exception by GPU node-N (Agent handle: 0x..) reason :GPU Hang
 *           `(nil)`, no handle, masked node-XX, no dot, a split word ("p rivilege"), text glued behind the dot
 * libomptarget  OFFLOAD ERROR: memory access fault by GPU 4 (agent 0x..) at virtual address 0x... Reasons: R, R
 * agent     2019: Memory access fault at GPU Node: N / Address: 0x..xxx (R;R;)
 *           to ROCm 5.6: Queue error (HSA_STATUS_X: text)   System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT[: R]) / Faulting page: 0x..
 * CLR       Callback: Queue 0x.. aborting with error : HSA_STATUS_X: text code: 0x..   Device::callbackQueue aborting with ...
 *           Memory Fault Error [[host: H, ]GPU index: N, faulting addr: 0x.., kernel: K]   (2026; may be wrapped)
 *           Kernel Name: K / VGPU=.. / Dispatch Header =.. / grid=[..], workgroup=[..] / .. / rptr=N, wptr=N   (an AQL packet)
 *           ShaderName : K     aiter  LoadKernel: K hsaco: FILE
 * A message may begin in the middle of a line; a queue error may be wrapped over lines. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_FAULT_H
#define HANGTOP_PARSE_FAULT_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/line.h"
#include "parse/reading.h"

#define FAULT_ADDRESSES 64
#define FAULT_WRAP_LINES 3

struct fault_packet {
	bool open, grid, vgpu;
	uint64_t offset;
	struct buf kernel, grid_text, workgroup_text;
	int64_t rptr, wptr;     /* -1 unknown */
};

struct fault_scan {
	const struct reading_sink *sink;
	uint64_t faults;
	char address[FAULT_ADDRESSES][24];      /* of the last faults */
	uint64_t address_next;
	struct fault_packet packet;
	struct buf wrapped;                     /* a queue error that is not whole yet */
	int wrapped_lines;                      /* 0: none */
	uint64_t wrapped_offset;
	char wrapped_rank[LINE_RANK_MAX];
	struct buf clr;                         /* CLR's fault, wrapped */
	int clr_lines;
	uint64_t clr_offset;
	int page_lines;                         /* lines in which "Faulting page" or "Address" may follow; 0 none */
	int64_t page_node;
	struct buf page_reason;
};

void fault_init(struct fault_scan *f, const struct reading_sink *sink);
void fault_release(struct fault_scan *f);
bool fault_line(struct fault_scan *f, const struct line *l);
/* Lines are awaited that go on with an earlier one: every line must be shown. */
bool fault_waits(const struct fault_scan *f);
void fault_flush(struct fault_scan *f);

#endif
