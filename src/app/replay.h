/* replay.h - a recorded session as a moving picture: the same core, fed from a file by a clock. Who: cmd_replay, the
 * paused live screen. It reads no clock itself: the caller says how much time has passed.
 */
#ifndef HANGTOP_APP_REPLAY_H
#define HANGTOP_APP_REPLAY_H

#include "app/core.h"
#include "base/error.h"

struct replay;

/* Opens a session file, or JSON lines (imported into a temporary session). stall_ms 0: as recorded. */
/* As replay_open(), for the session file that this process is writing: it is opened by SQLite alone. (Closing any other descriptor of
 * the file would drop the locks that this process holds on it.) */
int replay_open_own(struct replay **out, const char *path, int64_t stall_ms, struct error *error);
int replay_open(struct replay **out, const char *path, int64_t stall_ms, struct error *error);
void replay_close(struct replay *replay);
struct core *replay_core(struct replay *replay);
void replay_range(struct replay *replay, int64_t *first, int64_t *last); /* asked anew: the file may grow */
int64_t replay_now(const struct replay *replay);
int replay_interval_ms(const struct replay *replay);

/* Jump: the state at t, exactly as if played up to it. Clamped to the session. */
int replay_seek(struct replay *replay, int64_t t, struct error *error);
/* Play on to t (t >= now). */
int replay_play(struct replay *replay, int64_t t, struct error *error);
/* To the n-th next (or previous) sample or event; false when there is none. */
bool replay_step(struct replay *replay, int n);
bool replay_event(struct replay *replay, int direction);

#endif
