/* disassemble.h - the code around the pc of a wave: find the code object it names, run llvm-objdump on it, say what the code does there.
 *
 * The code object: its saved copy in `folder` or one level below (newest of several), else for file:// the file itself, or one of the
 * same name in `folder`. A member of a bundle is copied out into a temporary file first.
 * The tool: HANGTOP_OBJDUMP if set, else /opt/rocm/llvm/bin/llvm-objdump, llvm-objdump and llvm-objdump-NN of PATH, /usr/lib/llvm*: the
 * first that can read code for this GPU. Only the function of the pc is disassembled, so objects of any size may come.
 * Blocks for as long as the tool runs (deadline 20 s each). Who: cmd_explain.c.
 */
#ifndef HANGTOP_APP_DISASSEMBLE_H
#define HANGTOP_APP_DISASSEMBLE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

struct disassemble_options {
	int before, after;      /* instructions around the pc; 0: 12 and 8 */
	int deadline_ms;        /* 0: 20 s */
};

/* Append the answer to `out`, scrubbed for a terminal. `folder` may be NULL: then only file:// is found. `options` may be NULL.
 * `load_base` is the first address of "loaded at". Addresses in the answer are those of the wave. */
int disassemble(const char *folder, struct span uri, uint64_t load_base, uint64_t pc, const struct disassemble_options *options,
	struct buf *out, struct error *error);

#endif
