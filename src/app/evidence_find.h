/* evidence_find.h - which processes are the server's, found in a child (the search reads what may hang).
 *
 * Who: cmd_evidence.c. find_item() makes the item whose child scans /proc as the proc source does (roles, ranks); its text is a table
 * that stays in the bundle, and find_take() makes the list of it. When the search hangs at a process, find_family() gives that
 * process and its family (or --pid and what is below it) from /proc/PID/stat alone, which never waits: no roles, no ranks.
 */
#ifndef HANGTOP_APP_EVIDENCE_FIND_H
#define HANGTOP_APP_EVIDENCE_FIND_H

#include "app/evidence_part.h"
#include "app/options.h"

#define EVIDENCE_PROCESSES_MAX 256

struct evidence_process {
	int64_t pid, ppid, start_ticks;
	char role[12], rank[32], comm[20]; /* role and rank "" unknown */
	char state;
	char wchan[64];                /* of the main thread; "" unknown */
	bool python;
	char command[200];
};

struct find {
	const struct app_options *options;
	const struct profile_set *profiles;
	struct proc_tree *tree;        /* shared with the child, to see where it hangs */
	struct evidence_process process[EVIDENCE_PROCESSES_MAX]; /* workers first, helpers last */
	int count;
	const struct profile *profile; /* NULL unknown */
	int64_t api_pid, api_start;    /* 0 unknown */
};

/* "process/4711-worker-TP0": the folder of a process in the bundle. */
void evidence_process_folder(const struct evidence_process *p, char *out, size_t size);

int find_init(struct find *f, const struct app_options *options, const struct profile_set *profiles);
void find_release(struct find *f);
void find_item(struct find *f, struct item *item);
void find_take(struct find *f, struct span text);
void find_family(struct find *f);

#endif
