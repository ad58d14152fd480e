/* agent_snapshot.c - one snapshot process at a time. */
#include "config.h"

#include "app/agent_snapshot.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/paths.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "transport/frame.h"

#define ARGS_MAX 40
#define STACKS_MS 12000         /* py-spy has its own deadline; this is for when it is stuck */
#define LOOK_MS 50

struct asked { int64_t pid, start; char rank[32], role[12], why[24], ask_agent[32]; bool take; };

struct agent_snapshot {
	struct source_env *env;
	const struct app_options *options;
	void (*ask)(void *context, struct span request);
	void *context;
	struct asked asked;
	uv_timer_t wait;               /* for py-spy to come back */
	int64_t wait_until;
	uv_process_t process;
	uv_pipe_t out;
	struct frame frame;
	struct buf arena;
	bool busy;                     /* asked, and not yet over */
	bool running, open, ended;     /* process handle in use, pipe open, exit known */
	bool importing, broken;        /* broken: ended by a signal: import what it left */
	bool stopping, wait_closed;
};

static void begin_import(struct agent_snapshot *a);

static void maybe_free(struct agent_snapshot *a)
{
	if (!a->stopping || a->running || a->open || !a->wait_closed)
		return;
	frame_release(&a->frame);
	buf_release(&a->arena);
	free(a);
}

/* --- the process --- */

static void on_line(void *context, struct span line)
{
	struct agent_snapshot *a = context;
	struct observation o;

	buf_clear(&a->arena);
	if (observation_decode(line, &o, &a->arena, NULL) == 0 && !a->stopping)
		a->env->emit(a->env->context, &o);
}

static void over(struct agent_snapshot *a)
{
	bool again = a->broken && !a->importing;

	if (a->running || a->open)
		return;
	a->busy = false;
	a->env->target->held_pid = 0;
	if (a->stopping)
		maybe_free(a);
	else if (again)
		begin_import(a);
}

static void on_process_closed(uv_handle_t *handle)
{
	struct agent_snapshot *a = handle->data;

	a->running = false;
	over(a);
}

static void on_end(uv_process_t *process, int64_t status, int number)
{
	struct agent_snapshot *a = process->data;

	debug_log("snapshot", "its process ended: status %lld, signal %d", (long long)status, number);
	a->broken = number != 0;
	uv_close((uv_handle_t *)process, on_process_closed);
}

static void on_out_closed(uv_handle_t *handle)
{
	struct agent_snapshot *a = handle->data;

	a->open = false;
	over(a);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *out)
{
	static char block[65536];

	(void)handle;
	(void)size;
	*out = uv_buf_init(block, sizeof block);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *block)
{
	struct agent_snapshot *a = stream->data;

	if (n > 0)
		frame_feed(&a->frame, span_make(block->base, (size_t)n), on_line, a);
	else if (n < 0 && !uv_is_closing((uv_handle_t *)stream))
		uv_close((uv_handle_t *)stream, on_out_closed);
}

static void say_failed(struct agent_snapshot *a, const char *detail)
{
	struct observation o;

	observation_init(&o, KIND_snapshot, a->env->node, clock_wall_ms());
	observation_text(&o, SNAPSHOT_snapshot, "none");
	observation_int(&o, SNAPSHOT_pid, a->asked.pid);
	observation_text(&o, SNAPSHOT_rank, a->asked.rank);
	observation_text(&o, SNAPSHOT_state, "refused");
	observation_text(&o, SNAPSHOT_detail, detail);
	observation_text(&o, SNAPSHOT_who, a->asked.why);
	a->env->emit(a->env->context, &o);
}

static void spawn(struct agent_snapshot *a, const char **argv)
{
	uv_stdio_container_t stdio[3] = { { .flags = UV_IGNORE }, { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE }, { .flags = UV_IGNORE } };
	uv_process_options_t options = { .file = argv[0], .args = (char **)argv, .flags = UV_PROCESS_DETACHED, .stdio = stdio, .stdio_count = 3,
		.exit_cb = on_end };
	int status;

	uv_pipe_init(a->env->loop, &a->out, 0);
	a->out.data = a->process.data = a;
	stdio[1].data.stream = (uv_stream_t *)&a->out;
	a->busy = a->open = a->running = true;
	a->broken = false;
	frame_release(&a->frame);
	frame_init(&a->frame, OBSERVATION_LINE_MAX);
	status = uv_spawn(a->env->loop, &a->process, &options);
	if (status == 0) {
		uv_read_start((uv_stream_t *)&a->out, on_alloc, on_read);
		return;
	}
	say_failed(a, uv_strerror(status));
	uv_close((uv_handle_t *)&a->out, on_out_closed);
	uv_close((uv_handle_t *)&a->process, on_process_closed);
}

static int common(const struct agent_snapshot *a, char *self, const char **argv)
{
	const struct app_options *o = a->options;
	static char deadline[32], grace[32];
	int n = 0;

	argv[n++] = self;
	argv[n++] = "snapshot";
	argv[n++] = "--json";
	argv[n++] = "--node";
	argv[n++] = a->env->node;
	argv[n++] = "--sys-root";
	argv[n++] = o->source.sys_root;
	argv[n++] = "--proc-root";
	argv[n++] = o->source.proc_root;
	if (o->gdb) {
		argv[n++] = "--gdb";
		argv[n++] = o->gdb;
	}
	if (o->plain_gdb)
		argv[n++] = "--plain-gdb";
	if (o->deadline_s > 0) {
		snprintf(deadline, sizeof deadline, "%g", o->deadline_s);
		argv[n++] = "--deadline";
		argv[n++] = deadline;
	}
	if (o->grace_s > 0) {
		snprintf(grace, sizeof grace, "%g", o->grace_s);
		argv[n++] = "--grace";
		argv[n++] = grace;
	}
	return n;
}

static void begin(struct agent_snapshot *a)
{
	const struct asked *asked = &a->asked;
	const struct profile *profile = a->env->target->profile;
	const char *argv[ARGS_MAX];
	char pid[24], start[24], *self = path_self();
	int n = common(a, self, argv);

	snprintf(pid, sizeof pid, "%" PRId64, asked->pid);
	snprintf(start, sizeof start, "%" PRId64, asked->start);
	argv[n++] = "--target";
	argv[n++] = pid;
	argv[n++] = "--start";
	argv[n++] = start;
	if (*asked->role) {
		argv[n++] = "--role";
		argv[n++] = asked->role;
	}
	if (*asked->rank) {
		argv[n++] = "--rank";
		argv[n++] = asked->rank;
	}
	argv[n++] = "--why";
	argv[n++] = asked->why;
	if (profile) {
		argv[n++] = "--engine";
		argv[n++] = profile->name;
	}
	if (*asked->ask_agent) {
		argv[n++] = "--ask-agent";
		argv[n++] = asked->ask_agent;
	}
	if (asked->take)
		argv[n++] = "--yes-i-accept-a-pause";
	argv[n] = NULL;
	a->importing = false;
	spawn(a, argv);
	free(self);
}

static void begin_import(struct agent_snapshot *a)
{
	const char *argv[ARGS_MAX];
	char *self = path_self();
	int n = common(a, self, argv);

	argv[n++] = "--import";
	argv[n] = NULL;
	a->importing = true;
	spawn(a, argv);
	free(self);
}

/* --- the order of things --- */

static void on_wait(uv_timer_t *timer)
{
	struct agent_snapshot *a = timer->data;

	if (a->env->target->stacks_running && clock_mono_ms() < a->wait_until)
		return;
	uv_timer_stop(timer);
	begin(a);
}

/* Stacks first: py-spy reads the memory of a process, and the debugger holds it. Then nobody asks it until the debugger is gone. */
static void take(struct agent_snapshot *a)
{
	a->busy = true;
	a->ask(a->context, span_of("{\"do\":\"stacks\",\"why\":\"snapshot\"}"));
	a->env->target->held_pid = a->asked.pid;
	a->wait_until = clock_mono_ms() + STACKS_MS;
	uv_timer_start(&a->wait, on_wait, LOOK_MS, LOOK_MS);
}

static void text_of(json_t *request, const char *name, char *out, size_t size)
{
	const char *text = json_string_value(json_object_get(request, name));

	snprintf(out, size, "%s", text ? text : "");
}

void agent_snapshot_request(struct agent_snapshot *a, struct span line)
{
	json_t *request = json_loadb(line.at, line.len, 0, NULL);
	const char *what = json_string_value(json_object_get(request, "do"));
	struct asked asked = { 0 };

	if (what && strcmp(what, "snapshot") == 0 && !a->stopping) {
		asked.pid = json_integer_value(json_object_get(request, "pid"));
		asked.start = json_integer_value(json_object_get(request, "start"));
		asked.take = json_integer_value(json_object_get(request, "take")) != 0;
		text_of(request, "rank", asked.rank, sizeof asked.rank);
		text_of(request, "role", asked.role, sizeof asked.role);
		text_of(request, "why", asked.why, sizeof asked.why);
		text_of(request, "ask_agent", asked.ask_agent, sizeof asked.ask_agent);
		if (a->busy) {
			struct asked before = a->asked;

			a->asked = asked;
			say_failed(a, "another snapshot is under way: wait for its end");
			a->asked = before;
		} else if (asked.pid > 1) {
			a->asked = asked;
			if (asked.take)
				take(a);
			else
				begin(a);
		}
	}
	json_decref(request);
}

/* Is there anything to import? Saves a process at every start. */
static bool anything_left(void)
{
	char *folder = path_snapshots();
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		struct span name = span_of(entry->d_name);

		found = span_ends(name, ".jsonl") && !span_ends(name, ".done.jsonl");
	}
	if (dir)
		closedir(dir);
	free(folder);
	return found;
}

struct agent_snapshot *agent_snapshot_start(struct source_env *env, const struct app_options *options,
	void (*ask)(void *context, struct span request), void *context)
{
	struct agent_snapshot *a = mem_alloc(sizeof *a);

	a->env = env;
	a->options = options;
	a->ask = ask;
	a->context = context;
	frame_init(&a->frame, OBSERVATION_LINE_MAX);
	buf_init(&a->arena, OBSERVATION_LINE_MAX);
	uv_timer_init(env->loop, &a->wait);
	a->wait.data = a;
	if (anything_left())
		begin_import(a);
	return a;
}

static void on_wait_closed(uv_handle_t *handle)
{
	struct agent_snapshot *a = handle->data;

	a->wait_closed = true;
	maybe_free(a);
}

void agent_snapshot_stop(struct agent_snapshot *a)
{
	a->stopping = true;
	uv_close((uv_handle_t *)&a->wait, on_wait_closed);
	if (a->open && !uv_is_closing((uv_handle_t *)&a->out))
		uv_close((uv_handle_t *)&a->out, on_out_closed);
	if (a->running && !uv_is_closing((uv_handle_t *)&a->process))
		uv_close((uv_handle_t *)&a->process, on_process_closed);
}
