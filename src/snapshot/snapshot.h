/* snapshot.h - one guarded snapshot of one process: guard, run, verify, record.
 *
 * Who: app/cmd_snapshot.c, in a process of its own that nobody's terminal or death disturbs. What happens is told twice: through
 * emit() and, before that, in a side file FOLDER/ID.jsonl (the same observation lines), with the debugger's output beside it as
 * FOLDER/ID.out. A side file that nobody took over (`snapshot_taken_over`) is imported later; one whose owner died in the middle is
 * finished by snapshot_recover(): it waits for the debugger, verifies the target, repairs it if the stop is ours.
 * The target is only ever disturbed by debugger.c, after every row of the guard's table has let it pass.
 */
#ifndef HANGTOP_SNAPSHOT_SNAPSHOT_H
#define HANGTOP_SNAPSHOT_SNAPSHOT_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "model/observation.h"
#include "snapshot/guard.h"

#define SNAPSHOT_ID_MAX 64
#define SNAPSHOT_DEADLINE_MS 90000
#define SNAPSHOT_GRACE_MS 60000
#define SNAPSHOT_BUDGET_MS 300000       /* stopped time of one process in an hour */
#define SNAPSHOT_OUTPUT_CAP ((int64_t)64 << 20)
#define SNAPSHOT_TEXT_MAX (1 << 20)     /* of the output in the session */

struct snapshot_options {
	struct guard_options guard; /* pid, role, debugger ...; folder, used_ms and busy are filled in here */
	const char *folder;     /* of side files; made when missing */
	int64_t start_ms;       /* of the process, ms since the epoch; 0 unknown */
	const char *node, *rank, *who;
	int64_t deadline_ms, grace_ms, cap; /* 0: the defaults above */
	const volatile sig_atomic_t *cancel;
	void (*emit)(void *context, const struct observation *o);
	void *context;
};

enum snapshot_result { SNAPSHOT_DONE, SNAPSHOT_REFUSED, SNAPSHOT_FAILED };

struct snapshot {
	char id[SNAPSHOT_ID_MAX];
	char output[4400];      /* path of the debugger's output; "" none */
	enum snapshot_result result;
	bool hurt;              /* the target is not as it was: the alarm */
};

/* Only the guard, and what would be run: rows `guard` and `snapshot` (preview or refused). */
void snapshot_preview(const struct snapshot_options *options, struct snapshot *out);
/* All of it. -1 when nothing could be recorded (then nothing was done). */
int snapshot_take(const struct snapshot_options *options, struct snapshot *out, struct error *error);
/* Instead: SIGQUIT to the debug agent in the process, which prints its waves to the log and leaves them stopped. Only where
 * guard_sigquit() offers it and no check but debug-agent refuses; the caller has made the operator type the rank. */
int snapshot_ask_agent(const struct snapshot_options *options, struct snapshot *out, struct error *error);
/* The front has it: the side file is not imported again. */
void snapshot_taken_over(const char *folder, const char *id);
/* Side files that nobody took over: finish those in the middle, then tell each. `output` is called for each with output. */
int snapshot_import(const struct snapshot_options *options, void (*output)(void *context, const struct snapshot *s));

#endif
