/* stack_job.c - the stack of one process: py-spy run once or twice, its dump or its error, and what stands in for it. */
#include "config.h"

#include "source/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "parse/proc_files.h"
#include "parse/pyspy.h"
#include "source/proc_tree.h"
#include "transport/child.h"

#define DEADLINE_MS 10000
#define OUTPUT_MAX (4 << 20)

char stack_state_of(struct stack_source *s, int64_t pid, int64_t *tracer)
{
	struct proc_status status;
	struct proc_stat stat;
	struct buf text;
	char state = 0;

	buf_init(&text, 8192);
	*tracer = 0;
	if (proc_read(s->env->options->proc_root, pid, "stat", &text, 4000) && proc_stat_parse(buf_as_span(&text), &stat))
		state = stat.state;
	if (proc_read(s->env->options->proc_root, pid, "status", &text, 8000)) {
		proc_status_parse(buf_as_span(&text), &status);
		*tracer = status.tracer > 0 ? status.tracer : 0;
	}
	buf_release(&text);
	return state;
}

static void emit_stack(struct job *j, const char *how, double took, const char *error, const char *remedy, struct span threads)
{
	struct stack_source *s = j->source;
	struct observation o;

	observation_init(&o, KIND_stack, s->env->node, clock_wall_ms());
	observation_int(&o, STACK_pid, j->pid);
	observation_int(&o, STACK_start, j->start);
	observation_text(&o, STACK_rank, *j->rank ? j->rank : NULL);
	observation_text(&o, STACK_how, how);
	observation_real(&o, STACK_took_ms, took);
	observation_text(&o, STACK_error, error && *error ? error : NULL);
	observation_text(&o, STACK_remedy, remedy && *remedy ? remedy : NULL);
	if (threads.len)
		observation_span(&o, STACK_threads, threads);
	observation_text(&o, STACK_why, s->why);
	observation_int(&o, STACK_round, s->round);
	s->env->emit(s->env->context, &o);
}

/* No Python frames: say why, and give what /proc tells. */
static void fall_back(struct job *j, double took, const char *error, const char *remedy)
{
	struct stack_source *s = j->source;
	struct buf threads;

	s->now.failed++;
	snprintf(s->now.trouble, sizeof s->now.trouble, "%s", error);
	snprintf(s->now.remedy, sizeof s->now.remedy, "%s", remedy ? remedy : "");
	buf_init(&threads, 1 << 20);
	if (stack_of_kernel(s->env->options->proc_root, j->pid, &threads) > 0)
		emit_stack(j, "proc", took, error, remedy, buf_as_span(&threads));
	else
		emit_stack(j, "proc", took, "the process is gone", NULL, span_make("", 0));
	buf_release(&threads);
}

static void run_py_spy(struct job *j);

/* What it printed, if that is a dump. */
static bool take_dump(struct job *j, const struct child_result *r)
{
	struct error error;
	struct buf threads;
	int n;

	buf_init(&threads, OBSERVATION_LINE_MAX / 2);
	n = j->as_text ? pyspy_text(r->out, &threads, &error) : pyspy_json(r->out, &threads, &error);
	if (n > 0) {
		j->source->now.ok++;
		emit_stack(j, j->as_text ? "py-spy-text" : "py-spy", r->took_ms, NULL, NULL, buf_as_span(&threads));
	}
	buf_release(&threads);
	return n > 0;
}

static void remember_stuck(struct job *j, int tool)
{
	struct stack_source *s = j->source;

	if (s->stuck_count < STACK_STUCK_MAX)
		s->stuck[s->stuck_count++] = (struct stuck){ j->pid, tool };
}

/* The py-spy that still waits for this process; 0 none. */
static int stuck_tool(struct stack_source *s, int64_t pid)
{
	for (int i = 0; i < s->stuck_count;) {
		if (kill(s->stuck[i].tool, 0) < 0)
			s->stuck[i] = s->stuck[--s->stuck_count];
		else if (s->stuck[i++].pid == pid)
			return s->stuck[i - 1].tool;
	}
	return 0;
}

/* It failed and said why. True when it is tried once more. */
static bool take_error(struct job *j, const struct child_result *r)
{
	const char *words, *remedy;
	struct buf text, line;

	switch (pyspy_error(r->err, &words, &remedy)) {
	case PYSPY_RACE:
		if (!j->again) {
			j->again = true;
			run_py_spy(j);
			return true;
		}
		break;
	case PYSPY_USAGE:
		if (!j->as_text) {
			j->source->text_only = j->as_text = true;
			run_py_spy(j);
			return true;
		}
		break;
	case PYSPY_UNKNOWN: /* then its own words are the best there are */
		buf_init(&text, 300);
		buf_init(&line, 200);
		text_scrub(&line, pyspy_error_line(r->err));
		buf_printf(&text, r->exit < 0 ? "py-spy was ended by signal %d" : "py-spy failed, status %d", abs(r->exit));
		if (line.len)
			buf_printf(&text, ": %s", buf_string(&line));
		fall_back(j, r->took_ms, buf_string(&text), remedy);
		buf_release(&text);
		buf_release(&line);
		return false;
	default:
		break;
	}
	fall_back(j, r->took_ms, words, remedy);
	return false;
}

static void on_dump(void *context, const struct child_result *r)
{
	struct job *j = context;
	struct stack_source *s = j->source;
	char text[100];

	if (r->stuck)
		remember_stuck(j, r->pid);
	if (s->stopping) {
		stack_job_done(j);
		return;
	}
	if (r->timed_out) {
		snprintf(text, sizeof text, "py-spy did not finish within %d s%s", DEADLINE_MS / 1000, r->stuck ? " and cannot be killed" : "");
		fall_back(j, r->took_ms, text, "look at the process' state: a thread in state D makes readers wait");
	} else if (r->not_started) {
		fall_back(j, r->took_ms, "py-spy cannot be run", "pip install py-spy");
	} else if (r->exit != 0) {
		if (take_error(j, r))
			return;
	} else if (!take_dump(j, r)) {
		if (!j->as_text) { /* an odd py-spy, or a dump too long to read as a whole */
			j->as_text = true;
			run_py_spy(j);
			return;
		}
		fall_back(j, r->took_ms, "what py-spy printed is no dump", "pip install --upgrade py-spy");
	}
	stack_job_done(j);
}

static void run_py_spy(struct job *j)
{
	static const char *const env[] = { "RUST_BACKTRACE=0", NULL };
	struct stack_source *s = j->source;
	const char *argv[] = { s->py_spy, "dump", "--nonblocking", "--pid", j->number, j->as_text ? NULL : "--json", NULL };
	struct child_options options = { .argv = argv, .deadline_ms = DEADLINE_MS, .cap = OUTPUT_MAX, .env_add = env, .done = on_dump,
		.context = j };

	j->child = child_run(s->env->loop, &options);
}

/* A reason not to ask py-spy about this process. */
static bool is_excused(struct job *j, char *words, size_t size, const char **remedy)
{
	struct stack_source *s = j->source;
	int64_t tracer;
	char state = stack_state_of(s, j->pid, &tracer);
	int tool;

	j->was_stopped = state == 'T' || state == 't';
	*remedy = NULL;
	if (!state || state == 'Z') {
		snprintf(words, size, "the process is gone");
	} else if (tracer) {
		snprintf(words, size, "held by a debugger (pid %lld)", (long long)tracer);
		*remedy = "wait until it has let go";
	} else if (!s->py_spy) {
		snprintf(words, size, "py-spy not found");
		*remedy = "pip install py-spy";
	} else if ((tool = stuck_tool(s, j->pid))) {
		snprintf(words, size, "an earlier py-spy (pid %d) still waits in the kernel for it", tool);
		*remedy = "look at the process' state: a thread in state D makes readers wait";
	} else {
		return false;
	}
	return true;
}

bool stack_job_start(struct job *j)
{
	char words[120];
	const char *remedy;

	if (is_excused(j, words, sizeof words, &remedy)) {
		fall_back(j, 0, words, remedy);
		return false;
	}
	run_py_spy(j);
	return true;
}
