/* profiles.h - read the engine profiles: shipped ones, then the user's, which win. Who: agent. */
#ifndef HANGTOP_APP_PROFILES_H
#define HANGTOP_APP_PROFILES_H

#include "base/buf.h"
#include "parse/profile.h"

/* Folder with hangtop's data: $HANGTOP_DATA, the source tree beside the program, or the installed one. Caller frees. */
char *data_dir(void);
/* Load all *.conf of DATA/profiles, $XDG_CONFIG_HOME/hangtop/profiles and `extra` (may be NULL). Complaints about
 * files that do not parse are appended to `trouble`, one a line. */
void profiles_load(struct profile_set *set, const char *extra, struct buf *trouble);

#endif
