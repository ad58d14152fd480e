/* code_elf.h - what an AMDGPU code object (ELF64, machine 224) says about itself and about one address in it.
 *
 * Which GPU it is for (EF_AMDGPU_MACH of e_flags), the executable segment that holds the address, and the function: the STT_FUNC of
 * .symtab or .dynsym that covers it, or the nearest one before it without a size. Reads through a callback; everything in the file
 * is doubted. Who: app/disassemble.c.
 */
#ifndef HANGTOP_PARSE_CODE_ELF_H
#define HANGTOP_PARSE_CODE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_elf_kind {
	CODE_ELF_AMDGPU,
	CODE_ELF_OTHER,         /* ELF of another machine, or not 64 bit */
	CODE_ELF_BUNDLE,        /* __CLANG_OFFLOAD_BUNDLE__ or compressed CCOB */
	CODE_ELF_NONE,
};

struct code_elf_reader {
	bool (*read)(void *context, uint64_t offset, void *to, size_t len); /* false unless all of it was read */
	void *context;
};

struct code_elf {
	enum code_elf_kind kind;
	unsigned machine;                 /* e_machine; 0 when there is none */
	unsigned mach;                    /* EF_AMDGPU_MACH */
	const char *gpu;                  /* "gfx90a"; NULL when it is one not known here */
	uint64_t segment_low, segment_high; /* that holds the address; 0, 0 none */
	uint64_t low, high;               /* the function; 0, 0 unknown */
};

void code_elf_read(struct code_elf *elf, const struct code_elf_reader *reader, uint64_t address);

#endif
