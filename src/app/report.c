/* report.c - verdict as text and as JSON. */
#include "config.h"

#include "app/report.h"

#include <string.h>

#include "app/options.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"

int report_exit_code(const struct verdict *verdict)
{
	switch (verdict->state) {
	case STATE_HEALTHY:
	case STATE_IDLE:
	case STATE_LOADING:
		return EXIT_HEALTHY;
	case STATE_SLOW:
	case STATE_SUSPECT:
		return EXIT_SUSPECT;
	case STATE_HUNG:
	case STATE_FAULT:
	case STATE_DEAD:
		return EXIT_HUNG;
	case STATE_UNKNOWN:
		break;
	}
	return EXIT_UNKNOWN;
}

static const char *hung_where(const struct verdict *v)
{
	if (strcmp(v->where, "kernel") == 0)
		return " in a GPU kernel";
	if (strcmp(v->where, "collective") == 0)
		return " in a collective";
	return strcmp(v->where, "host") == 0 ? " on the host" : "";
}

static void scrubbed(struct buf *out, const char *text)
{
	text_scrub(out, span_of(text));
}

void report_text(const struct core *core, int64_t now, struct buf *out)
{
	const struct verdict *v = &core->verdict;
	const struct observation *o;
	char age[32];
	size_t at = 0;

	buf_printf(out, "%s%s  for %s  grade %c\n", state_word(v->state), hung_where(v),
		text_duration(age, sizeof age, now - v->since), v->grade);
	scrubbed(out, v->reason);
	buf_char(out, '\n');
	for (int i = 0; i < v->evidence_count; i++) {
		buf_printf(out, "  %-14s ", v->evidence[i].what);
		scrubbed(out, v->evidence[i].value);
		if (v->evidence[i].t)
			buf_printf(out, "  (%s ago)", text_duration(age, sizeof age, now - v->evidence[i].t));
		buf_char(out, '\n');
	}
	for (int k = 0; k < core->ranks->classes; k++) {
		const struct stack_class *c = &core->ranks->class[k];

		buf_printf(out, "  %-14s ", c->odd ? "odd rank" : "ranks");
		scrubbed(out, c->ranges);
		buf_text(out, "  ");
		scrubbed(out, c->where);
		buf_printf(out, "  (%s)\n", wait_kind_word(c->wait));
	}
	while ((o = model_next(&core->model, KIND_source, &at))) {
		struct span name, detail = { "", 0 }, remedy = { "", 0 };

		if (observation_text_is(o, SOURCE_state, "ok") || observation_text_is(o, SOURCE_state, "off") ||
			!observation_get_text(o, SOURCE_source, &name))
			continue;
		observation_get_text(o, SOURCE_detail, &detail);
		observation_get_text(o, SOURCE_remedy, &remedy);
		buf_text(out, "  source ");
		text_scrub(out, name);
		buf_text(out, ": ");
		text_scrub(out, detail);
		if (remedy.len) {
			buf_text(out, "; ");
			text_scrub(out, remedy);
		}
		buf_char(out, '\n');
	}
	if (*v->next)
		buf_printf(out, "next: %s\n", v->next);
}

static void frames_of(const struct stack_pair *stack, struct buf *out)
{
	struct rank_frames frames;
	struct buf arena;

	buf_init(&arena, 1 << 20);
	if (stack && stack->last && rank_main_thread(&stack->last->o, &frames, &arena))
		for (int i = 0; i < frames.frames; i++) {
			buf_text(out, "    ");
			text_scrub(out, frames.frame[i]);
			buf_char(out, '\n');
		}
	buf_release(&arena);
}

void report_stacks(const struct core *core, int64_t now, struct buf *out)
{
	const struct ranks *ranks = core->ranks;
	int without = 0;
	char age[32];

	for (int k = 0; k < ranks->classes; k++) {
		const struct stack_class *c = &ranks->class[k];
		const struct rank *first = &ranks->rank[c->members[0]];

		buf_printf(out, "%s ", c->odd ? "odd rank" : c->count == 1 ? "rank" : "ranks");
		scrubbed(out, c->ranges);
		buf_text(out, ": ");
		scrubbed(out, *c->top ? c->top : c->where);
		buf_printf(out, "  (%s, seen %s ago)\n", wait_kind_word(c->wait),
			text_duration(age, sizeof age, first->stack && first->stack->last ? now - first->stack->last->o.t : 0));
		frames_of(first->stack, out);
	}
	for (int i = 0; i < ranks->count; i++)
		if (ranks->rank[i].class < 0 && !ranks->rank[i].ended && without++ < 20) {
			buf_text(out, "no stack of rank ");
			scrubbed(out, ranks->rank[i].name);
			buf_char(out, '\n');
		}
}

/* All fields of an observation, without the envelope. */
static void members(struct json_write *w, const struct observation *o, int64_t now)
{
	const struct kind_info *info = &kind_table[o->kind];

	jw_object(w, NULL);
	for (int i = 0; i < info->fields; i++) {
		const struct value *v = &o->value[i];

		if (v->type == VALUE_NULL)
			jw_null(w, info->field[i].name);
		else if (v->type == VALUE_INT)
			jw_int(w, info->field[i].name, v->number);
		else if (v->type == VALUE_REAL)
			jw_real(w, info->field[i].name, v->real);
		else if (info->field[i].type == FIELD_JSON)
			jw_raw(w, info->field[i].name, v->text);
		else
			jw_text(w, info->field[i].name, v->text);
	}
	jw_int(w, "age_ms", now - o->t);
	jw_end_object(w);
}

static void all_of(struct json_write *w, const char *key, const struct core *core, enum kind kind, int64_t now)
{
	const struct observation *o;
	size_t at = 0;

	jw_array(w, key);
	while ((o = model_next(&core->model, kind, &at)))
		members(w, o, now);
	jw_end_array(w);
}

static void ranks_json(struct json_write *w, const struct core *core, int64_t now)
{
	jw_array(w, "ranks");
	for (int i = 0; i < core->ranks->count; i++) {
		const struct rank *r = &core->ranks->rank[i];
		int64_t pid = 0;
		struct span state;

		observation_get_int(r->process, PROCESS_pid, &pid);
		jw_object(w, NULL);
		jw_string(w, "rank", r->name);
		jw_int(w, "pid", pid);
		jw_bool(w, "ended", r->ended);
		if (r->sample && observation_get_text(r->sample, PROCESS_SAMPLE_state, &state))
			jw_text(w, "state", state);
		if (r->stack) {
			jw_string(w, "top", r->stack->summary.top);
			jw_string(w, "where", r->stack->summary.where);
			jw_int(w, "age_ms", now - r->stack->last->o.t);
		}
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_array(w, "stack_groups");
	for (int k = 0; k < core->ranks->classes; k++) {
		const struct stack_class *c = &core->ranks->class[k];

		jw_object(w, NULL);
		jw_array(w, "ranks");
		for (int i = 0; i < c->count; i++)
			jw_string(w, NULL, core->ranks->rank[c->members[i]].name);
		jw_end_array(w);
		jw_string(w, "top", c->top);
		jw_string(w, "class", wait_kind_word(c->wait));
		jw_bool(w, "odd", c->odd);
		jw_int(w, "equal_samples", c->same_count);
		jw_end_object(w);
	}
	jw_end_array(w);
}

void report_json(const struct core *core, int64_t now, struct buf *out)
{
	const struct verdict *v = &core->verdict;
	const struct observation *server = model_newest(&core->model, KIND_server);
	char grade[2] = { v->grade, 0 };
	struct json_write w;

	jw_start(&w, out);
	jw_object(&w, NULL);
	jw_string(&w, "verdict", verdict_word(v));
	jw_string(&w, "state", state_word(v->state));
	jw_string(&w, "where", *v->where ? v->where : NULL);
	jw_string(&w, "grade", grade);
	jw_int(&w, "since", v->since);
	jw_int(&w, "t", now);
	jw_string(&w, "node", core->node);
	jw_string(&w, "reason", v->reason);
	jw_string(&w, "rule", v->rule);
	jw_array(&w, "evidence");
	for (int i = 0; i < v->evidence_count; i++) {
		jw_object(&w, NULL);
		jw_string(&w, "what", v->evidence[i].what);
		jw_string(&w, "value", v->evidence[i].value);
		if (v->evidence[i].t)
			jw_int(&w, "age_ms", now - v->evidence[i].t);
		else
			jw_null(&w, "age_ms");
		jw_end_object(&w);
	}
	jw_end_array(&w);
	jw_array(&w, "candidates");
	if (*v->candidates)
		jw_string(&w, NULL, v->candidates);
	jw_end_array(&w);
	jw_string(&w, "next", *v->next ? v->next : NULL);
	ranks_json(&w, core, now);
	jw_array(&w, "server");
	if (server)
		members(&w, server, now);
	jw_end_array(&w);
	all_of(&w, "gpus", core, KIND_gpu, now);
	all_of(&w, "progress", core, KIND_progress, now);
	all_of(&w, "requests", core, KIND_requests, now);
	all_of(&w, "sources", core, KIND_source, now);
	jw_end_object(&w);
	buf_char(out, '\n');
}
