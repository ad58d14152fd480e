/* stack_json.c - py-spy dump --json: an array of threads, in its own order (newest first). */
#include "config.h"

#include "parse/stack_text_private.h"

#include <stdio.h>
#include <string.h>

static const char *word(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void json_frame(struct stack_dump *d, const json_t *f)
{
	const char *what = word(f, "name"), *file = word(f, "short_filename");
	long long line = json_integer_value(json_object_get(f, "line"));

	if (!file)
		file = word(f, "filename");
	if (!file)
		file = word(f, "module");
	stack_frame_end(d);
	buf_printf(&d->frame, "%s (%s", what ? what : "?", file ? file : "?");
	if (line > 0)
		buf_printf(&d->frame, ":%lld", line);
	buf_char(&d->frame, ')');
	stack_frame_end(d);
}

static void json_thread(struct stack_dump *d, const json_t *t)
{
	const json_t *id = json_object_get(t, "os_thread_id"), *frames = json_object_get(t, "frames");
	bool gil = json_is_true(json_object_get(t, "owns_gil")), active = json_is_true(json_object_get(t, "active"));
	char tid[32] = "";

	if (!json_is_integer(id))
		id = json_object_get(t, "thread_id");
	if (json_is_integer(id))
		snprintf(tid, sizeof tid, "%lld", (long long)json_integer_value(id));
	/* As the text says it: who sleeps with the lock is idle there. */
	stack_thread_start(d, span_of(tid), span_of(active ? gil ? "active+gil" : "active" : "idle"), span_of(word(t, "thread_name")));
	for (size_t i = 0; i < json_array_size(frames); i++)
		if (json_is_object(json_array_get(frames, i)))
			json_frame(d, json_array_get(frames, i));
}

void stack_text_json(struct stack_scan *s, const json_t *threads, uint64_t offset)
{
	const json_t *first = json_array_get(threads, 0), *info = json_object_get(first, "process_info"), *pid = json_object_get(first, "pid");
	const char *command = word(info, "command_line");
	struct stack_dump *d;

	d = stack_dump_start(s, 0, offset, json_is_integer(pid) ? (int64_t)json_integer_value(pid) : -1, "py-spy", true);
	if ((!command || !line_rank_of_title(span_of(command), d->rank)) && *s->heading)
		memcpy(d->rank, s->heading, sizeof d->rank);
	s->heading[0] = 0;
	for (size_t i = 0; i < json_array_size(threads); i++)
		json_thread(d, json_array_get(threads, i));
	stack_dump_end(s, d);
}
