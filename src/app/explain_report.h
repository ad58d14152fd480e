/* explain_report.h - what explain found, as one JSON object (the contract is in doc/explain.md) and as a screen of text. Who: cmd_explain.c. */
#ifndef HANGTOP_APP_EXPLAIN_REPORT_H
#define HANGTOP_APP_EXPLAIN_REPORT_H

#include "base/buf.h"
#include "model/explain.h"
#include "model/kernel_words.h"
#include "model/signature.h"
#include "parse/scan.h"

#define EXPLAIN_HITS_MAX 16

struct explained {
	const struct observation *const *list;  /* in order of input */
	size_t n;
	const struct explain *answer;
	struct scan_counts count;
	uint64_t left_out;              /* observations past the maximum that is kept */
	const struct kernel_set *kernels;       /* may be NULL */
	const struct signature_hit *hit;
	int hits;
	struct span disassembled;       /* what llvm-objdump showed; may be empty */
};

void explain_json(const struct explained *e, struct buf *out);
void explain_text(const struct explained *e, struct buf *out);

#endif
