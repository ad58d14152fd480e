/* disassembly_text.h - what `llvm-objdump -d` (or --disassemble-all) prints of AMDGPU code, read line by line around one address.
 *
 * LLVM 9 to 20 and ROCm's own:
 *   0000000000001300 <kernel(int*)>:
 *   <TAB>s_cbranch_vccnz 65530      // 000000001324: BF87FFFA <kernel(int*)+0x10>
 * and layouts with the address first: `    1324: fa ff 87 bf <TAB>s_cbranch_vccnz 65530`, and CLRX, with the address in a comment before the text.
 * Source lines (-S), section titles and everything else is skipped.
 *
 * Kept is the function that holds the pc (up to DISASSEMBLY_MAX instructions around it), so output of any length may be fed.
 * Without a range of the function a symbol's line starts a new one; hand-written kernels have labels inside: give the range.
 * Addresses are those of the code object: of a wave, pc minus load address.
 * Who: app/disassemble.c.
 */
#ifndef HANGTOP_PARSE_DISASSEMBLY_TEXT_H
#define HANGTOP_PARSE_DISASSEMBLY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

#define DISASSEMBLY_MAX 400000
#define DISASSEMBLY_SYMBOLS_MAX 4096
#define DISASSEMBLY_SPIN_MAX 128 /* instructions; a longer loop is work, not waiting */

struct disassembly_insn {
	uint64_t address;
	size_t text, len;       /* in the text kept */
	uint64_t target;        /* of a branch */
	unsigned what;          /* INSN_ bits */
};

enum {
	INSN_BRANCH = 1, INSN_LOAD = 2, INSN_STORE = 4, INSN_ATOMIC = 8,
	INSN_COHERENT = 16,     /* glc, sc0, sc1, dlc, scope: ... or invalidates a cache */
	INSN_SLEEP = 32, INSN_MATRIX = 64, INSN_TRAP = 128, INSN_END = 256, INSN_BARRIER = 512, INSN_LDS = 1024, INSN_WAIT = 2048,
};

struct disassembly {
	uint64_t pc, low, high; /* high 0: the function is not known */
	struct disassembly_insn *insn;
	size_t count, cap;
	struct buf text;
	struct disassembly_symbol { uint64_t address; char *name; } *symbol;
	size_t symbols;
	bool done;              /* the function is over: nothing more is looked at */
	bool cut;               /* the function was longer than is kept */
};

struct disassembly_found {
	long at;                /* the instruction of the pc, or the one that begins before it; -1: not in the text */
	bool exact;             /* one begins at the pc */
	long from, to;          /* the window: [from, to) */
	const char *function;   /* nearest symbol at or before the pc, "" unknown; borrowed */
	uint64_t function_at;
	long trap;              /* nearest s_trap 2 of the window, -1 none */
	bool trap_ends;         /* s_endpgm (or gfx11's message to the host) follows it: a device assert */
	bool trap_here;         /* the pc is at it, or just behind it */
	bool loop;              /* the innermost loop around the pc, and what is in it */
	long loop_first, loop_last;
	unsigned loop_what;     /* INSN_ bits of all its instructions */
	bool spin;              /* it only waits for memory to change */
	long access;            /* last access to memory at or before the pc in the window, -1 none */
};

void disassembly_init(struct disassembly *d, uint64_t pc, uint64_t low, uint64_t high);
void disassembly_release(struct disassembly *d);
void disassembly_line(struct disassembly *d, struct span line);
void disassembly_lines(struct disassembly *d, struct span text);
/* What is around the pc: `before` and `after` instructions. */
void disassembly_find(const struct disassembly *d, long before, long after, struct disassembly_found *found);
/* Name of a symbol at exactly this address, NULL when there is none. */
const char *disassembly_symbol_at(const struct disassembly *d, uint64_t address);
struct span disassembly_insn_text(const struct disassembly *d, long i);
/* Append the registers that hold the address of an access ("v[0:1]", "v0 and s[2:3]"). False when that is not known. */
bool disassembly_address_registers(struct span insn, struct buf *out);

#endif
