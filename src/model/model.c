/* model.c - the current state: latest records, last events, histories, stack pairs. */
#include "config.h"

#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void stack_pair_free(void *value)
{
	struct stack_pair *pair = value;

	record_free(pair->last);
	record_free(pair->before);
	free(pair);
}

void model_init(struct model *m)
{
	memset(m, 0, sizeof *m);
	map_init(&m->subject, record_free);
	map_init(&m->history, free);
	map_init(&m->stack, stack_pair_free);
}

void model_release(struct model *m)
{
	map_release(&m->subject);
	map_release(&m->history);
	map_release(&m->stack);
	for (int k = 0; k < KIND_COUNT; k++)
		for (int i = 0; i < m->event[k].count; i++)
			record_free(m->event[k].record[(m->event[k].start + i) % MODEL_EVENTS_MAX]);
	memset(m, 0, sizeof *m);
}

void model_clear(struct model *m)
{
	model_release(m);
	model_init(m);
}

static void add_event(struct model *m, const struct observation *o)
{
	struct events *e = &m->event[o->kind];
	int at = (e->start + e->count) % MODEL_EVENTS_MAX;

	if (e->count == MODEL_EVENTS_MAX) {
		record_free(e->record[e->start]);
		e->start = (e->start + 1) % MODEL_EVENTS_MAX;
		at = (e->start + e->count - 1) % MODEL_EVENTS_MAX;
	} else {
		e->count++;
	}
	e->record[at] = record_new(o);
}

static void add_history(struct model *m, const char *key, int64_t t, double value, bool sum)
{
	struct history *h = map_get(&m->history, key);

	if (!h) {
		if (m->history.count >= MODEL_SUBJECTS_MAX)
			return;
		h = mem_alloc(sizeof *h);
		for (int i = 0; i < HISTORY_POINTS; i++)
			h->point[i] = NAN;
		map_set(&m->history, key, h);
	}
	history_add(h, t, value, sum);
}

static void note_move(struct model *m, const char *key, const struct observation *o)
{
	struct history *h = map_get(&m->history, key);
	double moves;

	if (h && observation_get_real(o, GPU_mem_activity_pct, &moves) && moves >= HISTORY_MOVES_PCT && o->t > h->moved_t)
		h->moved_t = o->t;
}

static void feed_history(struct model *m, const struct observation *o)
{
	char key[160];
	int64_t gpu;
	double value;

	if (o->kind == KIND_gpu && observation_get_int(o, GPU_gpu, &gpu) && observation_get_real(o, GPU_busy_pct, &value)) {
		snprintf(key, sizeof key, "%.120s/gpu/%lld", o->node, (long long)gpu);
		add_history(m, key, o->t, value, false);
		note_move(m, key, o);
	} else if (o->kind == KIND_progress && observation_get_real(o, PROGRESS_delta, &value)) {
		snprintf(key, sizeof key, "%.120s/progress", o->node);
		add_history(m, key, o->t, value, true);
	}
}

static void stack_key(char *out, size_t size, const char *node, int64_t pid)
{
	snprintf(out, size, "%.120s/%lld", node, (long long)pid);
}

/* Keep the last two stacks with frames, and how long they have been the same. Fills the run into `o`. */
static void feed_stack(struct model *m, struct observation *o)
{
	struct stack_summary summary;
	struct stack_pair *pair;
	char key[160];
	int64_t pid = 0, since = o->t, count = 1;

	stack_summarise(o, &summary);
	if (!summary.print || !observation_get_int(o, STACK_pid, &pid))
		return;
	stack_key(key, sizeof key, o->node, pid);
	pair = map_get(&m->stack, key);
	if (!pair) {
		if (m->stack.count >= MODEL_SUBJECTS_MAX)
			return;
		pair = mem_alloc(sizeof *pair);
		map_set(&m->stack, key, pair);
	} else if (pair->summary.print == summary.print) {
		since = pair->same_since;
		count = pair->same_count + 1;
	}
	if (!observation_get_int(o, STACK_same_since, &since) || !observation_get_int(o, STACK_same_count, &count)) {
		observation_int(o, STACK_same_since, since);
		observation_int(o, STACK_same_count, count);
	}
	record_free(pair->before);
	pair->before = pair->last;
	pair->last = record_new(o);
	pair->summary = summary;
	pair->same_since = since;
	pair->same_count = count;
}

static void feed_requests(const struct observation *old, struct observation *o)
{
	int64_t open = 0, before = 0, since = o->t;

	if (!observation_is_null(o, REQUESTS_open_since) || !observation_get_int(o, REQUESTS_open, &open) || open <= 0)
		return;
	if (old && observation_get_int(old, REQUESTS_open, &before) && before > 0)
		observation_get_int(old, REQUESTS_open_since, &since);
	observation_int(o, REQUESTS_open_since, since);
}

static const struct observation *feed_subject(struct model *m, struct observation *o)
{
	struct record *old, *record;
	struct buf key;

	buf_init(&key, 1024);
	observation_key(o, &key);
	old = map_get(&m->subject, buf_string(&key));
	if (!old && m->subject.count >= MODEL_SUBJECTS_MAX) {
		m->dropped++;
		map_remove(&m->subject, m->subject.entry[0].key);
	}
	if (!old)
		m->unsorted = true;
	if (o->kind == KIND_requests)
		feed_requests(old ? &old->o : NULL, o);
	record = record_new(o);
	map_set(&m->subject, buf_string(&key), record);
	buf_release(&key);
	return &record->o;
}

const struct observation *model_observe(struct model *m, const struct observation *seen)
{
	struct observation o = *seen;

	if (!m->first_t || o.t < m->first_t)
		m->first_t = o.t;
	if (o.t > m->last_t)
		m->last_t = o.t;
	if (o.kind == KIND_progress && o.t > m->progress_t)
		m->progress_t = o.t;
	feed_history(m, &o);
	if (o.kind == KIND_stack)
		feed_stack(m, &o);
	if (kind_table[o.kind].storage == STORAGE_EVENT) {
		add_event(m, &o);
		return model_event(m, o.kind, 0);
	}
	if (o.kind == KIND_verdict || o.kind == KIND_finding)
		add_event(m, &o);
	return feed_subject(m, &o);
}

const struct observation *model_latest(const struct model *m, const char *key)
{
	const struct record *record = map_get(&m->subject, key);

	return record ? &record->o : NULL;
}

/* Sorting changes no answer but the order of a walk: the model stays const to its readers. */
static void sort_subjects(const struct model *m)
{
	struct model *mutable = (struct model *)m;

	if (!m->unsorted)
		return;
	map_sort(&mutable->subject);
	mutable->unsorted = false;
}

const struct observation *model_next(const struct model *m, enum kind kind, size_t *at)
{
	sort_subjects(m);
	while (*at < m->subject.count) {
		const struct record *record = m->subject.entry[(*at)++].value;

		if (record->o.kind == kind)
			return &record->o;
	}
	return NULL;
}

const struct observation *model_event(const struct model *m, enum kind kind, int i)
{
	const struct events *e = &m->event[kind];

	if (i < 0 || i >= e->count)
		return NULL;
	return &e->record[(e->start + e->count - 1 - i) % MODEL_EVENTS_MAX]->o;
}

const struct observation *model_newest(const struct model *m, enum kind kind)
{
	const struct observation *best = NULL, *o;
	size_t at = 0;

	while ((o = model_next(m, kind, &at)))
		if (!best || o->t > best->t)
			best = o;
	return best;
}

const struct stack_pair *model_stack(const struct model *m, const char *node, int64_t pid)
{
	char key[160];

	stack_key(key, sizeof key, node, pid);
	return map_get(&m->stack, key);
}

const struct observation *model_process(const struct model *m, const char *node, int64_t pid)
{
	char key[160];

	snprintf(key, sizeof key, "%.120s/process/%lld", node, (long long)pid);
	return model_latest(m, key);
}

int64_t model_run_start(const struct model *m)
{
	const struct observation *o;
	int64_t newest = 0, start;
	size_t at = 0;

	while ((o = model_next(m, KIND_process, &at)))
		if (observation_text_is(o, PROCESS_role, "api") && observation_get_int(o, PROCESS_start, &start) && start > newest)
			newest = start;
	return newest;
}

int64_t model_open_requests(const struct model *m, const struct observation **from)
{
	int64_t since = model_run_start(m), best = -1, open;
	const struct observation *o;
	size_t at = 0;

	while ((o = model_next(m, KIND_requests, &at)))
		if (o->t >= since && observation_get_int(o, REQUESTS_open, &open) && open > best) {
			best = open;
			if (from)
				*from = o;
		}
	return best;
}

const struct observation *model_mark(const struct model *m, const char *class)
{
	const struct observation *o;
	size_t at = 0;

	while ((o = model_next(m, KIND_log_mark, &at)))
		if (observation_text_is(o, LOG_MARK_class, class))
			return o;
	return NULL;
}

bool model_log_mark(const struct model *m, const struct observation *log, struct observation *mark)
{
	static const struct { const char *class; bool first; } marked[] = {
		{ "start", false }, { "ready", false }, { "loading", false }, { "fault", true }, { "fatal", true },
	};
	const struct observation *old, *start = model_mark(m, "start");
	struct span text;
	int64_t offset;

	for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++) {
		if (!observation_text_is(log, LOG_class, marked[i].class))
			continue;
		old = model_mark(m, marked[i].class);
		if (marked[i].first && old && (!start || old->t >= start->t) && old->t >= model_run_start(m))
			return false;
		observation_init(mark, KIND_log_mark, log->node, log->t);
		mark->lag = log->lag;
		observation_text(mark, LOG_MARK_class, marked[i].class);
		if (observation_get_text(log, LOG_text, &text))
			observation_span(mark, LOG_MARK_text, text);
		if (observation_get_text(log, LOG_file, &text))
			observation_span(mark, LOG_MARK_file, text);
		if (observation_get_int(log, LOG_offset, &offset))
			observation_int(mark, LOG_MARK_offset, offset);
		return true;
	}
	return false;
}

const struct history *model_history(const struct model *m, const char *key)
{
	return map_get(&m->history, key);
}

/* --- the dump --- */

static int compare_entries(const void *a, const void *b)
{
	return strcmp((*(const struct map_entry *const *)a)->key, (*(const struct map_entry *const *)b)->key);
}

static const struct map_entry **sorted(const struct map *map)
{
	const struct map_entry **list = mem_array(NULL, map->count + 1, sizeof *list);

	for (size_t i = 0; i < map->count; i++)
		list[i] = &map->entry[i];
	qsort(list, map->count, sizeof *list, compare_entries);
	return list;
}

static void dump_history(const char *key, const struct history *h, int64_t now, struct buf *out)
{
	float point[HISTORY_POINTS];
	bool any = false;

	history_points(h, now, point, HISTORY_POINTS);
	for (int i = 0; i < HISTORY_POINTS; i++)
		any = any || !isnan(point[i]);
	if (!any)
		return;
	buf_printf(out, "history %s", key);
	for (int i = 0; i < HISTORY_POINTS; i++) {
		if (isnan(point[i]))
			buf_text(out, " -");
		else
			buf_printf(out, " %g", (double)point[i]);
	}
	buf_char(out, '\n');
}

void model_dump(const struct model *m, struct buf *out)
{
	const struct map_entry **list = sorted(&m->subject);

	for (size_t i = 0; i < m->subject.count; i++) {
		observation_encode(&((const struct record *)list[i]->value)->o, out);
		buf_char(out, '\n');
	}
	free(list);
	list = sorted(&m->history);
	for (size_t i = 0; i < m->history.count; i++)
		dump_history(list[i]->key, list[i]->value, m->last_t, out);
	free(list);
	list = sorted(&m->stack);
	for (size_t i = 0; i < m->stack.count; i++) {
		const struct stack_pair *p = list[i]->value;

		buf_printf(out, "stack %s last %lld before %lld same %lld x%lld %s\n", list[i]->key, (long long)p->last->o.t,
			p->before ? (long long)p->before->o.t : 0LL, (long long)p->same_since, (long long)p->same_count,
			p->summary.top);
	}
	free(list);
	for (int k = 0; k < KIND_COUNT; k++)
		for (int i = m->event[k].count - 1; i >= 0; i--) {
			buf_text(out, "event ");
			observation_encode(model_event(m, (enum kind)k, i), out);
			buf_char(out, '\n');
		}
	buf_printf(out, "progress %lld\n", (long long)m->progress_t);
}
