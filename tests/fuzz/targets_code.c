/* targets_code.c - names of code objects, their ELF, and what llvm-objdump prints of them. */
#include "config.h"

#include "targets.h"

#include <string.h>

#include "parse/code_elf.h"
#include "parse/code_object.h"
#include "parse/disassembly_text.h"

static bool read_at(void *context, uint64_t offset, void *to, size_t len)
{
	const struct span *text = context;

	if (offset > text->len || len > text->len - offset)
		return false;
	memcpy(to, text->at + offset, len);
	return true;
}

void target_code_elf(struct span text)
{
	struct code_elf_reader reader = { read_at, &text };
	uint64_t address = text.len >= 8 ? fuzz_dice(text) & 0xffff : 0;
	struct code_elf elf;

	code_elf_read(&elf, &reader, address);
	FUZZ_EXPECT(elf.kind <= CODE_ELF_NONE);
	FUZZ_EXPECT(!elf.high || (elf.low <= address && address < elf.high));
	FUZZ_EXPECT(!elf.segment_high || (elf.segment_low <= address && address < elf.segment_high));
}

void target_code_object(struct span text)
{
	struct code_object object;
	struct buf name;

	if (!code_object_parse(text, &object))
		return;
	FUZZ_EXPECT(memchr(object.path, 0, sizeof object.path));
	buf_init(&name, 0);
	code_object_saved_suffix(text, &name);
	FUZZ_EXPECT(!memchr(buf_string(&name), '/', name.len));
	FUZZ_EXPECT(code_object_is_saved_as(text, buf_as_span(&name)));
	buf_release(&name);
}

static void around(struct span text, uint64_t pc, uint64_t low, uint64_t high)
{
	struct disassembly d;
	struct disassembly_found f;
	struct buf out;

	disassembly_init(&d, pc, low, high);
	disassembly_lines(&d, text);
	disassembly_find(&d, 12, 6, &f);
	FUZZ_EXPECT(d.count <= DISASSEMBLY_MAX && d.symbols <= DISASSEMBLY_SYMBOLS_MAX);
	FUZZ_EXPECT(f.at >= -1 && f.at < (long)d.count);
	if (f.at >= 0) {
		FUZZ_EXPECT(f.from >= 0 && f.from <= f.at && f.at < f.to && f.to <= (long)d.count);
		FUZZ_EXPECT(f.trap < f.to && f.access < f.to && f.function);
		FUZZ_EXPECT(!f.loop || (f.loop_first >= 0 && f.loop_first <= f.loop_last && f.loop_last < (long)d.count));
	}
	buf_init(&out, 0);
	for (size_t i = 0; i < d.count; i++) {
		disassembly_address_registers(disassembly_insn_text(&d, (long)i), &out);
		buf_clear(&out);
		disassembly_symbol_at(&d, d.insn[i].address);
	}
	buf_release(&out);
	disassembly_release(&d);
}

void target_disassembly(struct span text)
{
	static const uint64_t pcs[] = { 0x1324, 0x1300, 0x10, 0x1c00, 0 };

	around(text, pcs[fuzz_dice(text) % 5], 0, 0);
	around(text, 0x1324, 0x1300, 0x1400);
}
