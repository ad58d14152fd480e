/* evidence_tools.c - children, four py-spys at a time. */
#include "config.h"

#include "app/evidence_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/doctor_look.h"
#include "app/evidence_mask.h"
#include "app/paths.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/proc_files.h"
#include "parse/pyspy.h"
#include "source/proc_tree.h"
#include "transport/child.h"

#define DEADLINE_MS 5000
#define DUMPS_AT_ONCE 4
#define ARGS_MAX 12

enum tool_kind { TOOL_GPU, TOOL_VERSION, TOOL_DUMP };
enum tool_state { TOOL_WAITS, TOOL_RUNS, TOOL_SAID };

struct tool {
	struct tool *next;
	struct tools *tools;
	enum tool_kind kind;
	enum tool_state state;
	char path[160];                /* of its piece; "" none */
	const char *argv[ARGS_MAX];
	char *program;                 /* argv[0]; owned */
	char number[24];
	int64_t pid;                   /* of whom py-spy is asked */
	struct child *child;
	bool again;                    /* second try after a torn read */
};

/* Text that a person reads and `hangtop explain` understands; one call each, as the gpu source does. */
static const struct gpu_tool_row {
	const char *name, *args[ARGS_MAX - 1];
} gpu_row[] = {
	{ "rocm-smi", { "--showuse", "--showmemuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--json" } },
	{ "amd-smi", { "monitor", "-p", "-t", "-u", "-m", "-v", "--json" } },
	{ "nvidia-smi", { NULL } },
};

static void start_next(struct tools *t);
static void run(struct tool *tool);

/* --- into the bundle --- */

static void say(struct tool *tool, enum evidence_state state, bool lost, const char *why, struct span text)
{
	struct evidence_piece piece = { .path = tool->path, .at = clock_wall_ms(), .state = state, .why = why, .lost = lost };
	struct buf from, masked;

	if (tool->state == TOOL_SAID || tool->tools->closed)
		return;
	tool->state = TOOL_SAID;
	if (!*tool->path)
		return;
	buf_init(&from, 1000);
	buf_init(&masked, text.len * 2 + 64);
	for (int i = 0; tool->argv[i]; i++)
		buf_printf(&from, "%s%s", i ? " " : "", tool->argv[i]);
	evidence_mask_text(&masked, text);
	piece.from = buf_string(&from);
	piece.text = buf_as_span(&masked);
	bundle_add(tool->tools->bundle, &piece);
	buf_release(&from);
	buf_release(&masked);
}

static void keep_word(char *out, size_t size, struct span text, const char *after)
{
	struct span rest = span_after(text, after), word;

	if (!*out && span_word(&rest, &word))
		snprintf(out, size, "%.*s", (int)strcspn(word.at, " \t\r\n"), word.at);
}

/* Why it failed, in one line. */
static void why_failed(const struct tool *tool, const struct child_result *r, char *out, size_t size)
{
	const char *words, *remedy;
	struct buf line;

	buf_init(&line, 160);
	if (r->timed_out)
		snprintf(out, size, "%s did not end in time%s", tool->argv[0], r->stuck ? ", and cannot be killed" : "");
	else if (tool->kind == TOOL_DUMP && pyspy_error(r->err, &words, &remedy) != PYSPY_UNKNOWN)
		snprintf(out, size, "py-spy: %s", words);
	else {
		text_scrub(&line, pyspy_error_line(r->err));
		snprintf(out, size, "exit status %d%s%s", r->exit, line.len ? ": " : "", buf_string(&line));
	}
	buf_release(&line);
}

/* py-spy reads a process that goes on meanwhile: what it saw may not hold together. */
static bool was_torn(struct tool *tool, const struct child_result *r)
{
	const char *words, *remedy;

	if (tool->kind != TOOL_DUMP || tool->again || tool->tools->ending || r->timed_out || r->not_started)
		return false;
	tool->again = true;
	return pyspy_error(r->err, &words, &remedy) == PYSPY_RACE;
}

static void on_done(void *context, const struct child_result *r)
{
	struct tool *tool = context;
	struct tools *t = tool->tools;
	bool good = r->exit == 0 && !r->timed_out && r->out.len;
	struct buf text;
	char why[300];

	tool->child = NULL;
	t->running--;
	t->dumps_running -= tool->kind == TOOL_DUMP;
	if (!good && was_torn(tool, r)) {
		run(tool);
		return;
	}
	if (tool->kind == TOOL_VERSION && good)
		keep_word(t->py_spy_version, sizeof t->py_spy_version, r->out, "py-spy ");
	if (tool->kind == TOOL_DUMP && good)
		keep_word(t->python_version, sizeof t->python_version, r->out, "Python v");
	if (good) {
		say(tool, r->cut ? EVIDENCE_CUT : EVIDENCE_OK, false, r->cut ? "there is more than is kept" : "", r->out);
	} else {
		why_failed(tool, r, why, sizeof why);
		buf_init(&text, EVIDENCE_FILE_MAX * 2);
		buf_span(&text, r->out);
		buf_span(&text, r->err);
		say(tool, r->out.len ? EVIDENCE_CUT : EVIDENCE_MISSING, true, why, buf_as_span(&text));
		buf_release(&text);
	}
	start_next(t);
	t->changed(t->context);
}

/* --- starting --- */

/* A reason not to ask py-spy; false when there is none. */
static bool is_excused(const struct tool *tool, char *why, size_t size)
{
	const char *root = tool->tools->options->source.proc_root;
	struct proc_status status = { .tracer = 0 };
	struct proc_stat stat;
	struct buf text;
	bool found;

	*why = 0;
	buf_init(&text, 65536);
	found = proc_read(root, tool->pid, "stat", &text, 4095) && proc_stat_parse(buf_as_span(&text), &stat);
	if (found && proc_read(root, tool->pid, "status", &text, 65536))
		proc_status_parse(buf_as_span(&text), &status);
	buf_release(&text);
	if (!found || stat.state == 'Z' || stat.state == 'X')
		snprintf(why, size, "the process has ended");
	else if (status.tracer > 0)
		snprintf(why, size, "held by a debugger (pid %lld)", (long long)status.tracer);
	return *why;
}

static void run(struct tool *tool)
{
	static const char *const env[] = { "RUST_BACKTRACE=0", NULL };
	struct child_options options = { .argv = tool->argv, .deadline_ms = DEADLINE_MS, .cap = EVIDENCE_FILE_MAX, .env_add = env, .done = on_done,
		.context = tool };
	char why[100];

	if (tool->kind == TOOL_DUMP && is_excused(tool, why, sizeof why)) {
		say(tool, EVIDENCE_MISSING, true, why, span_of(""));
		return;
	}
	tool->state = TOOL_RUNS;
	tool->tools->running++;
	tool->tools->dumps_running += tool->kind == TOOL_DUMP;
	tool->child = child_run(tool->tools->loop, &options);
}

static void start_next(struct tools *t)
{
	for (struct tool *tool = t->first; tool; tool = tool->next) {
		if (tool->state != TOOL_WAITS || t->closed)
			continue;
		if (t->ending)
			say(tool, EVIDENCE_MISSING, true, "not asked: no time was left", span_of(""));
		else if (tool->kind != TOOL_DUMP || t->dumps_running < DUMPS_AT_ONCE)
			run(tool);
	}
}

static struct tool *add_tool(struct tools *t, enum tool_kind kind, const char *program)
{
	struct tool **at = &t->first, *tool = mem_alloc(sizeof *tool);

	while (*at)
		at = &(*at)->next;
	*at = tool;
	tool->tools = t;
	tool->kind = kind;
	tool->program = mem_text(program);
	tool->argv[0] = tool->program;
	return tool;
}

/* The path the user gave; NULL none. */
static const char *given_smi(const struct tools *t, const char *name)
{
	const struct source_options *o = &t->options->source;

	return strcmp(name, "rocm-smi") == 0 ? o->rocm_smi : strcmp(name, "amd-smi") == 0 ? o->amd_smi : NULL;
}

static char *find_smi(const struct tools *t, const char *name)
{
	const char *given = given_smi(t, name);
	char path[4096], places[100], *found;

	if (given)
		return child_find(given);
	found = child_find(name);
	if (found)
		return found;
	snprintf(places, sizeof places, "/opt/rocm*/bin/%s", name);
	return child_find(look_glob("", places, path, sizeof path));
}

/* Where the stack source looks. */
static char *find_py_spy(const struct tools *t)
{
	const char *env = getenv("HANGTOP_PY_SPY");
	char path[4600], *self, *found;

	if (t->options->source.py_spy)
		return child_find(t->options->source.py_spy);
	if (env && *env)
		return child_find(env);
	if ((found = child_find("py-spy")))
		return found;
	self = path_self();
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	snprintf(path, sizeof path, "%s/venv/bin/py-spy", self);
	free(self);
	return child_find(path);
}

static bool is_wanted(const struct tools *t, const char *name)
{
	return strcmp(t->options->source.gpu, "auto") == 0 || strcmp(t->options->source.gpu, name) == 0;
}

void tools_start(struct tools *t)
{
	for (size_t i = 0; i < sizeof gpu_row / sizeof *gpu_row; i++) {
		char *path = find_smi(t, gpu_row[i].name);
		struct tool *tool;

		if (is_wanted(t, gpu_row[i].name)) {
			tool = add_tool(t, TOOL_GPU, path ? path : gpu_row[i].name);
			snprintf(tool->path, sizeof tool->path, "gpu/%s.txt", gpu_row[i].name);
			for (int k = 0; gpu_row[i].args[k]; k++)
				tool->argv[k + 1] = gpu_row[i].args[k];
			if (!path)
				say(tool, given_smi(t, gpu_row[i].name) ? EVIDENCE_MISSING : EVIDENCE_NONE, given_smi(t, gpu_row[i].name), "not installed",
					span_of(""));
		}
		free(path);
	}
	t->py_spy = find_py_spy(t);
	if (t->py_spy)
		add_tool(t, TOOL_VERSION, t->py_spy)->argv[1] = "--version";
	start_next(t);
}

void tools_dump(struct tools *t, const struct evidence_process *process, int count)
{
	for (int i = 0; i < count; i++) {
		char folder[100];
		struct tool *tool;

		if (!process[i].python)
			continue;
		tool = add_tool(t, TOOL_DUMP, t->py_spy ? t->py_spy : "py-spy");
		evidence_process_folder(&process[i], folder, sizeof folder);
		snprintf(tool->path, sizeof tool->path, "%s/py-spy.txt", folder);
		snprintf(tool->number, sizeof tool->number, "%lld", (long long)process[i].pid);
		tool->pid = process[i].pid;
		tool->argv[1] = "dump";
		tool->argv[2] = "--nonblocking";
		tool->argv[3] = "--pid";
		tool->argv[4] = tool->number;
		if (!t->py_spy)
			say(tool, EVIDENCE_MISSING, true, "py-spy not found: pip install py-spy, or give its path with --py-spy", span_of(""));
	}
	start_next(t);
}

/* --- the end --- */

void tools_end(struct tools *t)
{
	t->ending = true;
	start_next(t);
	for (struct tool *tool = t->first; tool; tool = tool->next)
		if (tool->child)
			child_cancel(tool->child);
}

void tools_abandon(struct tools *t)
{
	t->ending = true;
	start_next(t);
	for (struct tool *tool = t->first; tool; tool = tool->next)
		if (tool->state == TOOL_RUNS)
			say(tool, EVIDENCE_MISSING, true, "it did not end in time", span_of(""));
	t->closed = true;
}

bool tools_over(const struct tools *t)
{
	for (const struct tool *tool = t->first; tool; tool = tool->next)
		if (tool->state == TOOL_WAITS)
			return false;
	return !t->running;
}

void tools_release(struct tools *t)
{
	while (t->first) {
		struct tool *tool = t->first;

		t->first = tool->next;
		free(tool->program);
		free(tool);
	}
	free(t->py_spy);
}
