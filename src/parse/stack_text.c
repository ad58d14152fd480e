/* stack_text.c - what each line is to the dump that it belongs to. */
#include "config.h"

#include "parse/stack_text_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "parse/line_private.h"

#define HEADING_NEAR 400        /* bytes between a heading and the dump that it names */

static const struct span nothing = { "", 0 };

/* --- whose rank --- */

/* "=== rank 3 (pid 7001) ===", "# TP3", "--- Rank: 5 ---", "rank 3:": a line of decoration around a rank. */
static bool heading_of(struct span text, char rank[LINE_RANK_MAX])
{
	static const char *const words[] = { "rank ", "Rank ", "RANK ", "rank=", "RANK=", "rank: ", "Rank: ", "rank" };
	struct span s = span_trim(text);
	size_t n = 0;

	if (s.len > 100)
		return false;
	while (n < s.len && strchr("=-#*>~+", s.at[n]))
		n++;
	if (n < 2 && !span_starts(s, "#") && !(span_ends(s, ":") && (span_starts(s, "rank ") || span_starts(s, "Rank "))))
		return false;
	s = span_sub(s, n, s.len);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (line_number_after(s, words[i], rank))
			return true;
	return line_rank_parts(s, rank);
}

static void take_heading(struct stack_scan *s, const struct line *l, struct stack_dump *d)
{
	if (!*d->rank && *s->heading && l->offset - s->heading_offset < HEADING_NEAR)
		memcpy(d->rank, s->heading, sizeof d->rank);
	if (!*d->rank)
		memcpy(d->rank, l->rank, sizeof d->rank);
	s->heading[0] = 0;
}

static struct stack_dump *start(struct stack_scan *s, const struct line *l, int64_t pid, const char *how, bool confirmed)
{
	return stack_dump_start(s, line_tag(l), l->offset, pid, how, confirmed);
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

struct header {
	struct span tid, state, name;
};

/* "Thread 41213 (active+gil): "MainThread"", "Thread 0x7F2A (idle)", "Thread (idle) "name"", "Thread 5: "name"", "Thread 5" */
static bool thread_header(struct span line, struct header *h)
{
	struct span rest = line, word;
	long close;

	h->tid = h->state = h->name = nothing;
	if (!span_skip(&rest, "Thread "))
		return false;
	if (!span_starts(rest, "(")) {
		size_t n = 0;

		while (n < rest.len && (isxdigit((unsigned char)rest.at[n]) || rest.at[n] == 'x'))
			n++;
		if (!n || !isdigit((unsigned char)rest.at[0]))
			return false;
		h->tid = span_sub(rest, 0, n);
		rest = span_sub(rest, n, rest.len);
	}
	word = rest;
	while (word.len && *word.at == ' ')
		word = span_sub(word, 1, word.len);
	if (span_starts(word, "(")) {
		close = span_find_char(word, ')');
		if (close < 0 || !known_state(span_sub(word, 1, (size_t)close - 1)))
			return false;
		h->state = span_sub(word, 1, (size_t)close - 1);
		rest = span_sub(word, (size_t)close + 1, word.len);
	}
	rest = span_trim(rest);
	span_skip(&rest, ":");
	rest = span_trim(rest);
	if (rest.len >= 2 && *rest.at == '"' && rest.at[rest.len - 1] == '"')
		h->name = span_sub(rest, 1, rest.len - 2);
	else if (rest.len)
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
	struct stack_dump *d;
	char rank[LINE_RANK_MAX];
	uint64_t pid;

	if (span_skip(&rest, "Stack dump for ")) {
		take_heading(s, l, start(s, l, pid_of_ps(rest), "py-spy-text", true));
		return true;
	}
	if (!span_skip(&rest, "Process ") || !span_take_uint(&rest, &pid) || !span_skip(&rest, ":") || pid > INT32_MAX)
		return false;
	d = start(s, l, (int64_t)pid, "py-spy-text", false);
	if (line_rank_of_title(span_trim(rest), rank))
		memcpy(d->rank, rank, sizeof rank);
	take_heading(s, l, d);
	return true;
}

static bool dump_line(struct stack_scan *s, const struct line *l, struct stack_dump *d)
{
	long at = span_find(l->text, "yspy dump for PID ");
	struct span rest;
	uint64_t pid;

	if (at < 0)
		return false;
	rest = span_sub(l->text, (size_t)at + 18, l->text.len);
	if (span_take_uint(&rest, &pid) && *l->rank) {
		int i = s->titles < STACK_TITLES ? s->titles++ : (int)(pid % STACK_TITLES);

		s->title[i].pid = (int64_t)pid;
		memcpy(s->title[i].rank, l->rank, sizeof l->rank);
	}
	if (d)
		stack_thread_end(d);
	return true;
}

static void open_thread(struct stack_scan *s, const struct line *l, struct stack_dump *d, const struct header *h)
{
	bool main = span_is(h->name, "MainThread");

	if (!d || d->tag != line_tag(l) || d->gdb || d->fault_handler || (main && d->main_seen && d->pid < 0)) {
		d = start(s, l, -1, "py-spy-text", true);
		take_heading(s, l, d);
	}
	d->confirmed = true;
	d->main_seen = d->main_seen || main;
	stack_thread_start(d, h->tid, h->state, h->name);
}

/* --- faulthandler --- */

/* Each thread stands once in a dump. */
static bool has_thread(const struct stack_dump *d, struct span tid)
{
	char text[40];

	snprintf(text, sizeof text, "\"tid\":\"%.*s\"", (int)(tid.len < 24 ? tid.len : 24), tid.at);
	return span_contains(buf_as_span(&d->threads), text);
}

static bool handler_thread(struct stack_scan *s, const struct line *l, struct stack_dump *d)
{
	struct span rest = l->text, tid;
	bool current = span_skip(&rest, "Current thread ");

	if (!current && !span_skip(&rest, "Thread "))
		return false;
	if (!span_contains(rest, "(most recent call first)") || !span_word(&rest, &tid) || !span_starts(tid, "0x"))
		return false;
	if (!d || d->tag != line_tag(l) || !d->fault_handler || (current && d->current_seen) || has_thread(d, tid)) {
		d = start(s, l, -1, "faulthandler", true);
		d->fault_handler = true;
		take_heading(s, l, d);
	}
	d->current_seen = d->current_seen || current;
	stack_thread_start(d, tid, nothing, nothing);
	return true;
}

/* "  File "F", line N in NAME"; ??? stands for what the handler could not read. */
static bool handler_frame(struct stack_dump *d, struct span text)
{
	struct span rest = span_trim(text), path = span_of("?"), name;
	uint64_t n = 0;
	long at;

	if (!d || !d->fault_handler || !d->thread)
		return false;
	if (span_skip(&rest, "File \"")) {
		at = span_find(rest, "\", line ");
		if (at < 0)
			return false;
		path = span_sub(rest, 0, (size_t)at);
		rest = span_sub(rest, (size_t)at + 1, rest.len);
	} else if (!span_skip(&rest, "File ???")) {
		return false;
	}
	if (!span_skip(&rest, ", line ") || (!span_skip(&rest, "???") && !span_take_uint(&rest, &n)) || !span_skip(&rest, " in "))
		return false;
	name = span_trim(rest);
	stack_frame_end(d);
	buf_printf(&d->frame, "%.*s (%.*s", (int)name.len, name.at, (int)path.len, path.at);
	if (n)
		buf_printf(&d->frame, ":%llu", (unsigned long long)n);
	buf_char(&d->frame, ')');
	stack_frame_end(d);
	return true;
}

/* What stands before or behind a whole dump. */
static bool handler_edge(struct span text)
{
	return span_starts(text, "Fatal Python error") || span_starts(text, "Extension modules: ") ||
	       (span_starts(text, "Timeout (") && span_ends(span_trim(text), ")!"));
}

/* --- gdb's backtraces --- */

/* "#12 0x.. in f (..) from lib": only what gdb prints, not "#0 f from file:line". */
static bool gdb_frame(struct stack_scan *s, const struct line *l, struct stack_dump *d)
{
	struct span rest = l->text;
	uint64_t n;

	if (!span_skip(&rest, "#") || !span_take_uint(&rest, &n) || !rest.len || *rest.at != ' ' || !span_contains(rest, " ("))
		return false;
	if (!d || !d->gdb || n == 0) {
		d = start(s, l, -1, "gdb", true);
		d->gdb = true;
		s->heading[0] = 0;
		stack_thread_start(d, nothing, nothing, nothing);
	}
	stack_frame_end(d);
	buf_span(&d->frame, span_trim(rest));
	return true;
}

static bool gdb_more(struct stack_dump *d, struct span text)
{
	if (!d || !d->gdb || !d->frame.len || !span_starts(text, "  ") || !span_trim(text).len)
		return false;
	buf_char(&d->frame, ' ');
	buf_span(&d->frame, span_trim(text));
	return true;
}

/* --- lines --- */

/* The header of a process is one when Python's version or a thread follows. */
static void confirm(struct stack_scan *s, struct stack_dump *d, struct span text)
{
	if (!span_trim(text).len)
		return;
	if (span_starts(text, "Python v") || span_starts(text, "Parent Process "))
		d->confirmed = true;
	else if (++d->waited > 1)
		stack_dump_end(s, d);
}

static bool in_thread(struct stack_dump *d, struct span text)
{
	struct span frame;

	if (!span_trim(text).len)
		return true;
	if (frame_of(text, &frame) && !span_starts(frame, "...")) {
		stack_frame(d, frame);
		return true;
	}
	if (span_starts(text, "        ") || span_starts(text, "    ..."))
		return true; /* locals, elisions */
	stack_thread_end(d);
	return false;
}

/* A frame whose header was cut off. */
static void lone_frame(struct stack_scan *s, const struct line *l, struct stack_dump *d)
{
	struct span frame;

	if (!d) {
		d = start(s, l, -1, "py-spy-text", true);
		take_heading(s, l, d);
	}
	stack_thread_start(d, nothing, nothing, nothing);
	frame_of(l->text, &frame);
	stack_frame(d, frame);
}

/* The dump that a line goes to: the one with its prefix; else one whose prefix is the part of it that a container or a unit has. */
static struct stack_dump *dump_of(struct stack_scan *s, const struct line *l)
{
	struct stack_dump *d = stack_dump_of(s, line_tag(l));
	struct line bare;

	if (d || !s->open || !line_tag(l))
		return d;
	bare = *l;
	bare.rank[0] = 0;
	bare.pid = 0;
	d = stack_dump_of(s, line_tag(&bare));
	return d ? d : stack_dump_of(s, 0);
}

/* A logger puts its prefix before the first line of a dump only. */
static struct stack_dump *just_begun(struct stack_scan *s, const struct line *l)
{
	struct stack_dump *d = s->last;

	if (!s->open || line_tag(l) || !d || !d->open || d->ended || d->lines)
		return NULL;
	d->tag = 0;
	return d;
}

bool stack_text_line(struct stack_scan *s, const struct line *l)
{
	struct stack_dump *d = dump_of(s, l);
	struct span text = l->text;
	char rank[LINE_RANK_MAX];
	struct header h;

	if (!d)
		d = just_begun(s, l);
	if (d)
		d->lines++;
	if (gdb_more(d, text) || process_header(s, l) || handler_thread(s, l, d) || handler_frame(d, text))
		return true;
	if (thread_header(text, &h) && (h.state.len || h.name.len || (d && d->confirmed && !d->gdb && !d->fault_handler))) {
		open_thread(s, l, d, &h);
		return true;
	}
	if (gdb_frame(s, l, d) || dump_line(s, l, d))
		return true;
	if (heading_of(text, rank)) {
		memcpy(s->heading, rank, sizeof rank);
		s->heading_offset = l->offset;
	}
	if (d && !d->confirmed) {
		confirm(s, d, text);
		return span_starts(text, "Python v");
	}
	if (d && span_starts(text, "Error: ") && !d->count) {
		d->confirmed = false;
		stack_dump_end(s, d);
		return false;
	}
	if (d && handler_edge(text)) {
		stack_dump_end(s, d);
		d = NULL;
	}
	if (d && d->thread && !d->gdb && !d->fault_handler)
		return in_thread(d, text);
	if (stack_text_is_frame(text) && (!d || !d->gdb)) {
		lone_frame(s, l, d);
		return true;
	}
	return false;
}
