/* What the snapshot's gdb script prints of one wave a group. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "parse/wave_groups.h"

#define IS(span, text) assert_true(span_is(span, text))

static void two_groups(void **state)
{
	struct span rest = span_of("=== hangtop: waves ===\n"
		"=== hangtop: wave 7 of 640: 0x7f0010 in kern(float*) () from file:///a.so#offset=1 ===\n"
		"[Switching to thread 7, lane 0 (AMDGPU Lane 1:2:1:1/0 (0,0,0)[0,0,0])]\n"
		"kern(float*) + 16 in section .text of file:///a.so#offset=1\n"
		"No line number information available for address 0x7f0010\n"
		"=> 0x7f0010 <kern(float*)+16>:\ts_sleep 1\n"
		"   0x7f0014 <kern(float*)+20>:\ts_branch -3\n"
		"  Id   State Target Id                            Frame \n"
		"* 0    A     AMDGPU Lane 1:2:1:1/0 (0,0,0)[0,0,0] kern ()\n"
		"  1    A     AMDGPU Lane 1:2:1:1/1 (0,0,0)[1,0,0] kern ()\n"
		"  2    I     AMDGPU Lane 1:2:1:1/2 (0,0,0)[2,0,0] (inactive)\n"
		"  9    A     AMDGPU Lane 1:2:1:1/9 (0,0,0)[9,0,0] kern ()\n"
		"=== hangtop: wave 12 of 1: saxpy () at saxpy.cpp:7 ===\n"
		"error: No symbol table is loaded.\n"
		"Line 7 of \"saxpy.cpp\" starts at address 0x10 and ends at 0x20.\n");
	struct wave_group g;

	(void)state;
	assert_true(wave_group_next(&rest, &g));
	assert_int_equal(g.thread, 7);
	assert_int_equal(g.count, 640);
	IS(g.frame, "0x7f0010 in kern(float*) () from file:///a.so#offset=1");
	IS(g.place, "kern(float*) + 16");
	IS(g.line, "");
	IS(g.code, "=> 0x7f0010 <kern(float*)+16>:\ts_sleep 1\n   0x7f0014 <kern(float*)+20>:\ts_branch -3");
	assert_string_equal(g.lanes, "0-1,9");
	assert_int_equal(g.active, 3);
	assert_int_equal(g.lanes_known, 4);
	assert_true(wave_group_next(&rest, &g));
	assert_int_equal(g.thread, 12);
	IS(g.frame, "saxpy () at saxpy.cpp:7");
	IS(g.place, "");
	IS(g.line, "Line 7 of \"saxpy.cpp\" starts at address 0x10 and ends at 0x20.");
	assert_string_equal(g.lanes, "");
	assert_false(wave_group_next(&rest, &g));
}

static void nothing_and_nonsense(void **state)
{
	static const char *const text[] = { "", "=== hangtop: wave", "=== hangtop: wave x of 1: a ===\n", "=== info threads ===\n" };
	struct wave_group g;

	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct span rest = span_of(text[i]);

		assert_false(wave_group_next(&rest, &g));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(two_groups), cmocka_unit_test(nothing_and_nonsense) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
