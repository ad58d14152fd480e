/* live.h - a live session: two agents, the core, the store. No screen. Who: run, record, once, demo.
 *
 * live_start() starts the agents "agent-device" (gpu) and "agent-host" (everything else) through transport/link.h and a
 * timer that advances the core. An agent that is silent, stopped or dead is an observation, never a wait.
 */
#ifndef HANGTOP_APP_LIVE_H
#define HANGTOP_APP_LIVE_H

#include <uv.h>

#include "app/core.h"
#include "app/options.h"
#include "store/writer.h"

struct live;

/* `moved` is called when something has changed (at most once a step). NULL and an error when the log of JSON lines
 * cannot be written; a session file that cannot be written is an observation, not an error. */
struct live *live_start(uv_loop_t *loop, const struct app_options *options, void (*moved)(void *context), void *context,
	struct error *error);
struct core *live_core(struct live *live);
int64_t live_now(const struct live *live);             /* ms since the epoch; never steps back */
const char *live_db(const struct live *live);          /* NULL when nothing is recorded */
bool live_recording(const struct live *live);
/* True, with why, when what was to be recorded cannot be: the session file or the JSON lines. */
bool live_lost(const struct live *live, struct error *why);
void live_flush(struct live *live);                    /* hand over to the writer now */
/* Something the user or a rule asks of the node; writes the audit row. */
void live_stacks(struct live *live, const char *why);
/* Ask for the snapshot of a worker: what would be done (take false), or to do it; ask_agent NULL, or the rank typed to
 * send SIGQUIT to its debug agent instead. */
void live_snapshot(struct live *live, const struct rank *rank, bool take, const char *ask_agent);
/* The alarm of a snapshot was seen: an audit row. */
void live_acknowledge(struct live *live, const char *id);
void live_pid(struct live *live, int64_t pid);         /* watch this server from now on */
/* A note or bookmark by the user. */
void live_note(struct live *live, enum kind kind, const char *text, int64_t at);
/* Stop agents, commit, free. `closed` is called when the loop holds nothing of it any more. */
void live_stop(struct live *live, void (*closed)(void *context), void *context);

#endif
