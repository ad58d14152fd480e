/* settings.h - the user's own settings: $XDG_CONFIG_HOME/hangtop/config.ini.
 *
 * Who: options.c, before it reads the command line, which wins.
 * Grammar (libinih): [options] holds options by their long names, `yes` for those without a value; [keys] holds
 * `action = Key Key` (hangtop --list-keys). What it does not know is warned about and left out; it never stops a start.
 */
#ifndef HANGTOP_APP_SETTINGS_H
#define HANGTOP_APP_SETTINGS_H

#include <stdbool.h>

/* HANGTOP_CONFIG, else the XDG folder's; the caller frees. */
char *settings_path(void);
/* Read the file, when there is one. `option` is called for every line of [options]; `value` lives as long as the process.
 * It returns NULL, or why the line is left out. */
void settings_read(const char *path, const char *(*option)(void *context, const char *name, const char *value), void *context);

#endif
