/* snapshot_text.c - one function a kind. */
#include "config.h"

#include "app/snapshot_text.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/text.h"

static struct span text_of(const struct observation *o, int field)
{
	struct span text = { "", 0 };

	observation_get_text(o, field, &text);
	return text;
}

static void put(struct buf *out, struct span text)
{
	text_scrub(out, text);
}

/* Known: "NAME value". */
static void put_named(struct buf *out, const char *name, struct span text)
{
	if (!text.len)
		return;
	buf_text(out, name);
	put(out, text);
}

static int64_t number(const struct observation *o, int field)
{
	int64_t value = 0;

	observation_get_int(o, field, &value);
	return value;
}

static void guard(const struct observation *o, struct buf *out)
{
	buf_printf(out, "%-8.*s %-14.*s ", (int)text_of(o, GUARD_state).len, text_of(o, GUARD_state).at, (int)text_of(o, GUARD_check).len,
		text_of(o, GUARD_check).at);
	put(out, text_of(o, GUARD_detail));
	buf_char(out, '\n');
	if (text_of(o, GUARD_remedy).len && !observation_text_is(o, GUARD_state, "ok")) {
		put_named(out, "                        ", text_of(o, GUARD_remedy));
		buf_char(out, '\n');
	}
}

static void command(const struct observation *o, struct buf *out)
{
	struct span argv = text_of(o, SNAPSHOT_argv);
	json_t *words = json_loadb(argv.at, argv.len, 0, NULL), *word;
	size_t i;

	buf_text(out, "command:");
	json_array_foreach(words, i, word) {
		struct span rest = span_of(json_string_value(word)), line = { 0 };

		span_line(&rest, &line); /* of the script its first line */
		buf_text(out, span_find_char(line, ' ') >= 0 ? " '" : " ");
		put(out, line);
		if (span_find_char(line, ' ') >= 0)
			buf_text(out, rest.len ? " ...'" : "'");
	}
	buf_char(out, '\n');
	json_decref(words);
}

static void snapshot(const struct observation *o, struct buf *out)
{
	double took = 0, stopped = 0;

	buf_printf(out, "\nsnapshot of pid %" PRId64, number(o, SNAPSHOT_pid));
	put_named(out, ", rank ", text_of(o, SNAPSHOT_rank));
	put_named(out, ": ", text_of(o, SNAPSHOT_state));
	put_named(out, ": ", text_of(o, SNAPSHOT_detail));
	buf_char(out, '\n');
	if (observation_text_is(o, SNAPSHOT_state, "preview"))
		command(o, out);
	if (observation_get_real(o, SNAPSHOT_took_ms, &took)) {
		observation_get_real(o, SNAPSHOT_stopped_ms, &stopped);
		buf_printf(out, "took %.1f s, the process stood still for %.1f s; the debugger ended ", took / 1000, stopped / 1000);
		put(out, text_of(o, SNAPSHOT_ended));
		buf_char(out, '\n');
	}
	if (text_of(o, SNAPSHOT_verified).len) {
		put_named(out, "verified: ", text_of(o, SNAPSHOT_verified));
		put_named(out, ": ", text_of(o, SNAPSHOT_verify_detail));
		put_named(out, "\noutput: ", text_of(o, SNAPSHOT_file));
		buf_char(out, '\n');
	}
}

static void queue(const struct observation *o, struct buf *out)
{
	int64_t read, write;

	put_named(out, "queue ", text_of(o, GDB_QUEUE_target));
	put_named(out, "  ", text_of(o, GDB_QUEUE_type));
	if (observation_get_int(o, GDB_QUEUE_read, &read) && observation_get_int(o, GDB_QUEUE_write, &write))
		buf_printf(out, "  read %" PRId64 ", write %" PRId64 "%s", read, write, read == write ? " (idle)" : "");
	buf_char(out, '\n');
}

static void wave(const struct observation *o, struct buf *out)
{
	int64_t count = number(o, WAVE_count);
	struct span place = text_of(o, WAVE_place);

	buf_printf(out, "%" PRId64 " wave%s in ", count, count == 1 ? "" : "s");
	put(out, text_of(o, WAVE_kernel));
	put_named(out, " at ", place.len ? place : text_of(o, WAVE_pc));
	put_named(out, ", lanes ", text_of(o, WAVE_lanes));
	buf_char(out, '\n');
}

static void stack(const struct observation *o, struct buf *out)
{
	struct span text = text_of(o, GDB_STACK_frames);
	json_t *frames = json_loadb(text.at, text.len, 0, NULL), *frame;
	size_t i;

	put_named(out, "host thread ", text_of(o, GDB_STACK_thread));
	buf_char(out, '\n');
	json_array_foreach(frames, i, frame) {
		put_named(out, "    ", span_of(json_string_value(frame)));
		buf_char(out, '\n');
	}
	json_decref(frames);
}

void snapshot_text(const struct observation *o, struct buf *out)
{
	switch (o->kind) {
	case KIND_guard:
		guard(o, out);
		break;
	case KIND_snapshot:
		snapshot(o, out);
		break;
	case KIND_gdb_dispatch:
		put_named(out, "dispatch ", text_of(o, GDB_DISPATCH_target));
		put_named(out, "  ", text_of(o, GDB_DISPATCH_kernel));
		buf_char(out, '\n');
		break;
	case KIND_gdb_queue:
		queue(o, out);
		break;
	case KIND_wave:
		wave(o, out);
		break;
	case KIND_gdb_stack:
		stack(o, out);
		break;
	case KIND_debugger:
		put_named(out, "attach: ", text_of(o, DEBUGGER_attach));
		put_named(out, ": ", text_of(o, DEBUGGER_why));
		buf_char(out, '\n');
		break;
	default:
		break;
	}
}
