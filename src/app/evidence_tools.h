/* evidence_tools.h - the tools of an evidence bundle: py-spy of every process, rocm-smi, amd-smi, nvidia-smi, each once.
 *
 * Who: cmd_evidence.c. Each runs through child_run() with a deadline; results go into the bundle as they come. tools_end() gives up
 * early enough that INT, TERM and KILL are all sent before the bundle is closed; what is still there then is abandoned.
 */
#ifndef HANGTOP_APP_EVIDENCE_TOOLS_H
#define HANGTOP_APP_EVIDENCE_TOOLS_H

#include <uv.h>

#include "app/evidence_find.h"

struct tool;

struct tools {
	uv_loop_t *loop;
	const struct app_options *options;
	struct bundle *bundle;
	void (*changed)(void *context);        /* one has ended */
	void *context;

	char *py_spy;                  /* path; NULL none */
	char py_spy_version[64], python_version[64]; /* "" unknown */
	struct tool *first;            /* all, in their order */
	int running, dumps_running;
	bool ending, closed;           /* start none any more; the bundle is closed */
};

void tools_start(struct tools *tools);         /* the GPU's tools and py-spy's version, at once */
void tools_dump(struct tools *tools, const struct evidence_process *process, int count);
void tools_end(struct tools *tools);           /* time is up */
void tools_abandon(struct tools *tools);       /* what has not ended is missing; nothing is added after this */
bool tools_over(const struct tools *tools);    /* no child is left */
void tools_release(struct tools *tools);       /* only when they are over */

#endif
