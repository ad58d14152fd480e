/* snapshots.h - the rocgdb snapshots that a model knows, each with what was seen in it, and what two of one process prove.
 *
 * Who: ui/panel_snapshot.c, ui/frame.c. Pure. Everything points into the model: valid until the next model_observe().
 * A snapshot is all rows with one id: `snapshot` rows (preview, refused, running, done, failed), and gdb_*, wave and guard rows.
 */
#ifndef HANGTOP_MODEL_SNAPSHOTS_H
#define HANGTOP_MODEL_SNAPSHOTS_H

#include <stdbool.h>

#include "model/model.h"

#define SNAPSHOTS_MAX 8
#define SNAPSHOT_ROWS_MAX 64
#define SNAPSHOT_APART_MS 2000          /* two that are closer prove nothing */

struct snapshot_rows {
	const struct observation *row[SNAPSHOT_ROWS_MAX];
	int count;
};

struct snapshot_seen {
	struct span id;
	const struct observation *last;         /* its newest `snapshot` row */
	const struct observation *debugger;     /* may be NULL */
	struct snapshot_rows dispatch, queue, wave, stack, guard; /* in the order they came; guard by the names of its checks */
};

struct snapshots {
	struct snapshot_seen seen[SNAPSHOTS_MAX]; /* newest first */
	int count;
};

void snapshots_gather(struct snapshots *out, const struct model *m);
bool snapshot_is(const struct snapshot_seen *s, const char *state);
/* The newest one before `s` of the same process that ended; NULL none. */
const struct snapshot_seen *snapshot_before(const struct snapshots *all, const struct snapshot_seen *s);
/* The newest that ended with its target not as it was, unless it was acknowledged: what every screen must say. NULL none. */
const struct snapshot_seen *snapshots_alarm(const struct snapshots *all, const struct model *m);

enum snapshot_proof { PROOF_NOTHING, PROOF_MOVING, PROOF_IDLE, PROOF_STUCK };
/* Does the GPU work of a process stand still? `words` says what moved, or why nothing can be said. */
enum snapshot_proof snapshot_compare(const struct snapshot_seen *before, const struct snapshot_seen *after, char *words, size_t size);

/* The blocking call of a host stack (JSON array of frames, innermost first): which, called by whom, what that means. False: none. */
struct host_call { char call[100], caller[100]; const char *words; };
bool snapshot_host_call(struct span frames, struct host_call *out);

#endif
