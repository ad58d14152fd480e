/* explain.c - groups, suspects, and the table of rules. */
#include "config.h"

#include "model/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUSY_PCT 90.0
#define POWER_W 100.0           /* an accelerator that computes draws more; a pinned flag at idle power less */

struct pile {
	const struct observation *const *list;
	size_t n;
	const struct observation *server;       /* the last server_log */
	struct explain *out;
};

static struct span text(const struct observation *o, int field)
{
	struct span s = { "", 0 };

	if (o)
		observation_get_text(o, field, &s);
	return s;
}

static const struct observation *first(const struct pile *p, enum kind kind)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->kind == kind)
			return p->list[i];
	return NULL;
}

/* --- single observations --- */

static bool stopped_wave(const struct observation *o)
{
	if (o->kind != KIND_wave)
		return false;
	if (observation_text_is(o, WAVE_via, "old-agent"))
		return true;
	return observation_text_is(o, WAVE_via, "agent") && observation_text_is(o, WAVE_state, "stopped");
}

bool explain_is_fault(const struct observation *o)
{
	switch (o->kind) {
	case KIND_fault:
	case KIND_hw_exception:
	case KIND_queue_error:
	case KIND_packet:
	case KIND_page_fault:
	case KIND_driver_event:
		return true;
	case KIND_wave:
		return stopped_wave(o);
	case KIND_debugger:
		return !observation_is_null(o, DEBUGGER_signal);
	case KIND_log:
		return observation_text_is(o, LOG_class, "fault");
	default:
		return false;
	}
}

bool explain_is_crash(const struct observation *o)
{
	switch (o->kind) {
	case KIND_worker_death:
		return true;
	case KIND_collective:
		return observation_text_is(o, COLLECTIVE_what, "timeout");
	case KIND_log:
		return observation_text_is(o, LOG_class, "fatal");
	default:
		return false;
	}
}

/* --- suspects --- */

static void suspect(struct explain *out, struct span kernel)
{
	if (!kernel.len || out->suspects == EXPLAIN_SUSPECTS_MAX)
		return;
	for (int i = 0; i < out->suspects; i++)
		if (span_same(out->suspect[i], kernel))
			return;
	out->suspect[out->suspects++] = kernel;
}

static bool has_reasons(const struct observation *o)
{
	struct span reasons = text(o, WAVE_reasons);

	return reasons.len > 2;
}

static void suspects_of(struct pile *p, enum kind kind, int field)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->kind == kind)
			suspect(p->out, text(p->list[i], field));
}

static void suspects_of_waves(struct pile *p, const char *via)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->kind == KIND_wave && observation_text_is(p->list[i], WAVE_via, via) && (via[0] == 'r' || has_reasons(p->list[i])))
			suspect(p->out, text(p->list[i], WAVE_kernel));
}

static void last_launched(struct pile *p)
{
	for (size_t i = p->n; i-- > 0;) {
		const struct observation *o = p->list[i];

		if (o->kind != KIND_kernel_hint || !observation_text_is(o, KERNEL_HINT_how, "launched") ||
			span_starts(text(o, KERNEL_HINT_kernel), "__amd_rocclr_"))
			continue;
		suspect(p->out, text(o, KERNEL_HINT_kernel));
		return;
	}
}

static void find_suspects(struct pile *p)
{
	static const char *const names[] = { "waves stopped with a reason", "a disassembly", "the packet at the head of the queue",
		"kernels in flight", "the last kernel launched", "waves seen by rocgdb" };
	int step = 0;

	for (; step < 6 && !p->out->suspects; step++)
		switch (step) {
		case 0:
			suspects_of_waves(p, "agent");
			break;
		case 1:
			suspects_of(p, KIND_disassembly, DISASSEMBLY_kernel);
			break;
		case 2:
			suspects_of(p, KIND_packet, PACKET_kernel);
			break;
		case 3:
			suspects_of(p, KIND_gdb_dispatch, GDB_DISPATCH_kernel);
			break;
		case 4:
			last_launched(p);
			break;
		default:
			suspects_of_waves(p, "rocgdb");
		}
	if (p->out->suspects)
		p->out->suspect_from = names[step - 1];
}

/* --- ranks --- */

static bool waits_for_gpu(enum wait_kind w)
{
	return w == WAIT_GPU || w == WAIT_COLLECTIVE;
}

static void add_rank(struct explain *out, const struct observation *o)
{
	struct explain_rank *r = &out->rank[out->ranks];
	struct span name = text(o, STACK_rank);

	if (out->ranks == EXPLAIN_RANKS_MAX || !name.len || observation_text_is(o, STACK_how, "gdb"))
		return;
	stack_summarise(o, &r->summary);
	if (!r->summary.print)
		return;
	r->stack = o;
	snprintf(r->name, sizeof r->name, "%.*s", (int)(name.len < 31 ? name.len : 31), name.at);
	out->ranks++;
}

static void group_ranks(struct explain *out)
{
	for (int i = 0; i < out->ranks; i++) {
		struct explain_rank *r = &out->rank[i];
		int g = 0;

		while (g < out->groups && out->rank[out->group[g].first].summary.print != r->summary.print)
			g++;
		if (g == out->groups) {
			out->groups++;
			out->group[g].first = i;
			out->group[g].members = 0;
			out->group[g].wait = r->summary.wait;
			memcpy(out->group[g].top, r->summary.top, sizeof r->summary.top);
		}
		out->group[g].members++;
		r->group = g;
	}
}

static void mark_odd(struct explain *out)
{
	int largest = 0, ties = 0;
	bool waiting = false;

	for (int g = 0; g < out->groups; g++)
		if (out->group[g].members > largest)
			largest = out->group[g].members;
	for (int g = 0; g < out->groups; g++)
		if (out->group[g].members == largest) {
			ties++;
			waiting = waiting || waits_for_gpu(out->group[g].wait);
		}
	for (int g = 0; g < out->groups; g++)
		out->group[g].odd = ties > 1 ? waiting && !waits_for_gpu(out->group[g].wait) : out->group[g].members < largest;
}

static void add_outlier(struct explain *out, const char *name)
{
	for (int i = 0; i < out->outliers; i++)
		if (strcmp(out->outlier[i], name) == 0)
			return;
	if (out->outliers < EXPLAIN_RANKS_MAX)
		snprintf(out->outlier[out->outliers++], sizeof out->outlier[0], "%s", name);
}

/* The sequence number that most ranks have; those with another are behind or ahead. */
static void odd_sequences(struct pile *p)
{
	int64_t best = 0, seq, other;
	int most = 0, ranks = 0;

	for (size_t i = 0; i < p->n; i++) {
		int same = 0;

		if (p->list[i]->kind != KIND_collective || !observation_text_is(p->list[i], COLLECTIVE_what, "fingerprint") ||
			!observation_get_int(p->list[i], COLLECTIVE_seq, &seq))
			continue;
		ranks++;
		for (size_t k = 0; k < p->n; k++)
			same += p->list[k]->kind == KIND_collective && observation_text_is(p->list[k], COLLECTIVE_what, "fingerprint") &&
				observation_get_int(p->list[k], COLLECTIVE_seq, &other) && other == seq;
		if (same > most) {
			most = same;
			best = seq;
		}
	}
	for (size_t i = 0; i < p->n && most * 2 > ranks; i++) {
		char name[32];
		struct span rank = text(p->list[i], COLLECTIVE_rank);

		if (p->list[i]->kind != KIND_collective || !observation_text_is(p->list[i], COLLECTIVE_what, "fingerprint") ||
			!observation_get_int(p->list[i], COLLECTIVE_seq, &seq) || seq == best)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(rank.len < 31 ? rank.len : 31), rank.at);
		add_outlier(p->out, name);
	}
}

static void find_ranks(struct pile *p)
{
	struct explain *out = p->out;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->kind == KIND_stack)
			add_rank(out, p->list[i]);
	group_ranks(out);
	mark_odd(out);
	for (int i = 0; i < out->ranks; i++)
		if (out->group[out->rank[i].group].odd)
			add_outlier(out, out->rank[i].name);
	odd_sequences(p);
}

/* --- rules --- */

static int64_t number(const struct observation *o, int field, int64_t unknown)
{
	int64_t n = unknown;

	if (o)
		observation_get_int(o, field, &n);
	return n;
}

static bool last_work(const struct pile *p, const char *what)
{
	return p->server && observation_text_is(p->server, SERVER_LOG_last_work, what);
}

static int64_t atom_open(const struct pile *p)
{
	return number(p->server, SERVER_LOG_requests_arrived, 0) - number(p->server, SERVER_LOG_requests_finished, 0);
}

static bool stalled(const struct pile *p)
{
	if (!p->server)
		return false;
	if (!observation_is_null(p->server, SERVER_LOG_stalled_since))
		return true;
	return atom_open(p) > 0 && !last_work(p, "progress");
}

static void say(struct pile *p, const char *reason, const char *next)
{
	snprintf(p->out->reason, sizeof p->out->reason, "%s", reason);
	snprintf(p->out->next, sizeof p->out->next, "%s", next);
}

static bool rule_fault(struct pile *p)
{
	const struct observation *o = NULL, *fault = first(p, KIND_fault);
	char reason[300];
	int waves = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (explain_is_fault(p->list[i]) && !o)
			o = p->list[i];
		waves += stopped_wave(p->list[i]);
	}
	if (!o)
		return false;
	if (fault) {
		struct span address = text(fault, FAULT_address), why = text(fault, FAULT_reason);
		int64_t node = number(fault, FAULT_kfd_node, -1);
		char at[40] = "a masked node";

		if (node >= 0)
			snprintf(at, sizeof at, "KFD node %lld", (long long)node);
		snprintf(reason, sizeof reason, "memory access fault on %s at %.*s: %.*s", at, (int)address.len, address.at, (int)(why.len < 100 ? why.len : 100),
			why.len ? why.at : "no reason given");
	} else if (waves) {
		snprintf(reason, sizeof reason, "%d wave%s stopped by an exception", waves, waves > 1 ? "s" : "");
	} else if (o->kind == KIND_queue_error) {
		struct span status = text(o, QUEUE_ERROR_status);

		snprintf(reason, sizeof reason, "the runtime gave up a queue: %.*s", (int)(status.len < 100 ? status.len : 100), status.len ? status.at : "no status");
	} else if (o->kind == KIND_hw_exception) {
		struct span why = text(o, HW_EXCEPTION_reason);

		snprintf(reason, sizeof reason, "hardware exception: %.*s", (int)(why.len < 100 ? why.len : 100), why.len ? why.at : "no reason given");
	} else if (o->kind == KIND_log) {
		struct span line = text(o, LOG_text);

		snprintf(reason, sizeof reason, "%.*s", (int)(line.len < 200 ? line.len : 200), line.at);
	} else {
		snprintf(reason, sizeof reason, "the GPU's driver or runtime reports an error (%s)", kind_table[o->kind].name);
	}
	say(p, reason, waves ? "look at the kernel, pc and reason below; the pc can lie: HIP_LAUNCH_BLOCKING=1 tells a culprit from a victim"
			     : "run it again under the debug agent (HSA_TOOLS_LIB=librocm-debug-agent.so.2) to get the kernel and the pc");
	return true;
}

static bool rule_crash(struct pile *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct observation *o = p->list[i];
		char reason[300];

		if (!explain_is_crash(o))
			continue;
		if (o->kind == KIND_worker_death) {
			struct span rank = text(o, WORKER_DEATH_rank);

			snprintf(reason, sizeof reason, "worker %.*s died unexpectedly", (int)rank.len, rank.len ? rank.at : "");
		} else if (o->kind == KIND_collective) {
			struct span rank = text(o, COLLECTIVE_rank), op = text(o, COLLECTIVE_op);

			snprintf(reason, sizeof reason, "rank %.*s waited for %.*s until torch's watchdog ended the process: a hang before", (int)rank.len,
				rank.at, (int)op.len, op.at);
		} else {
			struct span line = text(o, LOG_text);

			snprintf(reason, sizeof reason, "%.*s", (int)(line.len < 200 ? line.len : 200), line.at);
		}
		say(p, reason, "the first death counts: look at what stands before it; after a watchdog look for the rank that is missing in it");
		return true;
	}
	return false;
}

static bool gpus_spin(const struct pile *p)
{
	int gpus = 0;

	for (size_t i = 0; i < p->n; i++) {
		double pct, watt;

		if (p->list[i]->kind != KIND_gpu)
			continue;
		if (!observation_get_real(p->list[i], GPU_busy_pct, &pct) || pct < BUSY_PCT)
			return false;
		if (!observation_get_real(p->list[i], GPU_power_w, &watt) || watt < POWER_W)
			return false;
		gpus++;
	}
	return gpus > 0;
}

static bool rule_livelock(struct pile *p)
{
	const struct explain *out = p->out;

	if (!stalled(p) || !gpus_spin(p) || out->groups != 1 || !waits_for_gpu(out->group[0].wait))
		return false;
	say(p, "requests in flight, no tokens, GPUs busy and drawing power, every rank in the same wait for the GPU",
		"name the kernel: a guarded rocgdb snapshot of one worker (info dispatches, queues, waves); compare two to see whether anything moves");
	return true;
}

static bool has_any(struct span s, const char *const *words)
{
	for (; *words; words++)
		if (span_contains(s, *words))
			return true;
	return false;
}

/* A frame of this process has one of these words. */
static bool frames_have(const struct observation *o, const char *const *words)
{
	return has_any(text(o, STACK_threads), words);
}

/* A thread asleep in a mutex that a function of the runtime locks: the frame around those of the C and C++ libraries tells whose. */
static bool in_runtime_mutex(const struct observation *o)
{
	static const char *const library[] = { "pthread_mutex_lock", "lll_", "_mutex::lock", "std::mutex", "lock_guard", "unique_lock", "__gthread", NULL };
	static const char *const runtime[] = { "amd::", "hip::", "roc::", "rocr::", "libamdhip64", "libhsa-runtime64", "hsaKmt", NULL };
	struct span rest = text(o, STACK_threads);
	long at;

	while ((at = span_find(rest, "pthread_mutex_lock")) >= 0) {
		struct span frame;

		rest = span_sub(rest, (size_t)at, rest.len);
		do {
			at = span_find(rest, "\",\"");
			frame = span_sub(rest, 0, at < 0 ? rest.len : (size_t)at);
			rest = span_sub(rest, frame.len + (at < 0 ? 0 : 3), rest.len);
		} while (at >= 0 && has_any(frame, library) && !span_contains(frame, "\"]}"));
		at = span_find(frame, "\"]}"); /* the outermost frame of its thread */
		if (has_any(at < 0 ? frame : span_sub(frame, 0, (size_t)at), runtime))
			return true;
	}
	return false;
}

static bool rule_runtime_lock(struct pile *p)
{
	static const char *const lock[] = { "amd::Monitor::lock", "amd::Monitor::finishLock", "amd::Monitor::enter", "streamSetLock", "hip::Device::lock", NULL };
	static const char *const sleep[] = { "futex", "sem_wait", "lll_lock_wait", "pthread_mutex_lock", "pthread_cond_wait", "Semaphore::wait", NULL };

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i]->kind == KIND_stack &&
			((frames_have(p->list[i], lock) && frames_have(p->list[i], sleep)) || in_runtime_mutex(p->list[i]))) {
			say(p, "a host thread sleeps in a lock of the GPU runtime: this is no wait for the GPU",
				"find the thread that holds the lock: bt of all threads (gdb: thread apply all bt)");
			return true;
		}
	return false;
}

static bool engine_waits(const struct observation *o)
{
	static const char *const words[] = { "\"get_response (", "\"_wait_for_response (", "\"collective_rpc (", "\"get_func_output (", "\"wait_for_response (",
		NULL };

	return frames_have(o, words);
}

static bool worker_parked(const struct observation *o)
{
	static const char *const words[] = { "worker_busy_loop", "busy_loop (", "worker_main", "event_loop", NULL };
	struct stack_summary s;

	stack_summarise(o, &s);
	return s.wait == WAIT_QUEUE && frames_have(o, words) && !engine_waits(o);
}

static bool rule_lost_message(struct pile *p)
{
	bool engine = false, worker = false;

	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i]->kind != KIND_stack)
			continue;
		engine = engine || engine_waits(p->list[i]);
		worker = worker || worker_parked(p->list[i]);
	}
	if (!engine || !worker)
		return false;
	/* Workers that compute while others are parked are no lost message. */
	for (int i = 0; i < p->out->ranks; i++)
		if (p->out->rank[i].summary.wait != WAIT_QUEUE)
			return false;
	say(p, "the engine waits for an answer of its workers, and they wait for a request: a message was lost",
		"look at the shared memory queue and the worker's log at the time of the last request");
	return true;
}

static bool rule_missing_rank(struct pile *p)
{
	const struct explain *out = p->out;
	int in_collective = 0, host = 0;
	char reason[300];

	for (int g = 0; g < out->groups; g++) {
		if (!out->group[g].odd && out->group[g].wait == WAIT_COLLECTIVE)
			in_collective += out->group[g].members;
		else if (out->group[g].odd && !waits_for_gpu(out->group[g].wait))
			host += out->group[g].members;
		else
			return false;
	}
	if (!in_collective || !host || (out->ranks < 3 && !stalled(p)))
		return false;
	snprintf(reason, sizeof reason, "%d rank%s in a collective, without %s, which is in host code", in_collective, in_collective > 1 ? "s wait" : " waits",
		out->outlier[0]);
	say(p, reason, "the odd rank is the candidate: read its stack; the waiting ranks are likely victims");
	return true;
}

static bool rule_deadlock(struct pile *p)
{
	return rule_runtime_lock(p) || rule_lost_message(p) || rule_missing_rank(p);
}

static bool rule_loading(struct pile *p)
{
	if (number(p->server, SERVER_LOG_ready, -1) != 0)
		return false;
	say(p, "the server is not ready: weights or graphs are being prepared", "wait; if the bar does not move, take stacks of the workers");
	return true;
}

static bool all_parked(const struct pile *p)
{
	int parked = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i]->kind != KIND_stack)
			continue;
		if (engine_waits(p->list[i]))
			return false;
		parked += worker_parked(p->list[i]);
	}
	for (int i = 0; i < p->out->ranks; i++)
		if (p->out->rank[i].summary.wait != WAIT_QUEUE)
			return false;
	return parked > 0;
}

static bool rule_idle(struct pile *p)
{
	bool atom = p->server && observation_text_is(p->server, SERVER_LOG_framework, "atom");
	bool none = last_work(p, "idle");

	if (atom && number(p->server, SERVER_LOG_ready, 1) == 1 && !observation_is_null(p->server, SERVER_LOG_requests_arrived))
		none = atom_open(p) <= 0;
	if (!none && (stalled(p) || !all_parked(p)))
		return false;
	say(p, none ? "the server's last word is that nothing runs or waits" : "the workers are parked in their message queue, and no engine waits for an answer",
		"send one request and watch whether it comes back");
	return true;
}

static bool rule_healthy(struct pile *p)
{
	if (!last_work(p, "progress"))
		return false;
	say(p, "work gets done up to the end of the log", "nothing to do");
	return true;
}

static const struct {
	const char *id, *word;
	bool (*holds)(struct pile *);
} rules[] = {
	{ "device-error", "fault", rule_fault },
	{ "death", "crashed", rule_crash },
	{ "livelock", "silent livelock", rule_livelock },
	{ "deadlock", "CPU-side deadlock", rule_deadlock },
	{ "loading", "loading", rule_loading },
	{ "idle", "idle", rule_idle },
	{ "healthy", "healthy", rule_healthy },
};

void explain(struct explain *out, const struct observation *const *list, size_t n)
{
	struct pile p = { list, n, NULL, out };

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < n; i++)
		if (list[i]->kind == KIND_server_log)
			p.server = list[i];
	find_suspects(&p);
	find_ranks(&p);
	for (size_t i = 0; i < sizeof rules / sizeof *rules && !out->word; i++)
		if (rules[i].holds(&p)) {
			out->word = rules[i].word;
			out->rule = rules[i].id;
		}
	if (!out->word)
		say(&p, "what is here does not tell what state the server is in", "one source alone does not tell: add the log, stacks of all ranks (py-spy dump) and rocm-smi");
}
