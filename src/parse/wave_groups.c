/* wave_groups.c - header, then lines told by how they look. */
#include "config.h"

#include "parse/wave_groups.h"

#include <stdio.h>

#define HEADER "=== hangtop: wave "
#define LANES_MAX 64

static bool header(struct span line, struct wave_group *out)
{
	if (!span_skip(&line, HEADER) || !span_take_int(&line, &out->thread) || !span_skip(&line, " of ") ||
		!span_take_int(&line, &out->count) || !span_skip(&line, ": "))
		return false;
	out->frame = span_trim(line);
	if (span_ends(out->frame, "==="))
		out->frame = span_trim(span_sub(out->frame, 0, out->frame.len - 3));
	return true;
}

static void lane(struct span line, struct wave_group *out, uint64_t *active)
{
	struct span state;
	uint64_t id;

	span_skip(&line, "*");
	line = span_trim(line);
	if (!span_take_uint(&line, &id) || id >= LANES_MAX || !span_word(&line, &state) || !span_contains(line, "AMDGPU Lane"))
		return;
	out->lanes_known++;
	if (span_is(state, "A")) {
		*active |= (uint64_t)1 << id;
		out->active++;
	}
}

static void fold_lanes(uint64_t active, char *out, size_t size)
{
	size_t n = 0;

	*out = 0;
	for (int i = 0; i < LANES_MAX && n + 12 < size; i++) {
		int last = i;

		if (!(active >> i & 1))
			continue;
		while (last + 1 < LANES_MAX && active >> (last + 1) & 1)
			last++;
		n += (size_t)snprintf(out + n, size - n, last > i ? "%s%d-%d" : "%s%d", n ? "," : "", i, last);
		i = last;
	}
}

static bool is_code(struct span line)
{
	span_skip(&line, "=>");
	line = span_trim(line);
	return span_starts(line, "0x") && (span_contains(line, ":\t") || span_contains(line, ": "));
}

static void body(struct span line, struct wave_group *out, uint64_t *active)
{
	long at = span_find(line, " in section ");

	if (is_code(line)) {
		if (!out->code.len)
			out->code = line;
		else
			out->code.len = (size_t)(line.at + line.len - out->code.at);
	} else if (at > 0 && !out->place.len) {
		out->place = span_sub(line, 0, (size_t)at);
	} else if (span_starts(line, "Line ")) {
		out->line = line;
	} else if (span_contains(line, "AMDGPU Lane")) {
		lane(line, out, active);
	}
}

bool wave_group_next(struct span *rest, struct wave_group *out)
{
	struct span line, after;
	uint64_t active = 0;
	bool found = false;

	*out = (struct wave_group){ .thread = -1 };
	while (!found && span_line(rest, &line))
		found = header(line, out);
	after = *rest;
	while (found && span_line(&after, &line) && !span_starts(line, "=== ")) {
		body(line, out, &active);
		*rest = after;
	}
	fold_lanes(active, out->lanes, sizeof out->lanes);
	return found;
}
