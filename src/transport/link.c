/* link.c - the line to one agent. */
#include "config.h"

#include "transport/link.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "transport/frame.h"

#define ARGS_MAX 128
#define BACKOFF_MAX_MS 30000
#define STEADY_MS 30000         /* up for so long: the next failure is a first one */
#define REQUESTS_MAX 64         /* waiting for an agent that does not read */
#define STOP_TERM_MS 500
#define STOP_KILL_MS 1000
#define BLOCK 65536

struct link {
	uv_loop_t *loop;
	char *name, *argv[ARGS_MAX + 3];
	int args;                      /* given; up to two more are added on another start */
	void (*again)(void *, const char *[2]);
	void (*observe)(void *, const struct observation *);
	void (*health)(void *, const char *, const char *, const char *, const char *);
	void *context;
	uv_process_t process;
	uv_pipe_t in, out, err;        /* its stdin, stdout, stderr */
	uv_timer_t timer;              /* back-off while down, escalation while stopping */
	struct frame frame;
	struct buf arena;
	char block[BLOCK];
	bool up, stopping;
	int handles;                   /* of the run: open until closed */
	int requests;
	int signals;                   /* sent while stopping */
	int backoff_ms;
	int64_t started, last_line;    /* mono */
	uint64_t garbage;
	void (*closed)(void *);
	void *closed_context;
};

static void start(struct link *l);

/* --- lines --- */

static void on_line(void *context, struct span line)
{
	struct link *l = context;
	struct observation o;
	struct error error;
	char detail[300];

	buf_clear(&l->arena);
	l->last_line = clock_mono_ms();
	if (observation_decode(line, &o, &l->arena, &error) == 0) {
		l->observe(l->context, &o);
		return;
	}
	if (!span_trim(line).len)
		return;
	if (l->garbage++ == 0) {
		snprintf(detail, sizeof detail, "prints what is not an observation: %.200s", error.text);
		l->health(l->context, l->name, "late", detail, "look at the debug log (--debug-log FILE)");
	}
	debug_log(l->name, "garbage: %.*s", (int)(line.len < 200 ? line.len : 200), line.at);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct link *l = handle->data;

	(void)size;
	*buf = uv_buf_init(l->block, BLOCK);
}

static void on_out(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct link *l = stream->data;

	if (n > 0)
		frame_feed(&l->frame, span_make(buf->base, (size_t)n), on_line, l);
	else if (n < 0)
		uv_read_stop(stream);
}

static void on_err(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct link *l = stream->data;

	if (n > 0)
		debug_log(l->name, "%.*s", (int)(n < 1000 ? n : 1000), buf->base);
	else if (n < 0)
		uv_read_stop(stream);
}

/* --- the end of a run --- */

static void free_link(struct link *l)
{
	frame_release(&l->frame);
	buf_release(&l->arena);
	for (int i = 0; l->argv[i]; i++)
		free(l->argv[i]);
	free(l->name);
	if (l->closed)
		l->closed(l->closed_context);
	free(l);
}

static void on_timer_closed(uv_handle_t *handle)
{
	free_link(handle->data);
}

static void on_backoff(uv_timer_t *timer)
{
	start(timer->data);
}

static void on_run_closed(uv_handle_t *handle)
{
	struct link *l = handle->data;

	if (--l->handles > 0)
		return;
	if (l->stopping)
		uv_close((uv_handle_t *)&l->timer, on_timer_closed);
	else
		uv_timer_start(&l->timer, on_backoff, (uint64_t)l->backoff_ms, 0);
}

static void close_run(struct link *l)
{
	l->up = false;
	uv_close((uv_handle_t *)&l->in, on_run_closed);
	uv_close((uv_handle_t *)&l->out, on_run_closed);
	uv_close((uv_handle_t *)&l->err, on_run_closed);
	uv_close((uv_handle_t *)&l->process, on_run_closed);
}

/* The next wait: doubled, but from the beginning after a steady run. */
static void lengthen_backoff(struct link *l)
{
	if (clock_mono_ms() - l->started > STEADY_MS || !l->backoff_ms)
		l->backoff_ms = 1000;
	else if (l->backoff_ms < BACKOFF_MAX_MS)
		l->backoff_ms = l->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : l->backoff_ms * 2;
}

static void on_exit_status(uv_process_t *process, int64_t status, int signal)
{
	struct link *l = process->data;
	char detail[160], block[4096];
	ssize_t n;
	int fd;

	/* What it wrote last is still in the pipe. */
	if (uv_fileno((uv_handle_t *)&l->out, &fd) == 0)
		for (int i = 0; i < 1024 && (n = read(fd, block, sizeof block)) > 0; i++)
			frame_feed(&l->frame, span_make(block, (size_t)n), on_line, l);
	if (!l->stopping) {
		lengthen_backoff(l);
		if (signal)
			snprintf(detail, sizeof detail, "ended by signal %d; starts again in %d s", signal, l->backoff_ms / 1000);
		else
			snprintf(detail, sizeof detail, "ended with status %d; starts again in %d s", (int)status, l->backoff_ms / 1000);
		l->health(l->context, l->name, "failed", detail, "see --debug-log FILE when it keeps ending");
	}
	close_run(l);
}

/* --- the start of a run --- */

static int spawn(struct link *l)
{
	uv_process_options_t options = { 0 };
	uv_stdio_container_t stdio[3];

	stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
	stdio[0].data.stream = (uv_stream_t *)&l->in;
	stdio[1].flags = stdio[2].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
	stdio[1].data.stream = (uv_stream_t *)&l->out;
	stdio[2].data.stream = (uv_stream_t *)&l->err;
	options.exit_cb = on_exit_status;
	options.file = l->argv[0];
	options.args = l->argv;
	options.flags = UV_PROCESS_DETACHED; /* Ctrl-C at our terminal is not for it */
	options.stdio = stdio;
	options.stdio_count = 3;
	return uv_spawn(l->loop, &l->process, &options);
}

static void add_words(struct link *l)
{
	const char *add[2] = { NULL, NULL };

	if (!l->again || !l->started)
		return;
	l->again(l->context, add);
	for (int i = 0; i < 2; i++) {
		free(l->argv[l->args + i]);
		l->argv[l->args + i] = mem_text(add[i]);
	}
}

static void start(struct link *l)
{
	char detail[300];
	int status;

	add_words(l);

	uv_pipe_init(l->loop, &l->in, 0);
	uv_pipe_init(l->loop, &l->out, 0);
	uv_pipe_init(l->loop, &l->err, 0);
	l->in.data = l->out.data = l->err.data = l->process.data = l;
	l->handles = 4;
	l->requests = 0;
	l->started = l->last_line = clock_mono_ms();
	frame_release(&l->frame);
	frame_init(&l->frame, OBSERVATION_LINE_MAX);
	status = spawn(l);
	if (status < 0) {
		lengthen_backoff(l);
		snprintf(detail, sizeof detail, "cannot start %s: %s", l->argv[0], uv_strerror(status));
		l->health(l->context, l->name, "failed", detail, NULL);
		close_run(l);
		return;
	}
	l->up = true;
	uv_read_start((uv_stream_t *)&l->out, on_alloc, on_out);
	uv_read_start((uv_stream_t *)&l->err, on_alloc, on_err);
}

struct link *link_start(uv_loop_t *loop, const struct link_options *options)
{
	struct link *l = mem_alloc(sizeof *l);

	l->loop = loop;
	l->name = mem_text(options->name);
	for (int i = 0; options->argv[i] && i < ARGS_MAX; i++)
		l->argv[l->args++] = mem_text(options->argv[i]);
	l->again = options->again;
	l->observe = options->observe;
	l->health = options->health;
	l->context = options->context;
	buf_init(&l->arena, OBSERVATION_LINE_MAX * 2);
	frame_init(&l->frame, OBSERVATION_LINE_MAX);
	uv_timer_init(loop, &l->timer);
	l->timer.data = l;
	start(l);
	return l;
}

/* --- requests --- */

struct request {
	uv_write_t write;
	struct link *link;
	char text[];
};

static void on_written(uv_write_t *write, int status)
{
	struct request *r = (struct request *)write;

	(void)status;
	r->link->requests--;
	free(r);
}

void link_send(struct link *l, const char *line)
{
	size_t n = strlen(line);
	struct request *r;
	uv_buf_t buf;

	if (!l->up || l->stopping || l->requests >= REQUESTS_MAX)
		return;
	r = mem_alloc(sizeof *r + n + 2);
	r->link = l;
	memcpy(r->text, line, n);
	r->text[n] = '\n';
	buf = uv_buf_init(r->text, (unsigned)n + 1);
	l->requests++;
	if (uv_write(&r->write, (uv_stream_t *)&l->in, &buf, 1, on_written) < 0) {
		l->requests--;
		free(r);
	}
}

int64_t link_silence(const struct link *l, int64_t mono_now)
{
	return l->last_line ? mono_now - l->last_line : -1;
}

int link_pid(const struct link *l)
{
	return l->up ? l->process.pid : 0;
}

/* --- the end --- */

static void on_stop_timer(uv_timer_t *timer)
{
	struct link *l = timer->data;

	if (!l->up)
		return;
	/* A stopped agent does not see TERM: KILL reaches it all the same. */
	uv_process_kill(&l->process, l->signals++ == 0 ? SIGTERM : SIGKILL);
	if (l->signals < 3) {
		uv_timer_start(&l->timer, on_stop_timer, STOP_KILL_MS, 0);
	} else {
		debug_log(l->name, "pid %d does not end: left to the kernel", l->process.pid);
		close_run(l);
	}
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
	(void)status;
	free(request);
}

void link_stop(struct link *l, void (*closed)(void *), void *context)
{
	l->stopping = true;
	l->closed = closed;
	l->closed_context = context;
	if (!l->up) {
		uv_timer_stop(&l->timer);
		if (l->handles == 0)
			uv_close((uv_handle_t *)&l->timer, on_timer_closed);
		return;
	}
	uv_shutdown_t *request = mem_alloc(sizeof *request);

	if (uv_shutdown(request, (uv_stream_t *)&l->in, on_shutdown) < 0)
		free(request);
	uv_timer_start(&l->timer, on_stop_timer, STOP_TERM_MS, 0);
}
