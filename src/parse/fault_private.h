/* fault_private.h - between fault.c, fault_queue.c and fault_packet.c. */
#ifndef HANGTOP_PARSE_FAULT_PRIVATE_H
#define HANGTOP_PARSE_FAULT_PRIVATE_H

#include "parse/fault.h"

#define FAULT_TEXT_MAX 8192

/* 0x7f.., 0x7E..xxx, (nil) -> as a word; false, and "", when it is none of them. */
bool fault_take_address(struct span s, char out[24]);

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
