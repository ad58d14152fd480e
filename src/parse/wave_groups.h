/* wave_groups.h - what a snapshot's own gdb script prints of one wave of each group (snapshot/debugger.c has the script).
 *
 *   === hangtop: wave 7 of 64: 0x7ffff60150a4 in kern () from file:///... ===
 *   [Switching to thread 7 ...]                         answer to thread N
 *   kern(float*) + 132 in section .text of ...          info symbol: the place
 *   Line 7 of "saxpy.cpp" starts at address ...         info line; or "No line number information available for ..."
 *   => 0x7ffff60150a4 <kern+132>:  s_sleep 1            x/6i
 *     Id   State Target Id ...                          info lanes: rows "* 0    A     AMDGPU Lane ..."
 *   error: ...                                          of any of them
 *
 * The wave's number is rocgdb's Id, N how many waves have the same frame text. Who: app/snapshot_output. Spans point into the text.
 */
#ifndef HANGTOP_PARSE_WAVE_GROUPS_H
#define HANGTOP_PARSE_WAVE_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

struct wave_group {
	int64_t thread, count;
	struct span frame;      /* as in info threads */
	struct span place;      /* "kern(float*) + 132"; empty unknown */
	struct span line;       /* "Line 7 of ..."; empty unknown */
	struct span code;       /* the lines of instructions */
	char lanes[160];        /* active ones: "0-7,9"; "" unknown */
	int active, lanes_known;
};

/* The next group of `rest`; false at the end. */
bool wave_group_next(struct span *rest, struct wave_group *out);

#endif
