/* source.h - what every source is: one origin of observations, living in the agent on its loop.
 *
 * Who: app/agent.c starts the sources named on its command line from source_table, hands them requests and stops them.
 * A source turns bytes into observations with a parser from src/parse and calls env->emit(). It reports its own health as
 * `source` observations (source_health()), on every change and at least every 10 s. It never blocks the loop: files that
 * may block (drivers) are read in the thread pool, tools run as children with a deadline.
 *
 * Adding a source: copy the smallest file, add a row to source_table, add its test.
 */
#ifndef HANGTOP_SOURCE_SOURCE_H
#define HANGTOP_SOURCE_SOURCE_H

#include <stdbool.h>
#include <uv.h>

#include "base/error.h"
#include "model/observation.h"
#include "source/target.h"

struct source_options {
	const char *sys_root;   /* "/sys", or a fake root for tests and the demo */
	const char *proc_root;  /* "/proc" */
	const char *gpu;        /* auto sysfs rocm-smi amd-smi nvidia-smi off */
	const char *url;        /* base URL, e.g. http://127.0.0.1:8000; NULL: from the profile and the server's command line */
	const char *api_key_file; /* NULL: environment HANGTOP_API_KEY */
	const char *log;        /* path; NULL: found */
	bool log_from_start;
	int64_t log_offset;     /* carry on here (with log_file_id); -1 none */
	const char *kmsg;       /* NULL: /dev/kmsg */
	const char *engine;     /* profile name; NULL: found */
	int64_t pid;            /* the server's pid; 0: found */
	const char *py_spy;     /* path; NULL: found */
	const char *rocm_smi;   /* path; NULL: found in PATH and the ROCm folders */
	const char *amd_smi;
	int interval_ms;        /* of samples: default 1000 */
	int stacks_every_ms;    /* background stacks: default 30000; 0 off */
	const char *profile_dir; /* extra folder of profiles, first; NULL none */
};

struct source_env {
	uv_loop_t *loop;
	const struct source_options *options;
	const char *node;
	struct target *target;  /* what the sources of this agent know of the server; see target.h */
	void (*emit)(void *context, const struct observation *o);
	void *context;
};

struct source;

struct source_class {
	const char *name;
	const char *agent;      /* "device" (reads drivers) or "host" */
	/* Start; must not fail: what cannot work is reported as health. */
	struct source *(*start)(struct source_env *env);
	/* A request from the front: {"do":"stacks",...}. May be NULL. `request` is the JSON line. */
	void (*request)(struct source *source, struct span request);
	/* Close all handles and free; `closed` may be called before or after this returns. */
	void (*stop)(struct source *source, void (*closed)(void *context), void *context);
};

extern const struct source_class *const source_table[]; /* NULL at the end */

/* Emit a `source` observation. state: ok late failed off. remedy may be NULL. latency < 0 is null. */
void source_health(struct source_env *env, const char *source, const char *state, const char *detail,
	const char *remedy, double latency_ms);

#endif
