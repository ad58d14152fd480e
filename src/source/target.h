/* target.h - what one agent knows of the server it watches: found by proc, used by log, server and stack.
 *
 * One struct target an agent, owned by app/agent.c. Only the proc source (and options) writes it, but for the two fields that say so; others read it and are told
 * of changes by target_listen(). Pids are those of this agent's pid namespace.
 */
#ifndef HANGTOP_SOURCE_TARGET_H
#define HANGTOP_SOURCE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/profile.h"

#define TARGET_PROCESSES_MAX 1024

struct target_process {
	int64_t pid, start;     /* start: ms since the epoch */
	char role[12];          /* api engine worker helper */
	char rank[32];          /* "" unknown */
	bool ended;
};

struct target {
	const struct profile_set *profiles;
	const struct profile *profile; /* NULL until known */
	int64_t api_pid;        /* 0 unknown */
	int port;               /* HTTP port from the command line; 0 unknown */
	struct target_process process[TARGET_PROCESSES_MAX];
	int processes;
	int64_t held_pid;       /* a debugger has it or is about to: nobody else may look into it; 0 none. Written by app/agent_snapshot.c */
	int stacks_running;     /* py-spy processes in flight. Written by the stack source */
	uint64_t version;       /* grows with every change */
	struct target_listener *listener;
};

void target_init(struct target *target, const struct profile_set *profiles);
void target_release(struct target *target);
/* `changed` is called by target_changed(), on the loop. */
void target_listen(struct target *target, void (*changed)(void *context), void *context);
void target_unlisten(struct target *target, void *context);
void target_changed(struct target *target);

#endif
