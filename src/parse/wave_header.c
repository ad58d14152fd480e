/* wave_header.c - the header of a wave: names can hold anything, so it is read from its end. */
#include "config.h"

#include "parse/wave_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of the header: " (running)" or " (stopped, reason: X)"; the last one counts, names can hold the words. */
static long header_end(struct span s, struct span *reasons, bool *running)
{
	long best = -1;
	size_t from = 0;
	long at;

	*running = false;
	/* As a rule it stands at the end of the line. */
	if (s.len > 300 && span_find(span_sub(s, s.len - 300, 300), " (stopped, reason: ") >= 0)
		from = s.len - 300;
	while ((at = span_find(span_sub(s, from, s.len), " (stopped, reason: ")) >= 0) {
		best = (long)from + at;
		from = (size_t)best + 1;
	}
	if (best >= 0) {
		struct span rest = span_sub(s, (size_t)best + 19, s.len);
		size_t n = 0;

		while (n < rest.len && ((rest.at[n] >= 'A' && rest.at[n] <= 'Z') || (rest.at[n] >= '0' && rest.at[n] <= '9') || rest.at[n] == '_' ||
						rest.at[n] == '|'))
			n++;
		*reasons = span_sub(rest, 0, n);
		return best;
	}
	from = 0;
	while ((at = span_find(span_sub(s, from, s.len), " (running)")) >= 0) {
		best = (long)from + at;
		from = (size_t)best + 1;
	}
	*running = best >= 0;
	return best;
}

/* "(kernel_code_entry=0x..[ <NAME>][, kernargs=0x..])": the number as printed, and the name. */
static void entry_of(struct span s, struct span *number, struct span *kernel)
{
	struct span rest = s, hex;
	uint64_t value;
	size_t from = 0;
	long at = -1, next;

	*number = *kernel = span_make("", 0);
	if (!span_skip(&rest, "(kernel_code_entry=") || span_starts(rest, "not available"))
		return;
	hex = rest;
	if (!span_take_hex(&hex, &value))
		return;
	*number = span_sub(rest, 0, rest.len - hex.len);
	rest = hex;
	if (span_ends(rest, ")"))
		rest.len--;
	if (rest.len > 60)
		from = rest.len - 60; /* the last one counts: names can hold anything */
	while ((next = span_find(span_sub(rest, from, rest.len), ", kernargs=0x")) >= 0) {
		at = (long)from + next;
		from = (size_t)at + 1;
	}
	if (at >= 0)
		rest.len = (size_t)at;
	if (span_skip(&rest, " <") && span_ends(rest, ">"))
		*kernel = span_sub(rest, 0, rest.len - 1);
}

/* `s` starts behind "wave_". */
bool wave_read_header(struct span s, struct wave_header *h)
{
	struct span rest = s, pc;
	long end;

	memset(h, 0, sizeof *h);
	if (!span_take_uint(&rest, &h->id) || !span_skip(&rest, ": pc="))
		return false;
	end = header_end(rest, &h->reasons, &h->running);
	if (end < 0)
		return false;
	pc = rest;
	if (!span_take_hex(&pc, &h->pc))
		return true;
	h->pc_text = span_sub(rest, 0, rest.len - pc.len);
	entry_of(span_trim(span_sub(pc, 0, (size_t)end - h->pc_text.len)), &h->entry, &h->kernel);
	return true;
}
