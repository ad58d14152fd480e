/* evidence_summary.h - SUMMARY.txt: one screen that says what is in the bundle and what is not. Who: cmd_evidence.c. */
#ifndef HANGTOP_APP_EVIDENCE_SUMMARY_H
#define HANGTOP_APP_EVIDENCE_SUMMARY_H

#include "app/evidence_find.h"
#include "app/evidence_tools.h"

struct evidence_summary {
	const char *node;
	int64_t started, took_ms;
	const struct find *find;
	const struct tools *tools;
	const struct bundle *bundle;
	struct buf gpus;               /* lines by summary_gpu() */
	char rocm[64], amdgpu[64], exe[200]; /* "" unknown; exe of the api process */
	const char *trouble;           /* NULL: the search went well */
};

/* A line for a GPU from its piece's text (sections "== name"). */
void summary_gpu(struct evidence_summary *s, const char *path, struct span text);
void summary_print(const struct evidence_summary *s, struct buf *out);

#endif
