/* child.c - one tool, one run. */
#include "config.h"

#include "transport/child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"

#define DEADLINE_MS 10000
#define CAP ((size_t)16 << 20)
#define GRACE_MS 2000           /* between INT, TERM, KILL and giving up */
#define DRAIN_MS 500            /* for a grandchild that keeps our pipes after the child has ended */
#define ARGS_MAX 256

struct stream {
	uv_pipe_t pipe;
	struct buf kept;
	bool open;
};

struct child {
	uv_process_t process;
	struct stream out, err;
	uv_timer_t timer;
	void (*done)(void *, const struct child_result *);
	void *context;
	int deadline_ms, escalation;   /* signals sent so far */
	int handles;                   /* not yet closed */
	bool exited, finished, timed_out, stuck, not_started;
	bool spawned;                  /* uv_spawn() was called: the process handle must be closed */
	int exit;
	int64_t started, started_mono;
	double took_ms;
	char block[16384];
};

/* --- finding programs --- */

static bool executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *child_find(const char *name)
{
	struct span rest = span_of(getenv("PATH")), dir;
	char path[PATH_MAX + 256];

	if (!name || !*name)
		return NULL;
	if (strchr(name, '/'))
		return executable(name) ? mem_text(name) : NULL;
	while (span_cut(&rest, ':', &dir)) {
		snprintf(path, sizeof path, "%.*s/%s", (int)(dir.len < PATH_MAX ? dir.len : PATH_MAX), dir.len ? dir.at : ".", name);
		if (executable(path))
			return mem_text(path);
	}
	return NULL;
}

/* setpriv makes the tool die with us, however we die. Looked up once. */
static const char *setpriv(void)
{
	static bool looked;
	static char *path;

	if (!looked) {
		looked = true;
		path = child_find("setpriv");
	}
	return path;
}

/* --- the end --- */

static void on_handle_closed(uv_handle_t *handle)
{
	struct child *c = handle->data;

	if (--c->handles > 0)
		return;
	buf_release(&c->out.kept);
	buf_release(&c->err.kept);
	free(c);
}

static void close_stream(struct stream *s)
{
	if (s->open)
		uv_close((uv_handle_t *)&s->pipe, on_handle_closed);
	s->open = false;
}

static void finish(struct child *c)
{
	struct child_result result = { 0 };

	if (c->finished)
		return;
	c->finished = true;
	result.out = buf_as_span(&c->out.kept);
	result.err = buf_as_span(&c->err.kept);
	result.exit = c->exit;
	result.timed_out = c->timed_out;
	result.stuck = c->stuck;
	result.cut = c->out.kept.cut || c->err.kept.cut;
	result.not_started = c->not_started;
	result.started = c->started;
	result.took_ms = c->took_ms;
	result.pid = c->not_started ? 0 : c->process.pid;
	debug_log("child", "end: exit %d%s%s after %.0f ms, %zu bytes", result.exit, result.timed_out ? ", deadline" : "",
		result.stuck ? ", stuck" : "", result.took_ms, result.out.len);
	c->done(c->context, &result);
	close_stream(&c->out);
	close_stream(&c->err);
	uv_close((uv_handle_t *)&c->timer, on_handle_closed);
	if (!c->spawned)
		return;
	if (c->exited)
		uv_close((uv_handle_t *)&c->process, on_handle_closed);
	else
		uv_unref((uv_handle_t *)&c->process); /* adopted: on_exit() closes it if it ever ends */
}

static void maybe_finish(struct child *c)
{
	if (c->exited && !c->out.open && !c->err.open)
		finish(c);
}

static void on_drained(uv_timer_t *timer)
{
	finish(timer->data);
}

static void on_exit_status(uv_process_t *process, int64_t status, int signal)
{
	struct child *c = process->data;

	c->exited = true;
	if (c->finished) {
		uv_close((uv_handle_t *)&c->process, on_handle_closed);
		return;
	}
	c->exit = signal ? -signal : (int)status;
	c->took_ms = (double)(clock_mono_ms() - c->started_mono);
	uv_timer_start(&c->timer, on_drained, DRAIN_MS, 0);
	maybe_finish(c);
}

/* --- deadlines --- */

static void on_deadline(uv_timer_t *timer)
{
	static const int ladder[] = { SIGINT, SIGTERM, SIGKILL };
	struct child *c = timer->data;

	c->timed_out = true;
	if (c->escalation == 3) {
		c->stuck = true;
		c->took_ms = (double)(clock_mono_ms() - c->started_mono);
		finish(c);
		return;
	}
	debug_log("child", "pid %d: deadline, signal %d", c->process.pid, ladder[c->escalation]);
	kill(-c->process.pid, ladder[c->escalation++]);
	uv_timer_start(&c->timer, on_deadline, GRACE_MS, 0);
}

void child_cancel(struct child *c)
{
	if (!c->exited && !c->finished && !c->timed_out)
		uv_timer_start(&c->timer, on_deadline, 0, 0);
}

/* --- output --- */

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct child *c = handle->data;

	(void)size;
	*buf = uv_buf_init(c->block, sizeof c->block);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct child *c = stream->data;
	struct stream *s = stream == (uv_stream_t *)&c->out.pipe ? &c->out : &c->err;

	if (n > 0) {
		buf_add(&s->kept, buf->base, (size_t)n); /* past the cap: read on, so that the tool can end, but keep nothing */
	} else if (n < 0) {
		close_stream(s);
		maybe_finish(c);
	}
}

/* --- the start --- */

static void on_not_started(uv_timer_t *timer)
{
	finish(timer->data);
}

static void drop_variable(char **env, const char *name)
{
	size_t n = strlen(name);
	char **to = env;

	for (char **from = env; *from; from++)
		if (strncmp(*from, name, n) != 0 || (*from)[n] != '=')
			*to++ = *from;
	*to = NULL;
}

/* Our environment with LC_ALL=C and without what colours output; the strings are borrowed. */
static char **make_environment(const char *const *add)
{
	extern char **environ;
	size_t n = 0, more = 0;
	char **env;

	while (environ[n])
		n++;
	while (add && add[more])
		more++;
	env = mem_array(NULL, n + more + 2, sizeof *env);
	memcpy(env, environ, (n + 1) * sizeof *env);
	drop_variable(env, "LC_ALL");
	drop_variable(env, "CLICOLOR_FORCE");
	for (size_t i = 0; i < more; i++) {
		char name[128];

		snprintf(name, sizeof name, "%.*s", (int)strcspn(add[i], "="), add[i]);
		drop_variable(env, name);
	}
	for (n = 0; env[n]; n++)
		;
	env[n++] = (char *)"LC_ALL=C";
	for (size_t i = 0; i < more; i++)
		env[n++] = (char *)add[i];
	env[n] = NULL;
	return env;
}

static int make_arguments(const char *const *argv, char **args)
{
	int n = 0;

	if (setpriv()) {
		args[n++] = (char *)setpriv();
		args[n++] = (char *)"--pdeathsig";
		args[n++] = (char *)"KILL";
		args[n++] = (char *)"--";
	}
	for (int i = 0; argv[i] && n < ARGS_MAX - 1; i++)
		args[n++] = (char *)argv[i];
	args[n] = NULL;
	return n;
}

static int spawn(uv_loop_t *loop, struct child *c, const struct child_options *o)
{
	char *args[ARGS_MAX], **env = make_environment(o->env_add), *found = child_find(o->argv[0]);
	uv_stdio_container_t stdio[3];
	uv_process_options_t options = { 0 };
	int status;

	if (!found) {
		free(env);
		return UV_ENOENT;
	}
	free(found);
	make_arguments(o->argv, args);
	stdio[0].flags = UV_IGNORE;
	stdio[1].flags = stdio[2].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
	stdio[1].data.stream = (uv_stream_t *)&c->out.pipe;
	stdio[2].data.stream = (uv_stream_t *)&c->err.pipe;
	options.exit_cb = on_exit_status;
	options.file = args[0];
	options.args = args;
	options.env = env;
	options.flags = UV_PROCESS_DETACHED; /* a process group of its own: a signal reaches all of it */
	options.stdio = stdio;
	options.stdio_count = 3;
	c->spawned = true;
	c->handles++;
	status = uv_spawn(loop, &c->process, &options);
	free(env);
	return status;
}

static void open_stream(uv_loop_t *loop, struct child *c, struct stream *s, size_t cap)
{
	uv_pipe_init(loop, &s->pipe, 0);
	s->pipe.data = c;
	s->open = true;
	buf_init(&s->kept, cap);
	c->handles++;
}

struct child *child_run(uv_loop_t *loop, const struct child_options *o)
{
	struct child *c = mem_alloc(sizeof *c);
	int status;

	c->done = o->done;
	c->context = o->context;
	c->exit = -1000;
	c->started = clock_wall_ms();
	c->started_mono = clock_mono_ms();
	c->deadline_ms = o->deadline_ms > 0 ? o->deadline_ms : DEADLINE_MS;
	open_stream(loop, c, &c->out, o->cap ? o->cap : CAP);
	open_stream(loop, c, &c->err, o->cap ? o->cap : CAP);
	uv_timer_init(loop, &c->timer);
	c->timer.data = c;
	c->process.data = c;
	c->handles++;
	status = spawn(loop, c, o);
	if (status < 0) {
		c->not_started = c->exited = true;
		buf_printf(&c->err.kept, "cannot run %s: %s", o->argv[0], uv_strerror(status));
		uv_timer_start(&c->timer, on_not_started, 0, 0);
		return c;
	}
	debug_log("child", "pid %d: %s", c->process.pid, o->argv[0]);
	uv_timer_start(&c->timer, on_deadline, (uint64_t)c->deadline_ms, 0);
	uv_read_start((uv_stream_t *)&c->out.pipe, on_alloc, on_read);
	uv_read_start((uv_stream_t *)&c->err.pipe, on_alloc, on_read);
	return c;
}
