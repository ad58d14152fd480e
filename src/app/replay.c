/* replay.c - reader to core. */
#include "config.h"

#include "app/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/reader.h"
#include "store/writer.h"
#include "transport/frame.h"

#define IMPORT_TRIES_BYTES (8 << 20) /* without one good line in so many it is no recording */
#define SLICE_MS 60000          /* of one query while playing: bounds the work between two keys */

struct replay {
	struct reader *reader;
	struct core core;
	char *node, *temporary;
	int64_t now;
	int interval_ms;
};

struct core *replay_core(struct replay *replay)
{
	return &replay->core;
}

int64_t replay_now(const struct replay *replay)
{
	return replay->now;
}

int replay_interval_ms(const struct replay *replay)
{
	return replay->interval_ms;
}

/* --- JSON lines --- */

struct import {
	struct writer *writer;
	struct buf arena;
	uint64_t lines, bad;
	int64_t last_t;
};

static void import_line(void *context, struct span line)
{
	struct import *import = context;
	struct observation o;

	if (!span_trim(line).len)
		return;
	import->lines++;
	buf_clear(&import->arena);
	if (observation_decode(line, &o, &import->arena, NULL) < 0) {
		import->bad++;
		return;
	}
	if (o.t < import->last_t)
		o.t = import->last_t; /* lines of several agents may stand out of order by a little */
	if (!import->last_t)
		writer_meta(import->writer, "node", o.node);
	import->last_t = o.t;
	writer_add(import->writer, &o);
	if (import->lines % 5000 == 0)
		writer_wait(import->writer, 20000); /* or the bounded queue would drop rows */
}

static int import_lines(int fd, const char *path, char **temporary, struct error *error)
{
	struct import import = { 0 };
	struct writer_options options = { 0 };
	const char *dir = getenv("TMPDIR");
	char folder[4200], name[4300], block[65536];
	struct frame frame;
	uint64_t bytes = 0;
	ssize_t n;

	snprintf(folder, sizeof folder, "%s/hangtop-XXXXXX", dir && *dir ? dir : "/tmp");
	if (!mkdtemp(folder))
		return error_set_errno(error, errno, "cannot make a temporary folder %s", folder);
	*temporary = mem_text(folder);
	snprintf(name, sizeof name, "%s/session", folder);
	options.path = name;
	if (writer_open(&import.writer, &options, error) < 0)
		return -1;
	buf_init(&import.arena, OBSERVATION_LINE_MAX);
	frame_init(&frame, OBSERVATION_LINE_MAX);
	while ((n = read(fd, block, sizeof block)) > 0 && (bytes < IMPORT_TRIES_BYTES || import.lines > import.bad)) {
		frame_feed(&frame, span_make(block, (size_t)n), import_line, &import);
		bytes += (uint64_t)n;
	}
	frame_feed(&frame, span_of("\n"), import_line, &import);
	writer_close(import.writer);
	frame_release(&frame);
	buf_release(&import.arena);
	if (import.lines == import.bad) {
		error_set(error, "%s is neither a session file nor JSON lines of observations", path);
		return error_fix(error, "give a file made by hangtop, record --jsonl or export");
	}
	return 0;
}

static bool is_sqlite(int fd)
{
	char head[16] = "";

	return pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
}

/* --- open --- */

static void read_meta(struct replay *r, int64_t stall_ms)
{
	struct buf text;
	int64_t number;

	buf_init(&text, 4096);
	r->interval_ms = 1000;
	if (reader_meta(r->reader, "interval_ms", &text) && span_int(buf_as_span(&text), &number) && number > 0)
		r->interval_ms = (int)number;
	buf_clear(&text);
	if (!stall_ms && reader_meta(r->reader, "stall_ms", &text) && span_int(buf_as_span(&text), &number) && number > 0)
		stall_ms = number;
	buf_clear(&text);
	r->node = mem_text(reader_meta(r->reader, "node", &text) ? buf_string(&text) : "");
	buf_release(&text);
	core_init(&r->core, r->node, stall_ms ? stall_ms : 30000);
	r->core.replaying = true;
	buf_init(&text, 64);
	r->core.triage.clockless = reader_meta(r->reader, "clockless", &text) && span_is(buf_as_span(&text), "1");
	buf_release(&text);
}

static int open_reader(struct replay *r, const char *path, struct error *error)
{
	char name[4300];

	if (!r->temporary)
		return reader_open(&r->reader, path, error);
	snprintf(name, sizeof name, "%s/session", r->temporary);
	return reader_open(&r->reader, name, error);
}

static int begin(struct replay *r, const char *path, int64_t stall_ms, struct error *error)
{
	int64_t first, last;

	if (open_reader(r, path, error) < 0)
		return -1;
	read_meta(r, stall_ms);
	if (!reader_range(r->reader, &first, &last))
		return error_set(error, "%s holds no observation", path);
	r->now = core_grid(first) - CORE_STEP_MS;
	core_reset(&r->core, core_grid(first));
	return 0;
}

int replay_open_own(struct replay **out, const char *path, int64_t stall_ms, struct error *error)
{
	*out = mem_alloc(sizeof **out);
	if (begin(*out, path, stall_ms, error) == 0)
		return 0;
	replay_close(*out);
	*out = NULL;
	return -1;
}

/* Lines of JSON go into a session of their own first. */
static int import_unless_session(struct replay *r, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = 0; /* a FIFO without a writer is empty, not a wait */

	if (fd < 0)
		return error_set_errno(error, errno, "cannot open %s", path);
	if (!is_sqlite(fd))
		status = import_lines(fd, path, &r->temporary, error);
	close(fd);
	return status;
}

int replay_open(struct replay **out, const char *path, int64_t stall_ms, struct error *error)
{
	*out = mem_alloc(sizeof **out);
	if (import_unless_session(*out, path, error) == 0 && begin(*out, path, stall_ms, error) == 0)
		return 0;
	replay_close(*out);
	*out = NULL;
	return -1;
}

static void remove_temporary(const char *folder)
{
	static const char *const file[] = { "session", "session-wal", "session-shm", "session.ballast" };
	char name[4300];

	for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
		snprintf(name, sizeof name, "%s/%s", folder, file[i]);
		unlink(name);
	}
	rmdir(folder);
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	if (r->reader)
		reader_close(r->reader);
	if (r->temporary)
		remove_temporary(r->temporary);
	if (r->core.ranks)
		core_release(&r->core);
	free(r->temporary);
	free(r->node);
	free(r);
}

void replay_range(struct replay *r, int64_t *first, int64_t *last)
{
	struct buf text;
	int64_t end;

	*first = *last = r->now;
	reader_range(r->reader, first, last);
	if (*last > OBSERVATION_T_MAX)
		*last = OBSERVATION_T_MAX;
	if (*first > *last || *first < 0)
		*first = 0;
	buf_init(&text, 64);
	if (reader_meta(r->reader, "end", &text) && span_int(buf_as_span(&text), &end) && end > *last && end < OBSERVATION_T_MAX)
		*last = end;
	buf_release(&text);
	/* The grid point after the last row is where it is evaluated. */
	if (core_grid(*last) <= *last - 1)
		*last = core_grid(*last) + CORE_STEP_MS;
}

/* --- moving --- */

static void restore(void *context, const struct observation *o)
{
	core_restore(context, o);
}

static void feed(void *context, const struct observation *o)
{
	core_replay(context, o);
}

static void count(void *context, const struct observation *o)
{
	if (o->kind != KIND_verdict && o->kind != KIND_finding)
		(*(int *)context)++;
}

static int64_t clamp(struct replay *r, int64_t t)
{
	int64_t first, last;

	replay_range(r, &first, &last);
	return t < first ? first : t > last ? last : t;
}

int replay_seek(struct replay *r, int64_t t, struct error *error)
{
	int64_t grid;
	int news = 0;

	t = clamp(r, t);
	grid = core_grid(t);
	core_reset(&r->core, grid);
	/* The verdict recorded at the grid point itself is computed again by the evaluation there. */
	if (reader_state_at(r->reader, grid - 1, restore, &r->core, error) < 0)
		return -1;
	/* It was judged live, and a change recorded, when something was applied there (or at the very start). */
	if (reader_between(r->reader, grid - CORE_STEP_MS - 1, grid - 1, count, &news, error) < 0)
		return -1;
	r->core.judge = news > 0 || r->core.model.first_t == 0;
	r->now = t;
	core_advance(&r->core, grid);
	core_look(&r->core);
	/* Rows between the grid point and t wait for the next point, as they did live. */
	return reader_between(r->reader, grid - 1, t, feed, &r->core, error);
}

int replay_play(struct replay *r, int64_t t, struct error *error)
{
	int64_t slice = SLICE_MS;

	while (r->now < t) {
		int64_t to = t - r->now > slice ? r->now + slice : t;
		size_t before = r->core.queued;

		if (reader_between(r->reader, r->now, to, feed, &r->core, error) < 0)
			return -1;
		slice = r->core.queued == before ? slice * 2 : SLICE_MS; /* across years in which nothing was recorded */
		r->now = to;
		core_advance(&r->core, to);
	}
	return 0;
}

bool replay_step(struct replay *r, int n)
{
	int64_t t = r->now, found;
	bool moved = false;

	for (int i = 0; i < abs(n); i++) {
		if (!reader_next_sample(r->reader, t, n > 0 ? 1 : -1, &found))
			break;
		t = found;
		moved = true;
	}
	/* To the grid point that has seen the sample. */
	return moved && replay_seek(r, core_grid(t) + CORE_STEP_MS, NULL) == 0;
}

bool replay_event(struct replay *r, int direction)
{
	int64_t from = direction > 0 ? r->now : core_grid(r->now) - CORE_STEP_MS, found;

	return reader_next_event(r->reader, from, direction, &found) && replay_seek(r, core_grid(found) + CORE_STEP_MS, NULL) == 0;
}
