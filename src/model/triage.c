/* triage.c - the rules, in order: the first that holds gives the verdict. */
#include "config.h"

#include "model/triage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/explain.h"
#include "model/facts.h"

#define DISPROVED_MS 10000      /* progress so long after a fatal line shows that it was none */
#define HEALTHY_MS 10000        /* progress younger than this is health, whatever else is seen */
#define SLOW_HTTP_MS 1000.0
#define LOADING_RECENT_MS 120000

/* --- saying it --- */

static void say(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *out, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out, size, format, args);
	va_end(args);
}
#define REASON(v, ...) say((v)->reason, sizeof (v)->reason, __VA_ARGS__)

static void evidence(struct verdict *v, int64_t t, const char *what, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void evidence(struct verdict *v, int64_t t, const char *what, const char *format, ...)
{
	struct evidence *e = &v->evidence[v->evidence_count];
	va_list args;

	if (v->evidence_count == EVIDENCE_MAX)
		return;
	v->evidence_count++;
	say(e->what, sizeof e->what, "%s", what);
	va_start(args, format);
	vsnprintf(e->value, sizeof e->value, format, args);
	va_end(args);
	e->t = t;
}

static const char *duration(int64_t ms)
{
	static char out[4][24];
	static int at;

	at = (at + 1) % 4;
	return text_duration(out[at], sizeof out[at], ms);
}

static int fit(struct span s, int max)
{
	return s.len > (size_t)max ? max : (int)s.len;
}

static struct span text_of(const struct observation *o, int field)
{
	struct span s = { "", 0 };

	observation_get_text(o, field, &s);
	return s;
}

/* --- evidence that most verdicts show --- */

static void show_progress(struct verdict *v, const struct facts *f)
{
	if (f->progress) {
		struct span counter = text_of(f->progress, PROGRESS_counter);
		double value = 0;

		observation_get_real(f->progress, PROGRESS_value, &value);
		evidence(v, f->progress->t, "last progress", "%.*s at %.0f", fit(counter, 60), counter.at, value);
	} else {
		evidence(v, 0, "last progress", "none seen");
	}
}

static void show_requests(struct verdict *v, const struct facts *f)
{
	if (f->open < 0)
		evidence(v, 0, "open requests", "unknown");
	else
		evidence(v, f->requests->t, "open requests", "%lld", (long long)f->open);
}

static void show_gpus(struct verdict *v, const struct facts *f)
{
	if (f->gpu_count)
		evidence(v, f->gpu_t, "GPUs", "%s (%d of %d busy)", gpu_pattern_words(f->gpus), f->gpu_busy, f->gpu_count);
	else
		evidence(v, 0, "GPUs", "unknown");
}

static void show_http(struct verdict *v, const struct facts *f)
{
	if (!f->server)
		evidence(v, 0, "HTTP", "unknown");
	else if (f->http_ok)
		evidence(v, f->server->t, "HTTP", "answers in %.0f ms (says only that the HTTP loop turns)", f->http_ms);
	else
		evidence(v, f->server->t, "HTTP", "%.*s", fit(text_of(f->server, SERVER_class), 40),
			text_of(f->server, SERVER_class).at);
}

static void show_stacks(struct verdict *v, const struct facts *f)
{
	for (int i = 0; i < f->ranks->classes && i < 3; i++) {
		const struct stack_class *c = &f->ranks->class[i];

		evidence(v, f->ranks->newest_stack, "stacks", "%.60s: %.40s, equal x%d", c->ranges, c->top,
			c->same_count);
	}
}

/* --- the rules --- */

static bool fault_line(const struct facts *f, struct verdict *v)
{
	struct span text;

	if (!f->fault)
		return false;
	text = text_of(f->fault, LOG_MARK_text);
	v->since = f->fault->t;
	v->grade = f->dead ? 'A' : 'C';
	REASON(v, "%.*s", fit(text, 200), text.at);
	evidence(v, f->fault->t, "log", "%.*s", fit(text, 110), text.at);
	if (f->dead)
		evidence(v, f->dead->t, "processes", "%d ended", f->dead_count);
	show_http(v, f);
	return true;
}

static void name_process(const struct observation *process, char *out, size_t size)
{
	struct span rank = text_of(process, PROCESS_rank), role = text_of(process, PROCESS_role);
	int64_t pid = 0;

	observation_get_int(process, PROCESS_pid, &pid);
	if (rank.len)
		say(out, size, "rank %.*s (pid %lld)", fit(rank, 30), rank.at, (long long)pid);
	else
		say(out, size, "%.*s (pid %lld)", fit(role, 12), role.at, (long long)pid);
}

static bool worker_ended(const struct facts *f, struct verdict *v)
{
	char who[80], more[40] = "";

	if (!f->dead)
		return false;
	name_process(f->dead, who, sizeof who);
	if (f->dead_count > 1)
		say(more, sizeof more, " and %d more", f->dead_count - 1);
	v->since = f->dead->t;
	v->grade = f->fatal ? 'A' : 'C';
	REASON(v, "%s%s ended%s", who, more, f->http_ok ? "; the API still answers, completions will not return" : "");
	say(v->candidates, sizeof v->candidates, "%.*s", fit(text_of(f->dead, PROCESS_rank), 30), text_of(f->dead, PROCESS_rank).at);
	evidence(v, f->dead->t, "processes", "%s%s ended", who, more);
	if (f->fatal)
		evidence(v, f->fatal->t, "log", "%.*s", fit(text_of(f->fatal, LOG_MARK_text), 110), text_of(f->fatal, LOG_MARK_text).at);
	show_http(v, f);
	return true;
}

static bool server_ended(const struct facts *f, struct verdict *v)
{
	int64_t pid = 0;

	if (!f->api || !f->api_ended)
		return false;
	observation_get_int(f->api, PROCESS_pid, &pid);
	v->since = f->api->t;
	v->grade = f->http_refused || f->fatal ? 'A' : 'C';
	REASON(v, "the API server (pid %lld) ended", (long long)pid);
	evidence(v, f->api->t, "processes", "API server pid %lld ended", (long long)pid);
	show_http(v, f);
	return true;
}

static bool fatal_line(const struct facts *f, struct verdict *v)
{
	struct span text;

	/* Work that goes on behind it disproves it: an error that was caught, a text that only reads like one. */
	if (!f->fatal || (f->progress && f->progress->t > f->fatal->t + DISPROVED_MS))
		return false;
	text = text_of(f->fatal, LOG_MARK_text);
	v->since = f->fatal->t;
	v->grade = 'C';
	REASON(v, "%.*s", fit(text, 200), text.at);
	evidence(v, f->fatal->t, "log", "%.*s", fit(text, 110), text.at);
	show_http(v, f);
	return true;
}

/* What is not observed any more must not be judged. */
static bool blind(const struct facts *f, struct verdict *v)
{
	if (!f->blind)
		return false;
	v->grade = 'D';
	REASON(v, "cannot see: the host agent is %.*s", fit(text_of(f->blind, SOURCE_detail), 160), text_of(f->blind, SOURCE_detail).at);
	evidence(v, f->blind->t, "agent-host", "%.*s", fit(text_of(f->blind, SOURCE_detail), 110), text_of(f->blind, SOURCE_detail).at);
	show_progress(v, f);
	return true;
}

static bool nothing_found(const struct facts *f, struct verdict *v)
{
	if (f->processes || f->server || f->progress || f->open >= 0 || f->loading_t)
		return false;
	v->grade = 'D';
	REASON(v, "no server found yet: no process, no HTTP answer, no log");
	return true;
}

static bool not_ready(const struct facts *f, struct verdict *v)
{
	bool loading_log = f->loading_t > f->ready_t; /* known at one moment: both were there before us */

	if (f->ready_t > f->loading_t || f->http_ok || f->progress || (!f->processes && !loading_log))
		return false;
	if (!f->http_refused && !loading_log)
		return false;
	v->since = f->run_start ? f->run_start : f->loading_t;
	v->grade = f->http_refused && loading_log ? 'A' : 'D';
	if (loading_log)
		REASON(v, "not ready: %.*s", fit(f->loading_text, 160), f->loading_text.at);
	else
		REASON(v, "not ready: %d processes, the port is closed", f->processes);
	show_http(v, f);
	if (loading_log)
		evidence(v, f->loading_t, "log", "%.*s", fit(f->loading_text, 110), f->loading_text.at);
	show_gpus(v, f);
	return true;
}

static bool rank_stopped(const struct facts *f, struct verdict *v)
{
	struct span state;
	int64_t tracer = 0;

	if (!f->stopped)
		return false;
	state = text_of(f->stopped->sample, PROCESS_SAMPLE_state);
	v->since = f->stopped->sample->t;
	observation_get_int(f->stopped->sample, PROCESS_SAMPLE_state_since, &v->since);
	v->grade = 'C';
	say(v->candidates, sizeof v->candidates, "%s", f->stopped->name);
	if (observation_get_int(f->stopped->sample, PROCESS_SAMPLE_tracer, &tracer) && tracer)
		REASON(v, "rank %s is held by a debugger (pid %lld)", f->stopped->name, (long long)tracer);
	else if (span_is(state, "D"))
		REASON(v, "rank %s sleeps in the kernel and cannot be interrupted (state D)", f->stopped->name);
	else
		REASON(v, "rank %s is stopped (state %.*s)", f->stopped->name, fit(state, 1), state.at);
	evidence(v, f->stopped->sample->t, "process", "rank %s state %.*s", f->stopped->name, fit(state, 1), state.at);
	show_progress(v, f);
	return true;
}

/* Progress is missing for `share` of the stall time, and nothing shows that the GPUs work. */
static bool stalled(const struct facts *f, double share)
{
	return f->stall >= 0 && (double)f->stall >= share * (double)f->options->stall_ms && f->gpus != GPUS_WORK;
}

static void show_stall(struct verdict *v, const struct facts *f)
{
	v->since = f->base;
	show_progress(v, f);
	show_requests(v, f);
	show_gpus(v, f);
	show_http(v, f);
	show_stacks(v, f);
}

/* A rank that sleeps in the driver while requests wait does not come back by itself. */
static bool stuck_in_driver(const struct facts *f, struct verdict *v)
{
	int64_t since = 0;

	if (!f->stopped || !observation_text_is(f->stopped->sample, PROCESS_SAMPLE_state, "D") || !stalled(f, 0.8))
		return false;
	observation_get_int(f->stopped->sample, PROCESS_SAMPLE_state_since, &since);
	say(v->where, sizeof v->where, "host");
	say(v->candidates, sizeof v->candidates, "%s", f->stopped->name);
	v->grade = 'B';
	REASON(v, "rank %s sleeps in the kernel (state D) for %s, and no request makes progress", f->stopped->name, duration(f->now - since));
	show_stall(v, f);
	return true;
}

/* Where do the ranks stand? Fills where, reason and candidates; false when the stacks do not tell. */
static bool place_hang(const struct facts *f, struct verdict *v)
{
	const struct stack_class *major = NULL, *odd = NULL;

	for (int i = 0; i < f->ranks->classes; i++) {
		const struct stack_class *c = &f->ranks->class[i];

		if (c->odd && !odd)
			odd = c;
		if (!c->odd && (!major || c->count > major->count))
			major = c;
	}
	if (!major)
		return false;
	if (odd) {
		bool host = odd->wait != WAIT_COLLECTIVE && odd->wait != WAIT_GPU;

		say(v->where, sizeof v->where, "%s", host || f->gpus == GPUS_IDLE ? "host" : "collective");
		say(v->candidates, sizeof v->candidates, "%s", odd->ranges);
		REASON(v, "%s is in %.60s; %d ranks %s in %.60s", odd->ranges, odd->top, major->count,
			major->count == 1 ? "waits" : "wait", major->top);
		return true;
	}
	if (major->wait == WAIT_COLLECTIVE || major->wait == WAIT_GPU) {
		say(v->where, sizeof v->where, "%s",
			f->gpus == GPUS_IDLE ? "host" : major->wait == WAIT_COLLECTIVE ? "collective" : "kernel");
		REASON(v, "all %d ranks wait in %.80s", major->count, major->top);
		return true;
	}
	if (f->gpus == GPUS_SPIN) {
		say(v->where, sizeof v->where, "kernel");
		REASON(v, "GPUs spin while %d ranks stand in %.80s", major->count, major->top);
		return true;
	}
	say(v->where, sizeof v->where, "host");
	if (f->parked)
		REASON(v, "the engine gave no work: %d ranks wait in %.80s", major->count, major->top);
	else
		REASON(v, "%d of %d ranks stand in %.80s", major->count, f->ranks->with_stack, major->top);
	return true;
}

static bool hung(const struct facts *f, struct verdict *v)
{
	bool equal = f->stacks_equal || (f->majority_waits && f->stall >= 2 * f->options->stall_ms);

	if (!stalled(f, 0.8) || !equal || !place_hang(f, v))
		return false;
	/* Without any reading of the GPUs the same stacks may be a long generation: wait three times as long, and where the ranks
	 * stand in a wait for the GPU nothing tells the two apart. */
	if (f->gpus == GPUS_UNKNOWN && (f->stall < 3 * f->options->stall_ms || f->waits_for_gpu))
		return false;
	/* Workers that wait for work with a count that only the log keeps: an engine whose log does not say that a request
	 * ended looks the same when it is idle. */
	if (f->parked && observation_text_is(f->requests, REQUESTS_via, "log"))
		return false;
	v->grade = f->gpus == GPUS_UNKNOWN || !f->stacks_equal ? 'B' : 'A';
	show_stall(v, f);
	return true;
}

/* No stacks can be had (py-spy missing or denied): the log and the GPUs together still tell, with a lower grade. */
static bool hung_shallow(const struct facts *f, struct verdict *v)
{
	if (!stalled(f, 0.95) || f->gpus != GPUS_SPIN)
		return false;
	if (f->stacks_known)
		return false; /* stacks are coming in: wait for the second set */
	say(v->where, sizeof v->where, "kernel");
	v->grade = 'C';
	REASON(v, "%lld requests open, no progress for %s, all GPUs busy with memory still; no stacks", (long long)f->open,
		duration(f->stall));
	show_stall(v, f);
	return true;
}

static bool suspect_stall(const struct facts *f, struct verdict *v)
{
	if (!stalled(f, 0.4))
		return false;
	v->grade = f->gpus == GPUS_UNKNOWN ? 'D' : 'C';
	REASON(v, "no progress for %s with %lld requests open; %s", duration(f->stall), (long long)f->open,
		gpu_pattern_words(f->gpus));
	show_stall(v, f);
	return true;
}

static bool http_silent(const struct facts *f, struct verdict *v)
{
	if (!f->http_silent || !f->processes)
		return false;
	v->grade = 'D';
	REASON(v, "the HTTP loop accepts but does not answer%s",
		f->progress && f->now - f->progress->t < HEALTHY_MS ? "; the engine still makes progress" : "");
	show_http(v, f);
	show_progress(v, f);
	return true;
}

static bool compiling(const struct facts *f, struct verdict *v)
{
	if (!f->loading_t || f->loading_t <= f->ready_t || f->now - f->loading_t > LOADING_RECENT_MS)
		return false;
	if (f->progress && f->progress->t > f->loading_t)
		return false;
	v->since = f->loading_t;
	v->grade = 'D';
	REASON(v, "%.*s", fit(f->loading_text, 200), f->loading_text.at);
	evidence(v, f->loading_t, "log", "%.*s", fit(f->loading_text, 110), f->loading_text.at);
	show_gpus(v, f);
	return true;
}

static bool slow_http(const struct facts *f, struct verdict *v)
{
	if (!f->http_ok || !(f->http_ms > SLOW_HTTP_MS))
		return false;
	v->grade = 'D';
	REASON(v, "the HTTP loop needs %.1f s for a static answer: overloaded", f->http_ms / 1000);
	show_http(v, f);
	show_progress(v, f);
	show_requests(v, f);
	return true;
}

static bool long_generation(const struct facts *f, struct verdict *v)
{
	if (f->stall < 0.4 * (double)f->options->stall_ms || f->stall < 0 || f->gpus != GPUS_WORK)
		return false;
	v->grade = 'C';
	REASON(v, "GPUs work; no request has finished for %s (long generations are silent)", duration(f->stall));
	show_progress(v, f);
	show_requests(v, f);
	show_gpus(v, f);
	return true;
}

static bool makes_progress(const struct facts *f, struct verdict *v)
{
	bool recent = f->progress && f->now - f->progress->t < HEALTHY_MS;

	/* Requests that have just come are fine where progress was seen before; without any, open requests prove nothing. */
	if (!recent && (f->open <= 0 || (!f->progress && f->gpus != GPUS_WORK)))
		return false;
	v->grade = recent && f->gpus == GPUS_WORK ? 'A' : recent ? 'C' : 'D';
	if (recent)
		REASON(v, "work gets done: progress %s ago", duration(f->now - f->progress->t));
	else
		REASON(v, "%lld requests open for %s", (long long)f->open, duration(f->now - f->open_since));
	show_progress(v, f);
	show_requests(v, f);
	show_gpus(v, f);
	show_http(v, f);
	return true;
}

static bool nothing_open(const struct facts *f, struct verdict *v)
{
	if (f->open != 0)
		return false;
	v->grade = f->parked || f->gpus == GPUS_IDLE ? 'A' : 'D';
	REASON(v, "no request is open%s", f->parked ? "; the workers wait for work" : "");
	show_requests(v, f);
	show_gpus(v, f);
	show_progress(v, f);
	show_http(v, f);
	return true;
}

static bool all_parked(const struct facts *f, struct verdict *v)
{
	if (f->open > 0 || f->gpus == GPUS_SPIN || f->gpus == GPUS_WORK || f->gpus == GPUS_MIXED || !f->http_ok)
		return false;
	if (!f->parked && f->gpus != GPUS_IDLE)
		return false;
	v->grade = f->parked && f->gpus == GPUS_IDLE ? 'A' : 'D';
	REASON(v, "no request seen%s%s", f->parked ? "; the workers wait for work" : "",
		f->gpus == GPUS_IDLE ? "; GPUs idle" : "");
	show_gpus(v, f);
	show_stacks(v, f);
	show_http(v, f);
	return true;
}

static bool cannot_tell(const struct facts *f, struct verdict *v)
{
	v->grade = 'D';
	if (f->open > 0)
		REASON(v, "%lld requests open, no progress seen yet: watching", (long long)f->open);
	else
		REASON(v, "neither requests nor progress seen%s", f->http_ok ? "; the HTTP loop turns, which proves nothing more" : "");
	show_requests(v, f);
	show_progress(v, f);
	show_gpus(v, f);
	show_http(v, f);
	return true;
}

static const struct rule {
	const char *id;
	enum state state;
	bool (*holds)(const struct facts *, struct verdict *);
	const char *needs, *never, *next;
} rule_table[] = {
	{ "fault-line", STATE_FAULT, fault_line, "a fault line of the runtime in this run of the server",
		"an old fault before the last start", "read the log around it; keep the log and core limits before a restart" },
	{ "worker-ended", STATE_DEAD, worker_ended, "a worker or engine of this run is gone or a zombie",
		"helpers that come and go", "read the log for its exit; a restart is needed: the API will go on answering" },
	{ "server-ended", STATE_DEAD, server_ended, "the API process is gone", "an HTTP answer",
		"read the end of the log; start it again" },
	{ "fatal-line", STATE_DEAD, fatal_line, "a fatal line in this run", "a warning", "read the log around it" },
	{ "blind", STATE_UNKNOWN, blind, "a host agent that is silent", "its last observations", "see Sources (9): why it is silent" },
	{ "nothing-found", STATE_UNKNOWN, nothing_found, "no sign of a server", "",
		"start the server, or give --pid PID --log FILE --url URL" },
	{ "not-ready", STATE_LOADING, not_ready, "processes, and a closed port or loading lines without a ready line",
		"silence", "wait; weights and graph capture can take many minutes" },
	{ "stuck-in-driver", STATE_HUNG, stuck_in_driver, "a rank in state D for 10 s, open requests, no progress", "a short wait in the driver",
		"read /proc/PID/stack and the kernel log; a GPU reset or a restart of the node may be needed" },
	{ "rank-stopped", STATE_SUSPECT, rank_stopped, "a rank in state T, t, or D for 10 s", "CPU use",
		"find who stopped it; kill -CONT PID if it was left by a debugger" },
	{ "compiling", STATE_LOADING, compiling, "loading or compiling lines newer than any progress, in the last two minutes", "", "wait" },
	{ "hung", STATE_HUNG, hung, "open requests, no progress, two equal stacks of every rank 6 s apart, GPUs that do not work",
		"100 % busy, 100 % CPU, silence", "read the stacks (5), the odd rank first; keep this session before a restart" },
	{ "hung-shallow", STATE_HUNG, hung_shallow, "open requests, no progress, every GPU busy with memory still, no stacks",
		"a GPU without a reading of memory activity", "make py-spy work (see Sources), then press s" },
	{ "stall", STATE_SUSPECT, suspect_stall, "open requests, no progress, no GPU that moves memory", "silence without a request",
		"stacks are taken now and again after 6 s" },
	{ "http-silent", STATE_SUSPECT, http_silent, "HTTP connects but does not answer", "one slow answer",
		"look at the API server's stack (panel 5)" },
	{ "slow-http", STATE_SLOW, slow_http, "a static answer took over a second", "", "look at load and tokenising" },
	{ "long-generation", STATE_HEALTHY, long_generation, "open requests, no finished one, GPUs that move memory", "",
		"nothing: generations without a finished request are silent" },
	{ "progress", STATE_HEALTHY, makes_progress, "progress, or requests that have just come", "HTTP answers", "" },
	{ "idle", STATE_IDLE, nothing_open, "a count of open requests, and it is 0", "silence", "" },
	{ "parked", STATE_IDLE, all_parked, "workers parked in their queue or idle GPUs, and no request seen", "", "" },
	{ "unknown", STATE_UNKNOWN, cannot_tell, "", "", "give --log FILE, or wait for the first request" },
};

/* --- names --- */

const char *state_word(enum state state)
{
	static const char *const word[] = { "UNKNOWN", "HEALTHY", "IDLE", "LOADING", "SLOW", "SUSPECT", "HUNG", "FAULT", "DEAD" };

	return word[state];
}

const char *verdict_word(const struct verdict *v)
{
	static const char *const word[] = { NULL, "healthy", "idle", "loading", "slow", "suspect", NULL, "fault", "crashed" };

	if (v->state == STATE_HUNG)
		return strcmp(v->where, "host") == 0 ? "CPU-side deadlock" : "silent livelock";
	return word[v->state];
}

/* States without a time of their own began when the last recorded verdict of the same state did. */
static void keep_since(struct verdict *v, const struct model *m, int64_t now)
{
	const struct observation *last = model_event(m, KIND_verdict, 0);
	int64_t since = now;

	if (v->since)
		return;
	if (last && observation_text_is(last, VERDICT_state, state_word(v->state)))
		observation_get_int(last, VERDICT_since, &since);
	v->since = since;
}

static void state_of(struct verdict *out, const struct explain *e)
{
	static const struct { const char *word; enum state state; } table[] = { { "fault", STATE_FAULT }, { "crashed", STATE_DEAD },
		{ "silent livelock", STATE_HUNG }, { "CPU-side deadlock", STATE_HUNG }, { "loading", STATE_LOADING }, { "idle", STATE_IDLE },
		{ "healthy", STATE_HEALTHY } };

	for (size_t i = 0; e->word && i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].word, e->word) == 0)
			out->state = table[i].state;
	if (out->state == STATE_HUNG)
		say(out->where, sizeof out->where, "%s", strcmp(e->word, "silent livelock") != 0 ? "host"
			: e->groups && e->group[0].wait == WAIT_COLLECTIVE			? "collective"
												: "kernel");
}

/* Everything the model holds, as explain() wants it. */
static void triage_clockless(struct verdict *out, const struct model *m)
{
	size_t room = m->subject.count, n = 0, at;
	const struct observation **list, *o;
	struct explain *e = mem_alloc(sizeof *e);

	for (int k = 0; k < KIND_COUNT; k++)
		room += (size_t)m->event[k].count;
	list = mem_array(NULL, room + 1, sizeof *list);
	for (enum kind k = 0; k < KIND_COUNT; k++) {
		if (kind_table[k].storage != STORAGE_EVENT) {
			for (at = 0; n < room && (o = model_next(m, k, &at));)
				list[n++] = o;
			continue;
		}
		for (int i = m->event[k].count; i-- > 0 && n < room;)
			list[n++] = model_event(m, k, i);
	}
	explain(e, list, n);
	memset(out, 0, sizeof *out);
	state_of(out, e);
	out->grade = 'C';
	out->rule = e->rule ? e->rule : "unknown";
	say(out->reason, sizeof out->reason, "%s", e->reason);
	say(out->next, sizeof out->next, "%s", e->next);
	if (e->outliers)
		say(out->candidates, sizeof out->candidates, "%s", e->outlier[0]);
	for (int i = 0; i < e->suspects && i < 3; i++)
		evidence(out, 0, "kernel", "%.*s", fit(e->suspect[i], 110), e->suspect[i].at);
	free(list);
	free(e);
}

void triage(struct verdict *out, const struct model *m, struct ranks *ranks, const struct triage_options *options, int64_t now)
{
	struct facts facts;

	ranks_build(ranks, m);
	if (options->clockless) {
		triage_clockless(out, m);
		keep_since(out, m, now);
		return;
	}
	facts_gather(&facts, m, ranks, options, now);
	for (size_t i = 0; i < sizeof rule_table / sizeof rule_table[0]; i++) {
		memset(out, 0, sizeof *out);
		if (!rule_table[i].holds(&facts, out))
			continue;
		out->state = rule_table[i].state;
		out->rule = rule_table[i].id;
		say(out->next, sizeof out->next, "%s", rule_table[i].next);
		break;
	}
	keep_since(out, m, now);
	/* A server at work differs from rank to rank at any moment: odd means something only when it stands still. */
	for (int i = 0; i < ranks->classes && out->state != STATE_SUSPECT && out->state != STATE_HUNG; i++)
		ranks->class[i].odd = false;
}

bool triage_wants_stacks(const struct verdict *v, const struct ranks *ranks, int64_t now)
{
	return v->state == STATE_SUSPECT && now - ranks->newest_stack > FACTS_APART_MS + 200;
}

static void encode_candidates(const struct verdict *v, struct buf *out)
{
	struct json_write w;

	jw_start(&w, out);
	jw_array(&w, NULL);
	if (*v->candidates)
		jw_string(&w, NULL, v->candidates);
	jw_end_array(&w);
}

bool verdict_changed(const struct observation *recorded, const struct verdict *v)
{
	struct span where = { "", 0 }, candidates = { "", 0 };
	struct buf now;
	bool same;

	if (!recorded || !observation_text_is(recorded, VERDICT_state, state_word(v->state)))
		return true;
	observation_get_text(recorded, VERDICT_place, &where);
	if (!span_is(where, v->where))
		return true;
	buf_init(&now, 4096);
	encode_candidates(v, &now);
	observation_get_text(recorded, VERDICT_candidates, &candidates);
	same = span_same(candidates, buf_as_span(&now));
	buf_release(&now);
	return !same;
}

static void encode_evidence(const struct verdict *v, int64_t now, struct buf *out)
{
	struct json_write w;

	jw_start(&w, out);
	jw_array(&w, NULL);
	for (int i = 0; i < v->evidence_count; i++) {
		jw_object(&w, NULL);
		jw_string(&w, "what", v->evidence[i].what);
		jw_string(&w, "value", v->evidence[i].value);
		if (v->evidence[i].t)
			jw_int(&w, "age_ms", now - v->evidence[i].t);
		jw_end_object(&w);
	}
	jw_end_array(&w);
}

void verdict_observation(const struct verdict *v, struct observation *o, const char *node, int64_t t, struct buf *arena)
{
	size_t evidence_at = arena->len, candidates_at;

	encode_evidence(v, t, arena);
	candidates_at = arena->len;
	encode_candidates(v, arena);
	observation_init(o, KIND_verdict, node, t);
	observation_text(o, VERDICT_state, state_word(v->state));
	if (*v->where)
		observation_text(o, VERDICT_place, v->where);
	observation_text(o, VERDICT_word, verdict_word(v));
	observation_text(o, VERDICT_grade, v->grade == 'A' ? "A" : v->grade == 'B' ? "B" : v->grade == 'C' ? "C" : "D");
	observation_int(o, VERDICT_since, v->since);
	observation_text(o, VERDICT_reason, v->reason);
	observation_span(o, VERDICT_evidence, span_make(arena->at + evidence_at, candidates_at - evidence_at));
	observation_text(o, VERDICT_next, *v->next ? v->next : NULL);
	observation_span(o, VERDICT_candidates, span_make(arena->at + candidates_at, arena->len - candidates_at));
	observation_text(o, VERDICT_rule, v->rule);
}
