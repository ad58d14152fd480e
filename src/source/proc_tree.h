/* proc_tree.h - which processes belong to the server, and what each of them is. Who: source/proc.c.
 *
 * Reads a /proc (its root is a parameter). A new process is opened once; one that was seen before is told apart from a reused pid
 * by the inode of its /proc folder. The server's processes are read again in each scan (titles change), of the others a part (a
 * script may exec the server), so that all are within ten scans, within two while there is no server.
 * Ranks by the order of trust: title, environment, order of spawning, order of start; `how` says which.
 *
 * Threads: a scan reads cmdline and environ, which wait while a thread of that process sits in the driver with its memory map
 * locked. So proc_tree_scan() runs in the thread pool, and until it returns only proc_tree_at() may be called.
 */
#ifndef HANGTOP_SOURCE_PROC_TREE_H
#define HANGTOP_SOURCE_PROC_TREE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/map.h"
#include "parse/pattern.h"
#include "parse/proc_files.h"
#include "source/target.h"

#define PROC_DEPTH_MAX 8
#define RANK_VARIABLES 5

enum role { ROLE_NONE, ROLE_API, ROLE_ENGINE, ROLE_WORKER, ROLE_HELPER };
const char *role_word(enum role role);

/* A process of the node. */
struct node_process {
	int64_t pid, ppid, start_ticks;
	int64_t pipe_handle;           /* of spawn_main, -1 none */
	uint64_t inode;                /* of /proc/PID: another one is another process */
	uint32_t mark;                 /* of the scan that saw it last */
	char comm[20];
	char state;                    /* when it was read last */
	char *cmdline;                 /* in words, first 4 KiB, secrets masked; NULL for kernel threads */
	char *env;                     /* chosen variables as JSON, for the server's processes; NULL not read or none */
	bool env_looked, env_denied;
	int64_t env_rank[RANK_VARIABLES]; /* RANK and its like; -1 not set */
	int port;                      /* from the port option; 0 none */
	const struct profile *profile; /* whose api pattern matched; NULL none */
	enum role role;                /* in the server chosen last */
	char rank[32];
	const char *how;
	int depth;                     /* below the api process; -1 not below it */
};

/* What orders the processes that one parent has spawned. */
struct spawn_place { int64_t ppid, pipe_handle, start_ticks, pid; };

/* Compiled patterns of one profile; NULL at the end of each. */
struct matcher {
	const struct profile *profile;
	struct pattern **api, **engine, **worker, **helper, **spawn;
};

struct proc_tree {
	char *root;
	const struct profile_set *profiles;
	struct matcher *matcher;       /* one a profile */
	struct map process;            /* pid as text -> struct node_process */
	uint32_t mark;
	int64_t boot_ms;               /* ms since the epoch of boot; start = boot_ms + ticks */
	long hertz;
	struct node_process *api;      /* chosen by the last scan; NULL none */
	struct spawn_place *gone;      /* workers of api that ended, so that the ranks behind them keep their numbers */
	int gone_count;
	const struct profile *profile; /* of the server; NULL unknown */
	_Atomic int64_t at;            /* pid whose files are being read; 0 none */
};

/* -1 when a pattern of a profile does not compile; the others are used all the same. */
int proc_tree_init(struct proc_tree *tree, const char *root, const struct profile_set *profiles, struct error *error);
void proc_tree_release(struct proc_tree *tree);
/* Look at all processes. `pid` 0: find the server, and stay with it while it lives; engine NULL: any profile. */
void proc_tree_scan(struct proc_tree *tree, int64_t pid, const char *engine);
int64_t proc_tree_at(const struct proc_tree *tree); /* any thread */
int64_t proc_tree_start_ms(const struct proc_tree *tree, int64_t ticks);

/* Read ROOT/PID/NAME (PID 0: ROOT/NAME), at most max bytes. False when it cannot be read; errno says why. */
bool proc_read(const char *root, int64_t pid, const char *name, struct buf *out, size_t max);

/* --- between proc_tree.c and proc_roles.c --- */

#define EACH_PROCESS(tree, p) \
	for (size_t each_i = 0; each_i < (tree)->process.count; each_i++) \
		for (struct node_process *p = (tree)->process.entry[each_i].value; p; p = NULL)

struct node_process *proc_tree_find(const struct proc_tree *tree, int64_t pid);
/* What starts, shows or carries a server's command line without being it: shells, editors, launchers. */
bool proc_is_bystander(const char *cmdline);
bool proc_any_match(struct pattern *const *list, const char *text, struct span *group);
/* Role and rank of all processes with a depth; the api process has been chosen. */
void proc_roles(struct proc_tree *tree);
/* A process has ended: remember the place of a worker. */
void proc_roles_gone(struct proc_tree *tree, const struct node_process *p);

#endif
