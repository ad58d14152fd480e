/* guard.c - the table of checks. */
#include "config.h"

#include "snapshot/guard.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "snapshot/guard_private.h"

/* --- saying it --- */

void guard_say(struct guard_row *row, enum guard_state state, const char *format, ...)
{
	va_list args;

	row->state = state;
	va_start(args, format);
	vsnprintf(row->detail, sizeof row->detail, format, args);
	va_end(args);
}

void guard_mend(struct guard_row *row, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(row->remedy, sizeof row->remedy, format, args);
	va_end(args);
}

/* --- the process --- */

static void check_exists(const struct guard_facts *f, struct guard_row *row)
{
	if (f->exists)
		return guard_say(row, GUARD_OK, "process %" PRId64 " is there", f->pid);
	guard_say(row, GUARD_REFUSED, "no process %" PRId64 " on this node: it has exited, or the pid is of another pid namespace", f->pid);
	guard_mend(row, "choose a process of the list; for a dead one read the log and the kernel log");
}

static void check_same(const struct guard_facts *f, struct guard_row *row)
{
	if (f->wanted_start_ticks <= 0)
		guard_say(row, GUARD_UNKNOWN, "whatever has the pid now: no start time was given to compare");
	else if (f->start_ticks < 0)
		guard_say(row, GUARD_REFUSED, "start time of process %" PRId64 " cannot be read: it may be another one than the one chosen", f->pid);
	else if (f->start_ticks != f->wanted_start_ticks)
		guard_say(row, GUARD_REFUSED, "pid %" PRId64 " is another process now: started at tick %" PRId64 ", the one chosen at %" PRId64,
			f->pid, f->start_ticks, f->wanted_start_ticks);
	else
		guard_say(row, GUARD_OK, "started at tick %" PRId64 ", as the one chosen", f->start_ticks);
	if (row->state == GUARD_REFUSED)
		guard_mend(row, "choose the process again");
}

static void check_alive(const struct guard_facts *f, struct guard_row *row)
{
	if (f->state == 'Z') {
		guard_say(row, GUARD_REFUSED, "a zombie: it has ended and waits for its parent; there is nothing to attach to");
		guard_mend(row, "cat /proc/%" PRId64 "/stat; the cause is in the server's log and in dmesg", f->pid);
	} else if (f->state == 'X' || f->state == 'x') {
		guard_say(row, GUARD_REFUSED, "it is ending (state %c)", f->state);
	} else if (!f->state || !strchr("RSDTtIPWK", f->state)) {
		guard_say(row, GUARD_REFUSED, "its state cannot be read: what a debugger would do to it is not known");
		guard_mend(row, "cat /proc/%" PRId64 "/stat", f->pid);
	} else {
		guard_say(row, GUARD_OK, "alive (state %c)", f->state);
	}
}

static void check_stopped(const struct guard_facts *f, struct guard_row *row)
{
	if (f->state == 'T') {
		guard_say(row, GUARD_REFUSED, "already stopped by a signal (state T), perhaps by a debugger that died: whether it ran before "
			"could not be told afterwards");
		guard_mend(row, "kill -CONT %" PRId64, f->pid);
	} else if (f->state == 't' && f->tracer <= 0) {
		guard_say(row, GUARD_REFUSED, "stopped by a tracer that cannot be seen (state t)");
	} else if (!f->state) {
		guard_say(row, GUARD_UNKNOWN, "state unknown");
	} else {
		guard_say(row, GUARD_OK, "not stopped");
	}
}

static void check_kernel_sleep(const struct guard_facts *f, struct guard_row *row)
{
	const char *in = f->stuck_in[0] ? f->stuck_in : "the kernel";

	if (f->state == 'D' || f->stuck_threads > 0) {
		guard_say(row, GUARD_REFUSED, "%d thread%s in state D, in %s: a debugger would wait for it for ever, and the others would stay stopped",
			f->stuck_threads > 0 ? f->stuck_threads : 1, f->stuck_threads > 1 ? "s" : "", in);
		guard_mend(row, "try again; if it stays: grep -l '^State:.D' /proc/%" PRId64 "/task/*/status, and dmesg", f->pid);
	} else if (f->stuck_threads < 0) {
		guard_say(row, GUARD_UNKNOWN, "threads cannot be read: one may be in state D");
	} else {
		guard_say(row, GUARD_OK, "no thread in state D");
	}
}

static void check_tracer(const struct guard_facts *f, struct guard_row *row)
{
	if (f->tracer > 0) {
		guard_say(row, GUARD_REFUSED, "traced by %s (pid %" PRId64 "): a process has one debugger at a time",
			f->tracer_comm[0] ? f->tracer_comm : "another program", f->tracer);
		if (strstr(f->tracer_comm, "py-spy"))
			guard_mend(row, "wait: py-spy takes a second; then try again");
		else
			guard_mend(row, "end it by its own means (detach), then try again: ps -fp %" PRId64, f->tracer);
	} else if (f->tracer < 0) {
		guard_say(row, GUARD_UNKNOWN, "whether it is traced cannot be read");
	} else {
		guard_say(row, GUARD_OK, "nobody traces it");
	}
}

static void check_busy(const struct guard_facts *f, struct guard_row *row)
{
	if (!f->busy)
		return guard_say(row, GUARD_OK, "no other snapshot of it under way");
	guard_say(row, GUARD_REFUSED, "another snapshot of this process is under way");
	guard_mend(row, "wait for its result");
}

/* --- the choice of the target --- */

/* vLLM on one GPU has no workers: its engine process runs the GPU itself. */
static void check_engine_role(const struct guard_facts *f, struct guard_row *row)
{
	if (f->gpu_queues > 0)
		guard_say(row, GUARD_UNKNOWN, "an engine process that has %d GPU queues of its own: taken for its own worker", f->gpu_queues);
	else
		guard_say(row, GUARD_REFUSED, "the engine's dispatcher, not a worker: it has no GPU queues to show, and all ranks would wait for it");
}

static void check_role(const struct guard_facts *f, struct guard_row *row)
{
	if (!strcmp(f->role, "worker"))
		guard_say(row, GUARD_OK, "a worker");
	else if (!strcmp(f->role, "engine"))
		check_engine_role(f, row);
	else if (!strcmp(f->role, "api"))
		guard_say(row, GUARD_REFUSED, "the API server: no kernel hangs in it, and stopping it stops every answer to clients");
	else if (!strcmp(f->role, "helper"))
		guard_say(row, GUARD_REFUSED, "a helper process of the server: it runs nothing on a GPU");
	else if (f->gpu_queues > 0 || f->kfd_open == 1)
		guard_say(row, GUARD_UNKNOWN, "role unknown, but it uses a GPU (%s)", f->gpu_queues > 0 ? "has queues" : "/dev/kfd is open");
	else
		guard_say(row, GUARD_REFUSED, "role unknown, and nothing shows that it uses a GPU");
	if (row->state == GUARD_REFUSED)
		guard_mend(row, "choose a worker");
}

static void check_queues(const struct guard_facts *f, struct guard_row *row)
{
	if (f->gpu_queues > 0)
		guard_say(row, GUARD_OK, "%d GPU queue%s", f->gpu_queues, f->gpu_queues == 1 ? "" : "s");
	else if (f->gpu_queues == 0)
		guard_say(row, GUARD_REFUSED, "no GPU queues: a debugger would stop it and show nothing");
	else if (f->kfd_open == 0)
		guard_say(row, GUARD_REFUSED, "/dev/kfd is not open in it: it uses no AMD GPU, and a debugger would show nothing");
	else
		guard_say(row, GUARD_UNKNOWN, "queues cannot be counted (KFD lists pids of the host)%s", f->kfd_open == 1 ? "; /dev/kfd is open" : "");
	if (row->state == GUARD_REFUSED)
		guard_mend(row, "choose a process with queues: ls /sys/class/kfd/kfd/proc/*/queues");
}

/* --- the debug slot --- */

static bool agent_loaded(const struct guard_facts *f)
{
	return f->agent_mapped == 1 || f->agent_thread == 1;
}

static void check_agent(const struct guard_facts *f, struct guard_row *row)
{
	if (agent_loaded(f) || strstr(f->tools_lib, "rocm-debug-agent")) {
		guard_say(row, GUARD_REFUSED, "the ROCm debug agent holds the one debug slot of this process (%.90s): rocgdb would stop it and see no queues",
			f->agent_thread == 1 ? "thread RocrDebugAgent" : f->agent_mapped == 1 ? "librocm-debug-agent in maps" : f->tools_lib);
		guard_mend(row, "start the server without HSA_TOOLS_LIB; the agent itself prints waves at a fault");
	} else if (f->tools_lib[0]) {
		guard_say(row, GUARD_UNKNOWN, "HSA_TOOLS_LIB=%.120s: whether that tool holds the debug slot is not known", f->tools_lib);
	} else if (f->agent_mapped < 0) {
		guard_say(row, GUARD_UNKNOWN, "maps cannot be read: the debug agent may be loaded%s",
			f->agent_thread == 0 ? ", though none of its threads is there" : "");
	} else {
		guard_say(row, GUARD_OK, "debug agent not loaded");
	}
}

static void check_core(const struct guard_facts *f, struct guard_row *row)
{
	if (f->core_handler == 1) {
		guard_say(row, GUARD_REFUSED, "a core dump is being written (%s): it holds the debug slot, and stopping it spoils the dump", f->core_what);
		guard_mend(row, "wait for it and read it: rocgdb -c gpucore.%" PRId64 "; ulimit -c 0 prevents the next", f->pid);
	} else if (f->core_handler < 0) {
		guard_say(row, GUARD_UNKNOWN, "whether a core dump is being written cannot be read");
	} else {
		guard_say(row, GUARD_OK, "no core dump under way");
	}
}

static void check_cwsr(const struct guard_facts *f, struct guard_row *row)
{
	if (f->cwsr_enabled == 0) {
		guard_say(row, GUARD_REFUSED, "amdgpu runs with cwsr_enable=0: queues cannot be suspended, the attach may reset the GPU");
		guard_mend(row, "options amdgpu cwsr_enable=1 in /etc/modprobe.d, then boot");
	} else if (f->cwsr_enabled < 0) {
		guard_say(row, GUARD_UNKNOWN, "amdgpu's cwsr_enable cannot be read");
	} else {
		guard_say(row, GUARD_OK, "cwsr_enable=1");
	}
}

static void check_kfd_debug(const struct guard_facts *f, struct guard_row *row)
{
	const char *gpu = f->gfx[0] ? f->gfx : "the GPU";

	if (f->debug_supported == 0)
		guard_say(row, GUARD_REFUSED, "the driver has no debug interface for %s: rocgdb would stop the process and list nothing", gpu);
	else if (f->debug_supported == 1 && f->debug_firmware == 0)
		guard_say(row, GUARD_REFUSED, "the firmware of %s is too old for a debugger", gpu);
	else if (f->debug_supported == 1)
		guard_say(row, GUARD_OK, "driver and firmware of %s can be debugged", gpu);
	else
		guard_say(row, GUARD_UNKNOWN, "the topology does not say whether the GPU can be debugged");
	if (row->state == GUARD_REFUSED)
		guard_mend(row, "update amdgpu (Linux 6.5, or the driver of ROCm 5.7) and linux-firmware");
}

static void check_kfd_version(const struct guard_facts *f, struct guard_row *row)
{
	bool fits = f->kfd_major == 1 && f->kfd_minor >= 13;

	if (f->kfd_major < 0 || f->kfd_minor < 0)
		return guard_say(row, GUARD_UNKNOWN, "only the driver itself tells its version, and it is not asked; rocgdb wants 1.13 or later, below "
			"2.0, and says so when it is another");
	if (fits)
		return guard_say(row, GUARD_OK, "debug interface %d.%d", f->kfd_major, f->kfd_minor);
	guard_say(row, GUARD_REFUSED, "debug interface %d.%d: rocgdb wants 1.13 or later, below 2.0", f->kfd_major, f->kfd_minor);
	guard_mend(row, "install driver and rocgdb of one ROCm release");
}

/* Never refuses: the waves name the kernel all the same. */
static void check_dispatch_info(const struct guard_facts *f, struct guard_row *row)
{
	static const char later[] = "dispatches may be empty, waves still name the kernel";

	if (f->enable_debug == 1 || f->dispatch_info == 1)
		return guard_say(row, GUARD_OK, "waves can name their dispatch%s", f->enable_debug == 1 ? " (HSA_ENABLE_DEBUG=1)" : "");
	if (!strcmp(f->gfx, "gfx90a"))
		guard_say(row, GUARD_UNKNOWN, "gfx90a, %s: %s", f->enable_debug == 0 ? "started without HSA_ENABLE_DEBUG=1" :
			"and HSA_ENABLE_DEBUG cannot be read", later);
	else if (f->dispatch_info == 0)
		guard_say(row, GUARD_UNKNOWN, "%s with this firmware does not always name dispatches: %s", f->gfx[0] ? f->gfx : "the GPU", later);
	else if (!strncmp(f->gfx, "gfx9", 4) || !strncmp(f->gfx, "gfx10", 5))
		return guard_say(row, GUARD_OK, "%s: waves can name their dispatch", f->gfx);
	else
		guard_say(row, GUARD_UNKNOWN, "%s: %s", f->gfx[0] ? f->gfx : "kind of GPU unknown", later);
	guard_mend(row, "next time start the server with HSA_ENABLE_DEBUG=1");
}

/* --- what it takes --- */

static void check_debugger(const struct guard_facts *f, struct guard_row *row)
{
	if (f->rocgdb == 1)
		return guard_say(row, GUARD_OK, "%.200s (rocgdb by its name)", f->debugger);
	if (f->rocgdb == 0 && f->allow_plain_gdb)
		return guard_say(row, GUARD_OK, "%.150s, not rocgdb by its name: stacks only, no queues and no waves", f->debugger);
	if (f->rocgdb == 0)
		guard_say(row, GUARD_REFUSED, "%.150s is not rocgdb by its name: it would stop the process and know nothing of the GPU", f->debugger);
	else
		guard_say(row, GUARD_REFUSED, "no rocgdb%s%.150s", f->debugger[0] ? ": cannot be run: " : " found", f->debugger);
	guard_mend(row, "apt-get install rocm-gdb (dnf install rocm-gdb), or PATH=/opt/rocm/bin:$PATH");
}

static void check_disk(const struct guard_facts *f, struct guard_row *row)
{
	char room[16];

	if (f->free_bytes < 0)
		return guard_say(row, GUARD_UNKNOWN, "free space of the output folder cannot be read");
	text_bytes(room, sizeof room, (double)f->free_bytes);
	if (f->free_bytes >= GUARD_ROOM_BYTES)
		return guard_say(row, GUARD_OK, "%s free for the output", room);
	guard_say(row, GUARD_REFUSED, "%s free for the output, 64M are needed: a snapshot that cannot be kept would stop the process for nothing", room);
	guard_mend(row, "make room, or choose another folder for sessions");
}

static void check_budget(const struct guard_facts *f, struct guard_row *row)
{
	char used[16], budget[16];

	if (f->budget_ms < 0 || f->used_ms < 0)
		return guard_say(row, GUARD_UNKNOWN, "how long it was stopped in the last hour is not known");
	text_duration(used, sizeof used, f->used_ms);
	text_duration(budget, sizeof budget, f->budget_ms);
	if (f->used_ms < f->budget_ms)
		return guard_say(row, GUARD_OK, "stopped for %s of %s in the last hour", used, budget);
	guard_say(row, GUARD_REFUSED, "stopped for %s in the last hour, %s are allowed", used, budget);
	guard_mend(row, "look at the snapshots taken, or wait");
}

/* Never refuses. */
static void check_cost(const struct guard_facts *f, struct guard_row *row)
{
	char rss[16];

	if (f->threads < 0 || f->rss_kb < 0)
		return guard_say(row, GUARD_UNKNOWN, "threads and memory cannot be read: how long an attach takes is not known");
	guard_say(row, GUARD_OK, "%d threads, %s resident: all stop, and all GPU queues are suspended, until the detach; its peers wait", f->threads,
		text_bytes(rss, sizeof rss, (double)f->rss_kb * 1024));
}

/* --- the table --- */

static const struct {
	const char *id;
	void (*check)(const struct guard_facts *f, struct guard_row *row);
} table[] = {
	{ "exists", check_exists },
	{ "same-process", check_same },
	{ "alive", check_alive },
	{ "stopped", check_stopped },
	{ "kernel-sleep", check_kernel_sleep },
	{ "other-debugger", check_tracer },
	{ "busy", check_busy },
	{ "role", check_role },
	{ "gpu-queues", check_queues },
	{ "debug-agent", check_agent },
	{ "core-dump", check_core },
	{ "cwsr", check_cwsr },
	{ "kfd-debug", check_kfd_debug },
	{ "kfd-version", check_kfd_version },
	{ "dispatch-info", check_dispatch_info },
	{ "pid-namespace", guard_check_pid_namespace },
	{ "user-namespace", guard_check_user_namespace },
	{ "owner", guard_check_owner },
	{ "capabilities", guard_check_capabilities },
	{ "yama", guard_check_yama },
	{ "debugger", check_debugger },
	{ "disk", check_disk },
	{ "budget", check_budget },
	{ "cost", check_cost },
};

#define ROWS (sizeof table / sizeof table[0])
_Static_assert(ROWS <= GUARD_ROWS_MAX, "room for every check");

int guard_check(const struct guard_facts *facts, struct guard_row rows[GUARD_ROWS_MAX])
{
	for (size_t i = 0; i < ROWS; i++) {
		rows[i] = (struct guard_row){ .id = table[i].id, .state = GUARD_UNKNOWN };
		table[i].check(facts, &rows[i]);
	}
	return (int)ROWS;
}

bool guard_allows(const struct guard_row *rows, int count)
{
	for (int i = 0; i < count; i++)
		if (rows[i].state == GUARD_REFUSED)
			return false;
	return count > 0;
}

const char *guard_state_word(enum guard_state state)
{
	static const char *const word[] = { [GUARD_OK] = "ok", [GUARD_REFUSED] = "refused", [GUARD_UNKNOWN] = "unknown" };

	return word[state];
}

/* --- the debug agent instead --- */

bool guard_sigquit(const struct guard_facts *f, const char **why)
{
	*why = NULL;
	if (!f->exists || !f->state || !strchr("RSD", f->state) || f->tracer > 0)
		*why = "the process is not running freely";
	else if (f->wanted_start_ticks > 0 && f->start_ticks != f->wanted_start_ticks)
		*why = "the pid belongs to another process now";
	else if (!agent_loaded(f))
		*why = "the debug agent is not loaded";
	else if (f->sigquit_caught != 1)
		*why = f->sigquit_caught < 0 ? "whether it catches SIGQUIT cannot be read" : "it does not catch SIGQUIT, which would kill it";
	else if (strcmp(f->role, "worker") != 0)
		*why = "it is not known to be a worker";
	else if (!strcmp(f->engine, "sglang"))
		*why = "SGLang takes SIGQUIT as an order to end the whole server";
	else if (!f->engine[0])
		*why = "the engine is not known; some take SIGQUIT as an order to end the whole server";
	else if (f->our_uid != 0 && (f->uid < 0 || f->uid != f->our_uid))
		*why = "it belongs to another user";
	if (*why)
		return false;
	*why = "the debug agent stops all waves of this process and prints them to its log; nothing resumes them: this rank will never go on";
	return true;
}
