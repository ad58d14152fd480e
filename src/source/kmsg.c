/* kmsg.c - the kernel log: page faults, resets and errors of the GPU driver as they come.
 *
 * /dev/kmsg gives one record a read: "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT\n KEY=VALUE\n". Records from before hangtop are read
 * too, when they are younger than LOOK_BACK_S: the fault that one came for has mostly happened already. Without permission
 * (kernel.dmesg_restrict, a container without the device) the source is off and says how to mend it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "parse/kernel_log.h"
#include "source/reading_say.h"
#include "source/source.h"

#define RECORD_MAX 8192
#define RECORDS_A_TURN 200
#define LOOK_BACK_S 600
#define QUIET_MS 500            /* after which the lines of a fault are complete */

struct source {
	struct source_env *env;
	struct reading_sink sink;
	struct kernel_log *parser;
	uv_poll_t poll;
	uv_timer_t quiet;
	int fd;
	int open_handles;
	uint64_t lost;
	void (*closed)(void *);
	void *closed_context;
};

static void on_reading(void *context, const struct reading *r)
{
	struct source *s = context;
	struct observation o;

	if (reading_observation(r, s->env->node, clock_wall_ms(), "kernel log", &o))
		s->env->emit(s->env->context, &o);
}

static void on_quiet(uv_timer_t *timer)
{
	struct source *s = timer->data;

	kernel_log_flush(s->parser);
}

static void take_record(struct source *s, struct span record)
{
	struct line l = { .raw = record };
	struct span text = record, piece;
	uint64_t micro = 0;

	for (int i = 0; i < 3; i++)
		if (!span_cut(&text, ',', &piece))
			return;
	if (!span_uint(piece, &micro) || (text = span_after(record, ";")).len == 0)
		return;
	/* Its clock is that of uv_hrtime(), but for time spent asleep. */
	if (uv_hrtime() / 1000 > micro + UINT64_C(1000000) * LOOK_BACK_S)
		return;
	if (!span_line(&text, &l.text))
		return;
	if (kernel_log_line(s->parser, &l))
		uv_timer_start(&s->quiet, on_quiet, QUIET_MS, 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct source *s = poll->data;
	char record[RECORD_MAX];

	(void)events;
	for (int i = 0; status == 0 && i < RECORDS_A_TURN; i++) {
		ssize_t n = read(s->fd, record, sizeof record);

		if (n > 0)
			take_record(s, span_make(record, (size_t)n));
		else if (n < 0 && errno == EPIPE)
			s->lost++; /* records were overwritten before we came: go on with the oldest there is */
		else if (n < 0 && errno == EINTR)
			continue;
		else
			break;
	}
	if (status < 0) {
		uv_poll_stop(poll);
		source_health(s->env, "kmsg", "failed", uv_strerror(status), NULL, -1);
	}
}

static void cannot(struct source *s, const char *path)
{
	char detail[300];

	snprintf(detail, sizeof detail, "%s cannot be read: %s", path, strerror(errno));
	source_health(s->env, "kmsg", "off", detail,
		errno == EPERM || errno == EACCES ? "run as root, or: sysctl -w kernel.dmesg_restrict=0; in a container: --device /dev/kmsg" : NULL, -1);
}

static struct source *kmsg_start(struct source_env *env)
{
	const char *path = env->options->kmsg ? env->options->kmsg : "/dev/kmsg";
	struct source *s = mem_alloc(sizeof *s);

	s->env = env;
	s->sink = (struct reading_sink){ on_reading, s };
	s->parser = mem_alloc(sizeof *s->parser);
	kernel_log_init(s->parser, &s->sink);
	uv_timer_init(env->loop, &s->quiet);
	s->quiet.data = s->poll.data = s;
	s->open_handles = 1;
	s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0 || uv_poll_init(env->loop, &s->poll, s->fd) < 0) {
		cannot(s, path);
		return s;
	}
	s->open_handles = 2;
	uv_poll_start(&s->poll, UV_READABLE, on_readable);
	source_health(env, "kmsg", "ok", path, NULL, -1);
	return s;
}

static void on_close(uv_handle_t *handle)
{
	struct source *s = handle->data;
	void (*closed)(void *) = s->closed;
	void *context = s->closed_context;

	if (--s->open_handles)
		return;
	if (s->fd >= 0)
		close(s->fd);
	kernel_log_release(s->parser);
	free(s->parser);
	free(s);
	if (closed)
		closed(context);
}

static void kmsg_stop(struct source *s, void (*closed)(void *context), void *context)
{
	s->closed = closed;
	s->closed_context = context;
	if (s->open_handles == 2)
		uv_close((uv_handle_t *)&s->poll, on_close);
	uv_close((uv_handle_t *)&s->quiet, on_close);
}

extern const struct source_class source_kmsg;
const struct source_class source_kmsg = { "kmsg", "host", kmsg_start, NULL, kmsg_stop };
