/* proc_tree.h - which processes belong to the server, and what each of them is. Who: source/proc.c.
 *
 * Reads a /proc (its root is a parameter). New processes are opened once; known ones are told apart from reused pids by the
 * inode of their /proc folder. Ranks by the order of trust: title, environment, order of spawning, order of start; `how` says which.
 */
#ifndef HANGTOP_SOURCE_PROC_TREE_H
#define HANGTOP_SOURCE_PROC_TREE_H

#include "base/buf.h"
#include "base/map.h"
#include "parse/pattern.h"
#include "parse/proc_files.h"
#include "source/target.h"

enum role { ROLE_NONE, ROLE_API, ROLE_ENGINE, ROLE_WORKER, ROLE_HELPER };
const char *role_word(enum role role);

/* A process of the node. */
struct node_process {
	int64_t pid, ppid, start_ticks;
	uint64_t inode;                /* of /proc/PID: another one is another process */
	uint32_t mark;                 /* of the scan that saw it last */
	char comm[20];
	char *cmdline;                 /* in words, first 4 KiB; NULL for kernel threads */
	int64_t pipe_handle;           /* of spawn_main, -1 none */
	int port;                      /* from the port option; 0 none */
	const struct profile *profile; /* whose api pattern matched; NULL none */
	enum role role;                /* in the server chosen last */
	char rank[32];
	const char *how;
	int depth;                     /* below the api process; -1 not below it */
};

struct proc_tree {
	char *root;
	const struct profile_set *profiles;
	struct matcher *matcher;       /* compiled patterns, one a profile */
	struct map process;            /* pid as text -> struct node_process */
	uint32_t mark;
	int64_t boot_ms;               /* ms since the epoch of boot; start = boot_ms + ticks */
	long hertz;
	struct node_process *api;      /* chosen by the last scan; NULL none */
	const struct profile *profile; /* of the server; NULL unknown */
};

/* -1 when a pattern of a profile does not compile; the others are used all the same. */
int proc_tree_init(struct proc_tree *tree, const char *root, const struct profile_set *profiles, struct error *error);
void proc_tree_release(struct proc_tree *tree);
/* Look at all processes. `pid` 0: find the server; engine NULL: any profile. */
void proc_tree_scan(struct proc_tree *tree, int64_t pid, const char *engine);
int64_t proc_tree_start_ms(const struct proc_tree *tree, int64_t ticks);
/* Read ROOT/PID/NAME (PID 0: ROOT/NAME), at most max bytes. False when it cannot be read. */
bool proc_read(const char *root, int64_t pid, const char *name, struct buf *out, size_t max);

#endif
