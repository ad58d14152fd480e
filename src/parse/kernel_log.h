/* kernel_log.h - what the Linux kernel's GPU driver says: page faults, resets, RAS, timeouts.
 *
 * amdgpu 4.x to 6.x, behind any prefix of dmesg, journald, syslog or /dev/kmsg; FreeBSD says drmn0: instead of amdgpu:
 *   amdgpu 0000:0b:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32792[, for process NAME pid N thread ..])
 *   amdgpu PCI: amdgpu:  Process NAME pid N thread ... | for/in process NAME pid N | in page starting at address 0x.. from client 10
 *   gfx8 and older: GPU fault detected: N 0x.. for process NAME pid N .. / VM_CONTEXT1_PROTECTION_FAULT_ADDR 0x<page> / VM fault (0x.., vmid N, ..)
 * The lines of one fault are joined by PCI address (where there is none: by having none), with any others between. pid 0 and an empty name are unknown.
 * Also: GPU reset, MES and KIQ failures, ring timeouts, uncorrectable errors (of ACA by bit 61 of its STATUS), queue evictions, NVRM Xid. Who: scan.c, source/kmsg.
 */
#ifndef HANGTOP_PARSE_KERNEL_LOG_H
#define HANGTOP_PARSE_KERNEL_LOG_H

#include <stdbool.h>

#include "parse/line.h"
#include "parse/reading.h"
#include "parse/wrapped.h"

#define KERNEL_FAULTS_MAX 256   /* held until their lines are complete */

struct kernel_fault {
	uint64_t offset;
	char pci[24], process[64], address[24];
	int64_t pid, vmid;      /* -1 unknown */
	bool closed;            /* a ring's timeout came: the process below is that of its job */
};

struct kernel_log {
	const struct reading_sink *sink;
	struct kernel_fault fault[KERNEL_FAULTS_MAX];
	int faults;
	struct wrapped cut;             /* a line of a fault that may go on in the next one */
	struct kernel_fault ahead;      /* of a log with its newest line first: what stood above the line of its fault */
};

void kernel_log_init(struct kernel_log *k, const struct reading_sink *sink);
void kernel_log_release(struct kernel_log *k);
/* Every line must be shown: the next one may go on with the last. */
static inline bool kernel_log_waits(const struct kernel_log *k)
{
	return k->cut.open;
}
bool kernel_log_line(struct kernel_log *k, const struct line *l);
void kernel_log_flush(struct kernel_log *k);

#endif
