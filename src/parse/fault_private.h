/* fault_private.h - between fault.c, fault_told.c, fault_queue.c and fault_packet.c. */
#ifndef HANGTOP_PARSE_FAULT_PRIVATE_H
#define HANGTOP_PARSE_FAULT_PRIVATE_H

#include "parse/fault.h"

#define FAULT_TEXT_MAX 8192

/* 0x7f.., 0x7E..xxx, (nil) -> as a word; false, and "", when it is none of them. */
bool fault_take_address(struct span s, char out[24]);

/* fault_told.c. The reason without what is glued to it; a word that the paste split is mended, in `mended`. */
struct span fault_reason_of(struct span s, char *mended, size_t size);
/* What stands behind "Reason: ", in every spelling; empty when it does not. */
struct span fault_behind_reason(struct span s);
bool fault_reason_is_cut(struct span s);        /* its end is missing */
bool fault_reason_is_known(struct span s);      /* it begins with one of the runtime's */
int64_t fault_take_node(struct span s);         /* -1 when it is no number */
void fault_start_told(struct fault_told *t, uint64_t offset, const char *rank);
void fault_set_reason(struct fault_told *t, struct span reason);
/* Emitted at once, or when a line tells the same address with its node; or not at all when it is told already. */
void fault_tell(struct fault_scan *f, const struct fault_told *t);
void fault_told_flush(struct fault_scan *f);

/* fault_queue.c: true when the line tells of a queue error, or goes on with one. */
bool fault_queue_line(struct fault_scan *f, const struct line *l);
void fault_queue_flush(struct fault_scan *f);
void fault_emit_queue_error(struct fault_scan *f, uint64_t offset, struct span s, const char *rank);

/* fault_packet.c */
void fault_packets_init(struct fault_scan *f);
void fault_packets_release(struct fault_scan *f);
bool fault_packet_line(struct fault_scan *f, const struct line *l);
bool fault_packets_wait(const struct fault_scan *f);
void fault_packets_flush(struct fault_scan *f);

#endif
