/* debugger.c - argv, fork, wait, interrupt. */
#include "config.h"

#include "snapshot/debugger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/span.h"
#include "snapshot/verify.h"

#define TICK_MS 10

/* Waves by what they execute; of each group one is looked at. Text of info threads is read, because thousands of waves are normal and
 * selecting each takes long. */
static const char groups_script[] =
	"python exec('''\n"
	"import re\n"
	"def show(command):\n"
	"    try:\n"
	"        print(gdb.execute(command, to_string=True).rstrip())\n"
	"    except Exception as e:\n"
	"        print('error: %s' % e)\n"
	"groups = {}\n"
	"for row in gdb.execute('info threads', to_string=True).splitlines():\n"
	"    m = re.match(r'[* ] *([0-9.]+) +AMDGPU Wave [^ ]+ [^ ]+ +(?:\"[^\"]*\" +)?(.*)', row)\n"
	"    if m:\n"
	"        groups.setdefault(m.group(2).strip(), []).append(m.group(1))\n"
	"for frame in sorted(groups, key=lambda f: -len(groups[f]))[:12]:\n"
	"    wave = groups[frame][0]\n"
	"    pc = re.match(r'(0x[0-9a-f]+) in ', frame)\n"
	"    pc = pc.group(1) if pc else '$pc'\n"
	"    print('=== hangtop: wave %s of %d: %s ===' % (wave, len(groups[frame]), frame))\n"
	"    show('thread ' + wave)\n"
	"    show('info symbol ' + pc)\n"
	"    show('info line *' + pc)\n"
	"    show('x/6i ' + pc)\n"
	"    show('info lanes')\n"
	"''')";

int debugger_argv(const char *debugger, int64_t pid, const char *argv[DEBUGGER_ARGS_MAX], char number[24])
{
	static const char *const before[] = { "set debuginfod enabled off", "set auto-load no", "set pagination off", "set width 0",
		"set confirm off" };
	static const char *const command[] = {
		"echo === hangtop: attached ===\\n", "python import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, [1, 2, 3, 15])",
		"echo === info dispatches ===\\n", "info dispatches", "echo === info queues ===\\n", "info queues",
		"echo === info agents ===\\n", "info agents", "echo === bt ===\\n", "bt 30", "echo === info threads ===\\n", "info threads",
		"echo " DEBUGGER_GROUPS "\\n", groups_script, "echo " DEBUGGER_DETACH "\\n", "detach", "echo " DEBUGGER_END "\\n",
	};
	int n = 0;

	argv[n++] = debugger;
	argv[n++] = "-nx";
	argv[n++] = "-batch";
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		argv[n++] = "-iex";
		argv[n++] = before[i];
	}
	snprintf(number, 24, "%lld", (long long)pid);
	argv[n++] = "-p";
	argv[n++] = number;
	for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
		argv[n++] = "-ex";
		argv[n++] = command[i];
	}
	argv[n] = NULL;
	return n;
}

/* In the child, after fork: only what is async-signal-safe, and putenv-like calls were made before. */
static void become(const struct debugger_options *o, int out, const char *const *argv, char *const *env)
{
	struct rlimit limit = { .rlim_cur = (rlim_t)o->cap * 4, .rlim_max = (rlim_t)o->cap * 4 }, none = { 0, 0 };
	struct sigaction plain = { .sa_handler = SIG_DFL };
	int null = open("/dev/null", O_RDONLY);
	sigset_t later;

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	setrlimit(RLIMIT_FSIZE, &limit); /* it may flood faster than we look */
	setrlimit(RLIMIT_CORE, &none);
	for (int i = 1; i < NSIG; i++)
		if (i != SIGXFSZ && i != SIGPIPE)
			sigaction(i, &plain, NULL);
	sigemptyset(&later);
	sigaddset(&later, SIGHUP);
	sigaddset(&later, SIGINT);
	sigaddset(&later, SIGQUIT);
	sigaddset(&later, SIGTERM);
	sigprocmask(SIG_SETMASK, &later, NULL); /* they wait until it is attached: see debugger.h */
	execve(argv[0], (char *const *)argv, env);
	dprintf(STDERR_FILENO, "hangtop: cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static char **environment(void)
{
	static char locale[] = "LC_ALL=C", term[] = "TERM=dumb", urls[] = "DEBUGINFOD_URLS=";
	extern char **environ;
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 4, sizeof *env);
	if (!env)
		abort();
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LC_", 3) && strncmp(environ[i], "TERM=", 5) && strncmp(environ[i], "DEBUGINFOD_URLS=", 16))
			env[kept++] = environ[i];
	env[kept++] = locale;
	env[kept++] = term;
	env[kept] = urls;
	return env;
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = TICK_MS * 1000000L };

	nanosleep(&t, NULL);
}

/* Stopped or traced? "State:\tt (tracing stop)". */
static bool held(const char *root, int64_t pid)
{
	char path[4200], block[512];
	struct span rest, line;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/%lld/status", root, (long long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, block, sizeof block);
	if (fd >= 0)
		close(fd);
	rest = span_make(block, n > 0 ? (size_t)n : 0);
	while (span_line(&rest, &line)) {
		if (span_skip(&line, "State:\t"))
			return line.len && (*line.at == 'T' || *line.at == 't');
	}
	return false;
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

bool debugger_regular(const char *output)
{
	char block[256] = "";
	int fd = open(output, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END), from = size > 200 ? size - 200 : 0;
	ssize_t n = fd < 0 ? 0 : pread(fd, block, sizeof block - 1, from);

	if (fd >= 0)
		close(fd);
	return n > 0 && span_contains(span_make(block, (size_t)n), DEBUGGER_END);
}

/* SIGINT at the deadline, SIGKILL when the grace is over. */
static void press(const struct debugger_options *o, struct debugger_result *r, pid_t child, int64_t elapsed, int64_t *pressed)
{
	bool flood = size_of(o->output) > o->cap, cancel = o->cancel && *o->cancel;

	if (!*pressed && (elapsed >= o->deadline_ms || flood || cancel)) {
		r->flooded = flood;
		r->cancelled = cancel;
		r->interrupted = true;
		*pressed = elapsed ? elapsed : 1;
		kill(-child, SIGINT);
	} else if (*pressed && !r->killed && elapsed - *pressed >= o->grace_ms) {
		r->killed = true;
		kill(-child, SIGKILL);
	}
}

static void watch(const struct debugger_options *o, pid_t child, struct debugger_result *r)
{
	int64_t began = clock_mono_ms(), pressed = 0, last = began;
	int status = 0;
	pid_t done;

	while ((done = waitpid(child, &status, WNOHANG)) == 0 || (done < 0 && errno == EINTR)) {
		int64_t now;

		press(o, r, child, clock_mono_ms() - began, &pressed);
		nap();
		now = clock_mono_ms();
		if (held(o->proc_root, o->pid))
			r->stopped_ms += (double)(now - last);
		last = now;
	}
	r->took_ms = (double)(clock_mono_ms() - began);
	r->exit = done != child ? -1000 : WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int debugger_run(const struct debugger_options *o, struct debugger_result *result, struct error *error)
{
	const char *argv[DEBUGGER_ARGS_MAX];
	char number[24], **env = environment();
	int out = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	pid_t child;

	memset(result, 0, sizeof *result);
	if (out < 0) {
		free(env);
		return error_set_errno(error, errno, "cannot write %s", o->output);
	}
	debugger_argv(o->debugger, o->pid, argv, number);
	child = fork();
	if (child == 0)
		become(o, out, argv, env);
	free(env);
	close(out);
	if (child < 0)
		return error_set_errno(error, errno, "cannot start %s", o->debugger);
	if (o->started)
		o->started(o->context, child);
	watch(o, child, result);
	result->bytes = size_of(o->output);
	result->flooded = result->flooded || result->bytes > o->cap;
	result->regular = result->exit == 0 && !result->interrupted && debugger_regular(o->output);
	return 0;
}

void debugger_wait_for(pid_t debugger, int64_t start_ticks, const char *proc_root, int64_t deadline_ms, int64_t grace_ms)
{
	int64_t began = clock_mono_ms(), pressed = 0;
	bool killed = false;

	for (;;) {
		int64_t elapsed = clock_mono_ms() - began;
		struct verify_state state;

		verify_look(proc_root, debugger, &state);
		if (!state.exists || state.state == 'Z' || state.state == 'X' || state.start_ticks != start_ticks)
			return;
		if (!pressed && elapsed >= deadline_ms) {
			pressed = elapsed ? elapsed : 1;
			kill(-debugger, SIGINT);
		} else if (pressed && !killed && elapsed - pressed >= grace_ms) {
			killed = true;
			kill(-debugger, SIGKILL);
		} else if (killed && elapsed - pressed >= grace_ms + VERIFY_MS) {
			return; /* state D: left to the kernel */
		}
		nap();
	}
}
