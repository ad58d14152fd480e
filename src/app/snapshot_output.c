/* snapshot_output.c - scan, group, tell. */
#include "config.h"

#include "app/snapshot_output.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "parse/scan.h"
#include "parse/wave_groups.h"
#include "snapshot/debugger.h"
#include "snapshot/snapshot.h"
#include "source/reading_say.h"

#define GROUPS_MAX 64
#define WAVES_MAX 100000
#define STACKS_MAX 64

struct group {
	struct record *row;
	int64_t count;
	struct span place, code, line;
	char lanes[160];
	char pc[24];
};

struct output {
	const struct snapshot_sink *sink;
	const char *id, *node, *path;
	int64_t t, pid;
	struct group group[GROUPS_MAX];
	int groups;
	uint64_t left_out;      /* waves of groups past the last */
	struct { int64_t thread; int group; } *wave;
	size_t waves, wave_cap;
	int stacks;
};

/* The field "snapshot" of a kind, -1 without. */
static void tell(struct output *x, struct observation *o)
{
	int field = field_by_name(o->kind, span_of("snapshot"));

	if (field >= 0)
		observation_text(o, field, x->id);
	x->sink->emit(x->sink->context, o);
}

/* --- waves --- */

static bool same_text(const struct observation *a, const struct observation *b, int field)
{
	struct span one = { 0 }, two = { 0 };

	observation_get_text(a, field, &one);
	observation_get_text(b, field, &two);
	return span_same(one, two);
}

static int group_of(struct output *x, const struct observation *o)
{
	for (int i = 0; i < x->groups; i++) {
		const struct observation *g = &x->group[i].row->o;

		if (same_text(g, o, WAVE_kernel) && same_text(g, o, WAVE_func) && same_text(g, o, WAVE_pc))
			return i;
	}
	if (x->groups == GROUPS_MAX)
		return -1;
	x->group[x->groups].row = record_new(o);
	return x->groups++;
}

static void take_wave(struct output *x, const struct observation *o)
{
	int g = group_of(x, o);
	int64_t thread;

	if (g < 0) {
		x->left_out++;
		return;
	}
	x->group[g].count++;
	if (!observation_get_int(o, WAVE_thread, &thread) || x->waves == WAVES_MAX)
		return;
	if (x->waves == x->wave_cap) {
		x->wave_cap = x->wave_cap ? x->wave_cap * 2 : 256;
		x->wave = mem_array(x->wave, x->wave_cap, sizeof *x->wave);
	}
	x->wave[x->waves].thread = thread;
	x->wave[x->waves++].group = g;
}

/* Where the arrow is: the pc of a frame that shows source lines only. */
static void pc_of_code(struct span code, char out[24])
{
	struct span rest = code, line;
	uint64_t pc;

	while (span_line(&rest, &line)) {
		if (!span_skip(&line, "=>"))
			continue;
		line = span_trim(line);
		if (span_take_hex(&line, &pc))
			snprintf(out, 24, "0x%llx", (unsigned long long)pc);
	}
}

static void enrich(struct output *x, struct span text)
{
	struct wave_group w;

	while (wave_group_next(&text, &w)) {
		struct group *g = NULL;

		for (size_t i = 0; i < x->waves && !g; i++)
			if (x->wave[i].thread == w.thread)
				g = &x->group[x->wave[i].group];
		if (!g || g->code.len)
			continue;
		g->place = w.place;
		g->code = w.code;
		g->line = w.line;
		memcpy(g->lanes, w.lanes, sizeof g->lanes);
		pc_of_code(w.code, g->pc);
	}
}

static void tell_groups(struct output *x)
{
	for (int i = 0; i < x->groups; i++) {
		struct group *g = &x->group[i];
		struct observation o = g->row->o;
		struct buf code;

		buf_init(&code, 16384);
		if (g->line.len)
			buf_printf(&code, "%.*s\n", (int)g->line.len, g->line.at);
		buf_span(&code, g->code);
		observation_int(&o, WAVE_count, g->count);
		if (g->place.len)
			observation_span(&o, WAVE_place, g->place);
		if (*g->lanes)
			observation_text(&o, WAVE_lanes, g->lanes);
		if (code.len)
			observation_span(&o, WAVE_disassembly, buf_as_span(&code));
		if (*g->pc && observation_is_null(&o, WAVE_pc))
			observation_text(&o, WAVE_pc, g->pc);
		tell(x, &o);
		buf_release(&code);
		record_free(g->row);
	}
}

/* --- host stacks --- */

static void tell_thread(struct output *x, json_t *thread)
{
	json_t *frames = json_object_get(thread, "frames");
	const char *name = json_string_value(json_object_get(thread, "name"));
	char *text = frames ? json_dumps(frames, JSON_COMPACT) : NULL;
	json_int_t tid = json_integer_value(json_object_get(thread, "tid"));
	struct observation o;
	char word[40];

	if (!text || !json_array_size(frames) || x->stacks++ >= STACKS_MAX) {
		free(text);
		return;
	}
	snprintf(word, sizeof word, "LWP %lld", (long long)(tid ? tid : x->pid));
	observation_init(&o, KIND_gdb_stack, x->node, x->t);
	observation_int(&o, GDB_STACK_pid, x->pid);
	observation_text(&o, GDB_STACK_thread, name && *name ? name : word);
	observation_text(&o, GDB_STACK_frames, text);
	tell(x, &o);
	free(text);
}

static void take_stack(struct output *x, const struct observation *o)
{
	struct span threads = { 0 };
	json_t *all, *thread;
	size_t i;

	if (!observation_get_text(o, STACK_threads, &threads))
		return;
	all = json_loadb(threads.at, threads.len, 0, NULL);
	json_array_foreach(all, i, thread)
		tell_thread(x, thread);
	json_decref(all);
}

/* --- all of it --- */

static void on_reading(void *context, const struct reading *r)
{
	struct output *x = context;
	struct observation o;

	if (!reading_observation(r, x->node, x->t, x->path, &o))
		return;
	switch (o.kind) {
	case KIND_wave:
		take_wave(x, &o);
		break;
	case KIND_stack:
		take_stack(x, &o);
		break;
	case KIND_gdb_agent:
	case KIND_gdb_queue:
	case KIND_gdb_dispatch:
	case KIND_debugger:
		tell(x, &o);
		break;
	default:
		break;
	}
}

static bool read_all(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[65536];
	ssize_t n;

	buf_init(out, (size_t)SNAPSHOT_OUTPUT_CAP);
	if (fd < 0)
		return false;
	while (out->len < (size_t)SNAPSHOT_OUTPUT_CAP && (n = read(fd, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n);
	close(fd);
	return true;
}

void snapshot_output(const char *path, const char *id, const char *node, int64_t pid, const struct snapshot_sink *sink)
{
	struct output x = { .sink = sink, .id = id, .node = node, .path = path, .pid = pid, .t = clock_wall_ms() };
	struct scan_options options = { .sink = { on_reading, &x } };
	struct buf text;
	struct span all, groups = { 0 };
	struct scan *scan;
	long at;

	if (read_all(path, &text)) {
		all = buf_as_span(&text);
		scan = scan_new(&options);
		at = span_find(all, DEBUGGER_GROUPS);
		if (at >= 0) {
			long end = span_find(span_sub(all, (size_t)at, all.len), DEBUGGER_DETACH);

			groups = span_sub(all, (size_t)at, end > 0 ? (size_t)end : all.len);
			scan_feed(scan, all.at, (size_t)at);
			if (end > 0)
				scan_feed(scan, all.at + at + end, all.len - (size_t)(at + end));
		} else {
			scan_feed(scan, all.at, all.len);
		}
		scan_flush(scan, true);
		scan_free(scan);
		enrich(&x, groups);
		tell_groups(&x);
	}
	free(x.wave);
	buf_release(&text);
}
