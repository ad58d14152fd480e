/* log_rows.c - counting lines, and emitting what they say. */
#include "config.h"

#include "source/log_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define SECOND_MS 1000
#define ROWS_OFTEN 50
#define ROWS_SELDOM 5
#define PROGRESS_MS 100
#define REQUESTS_MS 200

static bool is_shown(enum log_class c)
{
	return c != LOG_NONE && c != LOG_IGNORE && c != LOG_STATS && c != LOG_FINISH;
}

/* Classes that tell the state of the server's run. */
static bool is_state(enum log_class c)
{
	return c == LOG_START || c == LOG_READY || c == LOG_LOADING || c == LOG_FAULT || c == LOG_FATAL;
}

static void counts_unknown(struct log_rows *r)
{
	r->pending = -1;
	for (int i = 0; i < LOG_ENGINES_MAX; i++)
		r->running[i] = r->waiting[i] = -1;
}

void log_rows_init(struct log_rows *r, struct source_env *env)
{
	memset(r, 0, sizeof *r);
	r->env = env;
	r->file = "";
	counts_unknown(r);
	buf_init(&r->scratch, LOG_TEXT_MAX);
	for (int i = 0; i < LOG_CLASSES; i++) {
		r->emitted_at[i] = -1;
		buf_init(&r->limit[i].last.text, LOG_TEXT_MAX);
		buf_init(&r->first[i].text, LOG_TEXT_MAX);
		buf_init(&r->last[i].text, LOG_TEXT_MAX);
	}
}

void log_rows_release(struct log_rows *r)
{
	buf_release(&r->scratch);
	for (int i = 0; i < LOG_CLASSES; i++) {
		buf_release(&r->limit[i].last.text);
		buf_release(&r->first[i].text);
		buf_release(&r->last[i].text);
	}
}

void log_rows_restart(struct log_rows *r, const char *file)
{
	r->file = file;
	for (int i = 0; i < LOG_CLASSES; i++)
		r->emitted_at[i] = -1;
}

/* --- rows --- */

static void keep(struct log_kept *k, const struct log_match *m, int64_t offset)
{
	k->used = true;
	k->class = m->class;
	k->offset = offset;
	buf_clear(&k->text);
	buf_span(&k->text, span_sub(m->text, 0, LOG_TEXT_MAX));
}

/* Harmless, without colours, at most LOG_TEXT_MAX bytes, cut between characters. */
static struct span row_text(struct log_rows *r, struct span text)
{
	struct buf plain, masked;

	buf_init(&plain, LOG_TEXT_MAX);
	log_strip_colours(span_sub(text, 0, LOG_TEXT_MAX), &plain);
	buf_clear(&r->scratch);
	r->scratch.cut = false;
	buf_init(&masked, LOG_TEXT_MAX);
	text_mask(&masked, span_trim(buf_as_span(&plain)));
	text_scrub(&r->scratch, buf_as_span(&masked));
	buf_release(&masked);
	buf_release(&plain);
	if (r->scratch.cut)
		while (r->scratch.len && (r->scratch.at[r->scratch.len - 1] & 0x80))
			r->scratch.at[--r->scratch.len] = 0;
	return buf_as_span(&r->scratch);
}

static struct span before_prompt(struct span text)
{
	static const char *const words[] = { "prompt:", "prompt=", "text=", "messages=", "input_ids=", "'text':", "\"prompt\":" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		long at = span_find(text, words[i]);

		if (at >= 0)
			text.len = (size_t)at;
	}
	return text;
}

static void emit_row(struct log_rows *r, enum log_class class, int64_t offset, struct span text,
	int64_t repeats)
{
	struct observation o;
	char rank[LOG_RANK_MAX];

	observation_init(&o, KIND_log, r->env->node, clock_wall_ms());
	/* The text of a request is its user's. */
	text = row_text(r, class == LOG_REQUEST ? before_prompt(text) : text);
	observation_text(&o, LOG_file, r->file);
	observation_int(&o, LOG_offset, offset);
	observation_text(&o, LOG_class, log_class_word(class));
	if (log_rank(r->classifier, text, rank))
		observation_text(&o, LOG_rank, rank);
	observation_span(&o, LOG_text, text);
	observation_int(&o, LOG_repeats, repeats);
	r->emitted_at[class] = offset;
	r->env->emit(r->env->context, &o);
}

static bool allowed(struct log_limit *l, enum log_class class, int64_t now)
{
	bool seldom = !is_state(class) || class == LOG_LOADING;

	if (now - l->second >= SECOND_MS || now < l->second) {
		l->second = now;
		l->count = 0;
	}
	return l->count < (seldom ? ROWS_SELDOM : ROWS_OFTEN);
}

/* What was swallowed last is not lost: the end of a burst may be what matters. */
static void flush_limit(struct log_rows *r, enum log_class class, int64_t now)
{
	struct log_limit *l = &r->limit[class];

	if (!l->last.used || !allowed(l, class, now))
		return;
	l->count++;
	emit_row(r, class, l->last.offset, buf_as_span(&l->last.text), l->swallowed - 1);
	l->last.used = false;
	l->swallowed = 0;
}

static void show(struct log_rows *r, const struct log_match *m, int64_t offset)
{
	struct log_limit *l = &r->limit[m->class];

	if (offset <= r->emitted_at[m->class] || (l->last.used && l->last.offset == offset))
		return; /* told before, when it had no end yet or the engine was not known */
	if (!allowed(l, m->class, clock_mono_ms())) {
		keep(&l->last, m, offset);
		l->swallowed++;
		return;
	}
	l->count++;
	emit_row(r, m->class, offset, m->text, l->swallowed);
	l->last.used = false;
	l->swallowed = 0;
}

/* --- counts --- */

static void take_stats(struct log_rows *r, const struct log_match *m)
{
	int64_t e = m->engine;

	if (e >= LOG_ENGINES_MAX || (m->running < 0 && m->waiting < 0))
		return;
	if (m->running >= 0)
		r->running[e] = m->running;
	if (m->waiting >= 0)
		r->waiting[e] = m->waiting;
	r->requests_changed = true;
}

static int64_t take_from(int64_t *value, int64_t n)
{
	int64_t taken = *value < 0 ? 0 : *value < n ? *value : n;

	*value -= taken;
	return n - taken;
}

/* n requests ended. Which engine's they were is not said: of those that have some. */
static void subtract(struct log_rows *r, int64_t n)
{
	int64_t left = n;

	if (n <= 0)
		return;
	take_from(&r->pending, n);
	for (int i = 0; i < LOG_ENGINES_MAX && left; i++)
		left = take_from(&r->running[i], left);
	if (!r->looking_back)
		r->finished += n;
	r->requests_changed = true;
}

static void count(struct log_rows *r, const struct log_match *m)
{
	take_stats(r, m);
	switch (m->class) {
	case LOG_PROGRESS:
		if (!r->looking_back)
			r->total += m->n;
		subtract(r, m->done);
		break;
	case LOG_FINISH:
		subtract(r, m->done);
		break;
	case LOG_REQUEST:
		if (!r->looking_back)
			r->arrived++;
		if (m->pending >= 0)
			r->pending = m->pending; /* lines without that count do not tell what is open: unknown is not zero */
		r->requests_changed = true;
		break;
	case LOG_START:
		counts_unknown(r);
		r->pending = 0;
		r->requests_changed = true;
		break;
	default:
		break;
	}
}

/* --- looking back --- */

static void look_back(struct log_rows *r, const struct log_match *m, int64_t offset)
{
	if (!is_state(m->class))
		return;
	if (m->class == LOG_START)
		for (int i = 0; i < LOG_CLASSES; i++)
			r->first[i].used = r->last[i].used = false;
	if ((m->class == LOG_FAULT || m->class == LOG_FATAL) && !r->first[m->class].used)
		keep(&r->first[m->class], m, offset);
	else
		keep(&r->last[m->class], m, offset);
}

void log_rows_look_back_begin(struct log_rows *r)
{
	r->looking_back = true;
	counts_unknown(r);
	for (int i = 0; i < LOG_CLASSES; i++)
		r->first[i].used = r->last[i].used = false;
}

/* The kept row with the smallest offset, or NULL. */
static struct log_kept *next_kept(struct log_rows *r)
{
	struct log_kept *best = NULL;

	for (int i = 0; i < LOG_CLASSES; i++) {
		if (r->first[i].used && (!best || r->first[i].offset < best->offset))
			best = &r->first[i];
		if (r->last[i].used && (!best || r->last[i].offset < best->offset))
			best = &r->last[i];
	}
	return best;
}

void log_rows_look_back_end(struct log_rows *r)
{
	struct log_kept *k;

	while ((k = next_kept(r))) {
		if (k->offset > r->emitted_at[k->class])
			emit_row(r, k->class, k->offset, buf_as_span(&k->text), 0);
		k->used = false;
	}
	r->looking_back = false;
}

void log_rows_line(struct log_rows *r, const struct log_match *m, int64_t offset, bool unfinished)
{
	if (!unfinished)
		count(r, m);
	if (r->looking_back)
		look_back(r, m, offset);
	else if (is_shown(m->class) && (!unfinished || is_state(m->class)))
		show(r, m, offset);
}

/* --- flush --- */

static void emit_progress(struct log_rows *r, int64_t now)
{
	struct observation o;
	char counter[100];

	if (!r->name || r->total == r->total_emitted || now - r->progress_t < PROGRESS_MS)
		return;
	snprintf(counter, sizeof counter, "log:%s", r->name);
	observation_init(&o, KIND_progress, r->env->node, clock_wall_ms());
	observation_text(&o, PROGRESS_counter, counter);
	observation_real(&o, PROGRESS_value, (double)r->total);
	observation_real(&o, PROGRESS_delta, (double)(r->total - r->total_emitted));
	r->env->emit(r->env->context, &o);
	r->total_emitted = r->total;
	r->progress_t = now;
}

static int64_t sum(const int64_t *value)
{
	int64_t total = -1;

	for (int i = 0; i < LOG_ENGINES_MAX; i++)
		if (value[i] >= 0)
			total = (total < 0 ? 0 : total) + value[i];
	return total;
}

static void emit_requests(struct log_rows *r, int64_t now)
{
	int64_t running = sum(r->running), waiting = sum(r->waiting);
	int64_t open = running >= 0 && waiting >= 0 ? running + waiting : r->pending;
	struct observation o;

	if (!r->requests_changed || now - r->requests_t < REQUESTS_MS)
		return;
	observation_init(&o, KIND_requests, r->env->node, clock_wall_ms());
	observation_text(&o, REQUESTS_via, "log");
	if (running >= 0)
		observation_int(&o, REQUESTS_running, running);
	if (waiting >= 0)
		observation_int(&o, REQUESTS_waiting, waiting);
	if (open >= 0)
		observation_int(&o, REQUESTS_open, open);
	observation_int(&o, REQUESTS_arrived, r->arrived);
	observation_int(&o, REQUESTS_finished, r->finished);
	r->env->emit(r->env->context, &o);
	r->requests_changed = false;
	r->requests_t = now;
}

void log_rows_flush(struct log_rows *r, int64_t now_mono)
{
	for (enum log_class i = LOG_NONE; i < LOG_CLASSES; i++)
		flush_limit(r, i, now_mono);
	emit_progress(r, now_mono);
	emit_requests(r, now_mono);
}
