/* test_code_object.c - URIs of code objects, names of saved ones, and disassembly as llvm-objdump prints it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data_file.h"
#include "parse/code_elf.h"
#include "parse/code_object.h"
#include "parse/disassembly_text.h"

static void test_uri(void **state)
{
	static const struct { const char *uri; bool good; enum code_object_scheme scheme; int64_t pid; const char *path; int64_t offset, size; } t[] = {
		{ "memory://2188702#offset=0x546c3060&size=4026672", true, CODE_OBJECT_MEMORY, 2188702, "", 0x546c3060, 4026672 },
		{ " memory://1?offset=0777&size=0x10\r", true, CODE_OBJECT_MEMORY, 1, "", 511, 16 },
		{ "memory://0#offset=0&size=0", true, CODE_OBJECT_MEMORY, 0, "", 0, 0 },
		{ "memory://1#offset=0x7fffffffffffffff&size=1", true, CODE_OBJECT_MEMORY, 1, "", INT64_MAX, 1 },
		{ "file:///opt/rocm/lib/librccl.so.1.0#offset=8192&size=100", true, CODE_OBJECT_FILE, -1, "/opt/rocm/lib/librccl.so.1.0", 8192, 100 },
		{ "file:////a", true, CODE_OBJECT_FILE, -1, "/a", -1, -1 },
		{ "file://name.so", true, CODE_OBJECT_FILE, -1, "name.so", -1, -1 },
		{ "file://name.so?offset=0x10&size=07", true, CODE_OBJECT_FILE, -1, "name.so", 16, 7 },
		{ "file:///a%20b%23c%C3%A9%zz%2", true, CODE_OBJECT_FILE, -1, "/a b#c\303\251%zz%2", -1, -1 },
		{ "file:///a#b#offset=1&size=2", true, CODE_OBJECT_FILE, -1, "/a#b", 1, 2 },
		{ "memory://#offset=0&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12", false, 0, 0, "", 0, 0 },
		{ "memory://12x#offset=0&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=0", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=0x&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=08&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=-1&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=0x8000000000000000&size=1", false, 0, 0, "", 0, 0 },
		{ "memory://12#offset=1&size=1 ...", false, 0, 0, "", 0, 0 },
		{ "file://", false, 0, 0, "", 0, 0 },
		{ "file:///a%00b", false, 0, 0, "", 0, 0 },
		{ "file:///a#offset=1", false, 0, 0, "", 0, 0 },
		{ "http://x", false, 0, 0, "", 0, 0 },
		{ "", false, 0, 0, "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct span uri = data_exact(span_of(t[i].uri));
		struct code_object o;

		if (code_object_parse(uri, &o) != t[i].good)
			fail_msg("%s", t[i].uri);
		if (t[i].good) {
			assert_int_equal(o.scheme, t[i].scheme);
			assert_int_equal(o.pid, t[i].pid);
			assert_string_equal(o.path, t[i].path);
			assert_int_equal(o.offset, t[i].offset);
			assert_int_equal(o.size, t[i].size);
		}
		free((char *)uri.at);
	}
}

static void test_long_path(void **state)
{
	struct code_object o;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	buf_text(&b, "file:///");
	while (b.len < 7 + CODE_OBJECT_PATH_MAX - 1)
		buf_char(&b, 'x');
	assert_true(code_object_parse(buf_as_span(&b), &o));
	assert_int_equal(strlen(o.path), CODE_OBJECT_PATH_MAX - 1);
	buf_char(&b, 'x');
	assert_false(code_object_parse(buf_as_span(&b), &o));
	buf_release(&b);
}

static void test_saved(void **state)
{
	static const char memory[] = "memory://2188702#offset=0x546c3060&size=4026672";
	static const char file[] = "file:///opt/a%20b.so?offset=8192&size=100";
	static const struct { const char *uri, *name; bool is; } t[] = {
		{ memory, "7_memory___2188702_offset_0x546c3060_size_4026672", true },
		{ memory, "memory___2188702_offset_0x546c3060_size_4026672", true },
		{ memory, "12345_memory___2188702_offset_0x546c3060_size_4026672", true },
		{ memory, "_memory___2188702_offset_0x546c3060_size_4026672", false },
		{ memory, "7memory___2188702_offset_0x546c3060_size_4026672", false },
		{ memory, "x7_memory___2188702_offset_0x546c3060_size_4026672", false },
		{ memory, "7_memory___2188702_offset_0x546c3060_size_4026672.s", false },
		{ memory, "7_memory___188702_offset_0x546c3060_size_4026672", false },
		{ memory, memory, false },
		{ memory, "", false },
		{ file, "3_file____opt_a%20b.so_offset_8192_size_100", true },
		{ file, "3_file____opt_a 20b.so_offset_8192_size_100", false },
		{ "", "7_", false },
	};
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		if (code_object_is_saved_as(span_of(t[i].uri), span_of(t[i].name)) != t[i].is)
			fail_msg("%s saved as %s", t[i].uri, t[i].name);
	buf_init(&b, 0);
	code_object_saved_suffix(span_of(file), &b);
	assert_string_equal(buf_string(&b), "file____opt_a%20b.so_offset_8192_size_100");
	buf_release(&b);
}

/* --- disassembly --- */

/* The same six instructions in every layout. */
static const char comment_form[] =
	"\nk.so:\tfile format elf64-amdgpu\n\nDisassembly of section .dynstr:\n\n00000000000001c8 <.dynstr>:\n"
	"\tv_cndmask_b32_e32 v0, s1, v0, vcc                          // 0000000001C8: 00000001\n"
	"\nDisassembly of section .text:\n\n"
	"0000000000001200 <before()>:\n"
	"\ts_endpgm                                                   // 000000001200: BF810000\n\n"
	"0000000000001300 <void k<int>(int*, char const*)>:\n"
	"; while (!*flag) // 0000000000: not an instruction\n"
	"\tv_mov_b32_e32 v0, 0                                        // 000000001300: 7E000280\n"
	"\tglobal_load_dword v1, v0, s[0:1] sc0 sc1                   // 000000001304: DC518000 01000000\n"
	"\ts_waitcnt vmcnt(0)                                         // 00000000130C: BF8C0F70\n"
	"\ts_cbranch_vccnz 65532                                      // 000000001310: BF87FFFC <void k<int>(int*, char const*)+0x4>\n"
	"\ts_trap 2                                                   // 000000001314: BF920002\n"
	"\ts_endpgm                                                   // 000000001318: BF810000\n\n"
	"0000000000001400 <after>:\n"
	"\ts_cbranch_vccnz 65460                                      // 000000001400: BF87FFB4 <void k<int>(int*, char const*)+0x4>\n"
	"\nDisassembly of section .comment:\n\n0000000000000000 <.comment>:\n"
	"\t.long 0x00001310                                           // 000000001310: 00001310\n";
static const char leading_form[] =
	"0000000000001300 <void k<int>(int*, char const*)>:\n"
	"    1300: 80 02 00 7e                  \tv_mov_b32_e32 v0, 0\n"
	"    1304: 00 80 51 dc 00 00 00 01      \tglobal_load_dword v1, v0, s[0:1] sc0 sc1\n"
	"    130c: 70 0f 8c bf                  \ts_waitcnt vmcnt(0)\n"
	"    1310: fc ff 87 bf                  \ts_cbranch_vccnz .L0\n"
	"    1314: 02 00 92 bf                  \ts_trap 2\n"
	"    1318: 00 00 81 bf                  \ts_endpgm\n";
static const char plain_form[] =
	"0000000000001300 <void k<int>(int*, char const*)>:\r\n"
	"    1300:\tv_mov_b32_e32 v0, 0\r\n"
	"    1304:\tglobal_load_dword v1, v0, s[0:1] sc0 sc1\r\n"
	"    130c:\ts_waitcnt vmcnt(0)\r\n"
	"    1310:\ts_cbranch_vccnz -4\r\n"
	"    1314:\ts_trap 2\r\n"
	"    1318:\ts_endpgm";
static const char clrx_form[] =
	"/*000000001300*/ v_mov_b32       v0, 0\n"
	"/*000000001304*/ global_load_dword v1, v0, s[0:1] sc0 sc1\n"
	"/*00000000130c*/ s_waitcnt       vmcnt(0)\n"
	"/*000000001310*/ s_cbranch_vccnz 0xfffc\n"
	"/*000000001314*/ s_trap          0x2\n"
	"/*000000001318*/ s_endpgm\n";

static void read_text(struct disassembly *d, const char *text, uint64_t pc, uint64_t low, uint64_t high)
{
	struct span copy = data_exact(span_of(text));

	disassembly_init(d, pc, low, high);
	disassembly_lines(d, copy);
	free((char *)copy.at);
}

static void test_layouts(void **state)
{
	static const struct { const char *text; bool named; } t[] = {
		{ comment_form, true }, { leading_form, true }, { plain_form, true }, { clrx_form, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct disassembly_found f;
		struct disassembly d;

		read_text(&d, t[i].text, 0x1310, 0, 0);
		disassembly_find(&d, 2, 1, &f);
		if (d.count != 6 || f.at != 3)
			fail_msg("layout %zu: %zu instructions, at %ld", i, d.count, f.at);
		assert_true(f.exact);
		assert_int_equal(f.from, 1);
		assert_int_equal(f.to, 5);
		assert_string_equal(f.function, t[i].named ? "void k<int>(int*, char const*)" : "");
		assert_true(span_is(disassembly_insn_text(&d, 1), "global_load_dword v1, v0, s[0:1] sc0 sc1"));
		assert_true(f.loop);
		assert_int_equal(f.loop_first, 1);
		assert_int_equal(f.loop_last, 3);
		assert_true(f.spin);
		assert_int_equal(f.access, 1);
		assert_int_equal(f.trap, 4);
		assert_true(f.trap_ends);
		assert_false(f.trap_here);
		disassembly_release(&d);
	}
}

static void test_trap_here(void **state)
{
	static const struct { uint64_t pc; bool here, exact; long at; } t[] = {
		{ 0x1310, false, true, 3 }, { 0x1314, true, true, 4 }, { 0x1318, true, true, 5 }, { 0x1316, false, false, 4 },
		{ 0x1308, false, false, 1 }, { 0x1600, false, false, -1 }, { 0x1000, false, false, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct disassembly_found f;
		struct disassembly d;

		read_text(&d, leading_form, t[i].pc, 0, 0);
		disassembly_find(&d, 9, 9, &f);
		assert_int_equal(f.at, t[i].at);
		assert_int_equal(f.exact, t[i].exact);
		assert_int_equal(f.trap_here, t[i].here);
		disassembly_release(&d);
	}
}

/* gfx11: what LLVM 19 makes of a trap there. */
static void test_trap_of_gfx11(void **state)
{
	static const char text[] = "\ts_branch 65530      // 000000010260: BFA0FFFA\n\ts_trap 2     // 000000010264: BF900002\n"
		"\ts_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)        // 000000010268: BE804C80\n\ts_mov_b32 ttmp2, m0 // 00000001026C: BEEE007D\n"
		"\ts_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)// 000000010270: BF870499\n"
		"\ts_sethalt 5 // 000000010274: BF820005\n\ts_branch 65534 // 000000010278: BFA0FFFE <guard+0x90>\n";
	static const struct { uint64_t pc; bool here; } t[] = { { 0x10260, false }, { 0x10264, true }, { 0x10268, true }, { 0x10278, true } };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct disassembly_found f;
		struct disassembly d;

		read_text(&d, text, t[i].pc, 0, 0);
		disassembly_find(&d, 12, 8, &f);
		assert_int_equal(d.count, 7);
		assert_true(f.trap_ends);
		assert_int_equal(f.trap_here, t[i].here);
		disassembly_release(&d);
	}
}

/* Cut anywhere, and every byte changed: nothing is read outside, and what is found stays inside what was kept. */
static void test_broken_text(void **state)
{
	static const char bytes[] = { 0, '\n', ' ', '<', '9', '-', '/', (char)0xff };
	size_t len = strlen(comment_form);

	(void)state;
	for (size_t i = 0; i < len * sizeof bytes + len; i++) {
		struct span copy = data_exact(span_make(comment_form, i < len ? i : len));
		struct disassembly_found f;
		struct disassembly d;
		struct buf b;

		if (i >= len)
			((char *)copy.at)[i % len] = bytes[i / len - 1];
		disassembly_init(&d, 0x1310, 0, 0);
		disassembly_lines(&d, copy);
		free((char *)copy.at);
		disassembly_find(&d, 2, 2, &f);
		assert_true(f.at < (long)d.count && f.from >= 0 && f.to <= (long)d.count);
		if (f.loop)
			assert_true(f.loop_first >= 0 && f.loop_first <= f.at && f.at <= f.loop_last && f.loop_last < (long)d.count);
		buf_init(&b, 0);
		for (long k = f.from; f.at >= 0 && k < f.to; k++)
			disassembly_address_registers(disassembly_insn_text(&d, k), &b);
		buf_release(&b);
		disassembly_release(&d);
	}
}

/* Loops: instructions from 0x100 on, 4 bytes each, pc at the one with a star. */
static void test_loops(void **state)
{
	static const struct { const char *insn[10]; long first, last; bool spin; } t[] = {
		/* innermost of two; the outer one stores */
		{ { "s_nop 0", "global_store_dword v[0:1], v2, off", "*global_load_dword v1, v[0:1], off glc", "s_cbranch_scc1 -2", "s_cbranch_scc1 -4" }, 2, 3, true },
		{ { "s_nop 0", "*global_store_dword v[0:1], v2, off", "global_load_dword v1, v[0:1], off glc", "s_cbranch_scc1 -2", "s_cbranch_scc1 -4" }, 1, 4, false },
		/* at the branch, and just behind it */
		{ { "s_load_dword s0, s[2:3], 0x0 glc", "*s_cbranch_scc1 65534", "s_endpgm" }, 0, 1, true },
		{ { "s_load_dword s0, s[2:3], 0x0 glc", "s_cbranch_scc1 65534", "*s_endpgm" }, -1, -1, false },
		/* forward branches and one into the middle of nothing are no loops */
		{ { "*s_nop 0", "s_cbranch_scc1 1", "s_branch 0", "s_endpgm" }, -1, -1, false },
		{ { "s_nop 0", "*s_nop 0", "s_cbranch_scc1 -90" }, -1, -1, false },
		/* plain loads: work. Sleeping between them, or throwing caches away: waiting */
		{ { "*global_load_dword v1, v[0:1], off", "s_cbranch_scc1 -2" }, 0, 1, false },
		{ { "*global_load_dword v1, v[0:1], off", "s_sleep 1", "s_cbranch_scc1 -3" }, 0, 2, true },
		{ { "*flat_load_dword v1, v[0:1]", "buffer_inv sc1", "s_cbranch_scc1 -3" }, 0, 2, true },
		{ { "*global_load_b32 v1, v[0:1], off scope:SCOPE_SYS", "s_wait_loadcnt 0x0", "s_cbranch_vccnz -3" }, 0, 2, true },
		{ { "*buffer_load_dword v1, off, s[0:3], 0 sc0 sc1", "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", "s_cbranch_scc1 -3" }, 0, 2, false },
		{ { "*global_atomic_cmpswap v4, v[0:1], v[2:3], off glc", "s_cbranch_execnz -2" }, 0, 1, true },
		{ { "*ds_read_b32 v0, v1", "s_cbranch_scc1 -2" }, 0, 1, false },
		/* a block behind the end that goes back; an assert inside */
		{ { "global_load_dword v1, v[0:1], off glc", "s_endpgm", "*s_nop 0", "s_branch -4" }, -1, -1, false },
		{ { "global_load_dword v1, v[0:1], off glc", "s_trap 2", "s_endpgm", "*s_nop 0", "s_branch -5" }, 0, 4, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct disassembly_found f;
		struct disassembly d;
		struct buf b;
		uint64_t pc = 0;

		buf_init(&b, 0);
		for (int k = 0; k < 10 && t[i].insn[k]; k++) {
			if (t[i].insn[k][0] == '*')
				pc = 0x100 + 4u * (unsigned)k;
			buf_printf(&b, "    %x:\t%s\n", 0x100 + 4 * k, t[i].insn[k] + (t[i].insn[k][0] == '*'));
		}
		read_text(&d, buf_string(&b), pc, 0, 0);
		disassembly_find(&d, 9, 9, &f);
		if (f.loop != (t[i].first >= 0) || f.spin != t[i].spin || (f.loop && (f.loop_first != t[i].first || f.loop_last != t[i].last)))
			fail_msg("case %zu: loop %d %ld to %ld, spin %d", i, f.loop, f.loop_first, f.loop_last, f.spin);
		disassembly_release(&d);
		buf_release(&b);
	}
}

/* With its range a function keeps its labels together; without, a symbol begins a function. */
static void test_labels(void **state)
{
	static const char text[] = "0000000000001000 <k>:\n    1000:\ts_load_dword s0, s[2:3], 0x0 glc\n0000000000001004 <label>:\n"
		"    1004:\ts_nop 0\n    1008:\ts_cbranch_scc1 65533\n0000000000001010 <next>:\n    1010:\ts_cbranch_scc1 65531\n";
	struct disassembly_found f;
	struct disassembly d;

	(void)state;
	read_text(&d, text, 0x1004, 0x1000, 0x100c);
	disassembly_find(&d, 9, 9, &f);
	assert_int_equal(d.count, 3);
	assert_true(f.spin);
	assert_string_equal(f.function, "label");
	assert_string_equal(disassembly_symbol_at(&d, 0x1000), "k");
	assert_null(disassembly_symbol_at(&d, 0x1010));
	disassembly_release(&d);
	read_text(&d, text, 0x1004, 0, 0);
	disassembly_find(&d, 9, 9, &f);
	assert_int_equal(d.count, 2);
	assert_false(f.loop);
	disassembly_release(&d);
}

/* A function longer than is kept: the part before the pc goes, what is around it stays. */
static void test_long_function(void **state)
{
	static const unsigned n = 3 * DISASSEMBLY_MAX;
	struct disassembly_found f;
	struct disassembly d;

	(void)state;
	disassembly_init(&d, 0x1000 + 4ull * (n / 2), 0, 0);
	for (unsigned i = 0; i < n && !d.done; i++) {
		char line[80];
		int len = snprintf(line, sizeof line, "    %x:\ts_nop %u", 0x1000 + 4 * i, i);

		disassembly_line(&d, span_make(line, (size_t)len));
	}
	disassembly_find(&d, 3, 3, &f);
	assert_true(d.cut);
	assert_true(d.count <= DISASSEMBLY_MAX);
	assert_true(f.exact);
	assert_int_equal(f.to - f.from, 7);
	for (long i = f.from; i < f.to; i++) {
		char text[40];

		snprintf(text, sizeof text, "s_nop %ld", (long)(n / 2) + i - f.at);
		assert_true(span_is(disassembly_insn_text(&d, i), text));
	}
	disassembly_release(&d);
}

static void test_address_registers(void **state)
{
	static const struct { const char *insn, *registers; } t[] = {
		{ "global_store_dword v[0:1], v2, off", "v[0:1]" },
		{ "global_store_dwordx4 v0, v[2:5], s[0:1] offset:16 nt", "v0 and s[0:1]" },
		{ "global_load_dword v4, v[2:3], off glc", "v[2:3]" },
		{ "global_load_dword v4, v0, s[4:5] offset:4", "v0 and s[4:5]" },
		{ "flat_load_dword v1, v[0:1]", "v[0:1]" },
		{ "flat_store_dword v[4:5], v6", "v[4:5]" },
		{ "buffer_load_dword v1, v2, s[4:7], 0 offen", "v2 and s[4:7]" },
		{ "buffer_store_dword v1, off, s[4:7], 0", "s[4:7]" },
		{ "s_load_dwordx2 s[0:1], s[4:5], 0x8", "s[4:5]" },
		{ "s_load_dword s0, s[4:5], s6", "s[4:5] and s6" },
		{ "global_atomic_add v[0:1], v2, off", NULL },
		{ "v_add_u32_e32 v0, v1, v2", NULL },
		{ "global_store_dword", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct span insn = data_exact(span_of(t[i].insn));
		struct buf b;

		buf_init(&b, 0);
		if (disassembly_address_registers(insn, &b) != (t[i].registers != NULL) || (t[i].registers && strcmp(buf_string(&b), t[i].registers) != 0))
			fail_msg("%s: %s", t[i].insn, buf_string(&b));
		buf_release(&b);
		free((char *)insn.at);
	}
}

/* --- ELF --- */

struct memory {
	struct span file;
	uint64_t reads;
};

static bool read_memory(void *context, uint64_t offset, void *to, size_t len)
{
	struct memory *m = context;

	m->reads++;
	if (offset > m->file.len || len > m->file.len - offset)
		return false;
	memcpy(to, m->file.at + offset, len);
	return true;
}

static void put(unsigned char *at, uint64_t n, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(n >> (8 * i));
}

#define ELF_SYMBOLS 300
#define ELF_SIZE (64 + 56 + 2 * 64 + ELF_SYMBOLS * 24)

/* One segment of code from 0x1000 to 0x3000, symbols of functions in a table longer than one block. */
static void make_elf(unsigned char elf[ELF_SIZE])
{
	static const struct { uint64_t at, size; unsigned char type; } functions[] = {
		{ 0x1000, 0x100, 2 }, { 0x1100, 0, 2 }, { 0x1180, 0, 0 }, { 0x1200, 0x80, 2 }, { 0x1210, 0x10, 2 }, { 0x2f00, 0x200, 2 },
	};
	unsigned char *segment = elf + 64, *section = segment + 56 + 64, *symbol = section + 64;

	memset(elf, 0, ELF_SIZE);
	memcpy(elf, "\177ELF\2\1\1", 7);
	put(elf + 18, 224, 2);
	put(elf + 32, 64, 8);
	put(elf + 40, 64 + 56, 8);
	put(elf + 48, 0x54c, 4);
	put(elf + 54, 56, 2);
	put(elf + 56, 1, 2);
	put(elf + 58, 64, 2);
	put(elf + 60, 2, 2);
	put(segment, 1, 4);
	put(segment + 4, 5, 4);
	put(segment + 16, 0x1000, 8);
	put(segment + 40, 0x2000, 8);
	put(section + 4, 2, 4);
	put(section + 24, (uint64_t)(symbol - elf), 8);
	put(section + 32, ELF_SYMBOLS * 24, 8);
	put(section + 56, 24, 8);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		/* At both ends of the table. */
		unsigned char *s = symbol + 24 * (i % 2 ? ELF_SYMBOLS - 1 - i : i);

		s[4] = functions[i].type;
		put(s + 6, 1, 2);
		put(s + 8, functions[i].at, 8);
		put(s + 16, functions[i].size, 8);
	}
}

static void test_elf(void **state)
{
	static const struct { uint64_t at, low, high; bool code; } t[] = {
		{ 0x1000, 0x1000, 0x1100, true }, { 0x10ff, 0x1000, 0x1100, true }, { 0x1100, 0x1100, 0x1200, true },
		{ 0x1190, 0x1100, 0x1200, true }, { 0x1208, 0x1200, 0x1280, true }, { 0x1214, 0x1210, 0x1220, true },
		{ 0x2f00, 0, 0, true },  /* a size past the end is not believed */
		{ 0x3000, 0, 0, false }, { 0xfff, 0, 0, false },
	};
	struct span file;
	struct memory memory = { 0 };
	struct code_elf_reader reader = { read_memory, &memory };
	unsigned char elf[ELF_SIZE];

	(void)state;
	make_elf(elf);
	file = memory.file = data_exact(span_make((char *)elf, sizeof elf));
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct code_elf e;

		code_elf_read(&e, &reader, t[i].at);
		assert_int_equal(e.kind, CODE_ELF_AMDGPU);
		assert_string_equal(e.gpu, "gfx942");
		if (e.low != t[i].low || e.high != t[i].high || (e.segment_high == 0x3000) != t[i].code)
			fail_msg("0x%llx: 0x%llx to 0x%llx", (unsigned long long)t[i].at, (unsigned long long)e.low, (unsigned long long)e.high);
	}
	free((char *)file.at);
}

/* Cut anywhere, and any byte changed: no read outside, an end in bounded time. */
static void test_elf_broken(void **state)
{
	unsigned char elf[ELF_SIZE];
	struct memory memory = { 0 };
	struct code_elf_reader reader = { read_memory, &memory };
	struct code_elf e;

	(void)state;
	make_elf(elf);
	for (size_t n = 0; n <= sizeof elf; n += n < 512 ? 1 : 97) {
		memory.file = data_exact(span_make((char *)elf, n));
		code_elf_read(&e, &reader, 0x1000);
		assert_int_equal(e.kind == CODE_ELF_AMDGPU, n >= 64);
		free((char *)memory.file.at);
	}
	memory.file = data_exact(span_make((char *)elf, sizeof elf));
	for (size_t i = 0; i < 64 + 56 + 128; i++)
		for (int bit = 0; bit < 8; bit++) {
			((char *)memory.file.at)[i] ^= (char)(1 << bit);
			memory.reads = 0;
			code_elf_read(&e, &reader, 0x1000);
			assert_true(memory.reads < 10000);
			assert_true(e.low <= e.high);
			((char *)memory.file.at)[i] ^= (char)(1 << bit);
		}
	free((char *)memory.file.at);
}

static void test_elf_kinds(void **state)
{
	static const struct { const char *head; enum code_elf_kind kind; } t[] = {
		{ "__CLANG_OFFLOAD_BUNDLE__", CODE_ELF_BUNDLE }, { "CCOB", CODE_ELF_BUNDLE }, { "\177ELF\1\1\1", CODE_ELF_OTHER },
		{ "\177ELF\2\1\1", CODE_ELF_OTHER }, { "#!/bin/sh", CODE_ELF_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		char head[64] = { 0 };
		struct memory memory = { .file = span_make(head, sizeof head) };
		struct code_elf_reader reader = { read_memory, &memory };
		struct code_elf e;

		memcpy(head, t[i].head, strlen(t[i].head));
		code_elf_read(&e, &reader, 0);
		assert_int_equal(e.kind, t[i].kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uri), cmocka_unit_test(test_long_path), cmocka_unit_test(test_saved), cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_trap_here), cmocka_unit_test(test_trap_of_gfx11), cmocka_unit_test(test_broken_text), cmocka_unit_test(test_loops), cmocka_unit_test(test_labels), cmocka_unit_test(test_long_function),
		cmocka_unit_test(test_address_registers), cmocka_unit_test(test_elf), cmocka_unit_test(test_elf_broken), cmocka_unit_test(test_elf_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
