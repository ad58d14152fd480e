/* agent_snapshot.h - the agent's part of a snapshot: py-spy first and then out of the way, a process of its own, its lines relayed.
 *
 * Requests: {"do":"snapshot","take":0|1,"pid":N,"start":MS,"rank":"3","role":"worker","why":"key","ask_agent":"3"}
 * (ask_agent: SIGQUIT to the debug agent instead, the rank typed by the operator). One at a time; the process outlives the
 * agent (snapshot/snapshot.h says what becomes of it then). At the start what a dead hangtop left is imported. Who: agent.c, on its loop.
 */
#ifndef HANGTOP_APP_AGENT_SNAPSHOT_H
#define HANGTOP_APP_AGENT_SNAPSHOT_H

#include "app/options.h"

struct agent_snapshot;

/* `ask` passes a request on to the sources (for the stacks before). */
struct agent_snapshot *agent_snapshot_start(struct source_env *env, const struct app_options *options,
	void (*ask)(void *context, struct span request), void *context);
void agent_snapshot_request(struct agent_snapshot *a, struct span request);
/* Lets go of a process that still works; frees. */
void agent_snapshot_stop(struct agent_snapshot *a);

#endif
