/* link.h - the line to one agent: start it, read its lines, send it requests, start it again.
 *
 * Local is the nearest remote: argv may be "hangtop agent ..." or "ssh node hangtop agent ...". Lines are framed with
 * a maximum; garbage and oversized lines are counted and skipped. An agent that ends is started again after 1, 2, 4 ... 30 s.
 * The front never waits for an agent: silence is measured (`link_silence`) and shown.
 */
#ifndef HANGTOP_TRANSPORT_LINK_H
#define HANGTOP_TRANSPORT_LINK_H

#include <uv.h>

#include "base/error.h"
#include "model/observation.h"

struct link;

struct link_options {
	const char *name;              /* "agent-device" */
	const char *const *argv;       /* NULL at the end; copied */
	void (*observe)(void *context, const struct observation *o); /* borrowed */
	/* Something about the link itself changed: up, down, garbage. detail and remedy are words. */
	void (*health)(void *context, const char *name, const char *state, const char *detail, const char *remedy);
	/* Asked before each start but the first: a word or two to add to argv (NULL none), so that the agent carries on where the
	 * one before it was. Borrowed until the start. May be NULL. */
	void (*again)(void *context, const char *add[2]);
	void *context;
};

struct link *link_start(uv_loop_t *loop, const struct link_options *options);
/* One request line, without LF: {"do":"stacks","why":"key"}; dropped when the agent is down. */
void link_send(struct link *link, const char *line);
int64_t link_silence(const struct link *link, int64_t mono_now); /* ms since its last line; -1 before the first */
int link_pid(const struct link *link);                           /* 0 when down */
/* End it: close its stdin, then TERM and KILL after short grace. `closed` is called when its handles are gone. */
void link_stop(struct link *link, void (*closed)(void *context), void *context);

#endif
