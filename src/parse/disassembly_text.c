/* disassembly_text.c - AMDGPU disassembly, and what the code around an address does. */
#include "config.h"

#include "parse/disassembly_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TEXT_MAX (64u << 20)
#define INSN_TEXT_MAX 400
#define SYMBOL_MAX 8192
#define TRAP_MESSAGE 11         /* instructions from s_trap 2 to the end of what gfx11 does instead */

void disassembly_init(struct disassembly *d, uint64_t pc, uint64_t low, uint64_t high)
{
	memset(d, 0, sizeof *d);
	d->pc = pc;
	d->low = low;
	d->high = high;
	buf_init(&d->text, TEXT_MAX);
}

static void forget(struct disassembly *d)
{
	for (size_t i = 0; i < d->symbols; i++)
		free(d->symbol[i].name);
	d->symbols = d->count = 0;
	buf_clear(&d->text);
}

void disassembly_release(struct disassembly *d)
{
	forget(d);
	free(d->symbol);
	free(d->insn);
	buf_release(&d->text);
}

/* --- one instruction --- */

/* Every bit whose word the mnemonic starts with. */
static const struct { const char *starts; unsigned what; } mnemonics[] = {
	{ "s_branch", INSN_BRANCH }, { "s_cbranch_", INSN_BRANCH }, { "s_load_", INSN_LOAD }, { "s_buffer_load_", INSN_LOAD },
	{ "flat_load_", INSN_LOAD }, { "global_load_", INSN_LOAD }, { "buffer_load_", INSN_LOAD }, { "tbuffer_load_", INSN_LOAD },
	{ "s_scratch_load_", INSN_LOAD }, { "image_load", INSN_LOAD }, { "image_sample", INSN_LOAD },
	{ "s_store_", INSN_STORE }, { "s_buffer_store_", INSN_STORE }, { "flat_store_", INSN_STORE }, { "global_store_", INSN_STORE },
	{ "buffer_store_", INSN_STORE }, { "tbuffer_store_", INSN_STORE }, { "image_store", INSN_STORE },
	{ "flat_atomic_", INSN_ATOMIC }, { "global_atomic_", INSN_ATOMIC }, { "buffer_atomic_", INSN_ATOMIC }, { "s_atomic_", INSN_ATOMIC },
	{ "buffer_inv", INSN_COHERENT }, { "buffer_wbinv", INSN_COHERENT }, { "buffer_gl", INSN_COHERENT }, { "s_dcache_inv", INSN_COHERENT },
	{ "global_inv", INSN_COHERENT }, { "s_sleep", INSN_SLEEP }, { "v_mfma_", INSN_MATRIX }, { "v_smfmac_", INSN_MATRIX },
	{ "v_wmma_", INSN_MATRIX }, { "v_swmmac_", INSN_MATRIX }, { "v_dot", INSN_MATRIX }, { "s_endpgm", INSN_END },
	{ "s_barrier", INSN_BARRIER }, { "ds_", INSN_LDS }, { "s_wait", INSN_WAIT },
};

static bool coherent(struct span word)
{
	return span_is(word, "glc") || span_is(word, "sc0") || span_is(word, "sc1") || span_is(word, "dlc") || span_starts(word, "scope:SCOPE_");
}

static unsigned what_is(struct span text)
{
	unsigned what = 0;
	struct span word, number;

	if (!span_word(&text, &word))
		return 0;
	for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
		if (span_starts(word, mnemonics[i].starts))
			what |= mnemonics[i].what;
	if (span_is(word, "s_trap") && span_word(&text, &number) && (span_is(number, "2") || span_is(number, "0x2")))
		what |= INSN_TRAP;
	while ((what & (INSN_LOAD | INSN_ATOMIC)) && span_word(&text, &word))
		if (coherent(word))
			what |= INSN_COHERENT;
	return what;
}

/* Where a branch goes: 16 bits, signed, in words from the next instruction. Taken from its encoding, else from its text. */
static bool branch_target(struct span text, uint64_t address, bool encoded, uint64_t code, uint64_t *target)
{
	struct span word;
	int64_t words;
	uint64_t hex;

	if (encoded && code >> 23 == 0x17f) {
		words = (int64_t)(code & 0xffff);
	} else {
		span_word(&text, &word);
		if (!span_word(&text, &word))
			return false;
		if (span_starts(word, "0x") && span_take_hex(&word, &hex) && !word.len && hex <= 0xffff)
			words = (int64_t)hex;
		else if (!span_int(word, &words) || words < -0x8000 || words > 0xffff)
			return false;
	}
	if (words > 0x7fff)
		words -= 0x10000;
	*target = address + 4 + (uint64_t)(words * 4);
	return true;
}

/* Too many: those farthest before the pc go; behind it the rest is not looked at. */
static bool make_room(struct disassembly *d)
{
	size_t half = d->count / 2, drop;

	if (d->count < DISASSEMBLY_MAX && !d->text.cut && d->text.len < TEXT_MAX - INSN_TEXT_MAX)
		return true;
	d->cut = true;
	if (d->insn[d->count - 1].address >= d->pc || !half) {
		d->done = true;
		return false;
	}
	drop = d->insn[half].text;
	buf_drop(&d->text, drop);
	d->count -= half;
	memmove(d->insn, d->insn + half, d->count * sizeof *d->insn);
	for (size_t i = 0; i < d->count; i++)
		d->insn[i].text -= drop;
	return true;
}

static void keep(struct disassembly *d, uint64_t address, struct span text, bool encoded, uint64_t code)
{
	struct disassembly_insn *n;

	if (d->high && (address < d->low || address >= d->high))
		return;
	if (d->count && address <= d->insn[d->count - 1].address) {
		/* Another section begins. */
		d->done = d->insn[0].address <= d->pc && d->insn[d->count - 1].address >= d->pc;
		if (d->done)
			return;
		forget(d);
	}
	if (!make_room(d))
		return;
	if (d->count == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 1024;
		d->insn = mem_array(d->insn, d->cap, sizeof *d->insn);
	}
	text = span_sub(text, 0, INSN_TEXT_MAX);
	n = &d->insn[d->count++];
	*n = (struct disassembly_insn){ .address = address, .text = d->text.len, .len = text.len, .what = what_is(text) };
	buf_span(&d->text, text);
	if ((n->what & INSN_BRANCH) && !branch_target(text, address, encoded, code, &n->target))
		n->what &= ~(unsigned)INSN_BRANCH;
}

/* --- lines --- */

/* Exactly n digits, upper or lower case, and a blank or the end behind them. */
static bool hex_group(struct span *rest, size_t n, uint64_t *value)
{
	struct span word, at = *rest, digits;

	if (!span_word(&at, &word) || word.len != n || span_starts(word, "0x"))
		return false;
	digits = word;
	if (!span_take_hex(&digits, value) || digits.len)
		return false;
	*rest = at;
	return true;
}

/* Four bytes in memory order, or a word: the first 32 bits; swallows all of them. */
static bool encoding(struct span *rest, uint64_t *code)
{
	uint64_t value, first = 0;
	int bytes = 0;

	if (hex_group(rest, 8, code)) {
		while (hex_group(rest, 8, &value))
			;
		return true;
	}
	for (; hex_group(rest, 2, &value); bytes++)
		if (bytes < 4)
			first |= value << (8 * bytes);
	*code = first;
	return bytes >= 4;
}

/* "TEXT // 000000001324: BF87FFFA <...>" */
static bool comment_form(struct disassembly *d, struct span line)
{
	struct span rest = line;
	uint64_t address, code = 0;
	long at, skipped = 0;

	while ((at = span_find(rest, "// ")) >= 0) {
		struct span tail = span_sub(rest, (size_t)at + 3, rest.len);
		struct span digits = tail;

		if (span_take_hex(&tail, &address) && tail.at - digits.at >= 8 && span_skip(&tail, ":")) {
			bool encoded = encoding(&tail, &code);

			keep(d, address, span_trim(span_sub(line, 0, (size_t)(skipped + at))), encoded, code);
			return true;
		}
		skipped += at + 3;
		rest = span_sub(rest, (size_t)at + 3, rest.len);
	}
	return false;
}

/* "  1324: fa ff 87 bf <TAB>TEXT" and the address in a C comment */
static bool leading_form(struct disassembly *d, struct span line)
{
	struct span rest = span_trim(line), digits;
	bool clrx = span_skip(&rest, "/*"), encoded;
	uint64_t address, code = 0;

	digits = rest;
	if (!span_take_hex(&rest, &address) || rest.at - digits.at < 2 || !span_skip(&rest, clrx ? "*/" : ":"))
		return false;
	encoded = encoding(&rest, &code);
	rest = span_trim(rest);
	if (!rest.len)
		return false;
	keep(d, address, rest, encoded, code);
	return true;
}

static void symbol(struct disassembly *d, uint64_t address, struct span name)
{
	if (!d->high) {
		d->done = d->count && d->insn[0].address <= d->pc && d->insn[d->count - 1].address >= d->pc;
		if (d->done)
			return;
		if (d->count)
			forget(d);
	} else if (address > d->pc) {
		return;
	}
	if (!d->symbol)
		d->symbol = mem_array(NULL, DISASSEMBLY_SYMBOLS_MAX, sizeof *d->symbol);
	if (d->symbols == DISASSEMBLY_SYMBOLS_MAX)
		free(d->symbol[--d->symbols].name);
	name = span_sub(name, 0, SYMBOL_MAX);
	d->symbol[d->symbols].address = address;
	d->symbol[d->symbols++].name = mem_text_n(name.at, name.len);
}

/* "0000000000001300 <NAME>:" */
static bool symbol_form(struct disassembly *d, struct span line)
{
	struct span rest = line, digits = line;
	uint64_t address;

	if (!span_take_hex(&rest, &address) || rest.at - digits.at < 8 || !span_skip(&rest, " <") || !span_ends(rest, ">:"))
		return false;
	symbol(d, address, span_sub(rest, 0, rest.len - 2));
	return true;
}

void disassembly_line(struct disassembly *d, struct span line)
{
	if (d->done || !line.len || line.at[0] == ';')
		return;
	if (symbol_form(d, line) || comment_form(d, line))
		return;
	leading_form(d, line);
}

void disassembly_lines(struct disassembly *d, struct span text)
{
	struct span line;

	while (!d->done && span_line(&text, &line))
		disassembly_line(d, line);
}

struct span disassembly_insn_text(const struct disassembly *d, long i)
{
	return span_sub(buf_as_span(&d->text), d->insn[i].text, d->insn[i].len);
}

/* --- what it does --- */

/* The last instruction that begins at or before the address; -1 none. */
static long insn_at(const struct disassembly *d, uint64_t address)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->insn[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (long)low - 1;
}

static bool starts(const struct disassembly *d, long i, const char *mnemonic)
{
	return i < (long)d->count && span_starts(disassembly_insn_text(d, i), mnemonic);
}

static void find_trap(const struct disassembly *d, struct disassembly_found *f)
{
	long best = -1;
	bool message;

	for (long i = f->from; i < f->to; i++)
		if ((d->insn[i].what & INSN_TRAP) && (best < 0 || labs(i - f->at) < labs(best - f->at)))
			best = i;
	f->trap = best;
	if (best < 0)
		return;
	/* gfx11 cannot enter its trap handler from there: what follows tells the host by a message, and halts. */
	message = starts(d, best + 1, "s_sendmsg_rtn_b32");
	f->trap_ends = message || starts(d, best + 1, "s_endpgm");
	f->trap_here = f->exact && f->at >= best && f->at <= best + (message ? TRAP_MESSAGE : 1);
}

/* A block behind the end of the function that jumps back into it is no loop, unless the end is that of an assert. */
static bool is_loop(const struct disassembly *d, long first, long last)
{
	if (!starts(d, last, "s_branch"))
		return true;
	for (long i = first; i < last; i++)
		if (starts(d, i, "s_setpc_b64") || ((d->insn[i].what & INSN_END) && !(i > first && (d->insn[i - 1].what & INSN_TRAP))))
			return false;
	return true;
}

static void find_loop(const struct disassembly *d, struct disassembly_found *f)
{
	const uint64_t unset = UINT64_MAX;
	uint64_t least = unset;

	for (long i = f->at; i < (long)d->count; i++) {
		const struct disassembly_insn *n = &d->insn[i];
		long first;

		if (!(n->what & INSN_BRANCH) || n->target > d->insn[f->at].address || n->address - n->target >= least)
			continue;
		first = insn_at(d, n->target);
		if (first < 0 || d->insn[first].address != n->target || !is_loop(d, first, i))
			continue;
		least = n->address - n->target;
		f->loop = true;
		f->loop_first = first;
		f->loop_last = i;
	}
	for (long i = f->loop_first; f->loop && i <= f->loop_last; i++)
		f->loop_what |= d->insn[i].what;
}

/* A loop that reads memory past the caches, over and over, and neither writes nor computes. An atomic may be the reading itself. */
static bool is_spin(const struct disassembly_found *f)
{
	if (!f->loop || f->loop_last - f->loop_first >= DISASSEMBLY_SPIN_MAX || (f->loop_what & (INSN_STORE | INSN_MATRIX)))
		return false;
	return (f->loop_what & INSN_ATOMIC) || ((f->loop_what & INSN_LOAD) && (f->loop_what & (INSN_COHERENT | INSN_SLEEP)));
}

static void find_symbol(const struct disassembly *d, struct disassembly_found *f)
{
	f->function = "";
	for (size_t i = 0; i < d->symbols; i++)
		if (d->symbol[i].address <= d->pc && (!*f->function || d->symbol[i].address >= f->function_at)) {
			f->function = d->symbol[i].name;
			f->function_at = d->symbol[i].address;
		}
}

const char *disassembly_symbol_at(const struct disassembly *d, uint64_t address)
{
	for (size_t i = 0; i < d->symbols; i++)
		if (d->symbol[i].address == address)
			return d->symbol[i].name;
	return NULL;
}

void disassembly_find(const struct disassembly *d, long before, long after, struct disassembly_found *f)
{
	memset(f, 0, sizeof *f);
	f->trap = f->access = -1;
	find_symbol(d, f);
	f->at = insn_at(d, d->pc);
	/* The longest instruction has 20 bytes. */
	if (f->at < 0 || d->pc - d->insn[f->at].address >= 20) {
		f->at = -1;
		return;
	}
	f->exact = d->insn[f->at].address == d->pc;
	f->from = f->at > before ? f->at - before : 0;
	f->to = f->at + after + 1 < (long)d->count ? f->at + after + 1 : (long)d->count;
	find_trap(d, f);
	find_loop(d, f);
	f->spin = is_spin(f);
	for (long i = f->from; i <= f->at; i++)
		if (d->insn[i].what & (INSN_LOAD | INSN_STORE | INSN_ATOMIC))
			f->access = i;
}

/* --- operands --- */

static bool is_register(struct span s)
{
	return s.len > 1 && (s.at[0] == 'v' || s.at[0] == 's') && (s.at[1] == '[' || (s.at[1] >= '0' && s.at[1] <= '9'));
}

/* The first word of operand number n (from 0): modifiers follow the last one after a blank. */
static struct span operand(struct span operands, int n)
{
	struct span piece = { 0 }, word = { 0 };

	for (int i = 0; i <= n; i++)
		if (!span_cut(&operands, ',', &piece))
			return word;
	span_word(&piece, &word);
	return word;
}

bool disassembly_address_registers(struct span insn, struct buf *out)
{
	unsigned what = what_is(insn);
	struct span mnemonic, first, second;
	int at;

	/* An atomic names the register of its result first, or not: that depends on the generation. */
	if (!(what & (INSN_LOAD | INSN_STORE)) || !span_word(&insn, &mnemonic) || span_starts(mnemonic, "image_"))
		return false;
	/* Loads name their result first. Those of buffers go on with offset, descriptor; stores begin with the value. */
	at = (what & INSN_LOAD) || span_starts(mnemonic, "buffer_") || span_starts(mnemonic, "tbuffer_") || span_starts(mnemonic, "s_") ? 1 : 0;
	if (span_contains(insn, " lds") && (what & INSN_LOAD))
		at = 0;
	first = operand(insn, at);
	if (!is_register(first) && !span_is(first, "off"))
		return false;
	/* Behind the address of a store comes its value, then the base. */
	second = operand(insn, at == 0 && (what & INSN_STORE) ? 2 : at + 1);
	if (!is_register(first)) {
		first = second;
		second = span_make(NULL, 0);
	}
	if (!is_register(first))
		return false;
	buf_span(out, first);
	if (is_register(second) && !span_starts(mnemonic, "flat_"))
		buf_printf(out, " and %.*s", (int)second.len, second.at);
	return true;
}
