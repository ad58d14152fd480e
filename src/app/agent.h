/* agent.h - `hangtop agent`: the sources of one node, as JSON lines on standard output, requests on standard input.
 *
 * Ends when standard input ends, on SIGTERM and SIGINT, and with its parent (PR_SET_PDEATHSIG).
 */
#ifndef HANGTOP_APP_AGENT_H
#define HANGTOP_APP_AGENT_H

#include "app/options.h"

int cmd_agent(const struct app_options *options);
/* Name of this node. Caller frees. */
char *node_name(const struct app_options *options);

#endif
