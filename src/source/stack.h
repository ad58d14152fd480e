/* stack.h - the parts of the stack source: stack.c has the rounds, stack_job.c asks one process, stack_kernel.c gives the kernel's
 * view where py-spy gives none.
 */
#ifndef HANGTOP_SOURCE_STACK_H
#define HANGTOP_SOURCE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "source/source.h"

#define STACK_JOBS_MAX 512
#define STACK_STUCK_MAX 64

struct stack_source;

/* One process of a round. */
struct job {
	struct stack_source *source;
	int64_t pid, start;
	char rank[32];
	bool was_stopped;              /* state T before us */
	bool as_text, again;           /* --json is not understood; second try after a torn read */
	struct child *child;
	char number[24];
};

/* A py-spy that cannot be killed: it waits in the kernel for its process. No second one is sent after it. */
struct stuck {
	int64_t pid;
	int tool;
};

struct round_result {
	int ok, failed;
	double took_ms;
	char trouble[320], remedy[260]; /* of the last that failed; "" none */
};

struct stack_source {
	struct source_env *env;
	uv_timer_t timer;
	char *py_spy;                  /* NULL when there is none */
	struct job job[STACK_JOBS_MAX];
	int jobs, next, running;       /* of this round: next to start, in flight */
	char why[24];
	bool round_open, wanted;       /* a round is running; another is asked for */
	char wanted_why[24];
	int64_t round;                 /* number */
	int64_t round_started, healthy, looked; /* mono */
	int64_t round_wall;
	struct round_result now, last; /* of the round that runs, of the last whole one */
	bool text_only;                /* this py-spy has no --json */
	int64_t stopped_pid;           /* found in state T after a dump; 0 none */
	struct stuck stuck[STACK_STUCK_MAX];
	int stuck_count;
	bool stopping;
	void (*closed)(void *);
	void *context;
};

/* Ask for the stack of one process. True: it comes back by stack_job_done(), later. False: all is said already. */
bool stack_job_start(struct job *j);
/* stack.c: a job has ended. */
void stack_job_done(struct job *j);
/* Letter of /proc/PID/stat, 0 when it is gone; who traces it, 0 nobody. */
char stack_state_of(struct stack_source *s, int64_t pid, int64_t *tracer);

/* Append the threads of ROOT/PID/task, the main thread first, as the JSON of STACK_threads; frames are "function (kernel)" or
 * "syscall N (kernel)". Returns how many threads; 0 when the process is gone. */
int stack_of_kernel(const char *root, int64_t pid, struct buf *out);

#endif
