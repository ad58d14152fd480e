/* guard.c - the table of checks. */
#include "config.h"

#include "snapshot/guard.h"

bool guard_allows(const struct guard_row *rows, int count)
{
	for (int i = 0; i < count; i++)
		if (rows[i].state == GUARD_REFUSED)
			return false;
	return count > 0;
}

const char *guard_state_word(enum guard_state state)
{
	static const char *const word[] = { [GUARD_OK] = "ok", [GUARD_REFUSED] = "refused", [GUARD_UNKNOWN] = "unknown" };

	return word[state];
}
