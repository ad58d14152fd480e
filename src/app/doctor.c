/* doctor.c - the array of checks, the tools asked for their versions at the same time, and the lines. */
#include "config.h"

#include "app/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "app/doctor_look.h"
#include "app/options.h"
#include "app/paths.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/text.h"
#include "transport/child.h"

#define TOOL_DEADLINE_MS 2000
#define TOOL_OUTPUT_MAX 65536

static const struct check {
	const char *name;
	const char *lost;              /* what hangtop cannot do without it */
	int code;                      /* exit status when it is not there; 0: worth knowing only */
	void (*look)(const char *root, struct answer *a);      /* NULL: a tool, asked for its version */
	const char *ask;               /* the argument that makes the tool print its version */
	const char *places;            /* globs to look at when it is not in PATH */
	bool places_first;             /* one of the same name in PATH is of little use */
	const char *package[MANAGERS];
	const char *words;             /* how to get it without a package */
} check[] = {
	{ .name = "py-spy", .lost = "no Python stacks, only the kernel's view from /proc", .code = EXIT_NO_TOOL, .ask = "--version" },
	{ .name = "rocgdb", .lost = "no GPU waves and queues", .ask = "--version", .places = "/opt/rocm*/bin/rocgdb",
		.package = { "rocm-gdb", "rocm-gdb" }, .words = "install rocm-gdb from AMD's ROCm packages" },
	{ .name = "gdb", .lost = "no native stacks", .ask = "--version", .package = { "gdb", "gdb", "gdb", "gdb" }, .words = "install gdb" },
	{ .name = "rocm-smi", .lost = "GPU numbers only from the driver's files", .ask = "--version", .places = "/opt/rocm*/bin/rocm-smi",
		.package = { "rocm-smi", "rocm-smi", "rocm-smi-lib" }, .words = "install rocm-smi-lib from AMD's ROCm packages" },
	{ .name = "amd-smi", .lost = "nothing while rocm-smi or the driver's files are there", .ask = "version", .places = "/opt/rocm*/bin/amd-smi",
		.package = { "amd-smi-lib", "amd-smi-lib" }, .words = "install amd-smi-lib from AMD's ROCm packages" },
	{ .name = "llvm-objdump", .lost = "no disassembly of GPU code", .ask = "--version", .places_first = true,
		.places = "/opt/rocm*/llvm/bin/llvm-objdump /opt/rocm*/lib/llvm/bin/llvm-objdump",
		.package = { "rocm-llvm", "rocm-llvm", "rocm-llvm" }, .words = "install rocm-llvm from AMD's ROCm packages" },
	{ .name = "debug agent", .lost = "no wave dumps at a fault", .look = look_debug_agent },
	{ .name = "setpriv", .lost = "a killed hangtop may leave a tool running for some seconds", .ask = "--version",
		.package = { "util-linux", "util-linux", "util-linux", "setpriv" }, .words = "install util-linux" },
	{ .name = "ssh", .lost = "no other nodes over ssh", .ask = "-V",
		.package = { "openssh-client", "openssh-clients", "openssh", "openssh-client" }, .words = "install an ssh client" },
	{ .name = "srun", .lost = "no other nodes over Slurm", .ask = "--version",
		.package = { "slurm-client", "slurm", "slurm-llnl" }, .words = "install Slurm's client programs" },
	{ .name = "clush", .lost = "no other nodes over clush", .ask = "--version",
		.package = { "clustershell", "clustershell" }, .words = "pip install ClusterShell" },
	{ .name = "GPU driver", .lost = "no GPU numbers", .look = look_driver },
	{ .name = "/dev/kfd", .lost = "rocgdb cannot attach", .look = look_kfd },
	{ .name = "/proc", .lost = "no processes", .code = EXIT_NO_PERMISSION, .look = look_proc },
	{ .name = "yama", .lost = "no stacks", .look = look_yama },
	{ .name = "CAP_SYS_PTRACE", .lost = "no stacks of other users' processes", .look = look_sys_ptrace },
	{ .name = "CAP_SYSLOG", .lost = "no kernel log", .look = look_syslog },
	{ .name = "user", .lost = "less about other users' servers", .look = look_user },
	{ .name = "container", .lost = "process ids that match", .look = look_container },
	{ .name = "session files", .lost = "no recording", .code = EXIT_CANNOT_WRITE, .look = look_state_folder },
	{ .name = "core dumps", .lost = "time and disk at a fault", .look = look_core },
	{ .name = "locale", .lost = "the characters of graphs and lines", .look = look_locale },
	{ .name = "TERM", .lost = "the screen", .look = look_term },
	{ .name = "PCRE2", .lost = "speed", .look = look_pcre2 },
	{ .name = "libraries", .look = look_libraries },
	{ .name = "kernel", .look = look_kernel },
	{ .name = "profiles", .lost = "no server is found", .code = EXIT_NO_TOOL, .look = look_profiles },
};

#define CHECKS ((int)(sizeof check / sizeof check[0]))

struct asked {
	const struct check *check;
	struct answer *answer;
	char *path;
};

/* --- tools --- */

/* The first thing that looks like a version: digits, a dot, digits; at the start of a word or after '_', 'v' or ':'. */
static struct span find_version(struct span text)
{
	for (size_t i = 0; i + 2 < text.len; i++) {
		struct span rest = span_sub(text, i, text.len), head = rest;
		uint64_t number;
		size_t n = 0;

		if (i && !strchr(" \t\n_v:", text.at[i - 1]))
			continue;
		if (!span_take_uint(&rest, &number) || !span_skip(&rest, ".") || !span_take_uint(&rest, &number))
			continue;
		while (n < head.len && n < 40 && head.at[n] && !strchr(" \t\r\n,;:|()", head.at[n]))
			n++;
		return span_sub(head, 0, n);
	}
	return span_make("", 0);
}

static struct span first_line(struct span text)
{
	struct span line;

	while (span_line(&text, &line))
		if (span_trim(line).len)
			return span_sub(span_trim(line), 0, 120);
	return span_make("", 0);
}

static void on_version(void *context, const struct child_result *r)
{
	struct asked *asked = context;
	struct answer *a = asked->answer;
	struct span version = find_version(r->out), said = first_line(r->err.len ? r->err : r->out);
	struct buf text;

	if (!version.len)
		version = find_version(r->err);
	buf_init(&text, 300);
	if (r->stuck || r->timed_out) {
		answer_set(a, LOOK_FAILED, "does not answer in time (%s)", asked->path);
		answer_mend(a, r->stuck ? "it cannot be killed; see what it waits for: cat /proc/%d/wchan" :
			"a GPU that hangs makes its tools hang; run it by hand", r->pid);
	} else if (r->exit == 2 && span_starts(said, "usage:")) {
		answer_set(a, LOOK_OK, "of a version that does not tell (%s)", asked->path);
	} else if (r->not_started || r->exit != 0) {
		text_scrub(&text, said);
		answer_set(a, LOOK_FAILED, "exit status %d (%s)%s%s", r->exit, asked->path, text.len ? ": " : "", buf_string(&text));
		answer_mend(a, "run it by hand: %s %s", asked->path, asked->check->ask);
	} else {
		text_scrub(&text, version);
		answer_set(a, LOOK_OK, "%s%s(%s)", buf_string(&text), text.len ? " " : "", asked->path);
		if (asked->check->places_first && !strstr(asked->path, "rocm"))
			answer_set(a, LOOK_POOR, "%s (%s): not ROCm's own, it may not know this GPU", buf_string(&text), asked->path);
	}
	buf_release(&text);
}

/* py-spy is looked for where the stack source looks for it. */
static char *find_py_spy(void)
{
	const char *env = getenv("HANGTOP_PY_SPY");
	char path[4600], *found, *self;

	if (env && *env)
		return child_find(env);
	found = child_find("py-spy");
	if (found)
		return found;
	self = path_self();
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	snprintf(path, sizeof path, "%s/venv/bin/py-spy", self);
	free(self);
	return child_find(path);
}

static char *find_tool(const struct check *c, const char *root)
{
	char path[4096], *found = NULL;

	if (c->places_first)
		found = child_find(look_glob(root, c->places, path, sizeof path));
	if (!found)
		found = strcmp(c->name, "py-spy") == 0 ? find_py_spy() : child_find(c->name);
	if (!found && c->places)
		found = child_find(look_glob(root, c->places, path, sizeof path));
	return found;
}

static void mend_tool(const struct check *c, const char *root, struct answer *a)
{
	char path[400];

	answer_set(a, LOOK_MISSING, "not found");
	if (strcmp(c->name, "py-spy") != 0)
		look_install(c->package, c->words, a);
	else if (*look_glob(root, "/usr/lib/python3*/EXTERNALLY-MANAGED /usr/lib64/python3*/EXTERNALLY-MANAGED", path, sizeof path))
		answer_mend(a, "python3 -m venv ~/.py-spy && ~/.py-spy/bin/pip install py-spy && export HANGTOP_PY_SPY=~/.py-spy/bin/py-spy");
	else
		answer_mend(a, "pip install py-spy");
}

static void start_tool(uv_loop_t *loop, const struct doctor_options *o, struct asked *asked)
{
	struct child_options child = { .cap = TOOL_OUTPUT_MAX, .done = on_version, .context = asked };
	const char *argv[] = { NULL, asked->check->ask, NULL };

	asked->path = find_tool(asked->check, o->root);
	if (!asked->path) {
		mend_tool(asked->check, o->root, asked->answer);
		return;
	}
	argv[0] = asked->path;
	child.argv = argv;
	child.deadline_ms = o->deadline_ms > 0 ? o->deadline_ms : TOOL_DEADLINE_MS;
	child_run(loop, &child);
}

/* --- the lines --- */

static const char *look_word(enum look look)
{
	static const char *const word[] = { "ok", "poor", "missing", "failed" };

	return word[look];
}

static void print_line(const struct check *c, const struct answer *a, struct buf *out)
{
	buf_printf(out, "%-8s %s %s", look_word(a->look), c->name, a->text);
	if (a->look >= LOOK_MISSING && c->lost)
		buf_printf(out, "; %slost: %s", c->code ? "needed, " : "", c->lost);
	if (*a->mend)
		buf_printf(out, "  %s: %s", strstr(a->mend, "install") ? "install" : "mend", a->mend);
	buf_char(out, '\n');
}

static void print_json(const struct answer *answer, struct buf *out)
{
	struct json_write w;

	jw_start(&w, out);
	jw_array(&w, NULL);
	for (int i = 0; i < CHECKS; i++) {
		const struct answer *a = &answer[i];

		jw_object(&w, NULL);
		jw_string(&w, "check", check[i].name);
		jw_bool(&w, "ok", a->look == LOOK_OK);
		jw_string(&w, "state", look_word(a->look));
		jw_bool(&w, "needed", check[i].code != 0);
		jw_string(&w, "found", *a->text ? a->text : NULL);
		jw_string(&w, "lost", a->look == LOOK_OK ? NULL : check[i].lost);
		jw_string(&w, "remedy", *a->mend ? a->mend : NULL);
		jw_end_object(&w);
	}
	jw_end_array(&w);
	buf_char(out, '\n');
}

static void print_text(const struct answer *answer, int code, struct buf *out)
{
	for (int i = 0; i < CHECKS; i++)
		print_line(&check[i], &answer[i], out);
	buf_printf(out, "\n%s\n", code ? "Something that hangtop needs is not there: see the lines that say \"needed\"." :
		"hangtop can do its work here; what is not ok costs only what its line says.");
}

int doctor_run(const struct doctor_options *o, struct buf *out)
{
	struct answer answer[CHECKS];
	struct asked asked[CHECKS];
	uv_loop_t loop;
	int code = 0;

	memset(answer, 0, sizeof answer);
	uv_loop_init(&loop);
	for (int i = 0; i < CHECKS; i++) {
		asked[i] = (struct asked){ .check = &check[i], .answer = &answer[i] };
		if (check[i].look)
			check[i].look(o->root, &answer[i]);
		else
			start_tool(&loop, o, &asked[i]);
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	for (int i = 0; i < CHECKS; i++) {
		free(asked[i].path);
		if (answer[i].look >= LOOK_MISSING && !code)
			code = check[i].code;
	}
	if (o->json)
		print_json(answer, out);
	else
		print_text(answer, code, out);
	return code;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_options doctor = { .root = "" };
	struct app_options options;
	struct buf out;
	int code = options_parse(&options, CMD_DOCTOR, "doctor", argc, argv);

	if (code)
		return code;
	buf_init(&out, 0);
	if (options.help) {
		buf_text(&out, "Usage: hangtop doctor [options]\n"
			"Check tools, permissions and limits of this node, and print the command that mends each.\n\nOptions:\n");
		options_help(CMD_DOCTOR, "doctor", &out);
		buf_text(&out, "\nExit status: 0 hangtop can do its work; 69 py-spy or the engine profiles are missing; 73 no session file\n"
			"can be written; 77 /proc cannot be read.\n");
	} else {
		doctor.json = options.json;
		code = doctor_run(&doctor, &out);
	}
	if (fwrite(buf_string(&out), 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		code = EXIT_CANNOT_WRITE;
	buf_release(&out);
	return code;
}
