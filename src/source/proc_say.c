/* proc_say.c - the rows and the health of the proc source. */
#include "config.h"

#include "source/proc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "parse/proc_files.h"

#define TITLE_MAX 512

/* --- rows --- */

void proc_say_process(struct proc_source *s, struct tracked *t)
{
	struct observation o;
	struct buf title, comm;
	struct proc_status status;
	char exe[512], path[600];
	ssize_t n;

	buf_init(&title, TITLE_MAX);
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
	observation_text(&o, PROCESS_env, t->env);
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
	if (s->profile)
		observation_text(&o, PROCESS_engine, s->profile->name);
	s->env->emit(s->env->context, &o);
	t->said = true;
	t->said_at = clock_mono_ms();
	buf_release(&title);
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

void proc_say_sample(struct proc_source *s, struct tracked *t, const struct proc_stat *stat)
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

/* --- health --- */

static void say_running(struct proc_source *s, int64_t api, int64_t engine, int engines, int workers, bool ended)
{
	const char *remedy = s->denied ? "run as the server's user or as root" : NULL;
	struct buf b;

	buf_init(&b, 399);
	buf_printf(&b, "%s: api %lld", s->profile ? s->profile->words : "server", (long long)api);
	if (engines == 1)
		buf_printf(&b, ", engine %lld", (long long)engine);
	else if (engines)
		buf_printf(&b, ", %d engines", engines);
	buf_printf(&b, ", %d worker%s%s", workers, workers == 1 ? "" : "s", ended ? ", some ended" : "");
	if (s->denied)
		buf_printf(&b, "; environment of %d process%s not readable", s->denied, s->denied == 1 ? "" : "es");
	buf_text(&b, s->trouble);
	source_health(s->env, "proc", "ok", buf_string(&b), remedy, -1);
	buf_release(&b);
}

static void say_none(struct proc_source *s, bool ended)
{
	const struct profile_set *set = s->env->target->profiles;
	const char *only = s->env->options->engine;
	struct buf b;

	buf_init(&b, 399);
	if (s->pid) {
		buf_printf(&b, "process %lld is not there", (long long)s->pid);
		source_health(s->env, "proc", "late", buf_string(&b), "give the pid of the running server with --pid, or leave it out", -1);
	} else {
		buf_text(&b, "no server found: looked for");
		for (int i = 0; i < set->count; i++)
			if (!only || strcmp(only, set->profile[i]->name) == 0)
				buf_printf(&b, " %s", set->profile[i]->name);
		buf_printf(&b, " titles among %zu processes%s%s", s->seen, ended ? "; the one before has ended" : "", s->trouble);
		source_health(s->env, "proc", "late", buf_string(&b), "start the server, or give --pid PID --log FILE (key o)", -1);
	}
	buf_release(&b);
}

/* Reading a command line waits while a thread of the process holds its memory map in the driver. That is worth knowing. */
static bool say_stuck(struct proc_source *s)
{
	int64_t since = clock_mono_ms() - s->scanning_since, at = proc_tree_at(&s->tree);
	char detail[200], remedy[200];

	if (!s->scanning || since < SCAN_STUCK_MS)
		return false;
	snprintf(detail, sizeof detail, "reading process %lld is stuck for %lld s: one of its threads holds the memory map (driver wait)",
		(long long)at, (long long)since / 1000);
	snprintf(remedy, sizeof remedy, "none but time; look at its threads in state D: grep . %s/%lld/task/*/wchan",
		s->env->options->proc_root, (long long)at);
	source_health(s->env, "proc", "late", detail, remedy, -1);
	return true;
}

void proc_say_health(struct proc_source *s)
{
	int workers = 0, engines = 0;
	int64_t api = 0, engine = 0;
	bool ended = false;

	s->healthy = clock_mono_ms();
	for (int i = 0; i < s->count; i++) {
		const struct tracked *t = &s->tracked[i];

		ended = ended || (t->ended && t->role != ROLE_HELPER);
		if (t->ended)
			continue;
		workers += t->role == ROLE_WORKER;
		engines += t->role == ROLE_ENGINE;
		if (t->role == ROLE_ENGINE)
			engine = t->pid;
		if (t->role == ROLE_API)
			api = t->pid;
	}
	if (say_stuck(s))
		return;
	if (api)
		say_running(s, api, engine, engines, workers, ended);
	else if (s->looked)
		say_none(s, ended);
}
