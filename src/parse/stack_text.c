/* stack_text.c - processes, threads, frames. */
#include "config.h"

#include "parse/stack_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"

#define THREADS_BYTES (2 << 20)
#define FRAME_MAX 2000

void stack_text_init(struct stack_scan *s, const struct reading_sink *sink)
{
	memset(s, 0, sizeof *s);
	s->sink = sink;
	s->pid = -1;
	buf_init(&s->threads, THREADS_BYTES);
	buf_init(&s->frame, FRAME_MAX);
}

void stack_text_release(struct stack_scan *s)
{
	buf_release(&s->threads);
	buf_release(&s->frame);
}

bool stack_text_open(const struct stack_scan *s)
{
	return s->open;
}

/* --- building --- */

static void put_text(struct buf *out, const char *key, struct span text)
{
	struct json_write j;
	struct buf clean;

	buf_init(&clean, FRAME_MAX * 4);
	text_scrub(&clean, span_sub(text, 0, FRAME_MAX));
	jw_start(&j, out);
	if (key)
		buf_printf(out, "\"%s\":", key);
	jw_text(&j, NULL, buf_as_span(&clean));
	buf_release(&clean);
}

static bool room(const struct stack_scan *s)
{
	return s->threads.max - s->threads.len > 16 * FRAME_MAX;
}

static void end_frame(struct stack_scan *s)
{
	if (!s->frame.len)
		return;
	if (s->frames < STACK_FRAMES_MAX && room(s)) {
		if (s->frames)
			buf_char(&s->threads, ',');
		put_text(&s->threads, NULL, span_trim(buf_as_span(&s->frame)));
		s->frames++;
	}
	buf_clear(&s->frame);
}

static void end_thread(struct stack_scan *s)
{
	end_frame(s);
	if (s->thread)
		buf_text(&s->threads, "]}");
	s->thread = false;
}

static void end_process(struct stack_scan *s)
{
	struct reading r;
	struct buf all;

	end_thread(s);
	if (s->open && s->confirmed) {
		buf_init(&all, THREADS_BYTES + 16);
		buf_char(&all, '[');
		buf_span(&all, buf_as_span(&s->threads));
		buf_char(&all, ']');
		reading_start(&r, "stack", s->offset);
		if (s->pid >= 0)
			reading_int(&r, "pid", s->pid);
		reading_word(&r, "rank", s->rank);
		reading_word(&r, "how", s->how);
		reading_text(&r, "threads", buf_as_span(&all));
		reading_emit(&r, s->sink);
		buf_release(&all);
	}
	buf_clear(&s->threads);
	s->open = s->confirmed = s->fault_handler = s->gdb = s->main_seen = s->current_seen = s->nameless = false;
	s->count = s->waited = 0;
	s->pid = -1;
	s->rank[0] = 0;
}

static void start_process(struct stack_scan *s, uint64_t offset, int64_t pid, const char *how, bool confirmed)
{
	end_process(s);
	s->open = true;
	s->confirmed = confirmed;
	s->offset = offset;
	s->pid = pid;
	s->how = how;
	for (int i = 0; i < s->dumps; i++)
		if (s->dump[i].pid == pid && pid >= 0)
			memcpy(s->rank, s->dump[i].rank, sizeof s->rank);
}

static void start_thread(struct stack_scan *s, struct span tid, struct span state, struct span name)
{
	struct span number = tid;
	uint64_t n;

	end_thread(s);
	if (s->count == STACK_THREADS_MAX || !room(s))
		return;
	if (s->count++)
		buf_char(&s->threads, ',');
	buf_char(&s->threads, '{');
	if (tid.len && span_take_uint(&number, &n) && !number.len && n < INT64_MAX)
		buf_printf(&s->threads, "\"tid\":%llu", (unsigned long long)n);
	else if (tid.len)
		put_text(&s->threads, "tid", tid);
	else
		buf_text(&s->threads, "\"tid\":null");
	if (state.len) {
		buf_char(&s->threads, ',');
		put_text(&s->threads, "state", state);
		buf_printf(&s->threads, ",\"gil\":%s", span_ends(state, "+gil") ? "true" : "false");
	}
	if (name.len) {
		buf_char(&s->threads, ',');
		put_text(&s->threads, "name", name);
	}
	buf_text(&s->threads, ",\"frames\":[");
	s->thread = true;
	s->frames = 0;
}

/* --- py-spy --- */

static bool known_state(struct span s)
{
	static const char *const states[] = { "active", "idle", "active+gil", "idle+gil", "gil" };

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (span_is(s, states[i]))
			return true;
	return false;
}

/* "Thread 41213 (active+gil): "MainThread"", "Thread 0x7F2A (idle)", "Thread (idle) "name"", "Thread 5: "name"" */
static bool thread_header(struct span line, struct span *tid, struct span *state, struct span *name)
{
	struct span rest = line, word;
	long close;

	*tid = *state = *name = span_make("", 0);
	if (!span_skip(&rest, "Thread "))
		return false;
	if (!span_starts(rest, "(")) {
		size_t n = 0;

		while (n < rest.len && (isxdigit((unsigned char)rest.at[n]) || rest.at[n] == 'x'))
			n++;
		if (!n || !isdigit((unsigned char)rest.at[0]))
			return false;
		*tid = span_sub(rest, 0, n);
		rest = span_sub(rest, n, rest.len);
	}
	word = rest;
	while (word.len && *word.at == ' ')
		word = span_sub(word, 1, word.len);
	if (span_starts(word, "(")) {
		close = span_find_char(word, ')');
		if (close < 0 || !known_state(span_sub(word, 1, (size_t)close - 1)))
			return false;
		*state = span_sub(word, 1, (size_t)close - 1);
		rest = span_sub(word, (size_t)close + 1, word.len);
	}
	rest = span_trim(rest);
	span_skip(&rest, ":");
	rest = span_trim(rest);
	if (rest.len >= 2 && *rest.at == '"' && rest.at[rest.len - 1] == '"')
		*name = span_sub(rest, 1, rest.len - 2);
	else if (rest.len || !state->len)
		return false;
	return true;
}

/* A file part as py-spy prints it: x.py:12, <string>:1, libc.so.6, python3.12, ? */
static bool file_part(struct span s)
{
	long colon = span_find_last(s, ':');
	uint64_t n;

	if (!s.len || s.len > 600)
		return false;
	if (colon > 0 && span_uint(span_sub(s, (size_t)colon + 1, s.len), &n))
		return true;
	return span_contains(s, ".so") || span_ends(s, ".py") || span_starts(s, "<") || span_is(s, "?") || span_starts(s, "python");
}

/* "    name (file:line)": exactly four blanks, or a TAB. */
static bool frame_of(struct span line, struct span *frame)
{
	struct span s = line;
	size_t i;

	if (span_skip(&s, "\t")) {
		span_skip(&s, " ");
	} else if (!span_skip(&s, "    ")) {
		return false;
	}
	while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\r'))
		s.len--;
	if (!s.len || *s.at == ' ' || *s.at == '\t' || s.at[s.len - 1] != ')')
		return false;
	for (i = s.len - 1; i > 0 && !(s.at[i] == '(' && s.at[i - 1] == ' '); i--)
		;
	if (!i)
		return false;
	*frame = s;
	return true;
}

bool stack_text_is_frame(struct span text)
{
	struct span frame;
	size_t i;

	if (!frame_of(text, &frame))
		return false;
	for (i = frame.len - 1; i > 0 && !(frame.at[i] == '(' && frame.at[i - 1] == ' '); i--)
		;
	return file_part(span_sub(frame, i + 1, frame.len - i - 2)) && !memchr(frame.at, '=', frame.len) &&
	       !span_starts(frame, "at ");
}

static void add_frame(struct stack_scan *s, struct span frame)
{
	end_frame(s);
	buf_span(&s->frame, frame);
	end_frame(s);
}

/* The second column of a line of ps. */
static int64_t pid_of_ps(struct span s)
{
	struct span word;
	uint64_t pid;

	if (span_word(&s, &word) && span_word(&s, &word) && span_uint(word, &pid))
		return (int64_t)pid;
	return -1;
}

static bool process_header(struct stack_scan *s, const struct line *l)
{
	struct span rest = l->text;
	uint64_t pid;

	if (span_skip(&rest, "Stack dump for ")) {
		start_process(s, l->offset, pid_of_ps(rest), "py-spy-text", true);
		return true;
	}
	if (!span_skip(&rest, "Process ") || !span_take_uint(&rest, &pid) || !span_skip(&rest, ":") || pid > INT32_MAX)
		return false;
	start_process(s, l->offset, (int64_t)pid, "py-spy-text", false);
	line_rank_of_title(span_trim(rest), s->rank);
	if (!*s->rank)
		for (int i = 0; i < s->dumps; i++)
			if (s->dump[i].pid == (int64_t)pid)
				memcpy(s->rank, s->dump[i].rank, sizeof s->rank);
	return true;
}

static bool dump_line(struct stack_scan *s, const struct line *l)
{
	long at = span_find(l->text, "yspy dump for PID ");
	struct span rest;
	uint64_t pid;

	if (at < 0)
		return false;
	rest = span_sub(l->text, (size_t)at + 18, l->text.len);
	if (span_take_uint(&rest, &pid) && *l->rank) {
		int i = s->dumps < STACK_DUMPS ? s->dumps++ : (int)(pid % STACK_DUMPS);

		s->dump[i].pid = (int64_t)pid;
		memcpy(s->dump[i].rank, l->rank, sizeof l->rank);
	}
	end_thread(s);
	return true;
}

static void open_thread(struct stack_scan *s, const struct line *l, struct span tid, struct span state, struct span name)
{
	bool main = span_is(name, "MainThread");

	if (s->open && (s->gdb || s->fault_handler))
		end_process(s);
	if (s->open && main && s->main_seen && s->pid < 0)
		end_process(s);
	if (!s->open)
		start_process(s, l->offset, -1, "py-spy-text", true);
	s->confirmed = true;
	s->main_seen = s->main_seen || main;
	s->nameless = false;
	start_thread(s, tid, state, name);
}

/* --- faulthandler --- */

static bool handler_line(struct stack_scan *s, const struct line *l)
{
	struct span rest = l->text, tid, word, path, number;
	bool current = span_skip(&rest, "Current thread ");
	uint64_t n;
	long at;

	if (current || span_skip(&rest, "Thread ")) {
		if (!span_contains(rest, "(most recent call first)") || !span_word(&rest, &tid) || !span_starts(tid, "0x"))
			return false;
		if (!s->open || !s->fault_handler || (current && s->current_seen)) {
			start_process(s, l->offset, -1, "faulthandler", true);
			s->fault_handler = true;
			memcpy(s->rank, l->rank, sizeof s->rank);
		}
		s->current_seen = s->current_seen || current;
		start_thread(s, tid, span_make("", 0), span_make("", 0));
		return true;
	}
	if (!s->fault_handler || !s->thread)
		return false;
	rest = span_trim(l->text);
	if (!span_skip(&rest, "File \""))
		return false;
	at = span_find(rest, "\", line ");
	if (at < 0)
		return false;
	path = span_sub(rest, 0, (size_t)at);
	rest = number = span_sub(rest, (size_t)at + 8, rest.len);
	if (!span_take_uint(&rest, &n) || !span_skip(&rest, " in "))
		return false;
	word = span_trim(rest);
	end_frame(s);
	buf_printf(&s->frame, "%.*s (%.*s:%llu)", (int)word.len, word.at, (int)path.len, path.at, (unsigned long long)n);
	end_frame(s);
	return true;
}

/* --- gdb's backtraces --- */

/* "#12 0x.. in f (..) from lib": only what gdb prints, not "#0 f from file:line". */
static bool gdb_frame(struct stack_scan *s, const struct line *l)
{
	struct span rest = l->text;
	uint64_t n;

	if (!span_skip(&rest, "#") || !span_take_uint(&rest, &n) || !rest.len || *rest.at != ' ' || !span_contains(rest, " ("))
		return false;
	if (!s->open || !s->gdb || n == 0) {
		start_process(s, l->offset, -1, "gdb", true);
		s->gdb = true;
		start_thread(s, span_make("", 0), span_make("", 0), span_make("", 0));
	}
	end_frame(s);
	buf_span(&s->frame, span_trim(rest));
	return true;
}

/* --- lines --- */

static bool gdb_more(struct stack_scan *s, const struct line *l)
{
	if (!s->gdb || !s->frame.len || !span_starts(l->text, "  ") || !span_trim(l->text).len)
		return false;
	buf_char(&s->frame, ' ');
	buf_span(&s->frame, span_trim(l->text));
	return true;
}

/* The header of a process is one when Python's version or a thread follows. */
static void confirm(struct stack_scan *s, struct span text)
{
	if (!s->open || s->confirmed || !span_trim(text).len)
		return;
	if (span_starts(text, "Python v") || span_starts(text, "Parent Process "))
		s->confirmed = true;
	else if (++s->waited > 1)
		end_process(s);
}

static bool in_dump(struct stack_scan *s, const struct line *l)
{
	struct span text = l->text, frame;

	if (s->thread && !s->gdb && !s->fault_handler) {
		if (!span_trim(text).len)
			return true;
		if (frame_of(text, &frame) && !span_starts(frame, "...")) {
			add_frame(s, frame);
			return true;
		}
		if (span_starts(text, "        ") || span_starts(text, "    ..."))
			return true; /* locals, elisions */
		end_thread(s);
	} else if (stack_text_is_frame(text) && (!s->open || !s->gdb)) {
		/* Its header was cut off. */
		if (!s->open)
			start_process(s, l->offset, -1, "py-spy-text", true);
		start_thread(s, span_make("", 0), span_make("", 0), span_make("", 0));
		s->nameless = true;
		frame_of(text, &frame);
		add_frame(s, frame);
		return true;
	}
	return false;
}

bool stack_text_line(struct stack_scan *s, const struct line *l)
{
	struct span tid, state, name, text = l->text;

	if (gdb_more(s, l))
		return true;
	if (process_header(s, l) || handler_line(s, l))
		return true;
	if (thread_header(text, &tid, &state, &name)) {
		open_thread(s, l, tid, state, name);
		return true;
	}
	if (gdb_frame(s, l) || dump_line(s, l))
		return true;
	if (s->open && !s->confirmed) {
		confirm(s, text);
		return span_starts(text, "Python v");
	}
	if (s->open && span_starts(text, "Error: ") && !s->count) {
		s->confirmed = false;
		end_process(s);
		return false;
	}
	if (span_starts(text, "Fatal Python error"))
		end_process(s);
	return in_dump(s, l);
}

void stack_text_flush(struct stack_scan *s)
{
	end_process(s);
}

/* --- JSON --- */

static void json_thread(struct stack_scan *s, const json_t *t)
{
	const json_t *id = json_object_get(t, "os_thread_id"), *frames = json_object_get(t, "frames");
	const char *name = json_string_value(json_object_get(t, "thread_name"));
	bool gil = json_is_true(json_object_get(t, "owns_gil")), active = json_is_true(json_object_get(t, "active"));
	char tid[32] = "";

	if (!json_is_integer(id))
		id = json_object_get(t, "thread_id");
	if (json_is_integer(id))
		snprintf(tid, sizeof tid, "%lld", (long long)json_integer_value(id));
	start_thread(s, span_of(tid), span_of(active ? gil ? "active+gil" : "active" : "idle"), span_of(name ? name : ""));
	for (size_t i = 0; i < json_array_size(frames); i++) {
		const json_t *f = json_array_get(frames, i);
		const char *what = json_string_value(json_object_get(f, "name")), *file = json_string_value(json_object_get(f, "short_filename"));
		long long line = json_integer_value(json_object_get(f, "line"));

		if (!file)
			file = json_string_value(json_object_get(f, "filename"));
		if (!file)
			file = json_string_value(json_object_get(f, "module"));
		if (!json_is_object(f))
			continue;
		end_frame(s);
		buf_printf(&s->frame, "%s (%s", what ? what : "?", file ? file : "?");
		if (line > 0)
			buf_printf(&s->frame, ":%lld", line);
		buf_char(&s->frame, ')');
		end_frame(s);
	}
}

void stack_text_json(struct stack_scan *s, const json_t *threads, uint64_t offset)
{
	const json_t *first = json_array_get(threads, 0), *info = json_object_get(first, "process_info"), *pid = json_object_get(first, "pid");
	const char *command = json_string_value(json_object_get(info, "command_line"));

	start_process(s, offset, json_is_integer(pid) ? (int64_t)json_integer_value(pid) : -1, "py-spy", true);
	if (command)
		line_rank_of_title(span_of(command), s->rank);
	/* Newest first in JSON: the main thread is the last. */
	for (size_t i = json_array_size(threads); i-- > 0;)
		json_thread(s, json_array_get(threads, i));
	end_process(s);
}
