/* snapshot_output.h - a debugger's output as observations: agents, queues, dispatches, wave groups, host stacks.
 *
 * Who: cmd_snapshot.c, for a snapshot just taken and for imported ones. The same scanner as `explain` reads it; waves are grouped by
 * kernel and pc, because thousands are normal, and what the debugger was asked about one wave of each group is put beside them.
 * Every row carries the id of the snapshot. Reads at most SNAPSHOT_OUTPUT_CAP bytes.
 */
#ifndef HANGTOP_APP_SNAPSHOT_OUTPUT_H
#define HANGTOP_APP_SNAPSHOT_OUTPUT_H

#include "model/observation.h"

struct snapshot_sink {
	void (*emit)(void *context, const struct observation *o);
	void *context;
};

void snapshot_output(const char *path, const char *id, const char *node, int64_t pid, const struct snapshot_sink *sink);

#endif
