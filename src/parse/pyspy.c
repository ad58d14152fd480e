/* pyspy.c - dumps and errors of py-spy. */
#include "config.h"

#include "parse/pyspy.h"

#include <jansson.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"

#define TEXT_MAX 1000          /* bytes of a name or a frame */
#define ROOM (12 * TEXT_MAX)   /* one text as JSON at its longest, and what closes the lists */

/* A foreign text scrubbed and escaped grows, but not past ROOM: so the JSON can always be closed. */
static bool has_room(const struct buf *out)
{
	return out->max - out->len > 2 * ROOM;
}

static void put_scrubbed(struct json_write *w, const char *key, struct span text)
{
	struct buf clean;

	buf_init(&clean, 4 * TEXT_MAX);
	text_scrub(&clean, span_sub(text, 0, TEXT_MAX));
	jw_text(w, key, buf_as_span(&clean));
	buf_release(&clean);
}

/* --- JSON --- */

static void json_frame(struct json_write *w, json_t *frame)
{
	const char *name = json_string_value(json_object_get(frame, "name"));
	const char *file = json_string_value(json_object_get(frame, "short_filename"));
	json_int_t line = json_integer_value(json_object_get(frame, "line"));
	struct buf text;

	if (!file)
		file = json_string_value(json_object_get(frame, "filename"));
	buf_init(&text, 8192);
	buf_printf(&text, "%s (%s", name ? name : "?", file ? file : "?");
	if (line > 0)
		buf_printf(&text, ":%lld", (long long)line);
	buf_char(&text, ')');
	put_scrubbed(w, NULL, buf_as_span(&text));
	buf_release(&text);
}

static void json_thread(struct json_write *w, json_t *thread)
{
	json_t *id = json_object_get(thread, "os_thread_id"), *frames = json_object_get(thread, "frames"), *frame;
	const char *name = json_string_value(json_object_get(thread, "thread_name"));
	bool gil = json_is_true(json_object_get(thread, "owns_gil"));
	size_t i;

	if (!json_is_integer(id))
		id = json_object_get(thread, "thread_id");
	jw_object(w, NULL);
	if (json_is_integer(id))
		jw_int(w, "tid", json_integer_value(id));
	if (name)
		put_scrubbed(w, "name", span_of(name));
	jw_string(w, "state", json_is_true(json_object_get(thread, "active")) ? gil ? "active+gil" : "active" : "idle");
	jw_bool(w, "gil", gil);
	jw_array(w, "frames");
	json_array_foreach(frames, i, frame) {
		if (i == PYSPY_FRAMES_MAX || !has_room(w->out))
			break;
		if (json_is_object(frame))
			json_frame(w, frame);
	}
	jw_end_array(w);
	jw_end_object(w);
}

int pyspy_json(struct span text, struct buf *out, struct error *error)
{
	json_error_t why;
	json_t *root = json_loadb(text.at, text.len, 0, &why);
	struct json_write w;
	int threads = 0;

	if (!json_is_array(root)) {
		json_decref(root);
		return error_set(error, "py-spy printed no JSON array: %.200s", root ? "another type" : why.text);
	}
	jw_start(&w, out);
	jw_array(&w, NULL);
	/* Newest first in JSON: the main thread is the last. */
	for (size_t i = json_array_size(root); i-- > 0 && threads < PYSPY_THREADS_MAX && has_room(out);) {
		json_t *thread = json_array_get(root, i);

		if (!json_is_object(thread))
			continue;
		json_thread(&w, thread);
		threads++;
	}
	jw_end_array(&w);
	json_decref(root);
	return threads;
}

/* --- text --- */

/* "Thread 41213 (active+gil): "MainThread"", "Thread 0x7F2A (idle)", "Thread 5 (idle): name with (brackets): and colons" */
static bool thread_header(struct span line, struct span *id, struct span *state, struct span *name)
{
	struct span rest = line;
	long close;

	if (!span_skip(&rest, "Thread ") || !span_word(&rest, id))
		return false;
	rest = span_trim(rest);
	close = span_find(rest, ")");
	if (!span_starts(rest, "(") || close < 0)
		return false;
	*state = span_sub(rest, 1, (size_t)close - 1);
	rest = span_sub(rest, (size_t)close + 1, rest.len);
	*name = span_make("", 0);
	if (span_skip(&rest, ": \"") && span_ends(rest, "\""))
		*name = span_sub(rest, 0, rest.len - 1);
	return true;
}

static bool frame_line(struct span line, struct span *frame)
{
	if (!span_starts(line, "    ") || span_starts(line, "     ") || !span_ends(line, ")"))
		return false;
	*frame = span_sub(line, 4, line.len);
	return span_find_char(*frame, '(') > 0;
}

static void open_thread(struct json_write *w, struct span id, struct span state, struct span name)
{
	uint64_t number;

	jw_object(w, NULL);
	if (span_starts(id, "0x") ? span_take_hex(&id, &number) : span_take_uint(&id, &number))
		jw_int(w, "tid", (int64_t)number);
	if (name.len)
		put_scrubbed(w, "name", name);
	put_scrubbed(w, "state", state);
	jw_bool(w, "gil", span_ends(state, "+gil"));
	jw_array(w, "frames");
}

int pyspy_text(struct span text, struct buf *out, struct error *error)
{
	struct span line, id, state, name, frame;
	struct json_write w;
	int threads = 0, frames = 0;

	while (span_line(&text, &line)) {
		if (thread_header(line, &id, &state, &name)) {
			if (threads == PYSPY_THREADS_MAX || !has_room(out))
				break;
			if (threads) {
				jw_end_array(&w);
				jw_end_object(&w);
			} else {
				jw_start(&w, out);
				jw_array(&w, NULL);
			}
			open_thread(&w, id, state, name);
			threads++;
			frames = 0;
		} else if (threads && frame_line(line, &frame) && frames < PYSPY_FRAMES_MAX && has_room(out)) {
			put_scrubbed(&w, NULL, frame);
			frames++;
		}
	}
	if (!threads)
		return error_set(error, "py-spy printed no thread");
	jw_end_array(&w);
	jw_end_object(&w);
	jw_end_array(&w);
	return threads;
}

/* --- errors --- */

#define ALLOW "run as the server's user or as root, or: sysctl -w kernel.yama.ptrace_scope=0; in a container add --cap-add SYS_PTRACE"

/* The first row that fits counts: what a cause says is above what it caused. */
static const struct {
	const char *part;
	enum pyspy_trouble trouble;
	const char *words, *remedy;
} error_table[] = {
	{ "Unsupported version of Python", PYSPY_VERSION, "this py-spy does not know the Python version", "pip install --upgrade py-spy" },
	{ "Permission Denied", PYSPY_DENIED, "py-spy may not read the process", ALLOW },
	{ "Permission denied", PYSPY_DENIED, "py-spy may not read the process", ALLOW },
	{ "Operation not permitted", PYSPY_DENIED, "py-spy may not read the process", ALLOW },
	{ "EPERM", PYSPY_DENIED, "py-spy may not read the process", ALLOW },
	{ "Failed to find python version", PYSPY_NOT_PYTHON, "not a Python process, or still starting", "" },
	{ "Failed to find a python interpreter", PYSPY_NOT_PYTHON, "not a Python process, or still starting", "" },
	{ "Failed to find _PyRuntime", PYSPY_NOT_PYTHON, "not a Python process, or still starting", "" },
	{ "Failed to open process", PYSPY_GONE, "the process is gone", "" },
	{ "Failed to get process executable name", PYSPY_GONE, "the process is gone, or a zombie", "" },
	{ "Failed to suspend process", PYSPY_TRACED, "the process cannot be stopped: traced by another, or ended", "" },
	{ "No such process", PYSPY_RACE, "the process changed while it was read", "" },
	{ "Failed to get stack traces", PYSPY_RACE, "the stacks moved while they were read", "" },
	{ "Failed to copy", PYSPY_RACE, "the stacks moved while they were read", "" },
	{ "All threads failed to lock", PYSPY_RACE, "the stacks moved while they were read", "" },
	{ "Bad address", PYSPY_RACE, "the stacks moved while they were read", "" },
	{ "Failed to merge native", PYSPY_RACE, "native and Python frames do not match", "" },
	{ "unexpected argument", PYSPY_USAGE, "this py-spy does not know an option", "pip install --upgrade py-spy" },
	{ "which wasn't expected", PYSPY_USAGE, "this py-spy does not know an option", "pip install --upgrade py-spy" },
	{ "failed to execute", PYSPY_NOT_RUN, "py-spy cannot be run", "pip install --force-reinstall py-spy" },
	{ "GLIBC_", PYSPY_NOT_RUN, "this build of py-spy does not run here", "pip install --force-reinstall py-spy" },
};

enum pyspy_trouble pyspy_error(struct span err, const char **words, const char **remedy)
{
	for (size_t i = 0; i < sizeof error_table / sizeof error_table[0]; i++)
		if (span_contains(err, error_table[i].part)) {
			*words = error_table[i].words;
			*remedy = error_table[i].remedy;
			return error_table[i].trouble;
		}
	*words = "py-spy failed";
	*remedy = "run it by hand to see why: py-spy dump --nonblocking --pid PID";
	return PYSPY_UNKNOWN;
}

struct span pyspy_error_line(struct span err)
{
	struct span line, first = span_make("", 0);

	while (span_line(&err, &line)) {
		line = span_trim(line);
		if (span_skip(&line, "Error: "))
			return line;
		if (!first.len)
			first = line;
	}
	return first;
}
