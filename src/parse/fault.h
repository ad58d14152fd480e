/* fault.h - lines by which the GPU runtimes say that something broke, every generation.
 *
 * ROCr      Memory access fault by GPU node-N (Agent handle: 0x..) on address 0x..[ text]. Reason: R.
 *           Memory critical error by agent node-N (...) ...   HW Exception by GPU node-N (Agent handle: 0x..) reason :GPU Hang
 *           `(nil)`, no handle, masked node-XX, no dot, a split word ("p rivilege"), text glued behind the dot
 * thunk     [GPU Memory Error] Addr: 0x.. Reason: R.       (to ROCm 5, before ROCr's line)
 * libomptarget  OFFLOAD ERROR: memory access fault by GPU 4 (agent 0x..) at virtual address 0x... Reasons: R, R
 *           AMDGPU fatal error 1: Received error in queue 0x..: HSA_STATUS_X: text
 * agent     2018: Memory access fault by GPU agent: NAME / Node: N / Address: 0x..xxx (R;R;)
 *           2019: Memory access fault at GPU Node: N / Address: 0x..xxx (R;R;)   Queue error state in GPU agent: NAME / Node: N / Queue ID: N (R;)
 *           to ROCm 5.6: Queue error (HSA_STATUS_X: text)   System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT[: R]) / Faulting page: 0x..
 * CLR       Callback: Queue 0x.. aborting with error : HSA_STATUS_X: text code: 0x..   Device::callbackQueue aborting with ...
 *           Memory Fault Error [[host: H, ]GPU index: N, faulting addr: 0x.., kernel: K]   (2026; may be wrapped)
 *           Kernel Name: K / VGPU=.. / Dispatch Header =.. / grid=[..], workgroup=[..] / .. / rptr=N, wptr=N   (an AQL packet)
 *           Warning: Queue error - HSA_STATUS_X / VGPU(0x..) hang analysis: / grid=[..], workgroup=[..], ..      (ROCm 10)
 *           ShaderName : K     aiter  LoadKernel: K hsaco: FILE
 * A message may begin in the middle of a line, and two may share one; faults, queue errors and names of kernels may be wrapped over
 * lines (wrapped.h), with lines of other processes between. A fault told without its node waits for a line that tells it with one.
 * Who: scan.c.
 */
#ifndef HANGTOP_PARSE_FAULT_H
#define HANGTOP_PARSE_FAULT_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/line.h"
#include "parse/reading.h"
#include "parse/wrapped.h"

#define FAULT_ADDRESSES 64
#define FAULT_WRAP_LINES 3
#define FAULT_PACKETS 8         /* of processes that print theirs at the same time */
#define FAULT_HELD 16

struct fault_told {
	uint64_t offset;
	int64_t node;           /* KFD; -1 unknown */
	char agent[24], address[24], reason[200], rank[LINE_RANK_MAX];
};

struct fault_packet {
	bool open, grid, vgpu;
	uint64_t offset, tag;
	struct buf kernel, grid_text, workgroup_text;
	int64_t rptr, wptr;     /* -1 unknown */
};

struct fault_scan {
	const struct reading_sink *sink;
	uint64_t faults;
	char address[FAULT_ADDRESSES][24];      /* of the last faults */
	uint64_t address_next;
	struct fault_told held[FAULT_HELD];     /* in order; the first one is without its node */
	int holds;
	struct fault_packet packet[FAULT_PACKETS];
	int packet_strangers;                   /* lines since the last one of a packet */
	struct wrapped queue;                   /* a queue error that is not whole yet */
	struct wrapped fault;                   /* a fault of ROCr that is not whole yet */
	struct buf clr;                         /* CLR's fault, wrapped */
	int clr_lines;
	uint64_t clr_offset;
	int page_lines;                         /* lines in which "Faulting page", "Address" or "Queue ID" may follow; 0 none */
	bool page_queue;                        /* it is a queue that broke */
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
