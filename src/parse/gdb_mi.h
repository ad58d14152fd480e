/* gdb_mi.h - records of gdb/MI: ^done,..., *stopped,..., with tuples that have "target-id". Who: rocgdb.c.
 *
 * Grammar (GDB manual, "GDB/MI Output Syntax"): result = variable "=" value; value = "c-string" | {tuple} | [list].
 * Read: every tuple whose target-id is "AMDGPU Agent|Queue|Dispatch|Wave ..." and that is closed; members by their names, `-` and `_`
 * alike, with those of a frame={..} inside. A list of strings is a value too: ["64","1"] is "[64,1]".
 * ^error,msg=".." and the streams ~"..", &".." are read as the text that gdb would print; *stopped tells of signals.
 */
#ifndef HANGTOP_PARSE_GDB_MI_H
#define HANGTOP_PARSE_GDB_MI_H

#include <stdbool.h>

#include "parse/line.h"

struct rocgdb_scan;

bool gdb_mi_line(struct rocgdb_scan *g, const struct line *l);
/* Read what there is of a record that never closed. */
void gdb_mi_end(struct rocgdb_scan *g);

#endif
