/* cmd_demo.c - `hangtop demo`: start the demo server, watch it, stop it.
 *
 * The supervisor (data/demo/demo.py) holds the other end of a pipe: when we end, however we end, it reads the end of
 * file and takes everything down.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/profiles.h"
#include "app/screen.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "transport/child.h"

#define START_MS 30000
#define STOP_MS 10000
#define QUIET_EXTRA_MS 6000     /* a demo that stays well has settled this long after the trouble would have started */
#define TIMEOUT_EXTRA_MS 60000

extern char **environ;

struct demo {
	pid_t pid;
	int in, out;                   /* our ends: its stdin, its stdout */
	FILE *complaints;
	json_t *answer;
};

static int spawn(struct demo *d, const char **argv, struct error *error)
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2], status;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot make a pipe");
	d->complaints = tmpfile();
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	if (d->complaints)
		posix_spawn_file_actions_adddup2(&actions, fileno(d->complaints), STDERR_FILENO);
	status = posix_spawnp(&d->pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	d->in = in[1];
	d->out = out[0];
	if (status) {
		d->pid = 0;
		error_set_errno(error, status, "cannot start %s", argv[0]);
		return error_fix(error, "install Python 3");
	}
	return 0;
}

static int failed(struct demo *d, const char *what, struct error *error)
{
	char text[300] = "";
	size_t n = 0;

	if (d->complaints) {
		fseek(d->complaints, 0, SEEK_END);
		long size = ftell(d->complaints);

		fseek(d->complaints, size > 299 ? size - 299 : 0, SEEK_SET);
		n = fread(text, 1, sizeof text - 1, d->complaints);
	}
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = 0;
	return error_set(error, "the demo server %s%s%s", what, *text ? ": " : "", text);
}

/* Its one line: where everything is. */
static int read_answer(struct demo *d, struct error *error)
{
	int64_t deadline = clock_mono_ms() + START_MS;
	struct pollfd fd = { d->out, POLLIN, 0 };
	struct buf line;
	char c = 0;

	buf_init(&line, 65536);
	while (c != '\n' && !line.cut) {
		int64_t left = deadline - clock_mono_ms();
		ssize_t n;

		if (left <= 0 || poll(&fd, 1, (int)left) <= 0) {
			buf_release(&line);
			return failed(d, "does not start within 30 s", error);
		}
		n = read(d->out, &c, 1);
		if (n <= 0) {
			buf_release(&line);
			return failed(d, "ended while starting", error);
		}
		buf_char(&line, c);
	}
	d->answer = json_loads(buf_string(&line), 0, NULL);
	buf_release(&line);
	return d->answer ? 0 : failed(d, "gave an answer that is not JSON", error);
}

static int demo_start(struct demo *d, const struct app_options *o, struct error *error)
{
	char *data = data_dir(), script[4300], seed[32], tp[32], port[32], after[32];
	char *python = child_find("python3");
	const char *argv[20];
	int n = 0, status;

	snprintf(script, sizeof script, "%s/demo/demo.py", data);
	free(data);
	snprintf(seed, sizeof seed, "%lld", (long long)o->seed);
	snprintf(tp, sizeof tp, "%lld", (long long)o->tp);
	snprintf(port, sizeof port, "%lld", (long long)o->port);
	snprintf(after, sizeof after, "%.3f", o->hang_after_s);
	argv[n++] = python ? python : "python3";
	argv[n++] = script;
	argv[n++] = "--scenario";
	argv[n++] = o->scenario;
	argv[n++] = "--seed";
	argv[n++] = seed;
	argv[n++] = "--tp";
	argv[n++] = tp;
	argv[n++] = "--port";
	argv[n++] = port;
	argv[n++] = "--hang-after";
	argv[n++] = after;
	if (o->keep)
		argv[n++] = "--keep";
	argv[n] = NULL;
	status = spawn(d, argv, error);
	free(python);
	return status < 0 ? -1 : read_answer(d, error);
}

static void demo_stop(struct demo *d)
{
	int64_t deadline = clock_mono_ms() + STOP_MS;
	int status;

	if (d->in > 0)
		close(d->in); /* end of file: it takes everything down */
	while (d->pid && waitpid(d->pid, &status, WNOHANG) == 0) {
		if (clock_mono_ms() > deadline) {
			kill(d->pid, SIGTERM);
			deadline += STOP_MS;
		}
		poll(NULL, 0, 20);
	}
	if (d->out > 0)
		close(d->out);
	if (d->complaints)
		fclose(d->complaints);
	json_decref(d->answer);
}

static bool demo_over(void *context)
{
	struct demo *d = context;
	int status;

	if (!d->pid || waitpid(d->pid, &status, WNOHANG) == 0)
		return false;
	d->pid = 0;
	return true;
}

static const char *answer_text(const struct demo *d, const char *key)
{
	return json_string_value(json_object_get(d->answer, key));
}

int cmd_demo(const struct app_options *given)
{
	struct app_options options = *given;
	struct session_options session = { 0 };
	struct demo demo = { 0 };
	struct error error;
	int code;

	session.tell = options.plain && !options.once;
	session.once = !session.tell && (options.once || !screen_possible());
	session.screen = !session.once && !session.tell;
	if (session.screen)
		fprintf(stderr, "starting the demo server: scenario %s, %lld ranks ...\n", options.scenario, (long long)options.tp);
	if (demo_start(&demo, &options, &error) < 0) {
		demo_stop(&demo);
		return complain(&error, EXIT_NO_TOOL);
	}
	options.source.pid = options.pid = json_integer_value(json_object_get(demo.answer, "pid"));
	options.source.log = answer_text(&demo, "log");
	options.source.url = answer_text(&demo, "url");
	options.source.sys_root = answer_text(&demo, "sys_root");
	options.source.rocm_smi = answer_text(&demo, "rocm_smi");
	options.gdb = options.gdb ? options.gdb : answer_text(&demo, "rocgdb");
	options.source.engine = "atom";
	options.source.log_from_start = options.log_from_start = true;
	session.settle_ms = (int64_t)((options.hang_after_s + options.stall_s * 0.5) * 1000) + QUIET_EXTRA_MS;
	if (session.once)
		session.timeout_ms = options.timeout_s > 0 ? (int64_t)(options.timeout_s * 1000) :
			(int64_t)((options.hang_after_s + options.stall_s) * 1000) + TIMEOUT_EXTRA_MS;
	session.over = demo_over;
	session.context = &demo;
	code = session_run(&options, &session);
	demo_stop(&demo);
	return code;
}
