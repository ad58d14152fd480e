/* snapshot.c - the order of things: lock, guard, record the beginning, run, verify, record the end. */
#include "config.h"

#include "snapshot/snapshot_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "snapshot/debugger.h"
#include "snapshot/side_file.h"
#include "snapshot/verify.h"

/* What the guard says of asking the debug agent instead. */
struct asked_agent { bool loaded, other, offered; };

struct taking {
	const struct snapshot_options *options;
	struct snapshot *snapshot;
	FILE *file;             /* NULL: nothing of it is kept beside the session */
	int64_t began;
	struct buf argv;
	bool unwritten;
};

void snapshot_tell(const struct snapshot_options *options, const struct observation *o)
{
	if (options->emit)
		options->emit(options->context, o);
}

static void tell(struct taking *t, const struct observation *o)
{
	if (t->file && side_write(t->file, o) < 0)
		t->unwritten = true;
	snapshot_tell(t->options, o);
}

static void start_row(const struct taking *t, struct observation *o, const char *state, const char *detail)
{
	const struct snapshot_options *options = t->options;

	observation_init(o, KIND_snapshot, options->node, clock_wall_ms());
	observation_text(o, SNAPSHOT_snapshot, t->snapshot->id);
	observation_int(o, SNAPSHOT_pid, options->guard.pid);
	if (options->start_ms)
		observation_int(o, SNAPSHOT_start, options->start_ms);
	observation_text(o, SNAPSHOT_rank, options->rank && *options->rank ? options->rank : NULL);
	observation_text(o, SNAPSHOT_state, state);
	observation_text(o, SNAPSHOT_detail, detail);
	observation_text(o, SNAPSHOT_who, options->who);
	observation_int(o, SNAPSHOT_began, t->began);
	observation_int(o, SNAPSHOT_deadline_ms, options->deadline_ms);
	observation_span(o, SNAPSHOT_argv, buf_as_span((struct buf *)&t->argv));
}

/* --- the guard --- */

static void say_guard(struct taking *t, const struct guard_row *row, int count)
{
	for (int i = 0; i < count; i++) {
		struct observation o;

		observation_init(&o, KIND_guard, t->options->node, clock_wall_ms());
		observation_int(&o, GUARD_pid, t->options->guard.pid);
		observation_text(&o, GUARD_check, row[i].id);
		observation_text(&o, GUARD_state, guard_state_word(row[i].state));
		observation_text(&o, GUARD_detail, row[i].detail);
		observation_text(&o, GUARD_remedy, *row[i].remedy ? row[i].remedy : NULL);
		observation_text(&o, GUARD_snapshot, t->snapshot->id);
		tell(t, &o);
	}
}

static void say_cost(char *out, size_t size, const struct guard_facts *f, int64_t deadline_ms)
{
	snprintf(out, size,
		"stops pid %" PRId64 " (%d thread%s) and suspends its GPU queues while it is attached: seconds as a rule, more with many threads"
		" and waves; interrupted after %" PRId64 " s. Collectives of the other ranks wait meanwhile.",
		f->pid, f->threads > 0 ? f->threads : 0, f->threads == 1 ? "" : "s", deadline_ms / 1000);
}

/* With the debug agent loaded there is another way to the waves, for whom it may be offered to. */
static void offer_agent(struct taking *t, const struct guard_facts *facts, const struct guard_row *row, int count, struct asked_agent *ask)
{
	struct guard_row offer = { .id = "agent-dump" };
	const char *why;

	ask->loaded = ask->other = false;
	for (int i = 0; i < count; i++)
		if (row[i].state == GUARD_REFUSED) {
			bool agent = strcmp(row[i].id, "debug-agent") == 0;

			ask->loaded = ask->loaded || agent;
			ask->other = ask->other || !agent;
		}
	ask->offered = guard_sigquit(facts, &why) && ask->loaded && !ask->other;
	if (!ask->loaded)
		return;
	offer.state = ask->offered ? GUARD_OK : GUARD_REFUSED;
	snprintf(offer.detail, sizeof offer.detail, "SIGQUIT %s: %s", ask->offered ? "would ask the agent for its waves" : "is not offered",
		ask->other ? "another check refuses" : why);
	say_guard(t, &offer, 1);
}

/* True when every row lets it pass. `cost` gets what it will cost, or why not. */
static bool guarded(struct taking *t, bool busy, char *cost, size_t size, struct asked_agent *ask)
{
	struct guard_options options = t->options->guard;
	struct guard_row row[GUARD_ROWS_MAX];
	struct guard_facts facts;
	int count;

	options.busy = busy;
	options.folder = t->options->folder;
	options.budget_ms = SNAPSHOT_BUDGET_MS;
	options.used_ms = side_used_ms(t->options->folder, options.pid, t->options->start_ms, t->began);
	guard_look(&options, &facts);
	count = guard_check(&facts, row);
	say_guard(t, row, count);
	offer_agent(t, &facts, row, count, ask);
	if (guard_allows(row, count)) {
		say_cost(cost, size, &facts, t->options->deadline_ms);
		return true;
	}
	*cost = 0;
	for (int i = 0; i < count; i++)
		if (row[i].state == GUARD_REFUSED) {
			snprintf(cost, size, "%s", row[i].detail);
			break;
		}
	return false;
}

static void refuse(struct taking *t, const char *why)
{
	struct observation o;

	start_row(t, &o, "refused", why);
	tell(t, &o);
	t->snapshot->result = SNAPSHOT_REFUSED;
}

/* --- the run --- */

static void on_started(void *context, pid_t debugger)
{
	struct taking *t = context;
	struct verify_state us, target;
	struct side_run run = { .debugger = debugger, .target = t->options->guard.pid };

	verify_look(t->options->guard.proc_root, debugger, &us);
	verify_look(t->options->guard.proc_root, run.target, &target);
	run.debugger_start = us.start_ticks;
	run.target_start = target.start_ticks;
	side_run_write(t->options->folder, t->snapshot->id, &run);
}

void snapshot_read_output(struct observation *o, const char *path, struct buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[65536];
	ssize_t n;

	buf_init(text, SNAPSHOT_TEXT_MAX);
	while (fd >= 0 && text->len < SNAPSHOT_TEXT_MAX && (n = read(fd, block, sizeof block)) > 0)
		buf_add(text, block, (size_t)n);
	if (fd >= 0)
		close(fd);
	observation_span(o, SNAPSHOT_output, buf_as_span(text));
}

static const char *how_it_ended(const struct debugger_result *r)
{
	return r->killed ? "SIGKILL" : r->interrupted ? "SIGINT" : "by itself";
}

static void say_what_went_wrong(char *out, size_t size, const struct debugger_result *r)
{
	if (r->killed)
		snprintf(out, size, "the debugger did not end on SIGINT and was killed: waves that were halted one by one may stay halted");
	else if (r->flooded)
		snprintf(out, size, "the output passed its cap");
	else if (r->cancelled)
		snprintf(out, size, "interrupted: cancelled");
	else if (r->interrupted)
		snprintf(out, size, "interrupted at the deadline");
	else if (r->exit < 0)
		snprintf(out, size, "the debugger was ended by signal %d", -r->exit);
	else if (!r->regular)
		snprintf(out, size, "the debugger ended before its last command (exit %d)", r->exit);
	else
		*out = 0;
}

static void say_action(struct taking *t, const struct debugger_result *r)
{
	struct observation o;

	observation_init(&o, KIND_action, t->options->node, clock_wall_ms());
	observation_text(&o, ACTION_what, "snapshot");
	observation_text(&o, ACTION_who, t->options->who);
	observation_span(&o, ACTION_argv, buf_as_span(&t->argv));
	observation_int(&o, ACTION_pid, t->options->guard.pid);
	observation_int(&o, ACTION_started, t->began);
	observation_real(&o, ACTION_took_ms, r->took_ms);
	observation_int(&o, ACTION_exit, r->exit);
	observation_int(&o, ACTION_bytes, r->bytes);
	observation_text(&o, ACTION_result, r->killed ? "killed" : r->interrupted ? "timeout" : r->regular ? "ok" : "failed");
	tell(t, &o);
}

void snapshot_say_verified(struct observation *o, const struct verify *v)
{
	observation_text(o, SNAPSHOT_verified, verify_word(v->result));
	observation_text(o, SNAPSHOT_verify_detail, v->detail);
	observation_int(o, SNAPSHOT_cpu_moved, v->cpu_moved);
}

static void say_end(struct taking *t, const struct debugger_result *r, const struct verify *v)
{
	struct observation o;
	struct buf text;
	char wrong[200];

	say_what_went_wrong(wrong, sizeof wrong, r);
	start_row(t, &o, r->regular ? "done" : "failed", *wrong ? wrong : NULL);
	observation_real(&o, SNAPSHOT_took_ms, (double)(clock_wall_ms() - t->began));
	observation_real(&o, SNAPSHOT_stopped_ms, r->stopped_ms);
	observation_int(&o, SNAPSHOT_exit, r->exit);
	observation_text(&o, SNAPSHOT_ended, how_it_ended(r));
	observation_int(&o, SNAPSHOT_bytes, r->bytes);
	observation_text(&o, SNAPSHOT_file, t->snapshot->output);
	snapshot_say_verified(&o, v);
	snapshot_read_output(&o, t->snapshot->output, &text);
	tell(t, &o);
	buf_release(&text);
}

static int run(struct taking *t, const char *cost, struct error *error)
{
	const struct snapshot_options *o = t->options;
	struct debugger_options options = { .debugger = o->guard.debugger, .pid = o->guard.pid, .output = t->snapshot->output,
		.deadline_ms = o->deadline_ms, .grace_ms = o->grace_ms, .cap = o->cap, .proc_root = o->guard.proc_root, .cancel = o->cancel,
		.started = on_started, .context = t };
	struct debugger_result result;
	struct observation row;
	struct verify verify = { 0 };
	char path[SIDE_PATH_MAX];

	start_row(t, &row, "running", cost);
	tell(t, &row);
	if (t->unwritten)
		return error_set(error, "the beginning of the snapshot cannot be recorded in %s: nothing was done", o->folder);
	verify_look(o->guard.proc_root, o->guard.pid, &verify.before);
	if (debugger_run(&options, &result, error) < 0)
		return -1;
	verify_after(o->guard.proc_root, o->guard.pid, !result.regular, &verify);
	say_action(t, &result);
	say_end(t, &result, &verify);
	side_path(path, o->folder, t->snapshot->id, ".run");
	unlink(path);
	t->snapshot->result = result.regular ? SNAPSHOT_DONE : SNAPSHOT_FAILED;
	t->snapshot->hurt = verify.result != VERIFY_OK && verify.result != VERIFY_REPAIRED;
	return 0;
}

/* --- from outside --- */

static struct snapshot_options with_defaults(const struct snapshot_options *options)
{
	struct snapshot_options o = *options;

	o.deadline_ms = o.deadline_ms ? o.deadline_ms : SNAPSHOT_DEADLINE_MS;
	o.grace_ms = o.grace_ms ? o.grace_ms : SNAPSHOT_GRACE_MS;
	o.cap = o.cap ? o.cap : SNAPSHOT_OUTPUT_CAP;
	return o;
}

static void begin(struct taking *t, const struct snapshot_options *options, struct snapshot *out)
{
	const char *argv[DEBUGGER_ARGS_MAX];
	char number[24];
	struct json_write w;
	int n = debugger_argv(options->guard.debugger ? options->guard.debugger : "rocgdb", options->guard.pid, argv, number);

	memset(out, 0, sizeof *out);
	memset(t, 0, sizeof *t);
	t->options = options;
	t->snapshot = out;
	t->began = clock_wall_ms();
	snprintf(out->id, sizeof out->id, "%" PRId64 "-%" PRId64, options->guard.pid, t->began);
	buf_init(&t->argv, 16384);
	jw_start(&w, &t->argv);
	jw_array(&w, NULL);
	for (int i = 0; i < n; i++)
		jw_string(&w, NULL, argv[i]);
	jw_end_array(&w);
}

void snapshot_preview(const struct snapshot_options *options, struct snapshot *out)
{
	struct snapshot_options o = with_defaults(options);
	struct observation row;
	struct error ignored;
	struct asked_agent ask;
	struct taking t;
	char cost[400];
	int lock;

	begin(&t, &o, out);
	side_folder(o.folder, &ignored);
	lock = side_lock(o.folder, o.guard.pid, &ignored);
	if (guarded(&t, lock < 0 && !*ignored.text, cost, sizeof cost, &ask)) {
		start_row(&t, &row, "preview", cost);
		tell(&t, &row);
		out->result = SNAPSHOT_DONE;
	} else {
		refuse(&t, cost);
	}
	if (lock >= 0)
		close(lock);
	buf_release(&t.argv);
}

int snapshot_take(const struct snapshot_options *options, struct snapshot *out, struct error *error)
{
	struct snapshot_options o = with_defaults(options);
	struct asked_agent ask;
	struct taking t;
	char cost[400];
	int lock, status = 0;

	begin(&t, &o, out);
	if (side_folder(o.folder, error) < 0) {
		buf_release(&t.argv);
		return -1;
	}
	lock = side_lock(o.folder, o.guard.pid, error);
	if (lock < 0 && *error->text) {
		status = -1;
	} else if (!guarded(&t, lock < 0, cost, sizeof cost, &ask)) {
		refuse(&t, cost);
	} else {
		side_path(out->output, o.folder, out->id, ".out");
		t.file = side_open(o.folder, out->id, error);
		status = t.file ? run(&t, cost, error) : -1;
		if (t.file)
			fclose(t.file);
	}
	if (lock >= 0)
		close(lock);
	buf_release(&t.argv);
	return status;
}

/* SIGQUIT, and a look at what it did. */
static int quit_signal(struct taking *t, struct error *error)
{
	const struct snapshot_options *o = t->options;
	struct verify verify = { 0 };
	struct observation row;

	buf_clear(&t->argv);
	buf_printf(&t->argv, "[\"kill\",\"-QUIT\",\"%" PRId64 "\"]", o->guard.pid);
	start_row(t, &row, "running", "SIGQUIT asks the debug agent for its waves");
	tell(t, &row);
	if (t->unwritten)
		return error_set(error, "it cannot be recorded in %s: nothing was done", o->folder);
	verify_look(o->guard.proc_root, o->guard.pid, &verify.before);
	if (kill((pid_t)o->guard.pid, SIGQUIT) < 0)
		return error_set_errno(error, errno, "SIGQUIT to pid %" PRId64, o->guard.pid);
	verify_after(o->guard.proc_root, o->guard.pid, false, &verify);
	start_row(t, &row, "done", "SIGQUIT sent: the agent's waves come in the server's log (panel Waves); they stay stopped");
	observation_real(&row, SNAPSHOT_took_ms, (double)(clock_wall_ms() - t->began));
	snapshot_say_verified(&row, &verify);
	tell(t, &row);
	t->snapshot->hurt = verify.result != VERIFY_OK;
	t->snapshot->result = SNAPSHOT_DONE;
	return 0;
}

int snapshot_ask_agent(const struct snapshot_options *options, struct snapshot *out, struct error *error)
{
	struct snapshot_options o = with_defaults(options);
	struct asked_agent ask;
	struct taking t;
	char cost[400];
	int lock, status = 0;

	begin(&t, &o, out);
	if (side_folder(o.folder, error) < 0 || ((lock = side_lock(o.folder, o.guard.pid, error)) < 0 && *error->text)) {
		buf_release(&t.argv);
		return -1;
	}
	guarded(&t, lock < 0, cost, sizeof cost, &ask);
	if (!ask.offered) {
		refuse(&t, ask.loaded ? "SIGQUIT is not offered: see the check agent-dump" : "the debug agent is not loaded: SIGQUIT would kill the process");
	} else {
		t.file = side_open(o.folder, out->id, error);
		status = t.file ? quit_signal(&t, error) : -1;
		if (t.file)
			fclose(t.file);
	}
	if (lock >= 0)
		close(lock);
	buf_release(&t.argv);
	return status;
}

void snapshot_taken_over(const char *folder, const char *id)
{
	char from[SIDE_PATH_MAX], to[SIDE_PATH_MAX];

	side_path(from, folder, id, ".jsonl");
	side_path(to, folder, id, ".done.jsonl");
	rename(from, to);
}
