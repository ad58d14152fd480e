/* cmd_snapshot.c - `hangtop snapshot`: which process, and the snapshot as text or as observation lines.
 *
 * Agents start it with --json --target ...; by hand it prints what is found. Its own death or the end of its terminal never
 * reaches the debugger: what is left in the middle is finished by the next start (--import).
 */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/agent.h"
#include "app/commands.h"
#include "app/paths.h"
#include "app/profiles.h"
#include "app/snapshot_output.h"
#include "app/snapshot_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "snapshot/debugger.h"
#include "snapshot/snapshot.h"
#include "source/proc_tree.h"
#include "transport/child.h"

#define TARGETS_MAX 256
#define START_SLACK_MS 20       /* ms of two readings of the clock of boot */

static volatile sig_atomic_t cancelled;

struct target_choice { int64_t pid, start_ticks, start_ms; char role[12], rank[32], engine[24]; };

struct choosing {
	const struct app_options *options;
	struct proc_tree tree;
	struct profile_set profiles;
	struct target_choice choice[TARGETS_MAX];
	int count, workers;
};

static void on_cancel(int number)
{
	(void)number;
	cancelled = 1;
}

static void watch_signals(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, cancel = { .sa_handler = on_cancel };

	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGINT, &cancel, NULL);
	sigaction(SIGTERM, &cancel, NULL);
}

/* --- which process --- */

static void choose(struct choosing *c, const struct node_process *p)
{
	struct target_choice *choice = &c->choice[c->count];

	if (c->count == TARGETS_MAX)
		return;
	c->count++;
	choice->pid = p->pid;
	choice->start_ticks = p->start_ticks;
	choice->start_ms = proc_tree_start_ms(&c->tree, p->start_ticks);
	snprintf(choice->role, sizeof choice->role, "%s", p->depth >= 0 ? role_word(p->role) : "");
	snprintf(choice->rank, sizeof choice->rank, "%s", p->rank);
	snprintf(choice->engine, sizeof choice->engine, "%s", c->tree.profile ? c->tree.profile->name : "");
}

static bool is_rank(const char *rank, const char *wanted)
{
	return strcmp(rank, wanted) == 0 || (strncmp(rank, "TP", 2) == 0 && strcmp(rank + 2, wanted) == 0);
}

/* An agent says what it knows; what it does not say is looked up. */
static void choose_target(struct choosing *c)
{
	const struct app_options *o = c->options;
	struct node_process *p = proc_tree_find(&c->tree, o->target);
	struct target_choice *choice = &c->choice[0];

	if (p) {
		choose(c, p);
	} else {
		c->count = 1;
		choice->pid = o->target;
	}
	if (o->role)
		snprintf(choice->role, sizeof choice->role, "%s", o->role);
	if (o->rank)
		snprintf(choice->rank, sizeof choice->rank, "%s", o->rank);
	if (o->start && llabs(o->start - choice->start_ms) > START_SLACK_MS) {
		choice->start_ms = o->start; /* whoever has the pid now, it is not the one that was meant */
		choice->start_ticks = 1; /* that of nobody */
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct target_choice *one = a, *two = b;
	int64_t m = 0, n = 0;
	bool numbers = span_int(span_of(one->rank), &m) && span_int(span_of(two->rank), &n);

	return numbers ? (m > n) - (m < n) : strcmp(one->rank, two->rank);
}

static int find_targets(struct choosing *c, struct error *error)
{
	const struct app_options *o = c->options;
	struct buf trouble;

	buf_init(&trouble, 64 * 1024);
	profiles_load(&c->profiles, o->source.profile_dir, &trouble);
	buf_release(&trouble);
	if (proc_tree_init(&c->tree, o->source.proc_root, &c->profiles, error) < 0)
		return -1;
	proc_tree_scan(&c->tree, o->pid, o->source.engine);
	if (o->target) {
		choose_target(c);
		return 0;
	}
	EACH_PROCESS(&c->tree, p) {
		if (p->depth < 0 || p->role != ROLE_WORKER || p->state == 'Z')
			continue;
		c->workers++;
		if (o->all_ranks || (o->rank && is_rank(p->rank, o->rank)))
			choose(c, p);
	}
	qsort(c->choice, (size_t)c->count, sizeof *c->choice, by_rank);
	if (c->count)
		return 0;
	if (!c->workers)
		error_set(error, "no worker of a model server is found on this node");
	else if (o->rank)
		error_set(error, "no worker has rank %s (%d workers are found)", o->rank, c->workers);
	else
		error_set(error, "of which worker? %d are found", c->workers);
	return error_fix(error, c->workers ? "--rank R, --all-ranks or --target PID; hangtop --once lists the ranks" :
		"give the worker with --target PID, or the server with --pid PID");
}

/* --- what is found goes out --- */

static void on_observation(void *context, const struct observation *o)
{
	const struct app_options *options = context;
	struct buf line;

	buf_init(&line, OBSERVATION_LINE_MAX);
	if (options->json) {
		observation_encode(o, &line);
		buf_char(&line, '\n');
	} else {
		snapshot_text(o, &line);
	}
	fwrite(line.at, 1, line.len, stdout);
	fflush(stdout);
	buf_release(&line);
}

static void tell_output(const struct app_options *options, const char *node, int64_t pid, const struct snapshot *s)
{
	struct snapshot_sink sink = { on_observation, (void *)options };

	snapshot_output(s->output, s->id, node, pid, &sink);
}

static char *find_debugger(const struct app_options *options)
{
	static const char *const place[] = { "rocgdb", "/opt/rocm/bin/rocgdb" };
	char *found = NULL;

	if (options->gdb)
		return child_find(options->gdb);
	for (size_t i = 0; i < sizeof place / sizeof *place && !found; i++)
		found = child_find(place[i]);
	return found;
}

static struct snapshot_options fill(const struct app_options *o, const struct target_choice *c, const char *folder, const char *node,
	const char *debugger)
{
	return (struct snapshot_options){
		.guard = { .proc_root = o->source.proc_root, .sys_root = o->source.sys_root, .pid = c->pid, .start_ticks = c->start_ticks,
			.role = c->role, .engine = c->engine, .debugger = debugger, .allow_plain_gdb = o->plain_gdb },
		.folder = folder, .start_ms = c->start_ms, .node = node, .rank = c->rank, .who = o->why ? o->why : "command",
		.deadline_ms = (int64_t)(o->deadline_s * 1000), .grace_ms = (int64_t)(o->grace_s * 1000), .cancel = &cancelled,
		.emit = on_observation, .context = (void *)o,
	};
}

static int one(const struct app_options *o, const struct target_choice *choice, const char *folder, const char *node, const char *debugger)
{
	struct snapshot_options options = fill(o, choice, folder, node, debugger);
	struct snapshot s;
	struct error error;

	if (!o->yes) {
		snapshot_preview(&options, &s);
		return s.result == SNAPSHOT_REFUSED ? EXIT_NO_PERMISSION : 0;
	}
	if (o->ask_agent && strcmp(o->ask_agent, choice->rank) != 0) {
		error_set(&error, "--ask-agent %s, but this is rank %s: nothing was done", o->ask_agent, *choice->rank ? choice->rank : "unknown");
		error_fix(&error, "type the rank of the process that is to be asked");
		return complain(&error, EXIT_USAGE);
	}
	if ((o->ask_agent ? snapshot_ask_agent(&options, &s, &error) : snapshot_take(&options, &s, &error)) < 0)
		return complain(&error, EXIT_CANNOT_WRITE);
	if (s.result == SNAPSHOT_REFUSED)
		return EXIT_NO_PERMISSION;
	if (*s.output)
		tell_output(o, node, choice->pid, &s);
	if (o->json && !ferror(stdout)) /* else it is imported by the next start */
		snapshot_taken_over(folder, s.id);
	return s.hurt ? EXIT_HUNG : s.result == SNAPSHOT_FAILED ? EXIT_SUSPECT : 0;
}

static int all(struct choosing *c, const char *folder, const char *node, const char *debugger)
{
	int worst = 0;

	for (int i = 0; i < c->count && !cancelled; i++) {
		int status = one(c->options, &c->choice[i], folder, node, debugger);

		if (status)
			worst = status;
		if (status == EXIT_HUNG) /* one that was hurt is enough */
			break;
	}
	return worst;
}

/* --- what others left --- */

struct importing { const struct app_options *options; const char *node; };

static void on_imported(void *context, const struct observation *o)
{
	struct importing *x = context;

	on_observation((void *)x->options, o);
}

static void on_imported_output(void *context, const struct snapshot *s)
{
	struct importing *x = context;
	struct span id = span_of(s->id);
	int64_t pid = 0;

	span_take_int(&id, &pid);
	tell_output(x->options, x->node, pid, s);
}

static int import(const struct app_options *o, const char *folder, const char *node)
{
	struct importing x = { o, node };
	struct snapshot_options options = { .guard = { .proc_root = o->source.proc_root }, .folder = folder, .node = node,
		.deadline_ms = (int64_t)(o->deadline_s * 1000), .grace_ms = (int64_t)(o->grace_s * 1000), .emit = on_imported, .context = &x };

	snapshot_import(&options, on_imported_output);
	return 0;
}

int cmd_snapshot(const struct app_options *options)
{
	struct choosing *c = mem_alloc(sizeof *c);
	char *folder = path_snapshots(), *node = node_name(options), *debugger = find_debugger(options);
	struct error error;
	int status;

	c->options = options;
	watch_signals();
	if (options->import) {
		status = import(options, folder, node);
	} else if (find_targets(c, &error) < 0) {
		status = complain(&error, EXIT_UNKNOWN);
	} else {
		status = all(c, folder, node, debugger);
		if (!options->yes && !options->json && !status)
			printf("\nNothing was done. To take it: the same command with --yes-i-accept-a-pause\n");
	}
	proc_tree_release(&c->tree);
	profile_set_release(&c->profiles);
	free(folder);
	free(node);
	free(debugger);
	free(c);
	return status;
}
