/* facts.c - from records to what the rules ask for. */
#include "config.h"

#include "model/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GPU_FRESH_MS 35000      /* the slow tools are asked every 10 s */
#define HTTP_FRESH_MS 15000
#define BUSY_PCT 50.0
#define IDLE_PCT 5.0
#define MOVES_PCT HISTORY_MOVES_PCT
#define MOVED_KNOWN_MS 100000   /* a seek restores samples of the last two minutes */

const char *gpu_pattern_words(enum gpu_pattern p)
{
	static const char *const words[] = {
		[GPUS_UNKNOWN] = "GPU activity is unknown",
		[GPUS_IDLE] = "GPUs idle",
		[GPUS_WORK] = "GPUs busy, memory active",
		[GPUS_SPIN] = "GPUs busy, memory still",
		[GPUS_MIXED] = "some GPUs busy with memory still, others idle",
	};

	return words[p];
}

static bool in_run(const struct facts *f, int64_t t)
{
	return t >= f->run_start;
}

static void gather_processes(struct facts *f)
{
	const struct observation *o;
	int64_t start = 0, ended = 0, best = -1;
	size_t at = 0;

	while ((o = model_next(f->model, KIND_process, &at)))
		if (observation_text_is(o, PROCESS_role, "api") && observation_get_int(o, PROCESS_start, &start) && start > best) {
			best = start;
			f->api = o;
		}
	if (f->api) {
		f->run_start = best;
		f->api_ended = observation_get_int(f->api, PROCESS_ended, &ended) && ended;
	}
	at = 0;
	while ((o = model_next(f->model, KIND_process, &at))) {
		ended = start = 0;
		observation_get_int(o, PROCESS_ended, &ended);
		if (observation_text_is(o, PROCESS_role, "helper"))
			continue;
		if (observation_get_int(o, PROCESS_start, &start) && start + 1000 < f->run_start)
			continue;
		if (!ended) {
			f->processes++;
		} else if (!observation_text_is(o, PROCESS_role, "api")) {
			f->dead_count++;
			if (!f->dead || o->t < f->dead->t ||
				(o->t == f->dead->t && observation_text_is(o, PROCESS_role, "worker")))
				f->dead = o;
		}
	}
}

static void gather_server(struct facts *f)
{
	const struct observation *o = model_newest(f->model, KIND_server);

	f->http_ms = NAN;
	if (!o || f->now - o->t > HTTP_FRESH_MS)
		return;
	f->server = o;
	f->http_ok = observation_text_is(o, SERVER_class, "ok");
	f->http_refused = observation_text_is(o, SERVER_class, "refused");
	f->http_silent = observation_text_is(o, SERVER_class, "timeout");
	observation_get_real(o, SERVER_total_ms, &f->http_ms);
}

/* A mark of this run: not before the API process, nor before the last start line. */
static const struct observation *mark_in_run(const struct facts *f, const char *class)
{
	const struct observation *o = model_mark(f->model, class), *start = model_mark(f->model, "start");

	return o && in_run(f, o->t) && (!start || o->t >= start->t) ? o : NULL;
}

static void gather_log(struct facts *f)
{
	const struct observation *o, *ready;
	int64_t at, ready_at;

	f->fault = mark_in_run(f, "fault");
	f->fatal = mark_in_run(f, "fatal");
	if ((ready = mark_in_run(f, "ready")))
		f->ready_t = ready->t;
	if ((o = mark_in_run(f, "loading"))) {
		f->loading_t = o->t;
		/* A line that the rate limit held back became known late: its place in the file tells the order. */
		if (ready && observation_get_int(o, LOG_MARK_offset, &at) && observation_get_int(ready, LOG_MARK_offset, &ready_at) &&
			at < ready_at && f->loading_t >= f->ready_t)
			f->loading_t = f->ready_t - 1;
		observation_get_text(o, LOG_MARK_text, &f->loading_text);
	}
}

static void gather_requests(struct facts *f)
{
	const struct observation *o;
	size_t at = 0;

	f->open = model_open_requests(f->model, &f->requests);
	if (f->requests) {
		f->open_since = f->requests->t;
		observation_get_int(f->requests, REQUESTS_open_since, &f->open_since);
	}
	while ((o = model_next(f->model, KIND_progress, &at)))
		if (in_run(f, o->t) && (!f->progress || o->t > f->progress->t))
			f->progress = o;
	f->stall = -1;
	if (f->open <= 0)
		return;
	f->base = f->open_since;
	if (f->progress && f->progress->t > f->base)
		f->base = f->progress->t;
	if (f->ready_t > f->base)
		f->base = f->ready_t;
	if (f->loading_t > f->base)
		f->base = f->loading_t; /* compiling or capturing is work */
	f->stall = f->now - f->base;
}

/* Does a GPU belong to the server? By the ranks' GPUs when they are known, else by VRAM in use. */
static bool gpu_is_ours(const struct facts *f, const struct observation *gpu)
{
	bool known = false;
	int64_t index = -1, used = 0, total = 0;

	observation_get_int(gpu, GPU_gpu, &index);
	for (int i = 0; i < f->ranks->count; i++)
		if (f->ranks->rank[i].gpu >= 0) {
			known = true;
			if (f->ranks->rank[i].gpu == index)
				return true;
		}
	if (known)
		return false;
	if (observation_get_int(gpu, GPU_vram_used, &used) && observation_get_int(gpu, GPU_vram_total, &total) && total > 0)
		return used * 20 > total;
	return true;
}

/* A GPU of ours that moved memory did work then: the stall clock runs from there. */
static void moved_lately(struct facts *f, const struct observation *gpu)
{
	const struct history *h;
	int64_t index = 0;
	char key[160];

	observation_get_int(gpu, GPU_gpu, &index);
	snprintf(key, sizeof key, "%.120s/gpu/%lld", gpu->node, (long long)index);
	h = model_history(f->model, key);
	if (f->open <= 0 || !h || h->moved_t <= f->base || f->now - h->moved_t > MOVED_KNOWN_MS)
		return;
	f->base = h->moved_t;
	f->stall = f->now - f->base;
}

static void gather_gpus(struct facts *f)
{
	const struct observation *o;
	int busy = 0, idle = 0, moving = 0, still = 0, count = 0;
	size_t at = 0;

	while ((o = model_next(f->model, KIND_gpu, &at))) {
		double pct, moves;

		if (f->now - o->t > GPU_FRESH_MS || !gpu_is_ours(f, o) || !observation_get_real(o, GPU_busy_pct, &pct))
			continue;
		count++;
		if (!f->gpu_t || o->t < f->gpu_t)
			f->gpu_t = o->t;
		if (pct <= IDLE_PCT)
			idle++;
		else if (pct >= BUSY_PCT)
			busy++;
		if (observation_get_real(o, GPU_mem_activity_pct, &moves)) {
			moved_lately(f, o);
			if (moves >= MOVES_PCT)
				moving++;
			else if (pct >= BUSY_PCT)
				still++;
		}
	}
	f->gpu_count = count;
	f->gpu_busy = busy;
	if (moving)
		f->gpus = GPUS_WORK;
	else if (count && idle == count)
		f->gpus = GPUS_IDLE;
	else if (count && busy == count && still == busy)
		f->gpus = GPUS_SPIN;
	else if (busy && still == busy && busy + idle == count)
		f->gpus = GPUS_MIXED;
	else
		f->gpus = GPUS_UNKNOWN;
}

/* Where a thread sleeps in the kernel says little of what it does. */
static bool kernel_view(const struct stack_pair *s)
{
	return observation_text_is(&s->last->o, STACK_how, "proc");
}

/* Two samples of one rank, both after `base` and at least 6 s apart, with the same functions. */
static bool rank_proved_same(const struct stack_pair *s, int64_t base)
{
	int64_t from = s->same_since;

	if (s->same_count < 2)
		return false;
	if (kernel_view(s))
		return false;
	if (from < base) {
		/* The first of the run after base came at most one interval after it. */
		int64_t interval = (s->last->o.t - from) / (s->same_count - 1);

		from = s->before && s->before->o.t >= base ? s->before->o.t : s->last->o.t;
		if (base + interval < from)
			from = base + interval;
	}
	return s->last->o.t - from >= FACTS_APART_MS;
}

#define SNAPSHOT_AFTER_MS 3000  /* the last sample may be from before its end */
#define SNAPSHOT_LONGEST_MS 300000

/* Held by a snapshot of ours: it was asked for, and says itself how it ends. */
static bool in_snapshot(const struct facts *f, const struct rank *r)
{
	const struct observation *o;
	int64_t pid = 0, of;

	observation_get_int(r->process, PROCESS_pid, &pid);
	for (int i = 0; (o = model_event(f->model, KIND_snapshot, i)) && f->now - o->t < SNAPSHOT_LONGEST_MS; i++)
		if (observation_get_int(o, SNAPSHOT_pid, &of) && of == pid)
			return observation_text_is(o, SNAPSHOT_state, "running") || f->now - o->t < SNAPSHOT_AFTER_MS;
	return false;
}

static void gather_ranks(struct facts *f)
{
	int alive = 0, equal = 0, known = 0, parked = 0, collective = 0, waiting = 0, equal_waiting = 0;

	for (int i = 0; i < f->ranks->count; i++) {
		const struct rank *r = &f->ranks->rank[i];
		struct span state;
		int64_t since = 0;

		if (r->ended)
			continue;
		alive++;
		if (r->sample && observation_get_text(r->sample, PROCESS_SAMPLE_state, &state) && !f->stopped) {
			observation_get_int(r->sample, PROCESS_SAMPLE_state_since, &since);
			if (((span_is(state, "T") || span_is(state, "t")) && !in_snapshot(f, r)) || (span_is(state, "D") && since && f->now - since > 10000))
				f->stopped = r;
		}
		if (!r->stack)
			continue;
		if (r->stack->last->o.t >= f->base && !kernel_view(r->stack))
			known++;
		if (rank_proved_same(r->stack, f->base))
			equal++;
		if (r->stack->summary.wait == WAIT_QUEUE)
			parked++;
		if (r->stack->summary.wait == WAIT_COLLECTIVE)
			collective++;
		if (r->stack->summary.wait == WAIT_COLLECTIVE || r->stack->summary.wait == WAIT_GPU) {
			waiting++;
			equal_waiting += rank_proved_same(r->stack, f->base);
		}
	}
	f->stacks_known = known;
	f->stacks_equal = alive && equal == alive;
	/* The head waits for work and the others for the head: an idle engine of several ranks. */
	f->parked = alive && parked > 0 && parked + (f->gpus == GPUS_IDLE ? collective : 0) == alive;
	f->waits_for_gpu = alive && waiting == alive;
	f->majority_waits = alive > 2 && known == alive && equal_waiting * 4 >= alive * 3;
}

static void gather_blindness(struct facts *f)
{
	const struct observation *o;
	size_t at = 0;

	while ((o = model_next(f->model, KIND_source, &at)))
		if (observation_text_is(o, SOURCE_source, "agent-host") && observation_text_is(o, SOURCE_state, "late"))
			f->blind = o;
}

void facts_gather(struct facts *f, const struct model *m, const struct ranks *ranks, const struct triage_options *options,
	int64_t now)
{
	memset(f, 0, sizeof *f);
	f->model = m;
	f->ranks = ranks;
	f->options = options;
	f->now = now;
	gather_processes(f);
	gather_server(f);
	gather_log(f);
	gather_requests(f);
	gather_gpus(f);
	gather_ranks(f);
	gather_blindness(f);
}
