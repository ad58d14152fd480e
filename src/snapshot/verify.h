/* verify.h - does the target run again? What /proc says before and after, and the one repair that is ours to make.
 *
 * Who: snapshot.c, around the debugger; it may wait up to VERIFY_MS. A stop that somebody else made is reported and left alone:
 * SIGCONT is sent only when `ours` says that our debugger did not come to its regular end (that is what leaves a target stopped,
 * with no tracer) and the target was not stopped before.
 */
#ifndef HANGTOP_SNAPSHOT_VERIFY_H
#define HANGTOP_SNAPSHOT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#define VERIFY_MS 2000

struct verify_state {
	bool exists;
	char state;             /* of the main thread; 0 unknown */
	int64_t start_ticks;
	int64_t tracer;         /* 0 none, -1 unknown */
	int threads, stopped;   /* stopped: threads in state T or t */
	int64_t cpu_ticks;      /* of all threads together */
};

enum verify_result { VERIFY_OK, VERIFY_REPAIRED, VERIFY_STOPPED, VERIFY_TRACED, VERIFY_DEAD, VERIFY_REUSED, VERIFY_UNKNOWN };

struct verify {
	enum verify_result result;
	struct verify_state before, after;
	bool cpu_moved;
	char detail[240];
};

void verify_look(const char *proc_root, int64_t pid, struct verify_state *out);
/* out->before is filled in already (verify_look() before the debugger was started). */
void verify_after(const char *proc_root, int64_t pid, bool ours, struct verify *out);
const char *verify_word(enum verify_result result);

#endif
