/* Stacks: classes of equal stacks, the odd ones first; Enter opens the main thread's stack and the other threads. */
#include "config.h"

#include "ui/panel.h"

#include <jansson.h>
#include <string.h>

#include "base/text.h"

#define THREADS_MAX 200 /* shown of one process */

static int64_t pid_of(const struct rank *rank)
{
	int64_t pid = 0;

	observation_get_int(rank->process, PROCESS_pid, &pid);
	return pid;
}

static const struct observation *last_stack(const struct rank *rank)
{
	return rank->stack && rank->stack->last ? &rank->stack->last->o : NULL;
}

/* "function" in full light, " (file:line)" dim. */
static void frame(struct build *b, uint64_t key, int indent, struct span text, enum style style)
{
	long at = span_find(text, " (");

	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, indent);
	rows_span(b->rows, style, span_sub(text, 0, at < 0 ? text.len : (size_t)at));
	if (at >= 0)
		rows_span(b->rows, STYLE_DIM, span_sub(text, (size_t)at, text.len));
}

static void main_thread(struct build *b, const struct observation *o, uint64_t key)
{
	static struct rank_frames frames;
	struct buf arena;

	buf_init(&arena, 0);
	if (rank_main_thread(o, &frames, &arena)) {
		rows_start(b->rows, key, ROW_DETAIL);
		rows_gap(b->rows, 4);
		rows_text(b->rows, STYLE_TITLE, "main thread ");
		rows_span(b->rows, STYLE_NORMAL, frames.thread);
		rows_text(b->rows, STYLE_DIM, "  ");
		rows_span(b->rows, STYLE_DIM, frames.state);
		rows_print(b->rows, STYLE_DIM, "  %d frames, innermost first", frames.frames);
		for (int i = 0; i < frames.frames; i++)
			frame(b, key + 1 + (uint64_t)i, 6, frames.frame[i], i < 3 ? STYLE_BOLD : STYLE_NORMAL);
	}
	buf_release(&arena);
}

static struct span text_of(const json_t *object, const char *name)
{
	return span_make(
		json_string_value(json_object_get(object, name)), json_string_length(json_object_get(object, name)));
}

/* One thread on a line: its name, state and innermost frames. */
static void thread(struct build *b, uint64_t key, const json_t *item)
{
	const json_t *frames = json_object_get(item, "frames");
	size_t n = json_array_size(frames);

	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 6);
	rows_cell(b->rows, 24, STYLE_NORMAL, text_of(item, "name"));
	rows_gap(b->rows, 1);
	rows_cell(b->rows, 7, STYLE_DIM, text_of(item, "state"));
	for (size_t i = 0; i < n && i < 4; i++) {
		const json_t *f = json_array_get(frames, i);
		struct span text = span_make(json_string_value(f), json_string_length(f));
		long at = span_find(text, " (");

		if (i)
			rows_text(b->rows, STYLE_DIM, " ← ");
		rows_span(b->rows, STYLE_NORMAL, span_sub(text, 0, at < 0 ? text.len : (size_t)at));
	}
}

static void other_threads(struct build *b, const struct rank *rank, uint64_t key)
{
	const struct observation *o = last_stack(rank);
	struct span text = panel_field(o, STACK_threads);
	json_t *list = text.len ? json_loadb(text.at, text.len, 0, NULL) : NULL, *item;
	size_t i;

	if (json_array_size(list) > 1) {
		rows_start(b->rows, key, ROW_DETAIL);
		rows_gap(b->rows, 4);
		rows_text(b->rows, STYLE_TITLE, "all threads of ");
		rows_text(b->rows, STYLE_NORMAL, rank->name);
		rows_print(b->rows, STYLE_DIM, " (pid %lld)", (long long)pid_of(rank));
		json_array_foreach(list, i, item)
		{
			if (i < THREADS_MAX)
				thread(b, key + 1 + i, item);
		}
	}
	json_decref(list);
}

static void since(struct build *b, const struct stack_class *c)
{
	bool stale = c->count && panel_stale(b->view, last_stack(&b->view->ranks->rank[c->members[0]]));
	char text[24];

	rows_right(b->rows, 5, STYLE_NORMAL, "x%d", c->same_count);
	rows_right(b->rows, 8, stale ? STYLE_STALE : STYLE_BOLD, "%s",
		panel_age(text, sizeof text, b->view, c->same_since));
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

static void class_row(struct build *b, const struct stack_class *c)
{
	const struct ranks *ranks = b->view->ranks;
	uint64_t key = rows_key("class", (int64_t)map_hash(c->ranges, span_of(c->ranges).len));
	char role[160];

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_cell(b->rows, b->w < 70 ? 10 : 14, c->odd ? STYLE_WARN : STYLE_BOLD, span_of(c->ranges));
	rows_right(b->rows, 5, STYLE_NORMAL, "%d", c->count);
	since(b, c);
	rows_gap(b->rows, 2);
	rows_text(b->rows, panel_role_style(ranks, c), panel_role(ranks, c, role, sizeof role));
	rows_start(b->rows, key + 1, ROW_DETAIL);
	rows_gap(b->rows, 4);
	if (strcmp(c->top, "") && strncmp(c->where, c->top, strlen(c->top))) {
		panel_top(b, STYLE_BOLD, c->top);
		rows_text(b->rows, STYLE_DIM, "  in ");
	}
	rows_text(b->rows, c->odd ? STYLE_BOLD : STYLE_NORMAL, c->where);
	if (!list_is_open(b->list, key) || !c->count)
		return;
	main_thread(b, last_stack(&ranks->rank[c->members[0]]), key + 2);
	other_threads(b, &ranks->rank[c->members[0]], key + 1000);
}

/* Why there are no frames, and how to get them. Equal reasons once. */
static void problems(struct build *b)
{
	const struct observation *o;
	struct span before = { "", 0 };
	size_t at = 0;
	int n = 0;

	while ((o = model_next(b->view->model, KIND_stack, &at))) {
		struct span error = panel_field(o, STACK_error), remedy = panel_field(o, STACK_remedy);
		int64_t pid = 0;
		uint64_t key;

		if (!error.len)
			continue;
		if (!n++) {
			rows_start(b->rows, 0, ROW_HEAD);
			rows_start(b->rows, 0, ROW_HEAD);
			rows_text(b->rows, STYLE_HEAD, "  no stack from");
		}
		observation_get_int(o, STACK_pid, &pid);
		key = rows_key("stack-error", pid);
		rows_start(b->rows, key, 0);
		rows_gap(b->rows, 2);
		rows_cell(b->rows, 8, STYLE_BOLD,
			panel_field(o, STACK_rank).len ? panel_field(o, STACK_rank) : span_of("–"));
		rows_print(b->rows, STYLE_DIM, "pid %lld  ", (long long)pid);
		rows_span(b->rows, STYLE_WARN, error);
		if (remedy.len && !span_same(remedy, before)) {
			rows_start(b->rows, key + 1, ROW_DETAIL);
			rows_gap(b->rows, 10);
			rows_text(b->rows, STYLE_WARN, "mend: ");
			rows_span(b->rows, STYLE_BOLD, remedy);
		}
		before = remedy;
	}
}

/* Processes that are no ranks (the API server, the engine) have stacks as well. */
static void others(struct build *b)
{
	const struct observation *o;
	size_t at = 0;
	int n = 0;

	while ((o = model_next(b->view->model, KIND_process, &at))) {
		const struct stack_pair *pair;
		int64_t pid = 0, ended = 0;
		uint64_t key;

		observation_get_int(o, PROCESS_pid, &pid);
		observation_get_int(o, PROCESS_ended, &ended);
		pair = model_stack(b->view->model, o->node, pid);
		if (observation_text_is(o, PROCESS_role, "worker") || ended || !pair || !pair->last)
			continue;
		if (!n++) {
			rows_start(b->rows, 0, ROW_HEAD);
			rows_start(b->rows, 0, ROW_HEAD);
			rows_text(b->rows, STYLE_HEAD, "  other processes");
		}
		key = rows_key("process", pid);
		rows_start(b->rows, key, 0);
		panel_fold(b, key);
		rows_cell(b->rows, 8, STYLE_BOLD, panel_field(o, PROCESS_role));
		rows_print(b->rows, STYLE_DIM, "pid %lld  ", (long long)pid);
		panel_top(b, STYLE_NORMAL, pair->summary.top[0] ? pair->summary.top : pair->summary.where);
		if (list_is_open(b->list, key))
			main_thread(b, &pair->last->o, key + 2);
	}
}

void panel_stacks(struct build *b)
{
	const struct ranks *ranks = b->view->ranks;

	if (ranks->classes) {
		rows_start(b->rows, 0, ROW_HEAD | ROW_PIN);
		rows_print(b->rows, STYLE_HEAD, "  %-*scount same     for   reading", b->w < 70 ? 10 : 14, "ranks");
		for (int i = 0; i < ranks->classes; i++)
			class_row(b, &ranks->class[i]);
	} else {
		panel_empty(b, ranks->count ? "No stacks yet. Press s to take the stacks of all ranks; it stops "
					      "nothing. They are also taken every 30 s and at once when progress stops."
					    : "No ranks, so no stacks: press o to enter the PID of a worker.");
	}
	problems(b);
	others(b);
}
