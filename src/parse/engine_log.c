/* engine_log.c - lines of servers. */
#include "config.h"

#include "parse/engine_log.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "parse/literals.h"

void engine_log_init(struct engine_log *e, const struct reading_sink *sink, const struct profile_set *profiles)
{
	memset(e, 0, sizeof *e);
	e->sink = sink;
	e->profiles = profiles;
	e->ready = e->models_ok = e->load_percent = -1;
	e->running = e->waiting = e->progress_s = e->last_s = -1;
	e->common = log_classifier_new(NULL, NULL);
	e->shape_words = literals_new();
	for (int i = 0; profiles && i < profiles->count && i < PROFILES_MAX; i++) {
		/* The shapes of an engine, as if they were the start lines of a profile of their own. */
		e->shape_profile[i].line[LOG_START] = profiles->profile[i]->shape;
		e->shape[i] = profiles->profile[i]->shape.count ? log_classifier_new(&e->shape_profile[i], NULL) : NULL;
		e->shapes = i + 1;
		for (int k = 0; k < profiles->profile[i]->shape.count; k++)
			if (!literals_add(e->shape_words, span_of(profiles->profile[i]->shape.item[k]), i))
				e->wordless_shapes |= UINT64_C(1) << i;
	}
	literals_ready(e->shape_words);
}

void engine_log_release(struct engine_log *e)
{
	for (int i = 0; i < e->shapes; i++)
		log_classifier_free(e->shape[i]);
	log_classifier_free(e->classifier);
	log_classifier_free(e->common);
	literals_free(e->shape_words);
}

/* --- whose log it is --- */

static void settle(struct engine_log *e, const struct profile *p)
{
	if (e->engine == p)
		return;
	e->engine = p;
	log_classifier_free(e->classifier);
	e->classifier = log_classifier_new(p, NULL);
	e->changes++;
}

struct log_classifier *engine_log_classifier(const struct engine_log *e)
{
	return e->classifier ? e->classifier : e->common;
}

/* Some engines are known by the prefix of their lines, others by how the message starts. */
static bool has_shape(struct log_classifier *shape, const struct line *l)
{
	struct log_match m;

	return log_classify(shape, l->raw, &m) == LOG_START || (l->cut && log_classify(shape, l->text, &m) == LOG_START);
}

static void find_engine(struct engine_log *e, const struct line *l)
{
	uint64_t may[LITERALS_PATTERNS / 64] = { 0 };

	literals_scan(e->shape_words, l->raw, may);
	may[0] |= e->wordless_shapes;
	for (int i = 0; may[0] && i < e->shapes; i++)
		if (may[0] >> i & 1 && e->shape[i] && has_shape(e->shape[i], l)) {
			settle(e, e->profiles->profile[i]);
			return;
		}
}

void engine_log_owner(struct engine_log *e, const char *owned_by)
{
	for (int i = 0; i < e->shapes && !e->engine; i++)
		for (int k = 0; k < e->profiles->profile[i]->owned_by.count; k++)
			if (strcmp(e->profiles->profile[i]->owned_by.item[k], owned_by) == 0)
				settle(e, e->profiles->profile[i]);
}

void engine_log_models(struct engine_log *e, bool ok)
{
	if (ok)
		e->models_ok = 1;
	else if (e->models_ok < 0)
		e->models_ok = 0;
}

/* --- statistics --- */

static void work(struct engine_log *e, const char *what)
{
	e->last_work = what;
	if (strcmp(what, "progress") == 0)
		e->progress_s = e->last_s;
}

static void statistics(struct engine_log *e, const struct line *l, int64_t engine, int64_t running, int64_t waiting, bool moved)
{
	bool open = running > 0 || waiting > 0;
	int i = engine >= 0 && engine < ENGINES_MAX ? (int)engine : 0;

	e->running = running;
	e->waiting = waiting;
	if (moved || !open) {
		e->stall[i].stalled = false;
	} else if (!e->stall[i].stalled) {
		e->stall[i].stalled = true;
		memcpy(e->stall[i].since, l->time, sizeof l->time);
	}
	if (moved && open)
		work(e, "progress");
	else if (!open)
		work(e, "idle");
	else
		e->last_work = "stall";
}

static bool number_behind(struct span s, const char *word, double *value)
{
	struct span rest = span_after(s, word);

	return rest.len && span_take_real(&rest, value);
}

/* "Engine 000: Avg prompt throughput: 1.9 tokens/s, Avg generation throughput: 10.3 tokens/s, Running: 0 reqs, Waiting: 0 reqs" */
static bool vllm_line(struct engine_log *e, const struct line *l)
{
	struct span s = l->text;
	double prompt = 0, generation = 0, running, waiting, engine = 0;

	if (!number_behind(s, "Avg prompt throughput: ", &prompt) || !number_behind(s, "Running: ", &running))
		return false;
	number_behind(s, "Avg generation throughput: ", &generation);
	if (!number_behind(s, "Waiting: ", &waiting) && !number_behind(s, "Pending: ", &waiting))
		waiting = 0;
	number_behind(s, "Engine ", &engine);
	statistics(e, l, (int64_t)engine, (int64_t)running, (int64_t)waiting, prompt > 0 || generation > 0);
	return true;
}

/* "Decode batch. #running-req: 1, ... gen throughput (token/s): 444.84, #queue-req: 0, " */
static bool sglang_line(struct engine_log *e, const struct line *l)
{
	bool prefill = span_starts(l->text, "Prefill batch"), decode = span_starts(l->text, "Decode batch");
	double running, waiting = 0, rate = 1, fresh = 0;
	uint64_t engine = 0;
	struct span dp;

	if ((!prefill && !decode) || !number_behind(l->text, "#running-req: ", &running))
		return false;
	number_behind(l->text, "#queue-req: ", &waiting);
	if (decode)
		number_behind(l->text, "gen throughput (token/s): ", &rate);
	else if (number_behind(l->text, "#new-token: ", &rate))
		number_behind(l->text, "#new-seq: ", &fresh);
	dp = span_after(span_of(l->rank), "DP");
	span_take_uint(&dp, &engine);
	statistics(e, l, (int64_t)engine, (int64_t)running, (int64_t)waiting, rate > 0);
	/* A prefill line counts what ran before it. */
	if (prefill && rate > 0)
		work(e, "progress");
	(void)fresh;
	return true;
}

/* --- the rest --- */

/* "Loading safetensors checkpoint shards:  50% Completed | 2/4", "Loading safetensors shards[X]:  12%|..." */
static void loading_bar(struct engine_log *e, struct span s)
{
	struct span rest = span_after(s, "oading ");
	long at;

	if (!rest.len || !span_contains(rest, "shards"))
		return;
	at = span_find_char(rest, '%');
	if (at > 0) {
		size_t start = (size_t)at;
		struct span number;
		uint64_t n;

		while (start > 0 && rest.at[start - 1] >= '0' && rest.at[start - 1] <= '9')
			start--;
		number = span_sub(rest, start, (size_t)at - start);
		if (span_uint(number, &n) && n <= 100)
			e->load_percent = (int)n;
	}
}

/* A word that is an HTTP status, "200" or "200,"; 0 when it is none. */
static uint64_t status_of(struct span word)
{
	uint64_t status;

	while (word.len && strchr(",.)", word.at[word.len - 1]))
		word.len--;
	return word.len == 3 && span_uint(word, &status) && status >= 100 && status < 600 ? status : 0;
}

/* An access line, a proxy's probe: "/v1/models" and a status behind it; gin and haproxy print it before. */
static void models_line(struct engine_log *e, struct span s)
{
	struct span rest = span_after(s, "/v1/models"), before = span_sub(s, 0, s.len - rest.len), word;
	uint64_t status = 0;

	if (!rest.len)
		return;
	for (int i = 0; i < 6 && !status && span_word(&rest, &word); i++)
		status = status_of(word);
	while (!status && (span_starts(s, "[GIN]") || span_ends(span_trim(s), "HTTP/1.1\"")) && span_word(&before, &word))
		status = status_of(word);
	if (status)
		engine_log_models(e, status == 200);
}

static void clock_of(struct engine_log *e, const struct line *l)
{
	if (l->time[0])
		e->last_s = ((l->time[0] - '0') * 10 + l->time[1] - '0') * 3600 + ((l->time[3] - '0') * 10 + l->time[4] - '0') * 60 +
			    (l->time[6] - '0') * 10 + l->time[7] - '0';
}

static void say(struct engine_log *e, const struct line *l, const char *class, uint64_t *rows)
{
	struct buf masked;
	struct reading r;

	if ((*rows)++ >= LOG_ROWS_MAX)
		return;
	reading_start(&r, "log", l->offset);
	reading_word(&r, "class", class);
	reading_word(&r, "rank", l->rank);
	buf_init(&masked, 1000);
	text_mask(&masked, span_sub(span_trim(l->text), 0, 600));
	reading_text(&r, "text", buf_as_span(&masked));
	reading_emit(&r, e->sink);
	buf_release(&masked);
}

static bool take_class(struct engine_log *e, const struct line *l, const struct log_match *m)
{
	bool atom = e->engine && strcmp(e->engine->name, "atom") == 0;

	switch (m->class) {
	case LOG_START:
		e->ready = 0;
		break;
	case LOG_LOADING:
		if (e->ready != 1) {
			e->ready = 0;
			work(e, "loading");
		}
		return false;
	case LOG_READY:
		e->ready = 1;
		break;
	case LOG_REQUEST:
		e->arrived++;
		e->last_work = "arrival";
		return false;
	case LOG_PROGRESS:
		e->finished += m->done;
		if (atom && span_contains(l->text, "Scheduled prefill batch"))
			e->prefills++;
		if (atom || e->running < 0)
			work(e, "progress");
		return false;
	case LOG_FATAL:
		/* A start that fails before a word of loading: not ready, and that is known. */
		if (e->ready < 0 && (span_contains(l->text, "failed to start") || span_contains(l->text, "nitialization failed")))
			e->ready = 0;
		break;
	case LOG_FAULT:
	case LOG_WARNING:
		break;
	default:
		return false;
	}
	say(e, l, log_class_word(m->class), &e->rows[m->class]);
	return true;
}

void engine_log_note(struct engine_log *e, const struct line *l)
{
	say(e, l, "note", &e->rows[LOG_NONE]);
}

bool engine_log_line(struct engine_log *e, const struct line *l, const struct engine_words *words)
{
	const uint64_t *found = words->found;
	unsigned changes = e->changes;
	bool has_words = words->own;
	struct log_match m;

	if (!e->engine)
		find_engine(e, l);
	if (e->changes != changes)
		found = NULL;
	clock_of(e, l);
	e->lines++;
	/* Lines of bars have no end: a pattern for them is not worth a look at every line. */
	if (log_classify_found(engine_log_classifier(e), l->text, found, &m) != LOG_NONE) {
		if (has_words && (m.class == LOG_LOADING || m.class == LOG_PROGRESS || m.class == LOG_STATS))
			loading_bar(e, l->text);
		if (has_words && m.class == LOG_IGNORE)
			models_line(e, l->text);
		if ((has_words && vllm_line(e, l)) || sglang_line(e, l))
			return false;
		return take_class(e, l, &m);
	} else if (sglang_line(e, l)) { /* no token moved: no progress */
		return false;
	} else if ((m.running >= 0 || m.waiting >= 0) && has_words) {
		vllm_line(e, l);
	} else if (has_words) {
		models_line(e, l->text);
		if (span_contains(l->text, "all slots are idle"))
			e->last_work = "idle";
	}
	return false;
}

void engine_log_flush(struct engine_log *e, uint64_t lines)
{
	bool atom = e->engine && strcmp(e->engine->name, "atom") == 0;
	const char *since = NULL;
	struct reading r;

	for (int i = 0; i < ENGINES_MAX; i++)
		if (e->stall[i].stalled && (!since || strcmp(e->stall[i].since, since) < 0))
			since = e->stall[i].since;
	reading_start(&r, "server_log", 0);
	if (e->engine)
		reading_word(&r, "framework", e->engine->name);
	if (e->ready >= 0)
		reading_int(&r, "ready", e->ready);
	if (e->running >= 0)
		reading_int(&r, "running", e->running);
	if (e->waiting >= 0)
		reading_int(&r, "waiting", e->waiting);
	reading_word(&r, "stalled_since", since);
	if (e->models_ok >= 0)
		reading_int(&r, "models_ok", e->models_ok);
	if (atom && (e->arrived || e->finished || e->prefills)) {
		reading_int(&r, "requests_arrived", e->arrived);
		reading_int(&r, "requests_finished", e->finished);
		reading_int(&r, "prefill_batches", e->prefills);
	}
	if (e->load_percent >= 0)
		reading_int(&r, "load_percent", e->load_percent);
	if (e->last_work && e->progress_s >= 0 && e->last_s - e->progress_s > 30 && strcmp(e->last_work, "arrival") == 0)
		e->last_work = "unanswered";
	reading_word(&r, "last_work", e->last_work);
	reading_int(&r, "lines", (int64_t)lines);
	reading_emit(&r, e->sink);
}
