/* proc.c - the proc source: the server's processes, found, sampled, and missed when they end.
 *
 * The table of all processes is looked at every 5 s, those of the server every interval; an end is seen within a second.
 * Rows: `process` when found, changed and ended; `process_sample` every interval for api, engine, workers.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/proc_files.h"
#include "source/proc_tree.h"
#include "source/source.h"

#define SCAN_MS 5000
#define SCAN_SOON_MS 1000       /* while the server is there but its workers are not */
#define HEALTH_MS 10000
#define TRACKED_MAX 512
#define TITLE_MAX 512

struct tracked {
	int64_t pid, start_ticks, start;
	int64_t ppid;
	enum role role;
	char rank[32], how[16], comm[20], *title;
	int ended;
	bool said;                     /* a row has been emitted for what is here now */
	char state;
	int64_t state_since;           /* wall */
	int64_t ticks, ticks_at;       /* CPU at the last sample, mono */
};

struct proc_source {
	struct source_env *env;
	struct proc_tree tree;
	uv_timer_t timer;
	struct tracked *tracked;
	int count;
	int64_t pid;                   /* asked for by option or request; 0 find */
	int64_t scanned, sampled, healthy; /* mono */
	char trouble[200];
	struct buf text;
	void (*closed)(void *);
	void *context;
};

/* --- rows --- */

static void put_environment(struct proc_source *s, const struct tracked *t, struct observation *o, struct buf *env)
{
	if (t->ended || !proc_read(s->env->options->proc_root, t->pid, "environ", &s->text, 128 * 1024))
		return;
	proc_environ_chosen(buf_as_span(&s->text), env);
	observation_span(o, PROCESS_env, buf_as_span(env));
}

static void emit_process(struct proc_source *s, struct tracked *t)
{
	struct observation o;
	struct buf title, env, comm;
	struct proc_status status;
	char exe[512], path[600];
	ssize_t n;

	buf_init(&title, TITLE_MAX);
	buf_init(&env, 64 * 1024);
	buf_init(&comm, 128);
	observation_init(&o, KIND_process, s->env->node, clock_wall_ms());
	observation_int(&o, PROCESS_pid, t->pid);
	observation_int(&o, PROCESS_start, t->start);
	observation_int(&o, PROCESS_ppid, t->ppid);
	observation_text(&o, PROCESS_role, role_word(t->role));
	observation_text(&o, PROCESS_rank, *t->rank ? t->rank : NULL);
	observation_text(&o, PROCESS_rank_how, *t->rank ? t->how : NULL);
	if (t->title)
		text_scrub(&title, span_sub(span_of(t->title), 0, TITLE_MAX));
	observation_span(&o, PROCESS_title, buf_as_span(&title));
	text_scrub(&comm, span_of(t->comm));
	observation_span(&o, PROCESS_comm, buf_as_span(&comm));
	put_environment(s, t, &o, &env);
	if (!t->ended && proc_read(s->env->options->proc_root, t->pid, "status", &s->text, 8192)) {
		proc_status_parse(buf_as_span(&s->text), &status);
		if (status.uid >= 0)
			observation_int(&o, PROCESS_uid, status.uid);
	}
	snprintf(path, sizeof path, "%.500s/%lld/exe", s->env->options->proc_root, (long long)t->pid);
	n = t->ended ? -1 : readlink(path, exe, sizeof exe - 1);
	if (n > 0)
		observation_span(&o, PROCESS_exe, span_make(exe, (size_t)n));
	observation_int(&o, PROCESS_ended, t->ended);
	if (s->tree.profile)
		observation_text(&o, PROCESS_engine, s->tree.profile->name);
	s->env->emit(s->env->context, &o);
	t->said = true;
	buf_release(&title);
	buf_release(&env);
	buf_release(&comm);
}

static void cpu_since(struct tracked *t, const struct proc_stat *stat, int64_t mono, long hertz, struct observation *o)
{
	int64_t ticks = stat->utime + stat->stime;

	if (t->ticks_at && mono > t->ticks_at)
		observation_real(o, PROCESS_SAMPLE_cpu_pct,
			round((double)(ticks - t->ticks) * 1e6 / (double)hertz / (double)(mono - t->ticks_at)) / 10.0);
	t->ticks = ticks;
	t->ticks_at = mono;
}

static void sample_waits(struct proc_source *s, struct tracked *t, struct observation *o, char *wchan, size_t size)
{
	struct proc_status status;
	struct span text;

	if (proc_read(s->env->options->proc_root, t->pid, "status", &s->text, 8192)) {
		proc_status_parse(buf_as_span(&s->text), &status);
		if (status.vol_switches >= 0)
			observation_int(o, PROCESS_SAMPLE_vol_switches, status.vol_switches);
		if (status.invol_switches >= 0)
			observation_int(o, PROCESS_SAMPLE_invol_switches, status.invol_switches);
		if (status.tracer > 0)
			observation_int(o, PROCESS_SAMPLE_tracer, status.tracer);
	}
	if (proc_read(s->env->options->proc_root, t->pid, "wchan", &s->text, 200)) {
		text = span_trim(buf_as_span(&s->text));
		if (text.len && !span_is(text, "0")) {
			snprintf(wchan, size, "%.*s", (int)text.len, text.at);
			observation_text(o, PROCESS_SAMPLE_wchan, wchan);
		}
	}
}

static void emit_sample(struct proc_source *s, struct tracked *t, const struct proc_stat *stat)
{
	struct observation o;
	char state[2] = { stat->state, 0 }, wchan[128];

	observation_init(&o, KIND_process_sample, s->env->node, clock_wall_ms());
	if (stat->state != t->state) {
		t->state = stat->state;
		t->state_since = o.t;
	}
	observation_int(&o, PROCESS_SAMPLE_pid, t->pid);
	observation_text(&o, PROCESS_SAMPLE_state, state);
	observation_int(&o, PROCESS_SAMPLE_state_since, t->state_since);
	observation_int(&o, PROCESS_SAMPLE_threads, stat->threads);
	observation_int(&o, PROCESS_SAMPLE_rss, stat->rss_pages * sysconf(_SC_PAGESIZE));
	cpu_since(t, stat, clock_mono_ms(), s->tree.hertz, &o);
	sample_waits(s, t, &o, wchan, sizeof wchan);
	s->env->emit(s->env->context, &o);
}

/* --- what the others need to know --- */

static void fill_target(struct proc_source *s)
{
	struct target *target = s->env->target;

	target->profile = s->tree.profile;
	target->api_pid = 0;
	target->port = s->tree.api && s->tree.api->port ? s->tree.api->port : 0;
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

static bool update(struct proc_source *s, struct tracked *t, const struct node_process *p)
{
	const char *title = p->cmdline ? p->cmdline : "";
	bool changed = !t->said || t->role != p->role || t->ppid != p->ppid || strcmp(t->rank, p->rank) != 0 ||
		!t->title || strcmp(t->title, title) != 0;

	(void)s;
	if (!changed)
		return false;
	free(t->title);
	t->title = mem_text(title);
	t->role = p->role;
	t->ppid = p->ppid;
	snprintf(t->rank, sizeof t->rank, "%s", p->rank);
	snprintf(t->how, sizeof t->how, "%s", p->how ? p->how : "");
	memcpy(t->comm, p->comm, sizeof t->comm);
	t->said = false;
	return true;
}

/* A new server: what is left of the one before is forgotten here (its rows stay in the session). */
static void forget_ended(struct proc_source *s)
{
	int kept = 0;

	for (int i = 0; i < s->count; i++) {
		if (s->tracked[i].ended)
			free(s->tracked[i].title);
		else
			s->tracked[kept++] = s->tracked[i];
	}
	s->count = kept;
}

static bool adopt_found(struct proc_source *s)
{
	bool changed = false;

	if (s->tree.api && !find_tracked(s, s->tree.api->pid, s->tree.api->start_ticks))
		forget_ended(s);
	for (size_t i = 0; i < s->tree.process.count; i++) {
		const struct node_process *p = s->tree.process.entry[i].value;
		struct tracked *t;

		if (p->depth < 0 || p->role == ROLE_NONE || s->count >= TRACKED_MAX)
			continue;
		t = find_tracked(s, p->pid, p->start_ticks);
		if (!t) {
			/* A helper that lives for a moment (a compiler, ps) is not worth a row; one that stays is. */
			if (p->role == ROLE_HELPER &&
				clock_wall_ms() - proc_tree_start_ms(&s->tree, p->start_ticks) < SCAN_MS)
				continue;
			t = &s->tracked[s->count++];
			memset(t, 0, sizeof *t);
			t->pid = p->pid;
			t->start_ticks = p->start_ticks;
			t->start = proc_tree_start_ms(&s->tree, p->start_ticks);
		}
		changed = update(s, t, p) || changed;
	}
	return changed;
}

static void scan(struct proc_source *s)
{
	proc_tree_scan(&s->tree, s->pid, s->env->options->engine);
	s->scanned = clock_mono_ms();
	if (adopt_found(s))
		fill_target(s);
}

/* --- every interval --- */

static bool look_at(struct proc_source *s, struct tracked *t, bool sample)
{
	struct proc_stat stat;
	bool there = proc_read(s->env->options->proc_root, t->pid, "stat", &s->text, 4095) &&
		proc_stat_parse(buf_as_span(&s->text), &stat) && stat.start == t->start_ticks;
	int ended = !there ? 1 : stat.state == 'Z' || stat.state == 'X' ? 2 : 0;

	if (t->ended == 1)
		return false;
	if (ended != t->ended) {
		t->ended = ended;
		emit_process(s, t);
		return true;
	}
	if (!ended && sample && t->role != ROLE_HELPER)
		emit_sample(s, t, &stat);
	if (!t->said)
		emit_process(s, t);
	return false;
}

static void health(struct proc_source *s)
{
	int workers = 0, engines = 0, ended = 0;
	int64_t api = 0;
	char detail[300];

	for (int i = 0; i < s->count; i++) {
		const struct tracked *t = &s->tracked[i];

		ended += t->ended && t->role != ROLE_HELPER;
		workers += t->role == ROLE_WORKER && !t->ended;
		engines += t->role == ROLE_ENGINE && !t->ended;
		if (t->role == ROLE_API && !t->ended)
			api = t->pid;
	}
	s->healthy = clock_mono_ms();
	if (api) {
		snprintf(detail, sizeof detail, "%s: api %lld, %d engine%s, %d worker%s%s%s", s->tree.profile ? s->tree.profile->words :
			"server", (long long)api, engines, engines == 1 ? "" : "s", workers, workers == 1 ? "" : "s",
			ended ? ", some ended" : "", s->trouble);
		source_health(s->env, "proc", "ok", detail, NULL, -1);
	} else if (s->pid) {
		snprintf(detail, sizeof detail, "process %lld is not there", (long long)s->pid);
		source_health(s->env, "proc", "late", detail, "give the pid of the running server with --pid, or leave it out", -1);
	} else {
		snprintf(detail, sizeof detail, "no server found: looked for %d engine profiles among %zu processes%s%s",
			s->env->target->profiles->count, s->tree.process.count, ended ? "; the one before has ended" : "", s->trouble);
		source_health(s->env, "proc", "late", detail, "start the server, or give --pid PID --log FILE (key o)", -1);
	}
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

static void on_timer(uv_timer_t *timer)
{
	struct proc_source *s = timer->data;
	int64_t mono = clock_mono_ms();
	bool changed = false, sample = mono - s->sampled >= s->env->options->interval_ms - 50;

	if (sample)
		s->sampled = mono;
	if (mono - s->scanned >= scan_every(s) - 50)
		scan(s);
	for (int i = 0; i < s->count; i++)
		changed = look_at(s, &s->tracked[i], sample) || changed;
	if (changed) {
		fill_target(s);
		health(s);
	} else if (mono - s->healthy >= HEALTH_MS) {
		health(s);
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
	s->scanned = -SCAN_MS;
	s->sampled = -60000;
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
		free(s->tracked[i].title);
	s->count = 0;
	scan(s);
	fill_target(s);
	health(s);
}

static void on_closed(uv_handle_t *handle)
{
	struct proc_source *s = handle->data;

	for (int i = 0; i < s->count; i++)
		free(s->tracked[i].title);
	free(s->tracked);
	buf_release(&s->text);
	proc_tree_release(&s->tree);
	if (s->closed)
		s->closed(s->context);
	free(s);
}

static void proc_stop(struct source *source, void (*closed)(void *), void *context)
{
	struct proc_source *s = (struct proc_source *)source;

	s->closed = closed;
	s->context = context;
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

extern const struct source_class source_proc;
const struct source_class source_proc = { "proc", "host", proc_start, proc_request, proc_stop };
