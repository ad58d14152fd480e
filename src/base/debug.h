/* debug.h - the debug log: off by default, one line per event, asked for in bug reports.
 *
 * debug_open(path) switches it on (option --debug-log, or HANGTOP_DEBUG=path). Lines are
 * "seconds.millis pid component: text". Never goes to the terminal.
 */
#ifndef HANGTOP_BASE_DEBUG_H
#define HANGTOP_BASE_DEBUG_H

#include "base/error.h"

int debug_open(const char *path, struct error *error);  /* appends; 0600 */
void debug_close(void);
void debug_log(const char *component, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
