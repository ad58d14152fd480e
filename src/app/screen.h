/* screen.h - the loop of a screen: keys in, frames out, for a live session and for a recording. Who: cmd_run, cmd_demo, cmd_replay.
 *
 * One paint at most every 50 ms, from one place, and only when something has changed (or the second has turned).
 * The terminal is restored on every way out.
 */
#ifndef HANGTOP_APP_SCREEN_H
#define HANGTOP_APP_SCREEN_H

#include "app/live.h"
#include "app/options.h"
#include "app/replay.h"

struct screen;

/* True when a screen can be shown: both ends are terminals and TERM is good for it. */
bool screen_possible(void);
/* Live when `live` is given, else `replay`. -1 when the terminal cannot be used. */
int screen_open(struct screen **out, uv_loop_t *loop, const struct app_options *options, struct error *error);
void screen_live(struct screen *screen, struct live *live);
void screen_replay(struct screen *screen, struct replay *replay);
/* Something changed: paint soon. */
void screen_touch(struct screen *screen);
/* New samples came in: paint within half a second, at once when the verdict is another. */
void screen_news(struct screen *screen);
void screen_message(struct screen *screen, const char *text);
/* `quit` is called once, when the user has asked to leave (signal 0) or a signal says so. */
void screen_on_quit(struct screen *screen, void (*quit)(void *context, int signal), void *context);
/* Close the terminal and all handles; free when the loop has run them down. */
void screen_close(struct screen *screen);

#endif
