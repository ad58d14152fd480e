/* stack_text_build.c - a process of threads and frames, as the JSON of its reading. */
#include "config.h"

#include "parse/stack_text_private.h"

#include <string.h>

#include "base/json_write.h"
#include "base/text.h"

#define THREADS_BYTES (2 << 20)
#define FRAME_MAX 2000

void stack_text_init(struct stack_scan *s, const struct reading_sink *sink)
{
	memset(s, 0, sizeof *s);
	s->sink = sink;
	for (int i = 0; i < STACK_DUMPS; i++) {
		buf_init(&s->dump[i].threads, THREADS_BYTES);
		buf_init(&s->dump[i].frame, FRAME_MAX);
	}
}

void stack_text_release(struct stack_scan *s)
{
	for (int i = 0; i < STACK_DUMPS; i++) {
		buf_release(&s->dump[i].threads);
		buf_release(&s->dump[i].frame);
	}
}

bool stack_text_open(const struct stack_scan *s)
{
	return s->open > 0;
}

/* --- threads --- */

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

static bool room(const struct stack_dump *d)
{
	return d->threads.max - d->threads.len > 16 * FRAME_MAX;
}

void stack_frame_end(struct stack_dump *d)
{
	if (!d->frame.len)
		return;
	if (d->frames < STACK_FRAMES_MAX && room(d)) {
		if (d->frames)
			buf_char(&d->threads, ',');
		put_text(&d->threads, NULL, span_trim(buf_as_span(&d->frame)));
		d->frames++;
	}
	buf_clear(&d->frame);
}

void stack_frame(struct stack_dump *d, struct span frame)
{
	stack_frame_end(d);
	buf_span(&d->frame, frame);
	stack_frame_end(d);
}

void stack_thread_end(struct stack_dump *d)
{
	stack_frame_end(d);
	if (d->thread)
		buf_text(&d->threads, "]}");
	d->thread = false;
}

void stack_thread_start(struct stack_dump *d, struct span tid, struct span state, struct span name)
{
	struct span number = tid;
	uint64_t n;

	stack_thread_end(d);
	if (d->count == STACK_THREADS_MAX || !room(d))
		return;
	if (d->count++)
		buf_char(&d->threads, ',');
	buf_char(&d->threads, '{');
	if (tid.len && span_take_uint(&number, &n) && !number.len && n < INT64_MAX)
		buf_printf(&d->threads, "\"tid\":%llu", (unsigned long long)n);
	else if (tid.len)
		put_text(&d->threads, "tid", tid);
	else
		buf_text(&d->threads, "\"tid\":null");
	if (state.len) {
		buf_char(&d->threads, ',');
		put_text(&d->threads, "state", state);
		buf_printf(&d->threads, ",\"gil\":%s", span_ends(state, "gil") ? "true" : "false");
	}
	if (name.len) {
		buf_char(&d->threads, ',');
		put_text(&d->threads, "name", name);
	}
	buf_text(&d->threads, ",\"frames\":[");
	d->thread = true;
	d->frames = 0;
}

/* --- processes --- */

static void emit(struct stack_scan *s, struct stack_dump *d)
{
	struct reading r;
	struct buf all;

	if (d->confirmed) {
		buf_init(&all, THREADS_BYTES + 16);
		buf_char(&all, '[');
		buf_span(&all, buf_as_span(&d->threads));
		buf_char(&all, ']');
		reading_start(&r, "stack", d->offset);
		if (d->pid >= 0)
			reading_int(&r, "pid", d->pid);
		reading_word(&r, "rank", d->rank);
		reading_word(&r, "how", d->how);
		reading_text(&r, "threads", buf_as_span(&all));
		reading_emit(&r, s->sink);
		buf_release(&all);
	}
	buf_clear(&d->threads);
	d->open = d->ended = false;
}

static struct stack_dump *earliest(struct stack_scan *s)
{
	struct stack_dump *first = NULL;

	for (int i = 0; i < STACK_DUMPS; i++)
		if (s->dump[i].open && (!first || s->dump[i].offset < first->offset))
			first = &s->dump[i];
	return first;
}

void stack_dump_end(struct stack_scan *s, struct stack_dump *d)
{
	stack_thread_end(d);
	d->ended = true;
	s->open--;
	while ((d = earliest(s)) && d->ended)
		emit(s, d);
}

struct stack_dump *stack_dump_of(struct stack_scan *s, uint64_t tag)
{
	for (int i = 0; s->open && i < STACK_DUMPS; i++)
		if (s->dump[i].open && !s->dump[i].ended && s->dump[i].tag == tag)
			return &s->dump[i];
	return NULL;
}

static struct stack_dump *free_place(struct stack_scan *s)
{
	for (int i = 0; i < STACK_DUMPS; i++)
		if (!s->dump[i].open)
			return &s->dump[i];
	stack_dump_end(s, earliest(s)); /* it is not ended, or it would be gone */
	return free_place(s);
}

struct stack_dump *stack_dump_start(struct stack_scan *s, uint64_t tag, uint64_t offset, int64_t pid, const char *how, bool confirmed)
{
	struct stack_dump *d = stack_dump_of(s, tag);

	if (d)
		stack_dump_end(s, d);
	d = free_place(s);
	d->open = true;
	s->open++;
	d->ended = d->thread = d->fault_handler = d->gdb = d->main_seen = d->current_seen = false;
	d->count = d->frames = d->waited = d->lines = 0;
	d->confirmed = confirmed;
	d->tag = tag;
	d->offset = offset;
	d->pid = pid;
	d->how = how;
	d->rank[0] = 0;
	s->last = d;
	for (int i = 0; i < s->titles; i++)
		if (s->title[i].pid == pid && pid >= 0)
			memcpy(d->rank, s->title[i].rank, sizeof d->rank);
	return d;
}

void stack_text_flush(struct stack_scan *s)
{
	struct stack_dump *d;

	while ((d = earliest(s)))
		stack_dump_end(s, d);
	s->heading[0] = 0;
}
