/* debugger.h - one run of rocgdb in batch: its command line, its bounds, and how it ended.
 *
 * Who: snapshot.c. Started in a session of its own, without a terminal, stdin /dev/null; both outputs go, in order, to one file
 * (a file, not a pipe: nothing happens to the debugger when we die). Each command in an -ex of its own, cheap ones first: an
 * error ends a sourced script but not the next -ex. At the deadline SIGINT, SIGKILL only after a long grace, and said. All times in ms.
 *
 * While gdb attaches, SIGTERM leaves the target stopped and SIGINT is passed on and kills it (gdb 13: 38 of 39 and 19 of 28 tries, with
 * 200 threads; SIGKILL 0 of 28). So HUP, INT, QUIT and TERM are blocked when it starts, and its first command after the attach unblocks
 * them: whoever sends one, it waits (0 of 85). A gdb without Python never unblocks them and ends by itself or by SIGKILL.
 */
#ifndef HANGTOP_SNAPSHOT_DEBUGGER_H
#define HANGTOP_SNAPSHOT_DEBUGGER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define DEBUGGER_ARGS_MAX 64
#define DEBUGGER_END "=== hangtop: end ==="        /* the last thing printed when every command had its turn */
#define DEBUGGER_DETACH "=== hangtop: detach ==="
#define DEBUGGER_GROUPS "=== hangtop: waves ==="    /* what follows is of our own making: see parse/wave_groups.h */

struct debugger_options {
	const char *debugger;
	int64_t pid;
	const char *output;     /* file, created 0600 */
	int64_t deadline_ms, grace_ms;
	int64_t cap;            /* bytes of output: past it SIGINT */
	const char *proc_root;  /* for the stop time of the target */
	const volatile sig_atomic_t *cancel; /* nonzero: as if the deadline had passed; may be NULL */
	/* Called once when the debugger runs, with its pid. May be NULL. */
	void (*started)(void *context, pid_t debugger);
	void *context;
};

struct debugger_result {
	int exit;               /* status; negative for a signal */
	bool interrupted, killed, flooded, cancelled;
	bool regular;           /* by itself, every command had its turn */
	int64_t bytes;
	double took_ms, stopped_ms; /* stopped: seen traced or stopped, to 10 ms */
};

/* NULL at the end of argv; texts are static or in `number`. */
int debugger_argv(const char *debugger, int64_t pid, const char *argv[DEBUGGER_ARGS_MAX], char number[24]);
/* -1: could not be started. Otherwise *result says how it went. */
int debugger_run(const struct debugger_options *options, struct debugger_result *result, struct error *error);
/* A debugger that was started by somebody who is gone: wait for its end within the same bounds. */
void debugger_wait_for(pid_t debugger, int64_t start_ticks, const char *proc_root, int64_t deadline_ms, int64_t grace_ms);
/* Did the output come to its end? */
bool debugger_regular(const char *output);

#endif
