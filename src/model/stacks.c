/* stacks.c - frames and what they wait for. */
#include "config.h"

#include "model/stacks.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

#define LOOK 5 /* innermost frames with a line number that decide what a thread waits for; native ones between them count too */

/* Functions that wait, and the part of the file name that they must have ("" any). First match wins. */
static const struct wait_row {
	const char *function, *file;
	enum wait_kind wait;
} wait_table[] = {
	/* the engines' shared memory queue lies in a folder named distributed */
	{ "wait", "shm_broadcast", WAIT_QUEUE },
	{ "recv", "shm_broadcast", WAIT_QUEUE },
	{ "broadcast", "shm_broadcast", WAIT_QUEUE },
	/* collectives */
	{ "all_reduce", "", WAIT_COLLECTIVE },
	{ "allreduce", "", WAIT_COLLECTIVE },
	{ "all_gather", "", WAIT_COLLECTIVE },
	{ "allgather", "", WAIT_COLLECTIVE },
	{ "reduce_scatter", "", WAIT_COLLECTIVE },
	{ "all_to_all", "", WAIT_COLLECTIVE },
	{ "broadcast", "", WAIT_COLLECTIVE },
	{ "barrier", "", WAIT_COLLECTIVE },
	{ "_wait", "distributed", WAIT_COLLECTIVE },
	{ "wait", "distributed", WAIT_COLLECTIVE },
	{ "recv", "distributed", WAIT_COLLECTIVE },
	{ "send", "distributed", WAIT_COLLECTIVE },
	{ "recv_tensor_dict", "", WAIT_COLLECTIVE },
	{ "ncclAllReduce", "", WAIT_COLLECTIVE },
	/* the GPU */
	{ "synchronize", "", WAIT_GPU },
	{ "item", "", WAIT_GPU },
	{ "tolist", "", WAIT_GPU },
	{ "_local_scalar_dense", "", WAIT_GPU },
	{ "hipDeviceSynchronize", "", WAIT_GPU },
	{ "hipStreamSynchronize", "", WAIT_GPU },
	{ "hipEventSynchronize", "", WAIT_GPU },
	{ "hipMemcpy", "", WAIT_GPU },
	/* message queues: nobody gave work */
	{ "dequeue", "", WAIT_QUEUE },
	{ "acquire_read", "", WAIT_QUEUE },
	{ "recv_bytes", "", WAIT_QUEUE },
	{ "_recv_bytes", "", WAIT_QUEUE },
	{ "_recv", "multiprocessing", WAIT_QUEUE },
	{ "recv", "multiprocessing", WAIT_QUEUE },
	{ "get", "queue", WAIT_QUEUE },
	{ "recv_pyobj", "", WAIT_QUEUE },
	{ "recv_multipart", "", WAIT_QUEUE },
	/* locks */
	{ "acquire", "", WAIT_LOCK },
	{ "wait", "threading", WAIT_LOCK },
	{ "wait_for", "threading", WAIT_LOCK },
	{ "join", "threading", WAIT_LOCK },
	{ "_wait_for_tstate_lock", "", WAIT_LOCK },
	{ "futex", "(kernel", WAIT_LOCK },
	/* input and output */
	{ "select", "", WAIT_IO },
	{ "poll", "", WAIT_IO },
	{ "epoll", "", WAIT_IO },
	{ "accept", "", WAIT_IO },
	{ "run_forever", "", WAIT_IO },
	{ "_run_once", "", WAIT_IO },
	{ "readinto", "socket", WAIT_IO },
};

const char *wait_kind_word(enum wait_kind kind)
{
	static const char *const word[] = {
		[WAIT_UNKNOWN] = "unknown", [WAIT_GPU] = "waits for the GPU", [WAIT_COLLECTIVE] = "in a collective",
		[WAIT_LOCK] = "waits for a lock", [WAIT_QUEUE] = "waits for work", [WAIT_IO] = "waits for input",
		[WAIT_HOST_CODE] = "runs host code",
	};

	return word[kind];
}

bool frame_split(struct span frame, struct span *function, struct span *file, struct span *line)
{
	long open, colon;
	struct span inside;
	uint64_t number;

	*function = span_trim(frame);
	*file = *line = span_make("", 0);
	if (!span_ends(*function, ")"))
		return false;
	open = span_find_last(*function, '(');
	if (open <= 0)
		return false;
	inside = span_sub(*function, (size_t)open + 1, function->len - (size_t)open - 2);
	*function = span_trim(span_sub(*function, 0, (size_t)open));
	*file = inside;
	colon = span_find_last(inside, ':');
	if (colon > 0 && span_uint(span_sub(inside, (size_t)colon + 1, inside.len), &number)) {
		*file = span_sub(inside, 0, (size_t)colon);
		*line = span_sub(inside, (size_t)colon + 1, inside.len);
	}
	return true;
}

static json_t *main_thread(json_t *threads)
{
	size_t i;
	json_t *thread;

	json_array_foreach(threads, i, thread) {
		const char *name = json_string_value(json_object_get(thread, "name"));

		if (name && strcmp(name, "MainThread") == 0)
			return thread;
	}
	return json_array_get(threads, 0);
}

static void copy_frames(json_t *frames, struct rank_frames *out, struct buf *arena)
{
	size_t at[FRAMES_MAX], len[FRAMES_MAX], i;
	json_t *frame;

	json_array_foreach(frames, i, frame) {
		if (out->frames == FRAMES_MAX || !json_is_string(frame))
			break;
		at[out->frames] = arena->len;
		buf_add(arena, json_string_value(frame), json_string_length(frame));
		len[out->frames] = arena->len - at[out->frames];
		out->frames++;
	}
	for (int k = 0; k < out->frames; k++)
		out->frame[k] = span_make(arena->at + at[k], len[k]);
}

bool rank_main_thread(const struct observation *stack, struct rank_frames *out, struct buf *arena)
{
	struct span text;
	json_t *root, *thread;
	const char *name, *state;
	size_t name_at, state_at;

	out->frames = 0;
	out->gil = false;
	out->thread = out->state = span_make("", 0);
	if (!observation_get_text(stack, STACK_threads, &text))
		return false;
	root = json_loadb(text.at, text.len, JSON_ALLOW_NUL, NULL);
	if (!root)
		return false;
	thread = main_thread(root);
	name = json_string_value(json_object_get(thread, "name"));
	state = json_string_value(json_object_get(thread, "state"));
	out->gil = json_is_true(json_object_get(thread, "gil"));
	name_at = arena->len;
	buf_text(arena, name ? name : "");
	state_at = arena->len;
	buf_text(arena, state ? state : "");
	copy_frames(json_object_get(thread, "frames"), out, arena);
	out->thread = span_make(arena->at + name_at, strlen(name ? name : ""));
	out->state = span_make(arena->at + state_at, strlen(state ? state : ""));
	json_decref(root);
	return out->frames > 0;
}

/* "all_reduce_impl" and "_all_gather_base" count as all_reduce and all_gather; short names must match whole. */
static bool function_matches(struct span function, const char *name)
{
	long dot = span_find_last(function, '.'); /* py-spy 0.4 writes Class.method from Python 3.11 on */

	if (dot >= 0)
		function = span_sub(function, (size_t)dot + 1, function.len);
	while (function.len && function.at[0] == '_' && name[0] != '_')
		function = span_sub(function, 1, function.len);
	return span_is(function, name) || (strlen(name) > 7 && span_starts(function, name));
}

static enum wait_kind frame_wait(struct span frame)
{
	struct span function, file, line;

	frame_split(frame, &function, &file, &line);
	for (size_t i = 0; i < sizeof wait_table / sizeof wait_table[0]; i++) {
		const struct wait_row *row = &wait_table[i];

		if (function_matches(function, row->function) && (!*row->file || span_contains(file, row->file)))
			return row->wait;
	}
	return WAIT_UNKNOWN;
}

/* "symbol (libc.so.6)", "main (python3.12)": what --native puts around the frames of Python. */
static bool native(struct span frame)
{
	struct span function, file, line;

	return frame_split(frame, &function, &file, &line) && !line.len && !span_ends(file, ".py") && !span_starts(file, "<");
}

/* The frame that tells, among the innermost: a collective around a GPU wait, a queue around a lock. -1 when none waits. */
static int telling_frame(const struct rank_frames *f, enum wait_kind *wait)
{
	int found = -1, looked = 0;

	*wait = f->frames ? WAIT_HOST_CODE : WAIT_UNKNOWN;
	for (int i = 0; i < f->frames && looked < LOOK; i++) {
		enum wait_kind k = frame_wait(f->frame[i]);

		looked += !native(f->frame[i]);
		if (k == WAIT_UNKNOWN)
			continue;
		if (found < 0 || (k == WAIT_COLLECTIVE && *wait != WAIT_COLLECTIVE) ||
			(k == WAIT_QUEUE && (*wait == WAIT_LOCK || *wait == WAIT_IO))) {
			found = i;
			*wait = k;
		}
	}
	return found;
}

static bool machinery(struct span frame)
{
	static const char *const file_part[] = { "torch/", "threading.py", "queue.py", "multiprocessing/", "selectors.py",
		"shm_broadcast", "asyncio/", "socket.py", "(kernel" };
	struct span function, file, line;

	if (!frame_split(frame, &function, &file, &line))
		return false;
	for (size_t i = 0; i < sizeof file_part / sizeof file_part[0]; i++)
		if (span_contains(file, file_part[i]))
			return true;
	return false;
}

static void put_text(char *out, size_t size, struct span text)
{
	size_t n = text.len < size - 1 ? text.len : size - 1;

	memcpy(out, text.at, n);
	out[n] = 0;
}

static void describe(const struct rank_frames *f, int telling, struct stack_summary *out)
{
	struct span function, tell, file, line;
	int at = telling < 0 ? 0 : telling + 1;

	frame_split(f->frame[0], &function, &file, &line);
	if (telling > 0) {
		frame_split(f->frame[telling], &tell, &file, &line);
		snprintf(out->top, sizeof out->top, "%.*s <- %.*s", (int)function.len, function.at, (int)tell.len, tell.at);
	} else {
		put_text(out->top, sizeof out->top, function);
	}
	while (at < f->frames - 1 && machinery(f->frame[at]))
		at++;
	put_text(out->where, sizeof out->where, f->frame[at < f->frames ? at : f->frames - 1]);
}

void stack_summarise(const struct observation *stack, struct stack_summary *out)
{
	struct rank_frames frames;
	struct buf arena;
	int telling;

	memset(out, 0, sizeof *out);
	buf_init(&arena, 1 << 20);
	if (rank_main_thread(stack, &frames, &arena)) {
		out->print = 1469598103934665603u;
		for (int i = 0; i < frames.frames; i++) {
			struct span function, file, line;

			frame_split(frames.frame[i], &function, &file, &line);
			out->print = (out->print ^ map_hash(function.at, function.len)) * 1099511628211u;
			out->print = (out->print ^ map_hash(file.at, file.len)) * 1099511628211u;
		}
		out->print |= 1;
		telling = telling_frame(&frames, &out->wait);
		describe(&frames, telling, out);
	}
	buf_release(&arena);
}
