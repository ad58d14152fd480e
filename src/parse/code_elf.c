/* code_elf.c - header, segments and symbols of a code object. Always little-endian. */
#include "config.h"

#include "parse/code_elf.h"

#include <string.h>

#define EM_AMDGPU 224
#define HEADER 64
#define SEGMENT 56
#define SECTION 64
#define SYMBOL 24
#define SECTIONS_MAX 4096
#define SEGMENTS_MAX 256
#define SYMBOLS_MAX (4u << 20)
#define CHUNK 256               /* symbols read at a time */

static const struct { unsigned mach; const char *gpu; } gpus[] = {
	{ 0x2c, "gfx900" }, { 0x2d, "gfx902" }, { 0x2e, "gfx904" }, { 0x2f, "gfx906" }, { 0x30, "gfx908" }, { 0x31, "gfx909" },
	{ 0x32, "gfx90c" }, { 0x33, "gfx1010" }, { 0x34, "gfx1011" }, { 0x35, "gfx1012" }, { 0x36, "gfx1030" }, { 0x37, "gfx1031" },
	{ 0x38, "gfx1032" }, { 0x39, "gfx1033" }, { 0x3e, "gfx1034" }, { 0x3d, "gfx1035" }, { 0x45, "gfx1036" }, { 0x3f, "gfx90a" },
	{ 0x40, "gfx940" }, { 0x4b, "gfx941" }, { 0x4c, "gfx942" }, { 0x4f, "gfx950" }, { 0x41, "gfx1100" }, { 0x46, "gfx1101" },
	{ 0x47, "gfx1102" }, { 0x44, "gfx1103" }, { 0x43, "gfx1150" }, { 0x4a, "gfx1151" }, { 0x55, "gfx1152" }, { 0x58, "gfx1153" },
	{ 0x48, "gfx1200" }, { 0x4e, "gfx1201" }, { 0x49, "gfx1250" }, { 0x51, "gfx9-generic" }, { 0x5f, "gfx9-4-generic" },
	{ 0x54, "gfx11-generic" }, { 0x59, "gfx12-generic" },
};

static uint64_t number(const unsigned char *at, int bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | at[bytes];
	return n;
}

/* Where a range of a made-up size ends. */
static uint64_t end_of(uint64_t low, uint64_t size)
{
	return size > UINT64_MAX - low ? UINT64_MAX : low + size;
}

static void find_segment(struct code_elf *elf, const struct code_elf_reader *r, const unsigned char *header, uint64_t address)
{
	uint64_t at = number(header + 32, 8), n = number(header + 56, 2);
	unsigned char p[SEGMENT];

	if (number(header + 54, 2) != SEGMENT)
		return;
	for (uint64_t i = 0; i < n && i < SEGMENTS_MAX && r->read(r->context, at + i * SEGMENT, p, sizeof p); i++) {
		uint64_t low = number(p + 16, 8), size = number(p + 40, 8);

		if (number(p, 4) == 1 && (number(p + 4, 4) & 1) && address >= low && address - low < size) {
			elf->segment_low = low;
			elf->segment_high = end_of(low, size);
			return;
		}
	}
}

/* What the symbols say about the address so far. */
struct candidates {
	uint64_t low, high;     /* covers it, innermost */
	uint64_t before, after; /* nearest function without a size before it; nearest start behind it */
};

static void see_symbol(struct candidates *c, const unsigned char *s, uint64_t address)
{
	uint64_t low = number(s + 8, 8), size = number(s + 16, 8);

	if ((s[4] & 15) != 2 || number(s + 6, 2) == 0)
		return;
	if (low > address) {
		if (low < c->after)
			c->after = low;
	} else if (address - low < size) {
		if (!c->high || low > c->low) {
			c->low = low;
			c->high = end_of(low, size);
		}
	} else if (!size && low >= c->before) {
		c->before = low;
	}
}

static void see_table(struct candidates *c, const struct code_elf_reader *r, const unsigned char *section, uint64_t address)
{
	static const size_t whole = CHUNK * SYMBOL;
	uint64_t at = number(section + 24, 8), n = number(section + 32, 8) / SYMBOL;
	unsigned char chunk[CHUNK * SYMBOL];

	if (number(section + 56, 8) != SYMBOL)
		return;
	for (uint64_t i = 0; i < n && i < SYMBOLS_MAX; i += CHUNK) {
		size_t count = n - i < CHUNK ? (size_t)(n - i) : CHUNK;

		if (!r->read(r->context, at + i * SYMBOL, chunk, count < CHUNK ? count * SYMBOL : whole))
			return;
		for (size_t k = 0; k < count; k++)
			see_symbol(c, chunk + k * SYMBOL, address);
	}
}

static void find_function(struct code_elf *elf, const struct code_elf_reader *r, const unsigned char *header, uint64_t address)
{
	uint64_t at = number(header + 40, 8), n = number(header + 60, 2);
	struct candidates c = { .after = elf->segment_high };
	unsigned char s[SECTION];

	if (number(header + 58, 2) != SECTION)
		return;
	for (uint64_t i = 0; i < n && i < SECTIONS_MAX && r->read(r->context, at + i * SECTION, s, sizeof s); i++)
		if (number(s + 4, 4) == 2 || number(s + 4, 4) == 11)
			see_table(&c, r, s, address);
	if (!c.high && c.before >= elf->segment_low && c.before) {
		c.low = c.before;
		c.high = c.after;
	}
	if (c.low >= elf->segment_low && c.high <= elf->segment_high && c.low < c.high) {
		elf->low = c.low;
		elf->high = c.high;
	}
}

void code_elf_read(struct code_elf *elf, const struct code_elf_reader *r, uint64_t address)
{
	unsigned char header[HEADER];

	memset(elf, 0, sizeof *elf);
	elf->kind = CODE_ELF_NONE;
	if (!r->read(r->context, 0, header, sizeof header))
		return;
	if (memcmp(header, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0 || memcmp(header, "CCOB", 4) == 0) {
		elf->kind = CODE_ELF_BUNDLE;
		return;
	}
	if (memcmp(header, "\177ELF", 4) != 0)
		return;
	elf->machine = (unsigned)number(header + 18, 2);
	elf->kind = header[4] == 2 && header[5] == 1 && elf->machine == EM_AMDGPU ? CODE_ELF_AMDGPU : CODE_ELF_OTHER;
	if (elf->kind == CODE_ELF_OTHER)
		return;
	elf->mach = (unsigned)number(header + 48, 4) & 0xff;
	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		if (gpus[i].mach == elf->mach)
			elf->gpu = gpus[i].gpu;
	find_segment(elf, r, header, address);
	if (elf->segment_high > elf->segment_low)
		find_function(elf, r, header, address);
}
