/* guard_look.c - the facts, from /proc and /sys. */
#include "config.h"

#include "snapshot/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <linux/capability.h>

#include "base/text.h"
#include "parse/proc_files.h"
#include "snapshot/guard_private.h"

#define PARENTS_MAX 64
#define THREADS_MAX 8192
#define STATUS_MAX 65536
#define INITIAL_USER_NAMESPACE "user:[4026531837]"

/* --- reading --- */

const char *guard_path(char path[GUARD_PATH_SIZE], const char *root, const char *format, ...)
{
	int n = snprintf(path, GUARD_PATH_SIZE, "%s/", root);
	va_list args;

	if (n < 0 || n >= GUARD_PATH_SIZE)
		n = 0;
	va_start(args, format);
	vsnprintf(path + n, (size_t)(GUARD_PATH_SIZE - n), format, args);
	va_end(args);
	return path;
}

int guard_open(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool guard_read(const char *path, struct buf *out, size_t max)
{
	int fd = guard_open(path);
	char block[4096];
	ssize_t n = 0;

	buf_clear(out);
	if (fd < 0)
		return false;
	while (out->len < max && (n = read(fd, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n < max - out->len ? (size_t)n : max - out->len);
	out->cut = n > 0;
	close(fd);
	return n >= 0;
}

struct span guard_link(const char *path, char *block, size_t size)
{
	ssize_t n = readlink(path, block, size);

	return span_make(block, n > 0 ? (size_t)n : 0);
}

void guard_text(char *out, size_t size, struct span foreign)
{
	struct buf text;

	buf_init(&text, size - 1);
	text_scrub(&text, foreign);
	snprintf(out, size, "%s", buf_string(&text));
	buf_release(&text);
}

static bool read_stat(const struct guard_options *o, int64_t pid, struct proc_stat *stat)
{
	char path[GUARD_PATH_SIZE];
	struct buf text;
	bool ok;

	buf_init(&text, STATUS_MAX);
	ok = guard_read(guard_path(path, o->proc_root, "%lld/stat", (long long)pid), &text, 4096) &&
		proc_stat_parse(buf_as_span(&text), stat);
	buf_release(&text);
	return ok;
}

/* --- status --- */

/* The line after "Name:", trimmed; empty when there is none. */
static struct span line_of(struct span status, const char *name)
{
	struct span line;

	while (span_line(&status, &line))
		if (span_skip(&line, name))
			return span_trim(line);
	return span_make("", 0);
}

/* False when there is no such line, or it is no hexadecimal number. */
static bool hex_of(struct span status, const char *name, uint64_t *value)
{
	struct span line = line_of(status, name);

	return line.len && span_take_hex(&line, value) && !line.len;
}

/* The numbers of a line, at most max; how many. */
static int numbers_of(struct span status, const char *name, int64_t *out, int max)
{
	struct span line = line_of(status, name), word;
	int n = 0;

	while (n < max && span_word(&line, &word) && span_int(word, &out[n]))
		n++;
	return n;
}

/* Of us, what the rules of ptrace ask for. */
struct self {
	int64_t pid, uid, gid;
	bool caps_known;
	uint64_t caps;          /* of a debugger that we start */
};

static void look_self(const struct guard_options *o, struct self *self, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE], block[64];
	int64_t uid[4], gid[4], pid[32];
	uint64_t permitted, ambient = 0;
	struct buf text;
	struct span s;
	int n;

	*self = (struct self){ -1, -1, -1, false, 0 };
	buf_init(&text, STATUS_MAX);
	guard_read(guard_path(path, o->proc_root, "self/status"), &text, STATUS_MAX);
	s = buf_as_span(&text);
	if (numbers_of(s, "Pid:", pid, 1) == 1)
		self->pid = pid[0];
	if (numbers_of(s, "Gid:", gid, 4) == 4)
		self->gid = gid[0];
	if (numbers_of(s, "Uid:", uid, 4) == 4 && hex_of(s, "CapPrm:", &permitted)) {
		self->uid = uid[0];
		hex_of(s, "CapAmb:", &ambient);
		self->caps = uid[1] == 0 ? permitted : ambient; /* what is left behind exec */
		self->caps_known = true;
		f->ptrace_capable = (self->caps >> CAP_SYS_PTRACE) & 1;
	}
	n = numbers_of(s, "NSpid:", pid, 32);
	if (n)
		f->proc_is_outer = n > 1;
	buf_release(&text);
	f->our_uid = self->uid;
	s = guard_link(guard_path(path, o->proc_root, "self/ns/user"), block, sizeof block);
	if (s.len)
		f->initial_user_namespace = span_is(s, INITIAL_USER_NAMESPACE);
}

static void look_owner(struct span status, const struct self *self, struct guard_facts *f)
{
	int64_t id[4];
	uint64_t caps;

	if (numbers_of(status, "Uid:", id, 4) == 4)
		f->uid = id[0] == id[1] && id[1] == id[2] ? id[0] : -2;
	if (numbers_of(status, "Gid:", id, 4) == 4 && self->gid >= 0)
		f->same_group = id[0] == self->gid && id[1] == self->gid && id[2] == self->gid;
	if (hex_of(status, "CapPrm:", &caps) && self->caps_known)
		f->caps_within = (caps & ~self->caps) == 0;
}

static void look_status(const struct guard_options *o, const struct self *self, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct proc_status status;
	int64_t number[32];
	struct buf text;
	struct span s;
	uint64_t caught;
	int n;

	buf_init(&text, STATUS_MAX);
	guard_read(guard_path(path, o->proc_root, "%lld/status", (long long)o->pid), &text, STATUS_MAX);
	s = buf_as_span(&text);
	proc_status_parse(s, &status);
	f->tracer = status.tracer;
	f->threads = status.threads >= 0 && status.threads <= INT32_MAX ? (int)status.threads : -1;
	f->rss_kb = status.rss >= 0 ? status.rss / 1024 : -1;
	look_owner(s, self, f);
	n = numbers_of(s, "NSpid:", number, 32);
	if (n) {
		f->namespaces = n - 1;
		f->inner_pid = number[n - 1];
	}
	if (hex_of(s, "SigCgt:", &caught))
		f->sigquit_caught = (caught >> (SIGQUIT - 1)) & 1;
	if (numbers_of(s, "CoreDumping:", number, 1) == 1) {
		f->core_handler = number[0] != 0;
		if (number[0])
			snprintf(f->core_what, sizeof f->core_what, "the kernel writes its core");
	}
	buf_release(&text);
}

/* --- relations --- */

static void look_tracer(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct buf text;

	if (f->tracer <= 0)
		return;
	buf_init(&text, 64);
	if (guard_read(guard_path(path, o->proc_root, "%lld/comm", (long long)f->tracer), &text, 64))
		guard_text(f->tracer_comm, sizeof f->tracer_comm, span_trim(buf_as_span(&text)));
	buf_release(&text);
}

static void look_ours(const struct guard_options *o, const struct self *self, struct guard_facts *f)
{
	int64_t pid = o->pid;
	struct proc_stat stat;

	if (self->pid < 0)
		return;
	for (int i = 0; i < PARENTS_MAX; i++) {
		if (!read_stat(o, pid, &stat))
			return;
		pid = stat.ppid;
		if (pid == self->pid || (o->front_pid > 0 && pid == o->front_pid)) {
			f->ours = 1;
			return;
		}
		if (pid <= 1) {
			f->ours = 0;
			return;
		}
	}
}

static void look_yama(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct buf text;
	int64_t scope;

	buf_init(&text, 64);
	if (guard_read(guard_path(path, o->proc_root, "sys/kernel/yama/ptrace_scope"), &text, 64) &&
		span_int(buf_as_span(&text), &scope) && scope >= 0 && scope <= 3)
		f->yama = (int)scope;
	buf_release(&text);
}

static void look_user_namespace(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE], ours[64], its[64];
	struct span a = guard_link(guard_path(path, o->proc_root, "self/ns/user"), ours, sizeof ours);
	struct span b = guard_link(guard_path(path, o->proc_root, "%lld/ns/user", (long long)o->pid), its, sizeof its);

	if (a.len && b.len)
		f->same_user_namespace = span_same(a, b);
}

/* --- threads --- */

/* A thread in state D answers no ptrace: the debugger would wait for it for ever. */
static void look_stuck(const char *task, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct proc_stat stat;
	struct buf text;

	buf_init(&text, 4096);
	if (guard_read(guard_path(path, task, "stat"), &text, 4096) && proc_stat_parse(buf_as_span(&text), &stat) &&
		stat.state == 'D') {
		f->stuck_threads++;
		if (guard_read(guard_path(path, task, "wchan"), &text, 64) && text.len && !span_is(buf_as_span(&text), "0"))
			guard_text(f->stuck_in, sizeof f->stuck_in, span_trim(buf_as_span(&text)));
	}
	buf_release(&text);
}

static void look_threads(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE], task[GUARD_PATH_SIZE];
	struct buf text;
	int n = 0;
	DIR *dir = opendir(guard_path(path, o->proc_root, "%lld/task", (long long)o->pid));

	if (!dir)
		return;
	buf_init(&text, 64);
	f->stuck_threads = f->agent_thread = 0;
	for (struct dirent *e; n < THREADS_MAX && (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		n++;
		guard_path(task, o->proc_root, "%lld/task/%s", (long long)o->pid, e->d_name);
		if (guard_read(guard_path(path, task, "comm"), &text, 64) && span_is(span_trim(buf_as_span(&text)), "RocrDebugAgent"))
			f->agent_thread = 1;
		look_stuck(task, f);
	}
	if (n == 0) /* gone in the meantime */
		f->stuck_threads = f->agent_thread = -1;
	buf_release(&text);
	closedir(dir);
}

/* --- all --- */

static void look_debugger(const struct guard_options *o, struct guard_facts *f)
{
	const char *name;

	f->rocgdb = -1;
	if (!o->debugger || !*o->debugger)
		return;
	guard_text(f->debugger, sizeof f->debugger, span_of(o->debugger));
	name = strrchr(o->debugger, '/');
	if (access(o->debugger, X_OK) == 0) /* it is not run: even --version of a broken one may hang */
		f->rocgdb = strstr(name ? name + 1 : o->debugger, "rocgdb") != NULL;
}

static void look_room(const struct guard_options *o, struct guard_facts *f)
{
	struct statvfs fs;

	if (o->folder && statvfs(o->folder, &fs) == 0)
		f->free_bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

static void facts_init(const struct guard_options *o, struct guard_facts *f)
{
	memset(f, 0, sizeof *f);
	f->pid = o->pid;
	f->wanted_start_ticks = o->start_ticks;
	f->start_ticks = f->tracer = f->uid = f->our_uid = f->inner_pid = f->rss_kb = f->free_bytes = -1;
	f->ptrace_capable = f->caps_within = f->maps_denied = f->ours = f->yama = f->namespaces = f->proc_is_outer = -1;
	f->same_group = f->same_user_namespace = f->initial_user_namespace = f->stuck_threads = f->threads = -1;
	f->agent_mapped = f->agent_thread = f->sigquit_caught = f->gpu_queues = f->kfd_open = f->cwsr_enabled = -1;
	f->enable_debug = f->debug_supported = f->debug_firmware = f->dispatch_info = f->core_handler = -1;
	f->kfd_major = f->kfd_minor = -1;
	guard_text(f->role, sizeof f->role, span_of(o->role));
	guard_text(f->engine, sizeof f->engine, span_of(o->engine));
	f->budget_ms = o->budget_ms;
	f->used_ms = o->used_ms;
	f->busy = o->busy;
	f->allow_plain_gdb = o->allow_plain_gdb;
}

/* Last, so that a process that ends, or a pid that is given to another, while we look is seen. */
static void look_process(const struct guard_options *o, struct guard_facts *f)
{
	char path[GUARD_PATH_SIZE];
	struct proc_stat stat;

	f->exists = o->pid > 0 && access(guard_path(path, o->proc_root, "%lld", (long long)o->pid), F_OK) == 0;
	if (!f->exists || !read_stat(o, o->pid, &stat))
		return;
	f->state = stat.state;
	f->start_ticks = stat.start;
}

void guard_look(const struct guard_options *options, struct guard_facts *out)
{
	struct self self;

	facts_init(options, out);
	look_debugger(options, out);
	look_room(options, out);
	look_self(options, &self, out);
	look_yama(options, out);
	look_status(options, &self, out);
	look_tracer(options, out);
	look_ours(options, &self, out);
	look_user_namespace(options, out);
	look_threads(options, out);
	guard_look_gpu(options, out);
	look_process(options, out);
}
