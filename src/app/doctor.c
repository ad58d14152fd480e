/* doctor.c - one table of tools, one of conditions. */
#include "config.h"

#include "app/doctor.h"

#include <errno.h>
#include <langinfo.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <uv.h>

#include "app/options.h"
#include "app/paths.h"
#include "app/profiles.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "transport/child.h"

#define TOOL_MS 4000

struct line {
	const char *name;
	bool ok, needed;
	char found[200];
	const char *remedy;
};

struct report {
	struct line line[64];
	int count;
};

static struct line *add(struct report *r, const char *name, bool ok, const char *remedy)
{
	struct line *l = &r->line[r->count < 63 ? r->count++ : 63];

	memset(l, 0, sizeof *l);
	l->name = name;
	l->ok = ok;
	l->remedy = remedy;
	return l;
}

/* --- tools --- */

static const struct tool {
	const char *name, *elsewhere, *remedy;
	bool needed;
} tool_table[] = {
	{ "py-spy", NULL, "pip install py-spy", true },
	{ "rocgdb", "/opt/rocm/bin/rocgdb", "install the rocm-gdb package of your ROCm", false },
	{ "gdb", NULL, "apt-get install gdb (or dnf install gdb)", false },
	{ "rocm-smi", "/opt/rocm/bin/rocm-smi", "install rocm-smi-lib; not needed while /sys has the GPUs", false },
	{ "amd-smi", "/opt/rocm/bin/amd-smi", "install amd-smi-lib; not needed while /sys has the GPUs", false },
	{ "llvm-objdump", "/opt/rocm/llvm/bin/llvm-objdump", "install rocm-llvm", false },
	{ "ssh", NULL, "install openssh-client", false },
	{ "setpriv", NULL, "install util-linux: without it a killed hangtop may leave py-spy running for some seconds", false },
};

struct running {
	struct line *line;
	const char *path;
};

static void on_version(void *context, const struct child_result *result)
{
	struct running *run = context;
	struct span out = result->out.len ? result->out : result->err, line = { "", 0 };

	span_line(&out, &line);
	if (result->exit != 0 || !line.len)
		snprintf(run->line->found, sizeof run->line->found, "%.180s", run->path);
	else
		snprintf(run->line->found, sizeof run->line->found, "%.*s  (%.100s)", (int)(line.len < 80 ? line.len : 80), line.at, run->path);
}

static char *find_tool(const struct tool *t)
{
	char *path = child_find(t->name), *self, beside[4200];

	if (!path && t->elsewhere)
		path = child_find(t->elsewhere);
	if (!path && t->needed) {
		self = path_self();
		*strrchr(self, '/') = 0;
		snprintf(beside, sizeof beside, "%.4000s/venv/bin/%s", self, t->name);
		path = child_find(beside);
		free(self);
	}
	return path;
}

static void check_tools(struct report *r)
{
	struct running run[sizeof tool_table / sizeof tool_table[0]];
	char *path[sizeof tool_table / sizeof tool_table[0]];
	uv_loop_t loop;

	uv_loop_init(&loop);
	for (size_t i = 0; i < sizeof tool_table / sizeof tool_table[0]; i++) {
		const struct tool *t = &tool_table[i];

		path[i] = find_tool(t);
		run[i].line = add(r, t->name, path[i] != NULL, t->remedy);
		run[i].line->needed = t->needed;
		run[i].path = path[i];
		if (path[i]) {
			const char *argv[] = { path[i], strcmp(t->name, "ssh") == 0 ? "-V" : "--version", NULL };
			struct child_options options = { .argv = argv, .deadline_ms = TOOL_MS, .cap = 65536, .done = on_version, .context = &run[i] };

			child_run(&loop, &options);
		}
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	for (size_t i = 0; i < sizeof tool_table / sizeof tool_table[0]; i++)
		free(path[i]);
}

/* --- conditions --- */

static bool read_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");

	out[0] = 0;
	if (!file)
		return false;
	if (!fgets(out, (int)size, file))
		out[0] = 0;
	fclose(file);
	out[strcspn(out, "\n")] = 0;
	return true;
}

static void check_driver(struct report *r)
{
	struct line *l = add(r, "amdgpu", access("/sys/module/amdgpu", F_OK) == 0, "modprobe amdgpu, or run on the GPU node");

	snprintf(l->found, sizeof l->found, l->ok ? "driver loaded" : "driver not loaded");
	l = add(r, "/dev/kfd", access("/dev/kfd", R_OK | W_OK) == 0, "join the groups render and video, or pass the device into the container");
	snprintf(l->found, sizeof l->found, "%s", l->ok ? "can be opened" : strerror(errno));
}

static void check_ptrace(struct report *r)
{
	char text[64];
	bool there = read_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text);
	struct line *l = add(r, "yama", !there || text[0] == '0' || geteuid() == 0, "sysctl -w kernel.yama.ptrace_scope=0, or run as root");

	snprintf(l->found, sizeof l->found, "ptrace_scope %s, uid %d", there ? text : "absent", (int)geteuid());
}

static void check_capabilities(struct report *r)
{
	static const struct { int bit; const char *name, *remedy; } want[] = {
		{ 19, "CAP_SYS_PTRACE", "run as root, or docker run --cap-add SYS_PTRACE" },
		{ 34, "CAP_SYSLOG", "run as root to read the kernel log" },
	};
	unsigned long long set = 0;
	char line[200];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, "CapEff:", 7) == 0)
			set = strtoull(line + 7, NULL, 16);
	if (file)
		fclose(file);
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		struct line *l = add(r, want[i].name, set >> want[i].bit & 1, want[i].remedy);

		snprintf(l->found, sizeof l->found, "%s", l->ok ? "effective" : "not effective");
	}
}

static void check_container(struct report *r)
{
	bool inside = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
	struct line *l = add(r, "container", true, NULL);

	snprintf(l->found, sizeof l->found, "%s", inside ? "inside one: KFD lists the host's pids, which do not match ours" : "none seen");
}

static void check_state_folder(struct report *r)
{
	char *dir = path_sessions(), *up = mem_text(dir);
	struct statvfs fs;
	struct line *l;

	while (access(up, F_OK) < 0 && strrchr(up, '/') > up)
		*strrchr(up, '/') = 0;
	l = add(r, "sessions", access(up, W_OK) == 0, "set XDG_STATE_HOME to a folder that can be written, or use --db FILE");
	l->needed = true;
	if (statvfs(up, &fs) == 0) {
		double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
		char size[16];

		l->ok = l->ok && free_bytes > 64e6;
		snprintf(l->found, sizeof l->found, "%.150s, %s free", dir, text_bytes(size, sizeof size, free_bytes));
	} else {
		snprintf(l->found, sizeof l->found, "%.180s", dir);
	}
	free(dir);
	free(up);
}

static void check_cores(struct report *r)
{
	struct rlimit limit = { 0, 0 };
	char pattern[120];
	struct line *l;

	getrlimit(RLIMIT_CORE, &limit);
	read_line("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
	l = add(r, "core limit", limit.rlim_cur == 0, "ulimit -c 0 before starting the server: a GPU fault dumps 30-50 GB a rank");
	if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(l->found, sizeof l->found, "unlimited here, pattern %s", pattern);
	else
		snprintf(l->found, sizeof l->found, "%llu here, pattern %s", (unsigned long long)limit.rlim_cur, pattern);
}

static void check_ourselves(struct report *r)
{
	const char *term = getenv("TERM");
	char *data = data_dir(), path[4300];
	uint32_t jit = 0;
	struct line *l = add(r, "locale", strcmp(nl_langinfo(CODESET), "UTF-8") == 0, "export LC_ALL=C.UTF-8, or use --ascii");

	snprintf(l->found, sizeof l->found, "%s, TERM=%s", nl_langinfo(CODESET), term ? term : "");
	pcre2_config(PCRE2_CONFIG_JIT, &jit);
	l = add(r, "PCRE2 JIT", jit != 0, "log patterns run about twelve times slower: install a PCRE2 with JIT");
	snprintf(l->found, sizeof l->found, jit ? "available" : "not available");
	snprintf(path, sizeof path, "%.4200s/profiles/atom.conf", data);
	l = add(r, "profiles", access(path, R_OK) == 0, "set HANGTOP_DATA to hangtop's data folder");
	snprintf(l->found, sizeof l->found, "%.180s/profiles", data);
	free(data);
}

/* --- output --- */

static void print_json(const struct report *r)
{
	struct json_write w;
	struct buf out;

	buf_init(&out, 0);
	jw_start(&w, &out);
	jw_array(&w, NULL);
	for (int i = 0; i < r->count; i++) {
		jw_object(&w, NULL);
		jw_string(&w, "check", r->line[i].name);
		jw_bool(&w, "ok", r->line[i].ok);
		jw_bool(&w, "needed", r->line[i].needed);
		jw_string(&w, "found", *r->line[i].found ? r->line[i].found : NULL);
		jw_string(&w, "remedy", r->line[i].ok ? NULL : r->line[i].remedy);
		jw_end_object(&w);
	}
	jw_end_array(&w);
	puts(buf_string(&out));
	buf_release(&out);
}

static void print_text(const struct report *r)
{
	for (int i = 0; i < r->count; i++) {
		const struct line *l = &r->line[i];

		printf("%-8s %-15s %s%s%s\n", l->ok ? "ok" : "missing", l->name, l->found, !l->ok && *l->found ? "  ->  " : l->ok ? "" : "->  ",
			l->ok || !l->remedy ? "" : l->remedy);
	}
}

int cmd_doctor(int argc, char **argv)
{
	struct app_options options;
	struct report r = { .count = 0 };
	struct buf help;
	int status = options_parse(&options, CMD_DOCTOR, "doctor", argc, argv);

	if (status)
		return status;
	if (options.help) {
		buf_init(&help, 0);
		options_help(CMD_DOCTOR, "doctor", &help);
		printf("Usage: hangtop doctor [--json]\nCheck tools, permissions and limits, and say how to mend them.\n\nOptions:\n%s", buf_string(&help));
		buf_release(&help);
		return 0;
	}
	check_tools(&r);
	check_driver(&r);
	check_ptrace(&r);
	check_capabilities(&r);
	check_container(&r);
	check_state_folder(&r);
	check_cores(&r);
	check_ourselves(&r);
	if (options.json)
		print_json(&r);
	else
		print_text(&r);
	for (int i = 0; i < r.count; i++)
		if (r.line[i].needed && !r.line[i].ok)
			return EXIT_NO_TOOL;
	return 0;
}
