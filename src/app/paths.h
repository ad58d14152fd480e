/* paths.h - where files live: XDG folders. Caller frees what is returned. */
#ifndef HANGTOP_APP_PATHS_H
#define HANGTOP_APP_PATHS_H

#include <stdint.h>

char *path_config(void);               /* folder of settings and profiles, $XDG_CONFIG_HOME/hangtop */
char *path_sessions(void);             /* folder of session files, $XDG_STATE_HOME/hangtop/sessions */
char *path_new_session(int64_t now);   /* a new file in it, named by local time and pid */
char *path_newest_session(void);       /* NULL when there is none */
char *path_snapshots(void);            /* folder of snapshots that no session has taken over yet, $XDG_STATE_HOME/hangtop/snapshots */
char *path_self(void);                 /* our own executable */

#endif
