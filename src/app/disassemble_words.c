/* disassemble_words.c - what code around a pc means. */
#include "config.h"

#include "app/disassemble_words.h"

#include <inttypes.h>
#include <string.h>

#include "parse/code_object.h"

static const struct disassembly_insn *insn(const struct disassemble_words *w, long i)
{
	return &w->text->insn[i];
}

static uint64_t wave_address(const struct disassemble_words *w, long i)
{
	return insn(w, i)->address + w->load_base;
}

static void say_where(const struct disassemble_words *w, struct buf *out)
{
	const struct disassembly_found *f = &w->found;
	const char *slash = strrchr(w->source, '/'), *name = w->function_at ? disassembly_symbol_at(w->text, w->function_at) : NULL;
	uint64_t at = w->pc - w->load_base, function_at = name ? w->function_at : f->function_at;

	if (!name)
		name = f->function;

	buf_printf(out, "pc 0x%" PRIx64 " is ", w->pc);
	if (*name)
		buf_printf(out, "%s+0x%" PRIx64 ", ", name, at - function_at);
	buf_printf(out, "0x%" PRIx64 " in %s (%s)\n", at, slash ? slash + 1 : w->source, w->gpu);
	if (w->others)
		buf_printf(out, "%d older file%s of this code object in the folder; the newest is shown.\n", w->others, w->others == 1 ? "" : "s");
}

static void say_insn(const struct disassemble_words *w, long i, struct buf *out)
{
	const struct disassembly_insn *n = insn(w, i);
	struct span text = disassembly_insn_text(w->text, i), word;

	buf_printf(out, "%s0x%012" PRIx64 ":    ", i == w->found.at ? " => " : "    ", wave_address(w, i));
	if ((n->what & INSN_BRANCH) && span_word(&text, &word))
		buf_printf(out, "%.*s to 0x%" PRIx64, (int)word.len, word.at, n->target + w->load_base);
	else
		buf_span(out, text);
	if (w->found.loop && !w->found.trap_here && i == w->found.loop_last)
		buf_text(out, "    # end of the loop");
	else if (w->found.loop && !w->found.trap_here && i == w->found.loop_first)
		buf_text(out, "    # start of the loop");
	buf_char(out, '\n');
}

static void say_trap(const struct disassemble_words *w, struct buf *out)
{
	const struct disassembly_found *f = &w->found;

	if (f->trap_here && f->trap_ends)
		buf_printf(out, "The pc is at s_trap 2 followed by the end of the program: a device assert failed (CUDA_KERNEL_ASSERT, assert(), "
			"tl.device_assert). The instructions before it are the check: an index or size out of range in what the kernel was given.\n");
	else if (f->trap_here)
		buf_printf(out, "The pc is at s_trap 2: a device assert or __builtin_trap() of the kernel, not a stray access to memory.\n");
	else
		buf_printf(out, "There is %s at 0x%" PRIx64 ", not at the pc: if the wave stopped for ASSERT_TRAP, that is where.\n",
			f->trap_ends ? "a device assert (s_trap 2, then the end)" : "an s_trap 2", wave_address(w, f->trap));
}

static void say_loop(const struct disassemble_words *w, struct buf *out)
{
	const struct disassembly_found *f = &w->found;
	long n = f->loop_last - f->loop_first + 1;

	buf_printf(out, "The pc is in a loop of %ld instructions, 0x%" PRIx64 " to 0x%" PRIx64, n, wave_address(w, f->loop_first), wave_address(w, f->loop_last));
	if (f->spin && (f->loop_what & INSN_ATOMIC))
		buf_text(out, ", which only tries an atomic operation on memory again and again: it spins for a lock or a flag. "
			"Whoever holds or should set it (another wave, another GPU, the host) did not.\n");
	else if (f->spin)
		buf_text(out, ", which only reads memory again and again, past the caches, until a value changes: it spins on a flag. "
			"Whoever should write it (another wave, another GPU, the host) did not: look at the other ranks.\n");
	else
		buf_printf(out, ", which %s: %s.\n", f->loop_what & (INSN_LOAD | INSN_STORE | INSN_ATOMIC) ? "reads or writes memory" : "does not touch global memory",
			f->loop_what & (INSN_STORE | INSN_MATRIX) ? "it works, and does not only wait" : "by its instructions no wait for a flag");
}

static void say_access(const struct disassemble_words *w, struct buf *out)
{
	struct span text = disassembly_insn_text(w->text, w->found.access);
	struct buf registers;

	buf_init(&registers, 200);
	buf_printf(out, "The last access to memory at or before the pc is %.*s at 0x%" PRIx64, (int)text.len, text.at, wave_address(w, w->found.access));
	if (disassembly_address_registers(text, &registers))
		buf_printf(out, "; its address is in %s", buf_string(&registers));
	buf_text(out, ". If the wave stopped for a memory violation, it is this one or one before it (they are reported late): "
		"look those registers up in the dump.\n");
	buf_release(&registers);
}

static void say_state(const struct disassemble_words *w, struct buf *out)
{
	const struct disassembly_found *f = &w->found;
	bool barrier = (insn(w, f->at)->what & INSN_BARRIER) || (f->at > 0 && (insn(w, f->at - 1)->what & INSN_BARRIER));

	if (!f->exact)
		buf_text(out, "The pc is not at the start of an instruction: the file or the load address is not that of the wave, or it jumped astray.\n");
	else if (barrier)
		buf_text(out, "The pc is at a barrier: it waits for the other waves of its workgroup; look where those are.\n");
	else if (insn(w, f->at)->what & INSN_WAIT)
		buf_text(out, "The pc is at a wait for its own accesses to memory to finish.\n");
}

static void say_command(const struct disassemble_words *w, struct buf *out)
{
	buf_text(out, "By hand: ");
	code_object_objdump(w->tool, w->source, w->offset, w->size, w->low, w->high, out);
	buf_char(out, '\n');
}

void disassemble_say(const struct disassemble_words *w, struct buf *out)
{
	const struct disassembly_found *f = &w->found;

	say_where(w, out);
	if (f->at < 0) {
		buf_text(out, "There is no instruction at the pc: the wave jumped astray, or the file or the load address is not that of the wave.\n");
		say_command(w, out);
		return;
	}
	for (long i = f->from; i < f->to; i++)
		say_insn(w, i, out);
	say_state(w, out);
	if (f->trap >= 0)
		say_trap(w, out);
	if (f->loop && !f->trap_here)
		say_loop(w, out);
	if (f->access >= 0 && !f->trap_here && !f->spin)
		say_access(w, out);
	say_command(w, out);
}
