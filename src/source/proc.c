/* proc.c - the proc source: the server's processes, found, sampled, and missed when they end.
 *
 * The table of all processes is looked at every 5 s, in the thread pool (proc_tree.h says why); those of the server every
 * interval, on the loop: stat, status and wchan never wait. An end is seen within a second.
 * Rows: `process` when found, changed and ended, and every minute; `process_sample` every interval for api, engine, workers.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "parse/proc_files.h"
#include "source/proc.h"

#define SCAN_MS 5000
#define SCAN_SOON_MS 1000       /* while the server is there but its workers are not */
#define SAY_MS 60000
#define HEALTH_MS 10000
#define HEALTH_STUCK_MS 2000    /* while the seconds of what is stuck grow */

/* --- what the others need to know --- */

static void fill_target(struct proc_source *s)
{
	struct target *target = s->env->target;

	target->profile = s->profile;
	target->api_pid = 0;
	target->port = s->port ? s->port : s->profile ? s->profile->port : 0;
	target->processes = 0;
	for (int i = 0; i < s->count && target->processes < TARGET_PROCESSES_MAX; i++) {
		const struct tracked *t = &s->tracked[i];
		struct target_process *p = &target->process[target->processes++];

		p->pid = t->pid;
		p->start = t->start;
		snprintf(p->role, sizeof p->role, "%s", role_word(t->role));
		snprintf(p->rank, sizeof p->rank, "%s", t->rank);
		p->ended = t->ended != 0;
		if (t->role == ROLE_API && !t->ended)
			target->api_pid = t->pid;
	}
	target_changed(target);
}

/* --- finding --- */

static struct tracked *find_tracked(struct proc_source *s, int64_t pid, int64_t start_ticks)
{
	for (int i = 0; i < s->count; i++)
		if (s->tracked[i].pid == pid && s->tracked[i].start_ticks == start_ticks)
			return &s->tracked[i];
	return NULL;
}

static void free_tracked(struct tracked *t)
{
	free(t->title);
	free(t->env);
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* What has ended stays what it was. */
static bool update(struct tracked *t, const struct node_process *p)
{
	if (t->ended || (t->said && t->role == p->role && t->ppid == p->ppid && strcmp(t->rank, p->rank) == 0 &&
		same_text(t->title, p->cmdline) && same_text(t->env, p->env)))
		return false;
	free_tracked(t);
	t->title = p->cmdline ? mem_text(p->cmdline) : NULL;
	t->env = p->env ? mem_text(p->env) : NULL;
	t->role = p->role;
	t->ppid = p->ppid;
	snprintf(t->rank, sizeof t->rank, "%s", p->rank);
	snprintf(t->how, sizeof t->how, "%s", p->how ? p->how : "");
	memcpy(t->comm, p->comm, sizeof t->comm);
	t->said = false;
	return true;
}

/* Helpers that ended, or all that ended when there is a new server, are forgotten here; their rows stay in the session. */
static void forget_ended(struct proc_source *s, bool all)
{
	int kept = 0;

	for (int i = 0; i < s->count; i++) {
		struct tracked *t = &s->tracked[i];

		if (t->ended && (all || t->role == ROLE_HELPER))
			free_tracked(t);
		else
			s->tracked[kept++] = *t;
	}
	s->count = kept;
}

/* A helper that lives for a moment (a compiler, ps) is not worth a row; one that stays is. */
static bool is_passing(const struct proc_source *s, const struct node_process *p)
{
	return p->role == ROLE_HELPER && (p->state == 'Z' || p->state == 'X' ||
		clock_wall_ms() - proc_tree_start_ms(&s->tree, p->start_ticks) < SCAN_MS);
}

static struct tracked *track(struct proc_source *s, const struct node_process *p)
{
	struct tracked *t = &s->tracked[s->count++];

	memset(t, 0, sizeof *t);
	t->pid = p->pid;
	t->start_ticks = p->start_ticks;
	t->start = proc_tree_start_ms(&s->tree, p->start_ticks);
	return t;
}

static bool adopt_found(struct proc_source *s)
{
	bool changed = false;

	forget_ended(s, s->tree.api && !find_tracked(s, s->tree.api->pid, s->tree.api->start_ticks));
	s->denied = 0;
	/* First what matters, then helpers as far as there is room. */
	for (int helpers = 0; helpers < 2; helpers++)
		for (size_t i = 0; i < s->tree.process.count; i++) {
			const struct node_process *p = s->tree.process.entry[i].value;
			struct tracked *t;

			if (p->depth < 0 || p->role == ROLE_NONE || (p->role == ROLE_HELPER) != helpers)
				continue;
			t = find_tracked(s, p->pid, p->start_ticks);
			s->denied += p->env_denied;
			if (!t && (s->count >= TRACKED_MAX || is_passing(s, p)))
				continue;
			changed = update(t ? t : track(s, p), p) || changed;
		}
	return changed;
}

static void in_pool(uv_work_t *work)
{
	struct proc_source *s = work->data;

	proc_tree_scan(&s->tree, s->scanning_pid, s->env->options->engine);
}

static void after_scan(uv_work_t *work, int status);

static void scan(struct proc_source *s)
{
	if (s->scanning)
		return; /* when it returns it is seen whether another pid is wanted */
	s->scanning = true;
	s->scanning_since = s->scanned = clock_mono_ms();
	s->scanning_pid = s->pid;
	uv_queue_work(s->env->loop, &s->work, in_pool, after_scan);
}

/* --- every interval --- */

/* What /proc says about the end of a process: 0 lives, 1 gone, 2 a zombie, -1 cannot tell (no descriptor, no permission). */
static int end_of(struct proc_source *s, const struct tracked *t, struct proc_stat *stat)
{
	if (!proc_read(s->env->options->proc_root, t->pid, "stat", &s->text, 4095))
		return errno == ENOENT || errno == ESRCH ? 1 : -1;
	if (!proc_stat_parse(buf_as_span(&s->text), stat) || stat->start != t->start_ticks)
		return 1;
	return stat->state == 'Z' || stat->state == 'X' ? 2 : 0;
}

static bool look_at(struct proc_source *s, struct tracked *t, bool sample)
{
	struct proc_stat stat;
	int ended;

	if (t->ended == 1 || (ended = end_of(s, t, &stat)) < 0)
		return false;
	if (ended != t->ended) {
		t->ended = ended;
		proc_say_process(s, t);
		return true;
	}
	if (!t->said || (!ended && clock_mono_ms() - t->said_at >= SAY_MS))
		proc_say_process(s, t);
	if (!ended && sample && t->role != ROLE_HELPER)
		proc_say_sample(s, t, &stat);
	return false;
}

/* Workers appear one by one while a server loads: look often until they are there. */
static int64_t scan_every(const struct proc_source *s)
{
	bool api = false, worker = false;

	for (int i = 0; i < s->count; i++) {
		api = api || (s->tracked[i].role == ROLE_API && !s->tracked[i].ended);
		worker = worker || (s->tracked[i].role == ROLE_WORKER && !s->tracked[i].ended);
	}
	return api && !worker ? SCAN_SOON_MS : SCAN_MS;
}

static bool look_at_all(struct proc_source *s, bool sample)
{
	bool changed = false;

	for (int i = 0; i < s->count; i++)
		changed = look_at(s, &s->tracked[i], sample) || changed;
	return changed;
}

static void on_timer(uv_timer_t *timer)
{
	struct proc_source *s = timer->data;
	int64_t mono = clock_mono_ms();
	bool sample = mono - s->sampled >= s->env->options->interval_ms - 50;
	bool stuck = s->scanning && mono - s->scanning_since >= SCAN_STUCK_MS;

	if (sample)
		s->sampled = mono;
	if (mono - s->scanned >= scan_every(s) - 50)
		scan(s);
	if (look_at_all(s, sample)) {
		fill_target(s);
		proc_say_health(s);
	} else if (mono - s->healthy >= (stuck ? HEALTH_STUCK_MS : HEALTH_MS)) {
		proc_say_health(s);
	}
}

static void free_when_done(struct proc_source *s);

static void after_scan(uv_work_t *work, int status)
{
	struct proc_source *s = work->data;
	bool first = !s->looked, was_stuck = clock_mono_ms() - s->scanning_since >= SCAN_STUCK_MS;

	s->scanning = false;
	if (s->stopping) {
		free_when_done(s);
		return;
	}
	if (status < 0)
		return;
	if (s->scanning_pid != s->pid) { /* another one was asked for in the meantime */
		scan(s);
		return;
	}
	s->looked = true;
	s->seen = s->tree.process.count;
	if (s->tree.profile)
		s->profile = s->tree.profile;
	if (s->tree.api)
		s->port = s->tree.api->port;
	if (adopt_found(s)) {
		fill_target(s);
		look_at_all(s, false);
		proc_say_health(s);
	} else if (first || was_stuck) {
		proc_say_health(s);
	}
}

/* --- the source --- */

static struct source *proc_start(struct source_env *env)
{
	struct proc_source *s = mem_alloc(sizeof *s);
	struct error error;

	s->env = env;
	s->pid = env->options->pid;
	s->tracked = mem_alloc(TRACKED_MAX * sizeof *s->tracked);
	buf_init(&s->text, 256 * 1024);
	if (proc_tree_init(&s->tree, env->options->proc_root, env->target->profiles, &error) < 0)
		snprintf(s->trouble, sizeof s->trouble, "; %.180s", error.text);
	s->work.data = s;
	s->scanned = -60000;
	s->sampled = -60000;
	s->healthy = clock_mono_ms();
	uv_timer_init(env->loop, &s->timer);
	s->timer.data = s;
	/* Ends must be seen within a second, whatever the interval. */
	uv_timer_start(&s->timer, on_timer, 0, (uint64_t)(env->options->interval_ms < 1000 ? env->options->interval_ms : 1000));
	return (struct source *)s;
}

static void proc_request(struct source *source, struct span request)
{
	struct proc_source *s = (struct proc_source *)source;
	long at = span_find(request, "\"pid\":");
	struct span number;
	int64_t pid;

	if (!span_contains(request, "\"do\":\"watch\"") || at < 0)
		return;
	number = span_sub(request, (size_t)at + 6, request.len);
	if (!span_take_int(&number, &pid) || pid <= 0)
		return;
	s->pid = pid;
	for (int i = 0; i < s->count; i++)
		free_tracked(&s->tracked[i]);
	s->count = 0;
	s->looked = false;
	s->profile = NULL;
	s->port = 0;
	fill_target(s);
	scan(s);
}

static void free_when_done(struct proc_source *s)
{
	if (s->scanning || !s->timer_closed)
		return;
	for (int i = 0; i < s->count; i++)
		free_tracked(&s->tracked[i]);
	free(s->tracked);
	buf_release(&s->text);
	proc_tree_release(&s->tree);
	if (s->closed)
		s->closed(s->context);
	free(s);
}

static void on_closed(uv_handle_t *handle)
{
	struct proc_source *s = handle->data;

	s->timer_closed = true;
	free_when_done(s);
}

static void proc_stop(struct source *source, void (*closed)(void *), void *context)
{
	struct proc_source *s = (struct proc_source *)source;

	s->closed = closed;
	s->context = context;
	s->stopping = true;
	if (s->scanning)
		uv_cancel((uv_req_t *)&s->work); /* one that has begun is waited for */
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

extern const struct source_class source_proc;
const struct source_class source_proc = { "proc", "host", proc_start, proc_request, proc_stop };
