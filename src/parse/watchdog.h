/* watchdog.h - watchdogs that gave up waiting, and the deaths that servers report.
 *
 * torch    [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, ...) ran for 600060 milliseconds
 *          [Rank 2] Running collective: CollectiveFingerPrint(SequenceNumber=1276, OpType=ALLREDUCE, ...), any number in a line
 * SGLang   [... TP3] Watchdog timeout (self.watchdog_timeout=300[, self.soft=False])
 * deaths   [ModelRunner3/8] proc died unexpectedly (exitcode=-6)    Worker proc VllmWorker-1 died unexpectedly
 * Who: scan.c.
 */
#ifndef HANGTOP_PARSE_WATCHDOG_H
#define HANGTOP_PARSE_WATCHDOG_H

#include <stdbool.h>

#include "parse/line.h"
#include "parse/reading.h"

#define WATCHDOG_SEEN 64

struct watchdog_scan {
	const struct reading_sink *sink;
	uint64_t seen[WATCHDOG_SEEN];   /* hashes of the last timeouts: exceptions (exception:, Error:, what():) repeat the text of one */
	uint64_t next;
};

void watchdog_init(struct watchdog_scan *w, const struct reading_sink *sink);
bool watchdog_line(struct watchdog_scan *w, const struct line *l);

#endif
