/* gdb_mi.h - records of gdb/MI: ^done,..., *stopped,..., with tuples that have "target-id". Who: rocgdb.c.
 *
 * Grammar (GDB manual, "GDB/MI Output Syntax"): result = variable "=" value; value = "c-string" | {tuple} | [list].
 * Read: every tuple whose target-id is "AMDGPU Agent|Queue|Dispatch|Wave ..."; members by their names, `-` and `_` alike.
 */
#ifndef HANGTOP_PARSE_GDB_MI_H
#define HANGTOP_PARSE_GDB_MI_H

#include <stdbool.h>

#include "parse/line.h"

struct rocgdb_scan;

bool gdb_mi_line(struct rocgdb_scan *g, const struct line *l);

#endif
