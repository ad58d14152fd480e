/* child.h - run a tool once, with a deadline and a cap, on the libuv loop.
 *
 * Argument vector, no shell; LC_ALL=C, stdin /dev/null, own process group; dies with us (setpriv --pdeathsig KILL when
 * there is one). At the deadline the group gets SIGINT, 2 s later SIGTERM, 2 s later SIGKILL. A child that does not
 * end 2 s after SIGKILL (state D) is adopted: `done` is called with `stuck` set and the child is left to the kernel.
 * `done` is called exactly once, never from child_run() itself; the child is freed after it returns.
 */
#ifndef HANGTOP_TRANSPORT_CHILD_H
#define HANGTOP_TRANSPORT_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "base/span.h"

struct child;

struct child_result {
	struct span out, err;   /* what it printed, up to the cap; borrowed for the call of done */
	int exit;               /* exit status; negative for a signal; -1000 when unknown */
	bool timed_out, stuck, cut; /* deadline passed; not killable; output capped */
	bool not_started;       /* could not be executed: err says why */
	int64_t started;        /* wall clock ms */
	double took_ms;
	int pid;                /* 0 when not started; with stuck: whom to wait for */
};

struct child_options {
	const char *const *argv;       /* NULL at the end; argv[0] is looked up in PATH */
	int deadline_ms;               /* default 10000 */
	size_t cap;                    /* bytes kept of stdout and of stderr each; default 16 MiB */
	const char *const *env_add;    /* "NAME=value", may be NULL */
	void (*done)(void *context, const struct child_result *result);
	void *context;
};

/* Never NULL: a failure to start is reported through done as well. */
struct child *child_run(uv_loop_t *loop, const struct child_options *options);
/* Give up early: as if the deadline had passed. done is still called. */
void child_cancel(struct child *child);
/* Full path of a program: absolute or relative paths are checked, names are looked up in PATH. NULL when absent.
 * The caller frees it. */
char *child_find(const char *name);

#endif
