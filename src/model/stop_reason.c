/* stop_reason.c - the table. */
#include "config.h"

#include "model/stop_reason.h"

#include <stddef.h>

static const struct {
	const char *reason, *words;
} table[] = {
	{ "ASSERT_TRAP", "a device-side assert failed (s_trap 2); the condition was tested some instructions before the pc" },
	{ "MEMORY_VIOLATION", "access to a page that is not mapped; the pc stands after the access" },
	{ "ADDRESS_ERROR", "an address outside every aperture, or misaligned" },
	{ "APERTURE_VIOLATION", "an address outside every aperture (today called ADDRESS_ERROR)" },
	{ "ILLEGAL_INSTRUCTION", "the bytes at the pc are no instruction: code was overwritten, or a jump went wild" },
	{ "ECC_ERROR", "a memory error that could not be corrected: hardware" },
	{ "FATAL_HALT", "the hardware halted the wave for good" },
	{ "DEBUG_TRAP", "a breakpoint in the code (s_trap 3)" },
	{ "INT_DIVIDE_BY_0", "integer division by zero" },
	{ "FP_DIVIDE_BY_0", "floating-point division by zero, with that exception enabled" },
	{ "FP_INVALID_OPERATION", "an invalid floating-point operation, with that exception enabled" },
	{ "BREAKPOINT", "a debugger's breakpoint" },
	{ "TRAP", "a trap that no one knows" },
};

const char *stop_reason_words(struct span reason)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (span_is(reason, table[i].reason))
			return table[i].words;
	return NULL;
}
