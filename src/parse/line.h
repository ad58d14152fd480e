/* line.h - a line of a log as the operator pasted it: what wrappers put before it, and the message.
 *
 * Stripped repeatedly, in any order, and understood (rank, pid, time, label):
 *   colours in every spelling: ESC[1;36m, ESC lost ([1;36m), caret text (^[[1;36m, ^[3m)
 *   compose `name-1  | `, pm2 `0|name  | `, CRI `TIME stderr F `, docker json-file {"log":"...\n",...}, journald `Mon DD HH:MM:SS host unit[pid]: `
 *   srun -l ` 581: `, mpirun `[1,3]<stderr>:` and `[prterun-n1-77@1,3]<stderr>: `, `[TP3] `, torch `[rank3]:`, `[default3]:` and other roles,
 *   clush and pdsh `node12: `, kubectl `[pod/NAME/CONTAINER] `, journald and rsyslog with ISO times `TIME host unit[pid]: `,
 *   GitLab `TIME 01E `
 *   Ray, vLLM `(Worker_TP1 pid=9) `, `(WorkerDict pid=616, ip=192.0.2.9) `, `(VllmWorker rank=2 pid=9) `
 *   SGLang `[DATE TIME DP1 TP3] `, ATOM `[atom HH:MM:SS] `, ISO times of CI logs, line numbers `[70746] `
 *   `> ` of a quotation, `[16:43:31 TP0] ` of old SGLang, `0.26.045.217 I ` of new llama.cpp
 *   vLLM `INFO 06-11 11:46:37 [loggers.py:118] `, glog `W0902 15:10:48.626000 719010 file.py:900] `
 * Blanks that belong to the message stay. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_LINE_H
#define HANGTOP_PARSE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define LINE_RANK_MAX 32

struct line {
	struct span raw;        /* as it was, without its end */
	struct span text;       /* the message */
	uint64_t offset;        /* of its first byte in the input */
	char rank[LINE_RANK_MAX]; /* "TP3", "DP1_TP3", "4" or "" */
	char label[48];         /* Worker_TP1, EngineCore_DP0, atom ... or "" */
	char file[48];          /* loggers.py of a vLLM prefix, or "" */
	char time[9];           /* HH:MM:SS of the innermost prefix that has one, or "" */
	char level;             /* first letter of INFO, WARNING, ERROR ...; 0 unknown */
	int64_t pid;            /* of the prefix; 0 unknown */
	bool partial;           /* CRI P: the message goes on in the next line */
	bool cut;               /* something was stripped */
};

/* Whose lines these are, by label, pid and rank of the prefix: lines of one process share it. 0 without such a prefix. */
uint64_t line_tag(const struct line *l);
/* Fill `l` for one line. Its text may lie in `scratch`, which is cleared. */
void line_read(struct line *l, struct span raw, uint64_t offset, struct buf *scratch);
/* The rank that a process title, label or command line names: "ATOM::DP1TP3", "sglang::scheduler_DP0_TP0", "--local_rank=1",
 * "ModelRunner3/8", "VllmWorker-1". False for those that are no rank (API server, engine core). */
bool line_rank_of_title(struct span title, char rank[LINE_RANK_MAX]);

#endif
