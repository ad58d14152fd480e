/* gpu_tool.c - the second way: ask rocm-smi, amd-smi or nvidia-smi, seldom, one call at a time, with a deadline.
 *
 * Exit codes are not trusted: what a call printed is what counts. A call that cannot be killed (state D) is never
 * repeated until it has ended. Process lists read what may hang with the GPU: they are calls of their own.
 */
#include "config.h"

#include "source/gpu.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/amd_smi.h"
#include "parse/nvidia_smi.h"
#include "parse/rocm_smi.h"
#include "transport/child.h"

#define TICK_MS 250
#define USAGE_MS 10000         /* at least between two calls */
#define PROCESSES_MS 30000
#define RETRY_MS 60000         /* all tools failed: look again */
#define DEADLINE_MS 8000
#define OUTPUT_CAP ((size_t)4 << 20)
#define TOOLS 3

enum call_kind { USAGE, PROCESSES, CALLS };

static const struct tool_class {
	const char *name;
	int (*parse)(struct span out, struct gpu_list *list, struct error *error);
	const char *args[CALLS][10];
	const char *other[10];         /* usage again, for versions that refuse the first; may be empty */
} tools[TOOLS] = {
	{ "rocm-smi", rocm_smi_parse,
		{ { "--showuse", "--showmemuse", "--showmeminfo", "vram", "--showpower", "--showtemp", "--json" },
			{ "--showpids", "--json" } },
		{ NULL } },
	{ "amd-smi", amd_smi_parse,
		{ { "monitor", "-p", "-t", "-u", "-m", "-v", "--json" }, { "process", "--json" } },
		{ "metric", "-u", "-p", "-t", "-m", "--json" } },
	{ "nvidia-smi", nvidia_smi_parse,
		{ { "--query-gpu=" NVIDIA_SMI_GPU_COLUMNS, "--format=csv" },
			{ "--query-compute-apps=" NVIDIA_SMI_APP_COLUMNS, "--format=csv" } },
		{ NULL } },
};

struct call {
	struct gpu_tool *tool;
	enum call_kind kind;
	struct child *child;           /* running */
	int64_t due;                   /* monotonic ms */
	int stuck;                     /* pid of a call that could not be killed; 0 none */
	int64_t stuck_since;           /* wall clock */
};

struct gpu_tool {
	struct source_env *env;
	char *files;                   /* words */
	char *path[TOOLS];             /* NULL: not installed or not wanted */
	bool wanted[TOOLS];
	char why[TOOLS][160];          /* it gave no GPU */
	int at;                        /* tool in use; TOOLS: none worked */
	bool proven;                   /* it has given GPUs: no other tool is tried any more */
	bool other;                    /* use the other arguments */
	struct call call[CALLS];
	struct gpu_list list;
	struct gpu_health health;
	uv_timer_t timer;
	bool stopping;
	void (*closed)(void *);
	void *context;
};

/* --- words --- */

static void set_health(struct gpu_tool *t, const char *state, double latency, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static void set_health(struct gpu_tool *t, const char *state, double latency, const char *remedy, const char *format, ...)
{
	va_list args;

	snprintf(t->health.state, sizeof t->health.state, "%s", state);
	snprintf(t->health.remedy, sizeof t->health.remedy, "%s", remedy ? remedy : "");
	t->health.latency_ms = latency;
	va_start(args, format);
	vsnprintf(t->health.detail, sizeof t->health.detail, format, args);
	va_end(args);
}

/* The line that says it best: the last one of stderr (of a Python traceback it is the exception), else of the parser. */
static void choose_words(char *out, size_t size, const struct child_result *r, const struct error *error)
{
	struct span rest = r->err, line, last = span_of("");
	struct buf clean;

	while (span_line(&rest, &line))
		if (span_trim(line).len)
			last = span_trim(line);
	if (!last.len || span_starts(last, "WARNING"))
		last = span_of(error->text);
	buf_init(&clean, size - 1);
	text_scrub(&clean, span_sub(last, 0, size - 1));
	snprintf(out, size, "%s", buf_string(&clean));
	buf_release(&clean);
}

static const char *remedy_for(const char *words, const char *tool)
{
	if (strstr(words, "Driver not") || strstr(words, "not found in modules") || strstr(words, "rsmi_init"))
		return "load the driver (modprobe amdgpu), run on the node that has the GPUs, or leave it out: --gpu=off";
	if (strstr(words, "ermission") || strstr(words, "/dev/kfd"))
		return "add the user to the groups render and video, or run as root";
	if (strcmp(tool, "nvidia-smi") == 0)
		return "run nvidia-smi by hand to see why, or leave it out: --gpu=off";
	return "run the tool by hand with --json to see why, or leave it out: --gpu=off";
}

/* No tool gave a GPU: say what was looked at, each with its reason. */
static void nothing_found(struct gpu_tool *t)
{
	char text[sizeof t->health.detail] = "";
	const char *remedy = "run on the node that has the GPUs, install rocm-smi (or say where: --rocm-smi), or leave it out: --gpu=off";
	size_t n = 0;

	for (int i = 0; i < TOOLS; i++) {
		if (!t->wanted[i])
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "; %s: %s", tools[i].name,
			!t->path[i] ? "not installed" : t->why[i][0] ? t->why[i] : "no GPU");
		if (n >= sizeof text)
			break;
		if (t->path[i] && t->why[i][0] && strstr(t->why[i], "river"))
			remedy = remedy_for(t->why[i], tools[i].name);
	}
	set_health(t, "failed", -1, remedy, "no GPU found%s%s%s", *t->files ? ": looked for " : "", t->files, text);
}

/* --- results --- */

static void emit_processes(struct gpu_tool *t)
{
	for (size_t i = 0; i < t->list.processes; i++) {
		const struct gpu_process_reading *p = &t->list.process[i];

		if (p->gpus != 0 || p->vram != 0) /* it merely opened /dev/kfd */
			gpu_emit_process(t->env, p);
	}
}

static void next_tool(struct gpu_tool *t)
{
	do
		t->at++;
	while (t->at < TOOLS && !t->path[t->at]);
	t->other = false;
	t->call[USAGE].due = 0;
	t->call[PROCESSES].due = clock_mono_ms() + 2000;
	if (t->at >= TOOLS) {
		t->call[USAGE].due = clock_mono_ms() + RETRY_MS;
		nothing_found(t);
	}
}

static void usage_failed(struct gpu_tool *t, const char *words)
{
	snprintf(t->why[t->at], sizeof t->why[0], "%s", words);
	if (!t->proven && !t->other && tools[t->at].other[0]) {
		t->other = true;
		t->call[USAGE].due = 0;
		return;
	}
	if (!t->proven) {
		next_tool(t);
		return;
	}
	set_health(t, "failed", -1, remedy_for(words, tools[t->at].name), "%s: %s", t->path[t->at], words);
}

static void usage_done(struct gpu_tool *t, const struct child_result *r)
{
	struct error error = { .text = "" };
	char words[160];

	gpu_list_release(&t->list);
	if (tools[t->at].parse(r->out, &t->list, &error) == 0 && t->list.gpus > 0) {
		t->proven = true;
		if (!t->call[PROCESSES].stuck)
			set_health(t, "ok", r->took_ms, NULL, "%zu GPU%s by %s, every %d s", t->list.gpus, t->list.gpus == 1 ? "" : "s",
			t->path[t->at], (t->env->options->interval_ms > USAGE_MS ? t->env->options->interval_ms : USAGE_MS) / 1000);
		for (size_t i = 0; i < t->list.gpus; i++)
			gpu_emit(t->env, &t->list.gpu[i], tools[t->at].name);
		return;
	}
	choose_words(words, sizeof words, r, error.text[0] ? &error : &(struct error){ .text = "it names no GPU" });
	usage_failed(t, words);
}

static void on_done(void *context, const struct child_result *r)
{
	struct call *c = context;
	struct gpu_tool *t = c->tool;
	const char *path = t->at < TOOLS ? t->path[t->at] : "the tool";

	c->child = NULL;
	if (t->stopping) {
		if (!t->call[USAGE].child && !t->call[PROCESSES].child && t->closed)
			gpu_tool_stop(t, t->closed, t->context);
		return;
	}
	if (r->stuck) {
		c->stuck = r->pid;
		c->stuck_since = r->started;
	} else if (r->timed_out) {
		set_health(t, "late", r->took_ms, "look at the kernel log (dmesg) for amdgpu: a GPU may be hung or resetting",
			"%s%s did not answer within %d s and was ended", path, c->kind == PROCESSES ? " (process list)" : "",
			DEADLINE_MS / 1000);
	} else if (c->kind == USAGE) {
		usage_done(t, r);
	} else {
		t->list.processes = 0;
		if (tools[t->at].parse(r->out, &t->list, NULL) == 0)
			emit_processes(t);
	}
}

/* --- calls --- */

static void start_call(struct gpu_tool *t, struct call *c)
{
	const char *const *args = c->kind == USAGE && t->other ? tools[t->at].other : tools[t->at].args[c->kind];
	const char *argv[12] = { t->path[t->at] };
	struct child_options options = { .argv = argv, .deadline_ms = DEADLINE_MS, .cap = OUTPUT_CAP, .done = on_done, .context = c };
	int every = c->kind == USAGE ? USAGE_MS : PROCESSES_MS;

	for (int i = 0; i < 10 && args[i]; i++)
		argv[i + 1] = args[i];
	if (t->env->options->interval_ms > every)
		every = t->env->options->interval_ms;
	c->due = clock_mono_ms() + every;
	c->child = child_run(t->env->loop, &options);
}

/* Has the call that could not be killed ended at last? */
static bool still_stuck(struct gpu_tool *t, struct call *c)
{
	if (!c->stuck)
		return false;
	if (kill(c->stuck, 0) < 0 && errno == ESRCH) {
		debug_log("gpu", "stuck call %d has ended", c->stuck);
		c->stuck = 0;
		return false;
	}
	set_health(t, "failed", -1, "look at the kernel log (dmesg) for amdgpu; the GPU may need a reset or the node a reboot",
		"%s%s (pid %d) is stuck in the driver for %lld s and cannot be killed; it is not asked again until it ends",
		t->at < TOOLS ? t->path[t->at] : "the tool", c->kind == PROCESSES ? " (process list)" : "", c->stuck,
		(long long)(clock_wall_ms() - c->stuck_since) / 1000);
	return true;
}

static void on_timer(uv_timer_t *timer)
{
	struct gpu_tool *t = timer->data;
	int64_t now = clock_mono_ms();

	for (int i = 0; i < CALLS; i++) {
		struct call *c = &t->call[i];

		if (still_stuck(t, c) || t->call[USAGE].child || t->call[PROCESSES].child || now < c->due)
			continue;
		if (i == PROCESSES && !t->proven)
			continue;
		if (t->at >= TOOLS) { /* nothing worked: look from the start */
			t->at = -1;
			next_tool(t);
		}
		if (t->at < TOOLS)
			start_call(t, c);
	}
}

/* --- start and stop --- */

static char *find_tool(const struct source_options *o, int tool)
{
	const char *given = tool == 0 ? o->rocm_smi : tool == 1 ? o->amd_smi : NULL, *rocm = getenv("ROCM_PATH");
	char path[1024], *found;

	if (given)
		return child_find(given);
	found = child_find(tools[tool].name);
	if (!found && rocm && *rocm && tool < 2) {
		snprintf(path, sizeof path, "%s/bin/%s", rocm, tools[tool].name);
		found = child_find(path);
	}
	if (!found && tool < 2) {
		snprintf(path, sizeof path, "/opt/rocm/bin/%s", tools[tool].name);
		found = child_find(path);
	}
	return found;
}

struct gpu_tool *gpu_tool_start(struct source_env *env, const char *mode, const char *files)
{
	struct gpu_tool *t = mem_alloc(sizeof *t);

	t->env = env;
	t->files = mem_text(files);
	gpu_list_init(&t->list);
	for (int i = 0; i < TOOLS; i++) {
		t->wanted[i] = strcmp(mode, "auto") == 0 || strcmp(mode, tools[i].name) == 0;
		t->path[i] = t->wanted[i] ? find_tool(env->options, i) : NULL;
	}
	for (int i = 0; i < CALLS; i++) {
		t->call[i].tool = t;
		t->call[i].kind = i;
	}
	t->at = -1;
	next_tool(t);
	uv_timer_init(env->loop, &t->timer);
	t->timer.data = t;
	uv_timer_start(&t->timer, on_timer, 0, TICK_MS);
	return t;
}

const struct gpu_health *gpu_tool_health(const struct gpu_tool *tool)
{
	return &tool->health;
}

static void on_closed(uv_handle_t *handle)
{
	struct gpu_tool *t = handle->data;

	for (int i = 0; i < TOOLS; i++)
		free(t->path[i]);
	free(t->files);
	gpu_list_release(&t->list);
	t->closed(t->context);
	free(t);
}

void gpu_tool_stop(struct gpu_tool *t, void (*closed)(void *), void *context)
{
	t->stopping = true;
	t->closed = closed;
	t->context = context;
	uv_timer_stop(&t->timer);
	for (int i = 0; i < CALLS; i++)
		if (t->call[i].child)
			child_cancel(t->call[i].child);
	if (!t->call[USAGE].child && !t->call[PROCESSES].child)
		uv_close((uv_handle_t *)&t->timer, on_closed);
}
