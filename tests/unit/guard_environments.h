/* guard_environments.h - nodes and workers that the guard of a snapshot must judge, and what it must say. Who: test_guard.c.
 *
 * Each starts from the healthy worker of guard_bed.h: files are edited, then options, then (what no file can show) facts.
 */
#ifndef GUARD_ENVIRONMENTS_H
#define GUARD_ENVIRONMENTS_H

#include "guard_bed.h"

#define STATUS "proc/4711/status"
#define SELF "proc/self/status"
#define TASK "proc/4711/task/4711/"
#define NODE "sys/class/kfd/kfd/topology/nodes/1/properties"
#define KFD_PROC "sys/class/kfd/kfd/proc"
#define YAMA(n) { "proc/sys/kernel/yama/ptrace_scope", NULL, n }
#define CAP_PRM_NONE "CapPrm:\t0000000000000000"
#define CAP_PRM_PTRACE "CapPrm:\t0000000000080000"
#define OUR_PTRACE { SELF, CAP_PRM_NONE, CAP_PRM_PTRACE }, { SELF, "CapAmb:\t0000000000000000", "CapAmb:\t0000000000080000" }
#define OUR_USER(n) { SELF, "Uid:\t1000\t1000\t1000", "Uid:\t" n "\t" n "\t" n }
#define USER_UNKNOWN { SELF, "Uid:", "Xid:" }
#define NO_CONTAINER_PID { "proc/self/ns/pid", NULL, "->pid:[4026532999]" }
#define OTHER_USERNS { "proc/4711/ns/user", NULL, "->user:[4026533000]" }
#define OUTER_USERNS { "proc/self/ns/user", NULL, "->user:[4026532111]" }
#define USES_NO_GPU { "proc/4711/fd/7", NULL, NULL }, { KFD_PROC "/4711", NULL, NULL }

static void role_api(struct guard_options *o) { o->role = "api"; }
static void role_engine(struct guard_options *o) { o->role = "engine"; }
static void role_helper(struct guard_options *o) { o->role = "helper"; }
static void role_none(struct guard_options *o) { o->role = ""; }
static void other_start(struct guard_options *o) { o->start_ticks = 987653; }
static void any_start(struct guard_options *o) { o->start_ticks = 0; }
static void other_pid(struct guard_options *o) { o->pid = 4712; }
static void no_debugger(struct guard_options *o) { o->debugger = NULL; }
static void debugger_is_gone(struct guard_options *o) { o->debugger = "/nonexistent/rocgdb"; }
static void plain_gdb(struct guard_options *o) { o->debugger = "/bin/sh"; }
static void plain_gdb_will_do(struct guard_options *o) { o->debugger = "/bin/sh"; o->allow_plain_gdb = true; }
static void no_folder(struct guard_options *o) { o->folder = "/nonexistent"; }
static void budget_is_spent(struct guard_options *o) { o->used_ms = o->budget_ms; }
static void budget_is_nearly_spent(struct guard_options *o) { o->used_ms = o->budget_ms - 1; }
static void budget_unknown(struct guard_options *o) { o->used_ms = -1; }
static void under_way(struct guard_options *o) { o->busy = true; }
static void front_is_parent(struct guard_options *o) { o->front_pid = 4700; }
static void room_for_little(struct guard_facts *f) { f->free_bytes = GUARD_ROOM_BYTES - 1; }
static void room_enough(struct guard_facts *f) { f->free_bytes = GUARD_ROOM_BYTES; }
static void kfd_1_12(struct guard_facts *f) { f->kfd_major = 1; f->kfd_minor = 12; }
static void kfd_1_13(struct guard_facts *f) { f->kfd_major = 1; f->kfd_minor = 13; }
static void kfd_2_0(struct guard_facts *f) { f->kfd_major = 2; f->kfd_minor = 0; }
static void maps_denied(struct guard_facts *f) { f->maps_denied = 1; f->agent_mapped = -1; }

static const struct environment {
	const char *what;
	struct bed_edit edit[4];
	void (*options)(struct guard_options *o);
	void (*facts)(struct guard_facts *f);
	const char *refused;           /* all rows that refuse */
	const char *unknown;           /* all that say unknown; the version of KFD always does */
	const char *row, *says;        /* a part of its detail or remedy */
} environment[] = {
	{ .what = "a healthy worker" },
	/* the process */
	{ .what = "exited", .edit = { { "proc/4711", NULL, NULL }, { KFD_PROC "/4711", NULL, NULL } },
		.refused = "exists same-process alive gpu-queues", .row = "exists", .says = "no process 4711",
		.unknown = "stopped kernel-sleep other-debugger debug-agent core-dump kfd-version pid-namespace user-namespace owner capabilities cost" },
	{ .what = "pid reused", .options = other_start, .refused = "same-process", .row = "same-process", .says = "started at tick 987654" },
	{ .what = "no start to compare", .options = any_start, .unknown = "same-process kfd-version" },
	{ .what = "stat is no stat", .edit = { { "proc/4711/stat", NULL, "4711 (pt S\n" } }, .refused = "same-process alive",
		.unknown = "stopped kfd-version", .row = "alive", .says = "cannot be read" },
	{ .what = "a zombie", .edit = { { "proc/4711/stat", ") S 4700", ") Z 4700" } }, .refused = "alive", .row = "alive", .says = "zombie" },
	{ .what = "ending", .edit = { { "proc/4711/stat", ") S 4700", ") X 4700" } }, .refused = "alive", .row = "alive", .says = "ending" },
	{ .what = "a state nobody knows", .edit = { { "proc/4711/stat", ") S 4700", ") ? 4700" } }, .refused = "alive" },
	{ .what = "running", .edit = { { "proc/4711/stat", ") S 4700", ") R 4700" } } },
	{ .what = "stopped by a signal", .edit = { { "proc/4711/stat", ") S 4700", ") T 4700" } }, .refused = "stopped", .row = "stopped",
		.says = "kill -CONT 4711" },
	{ .what = "stopped by nobody", .edit = { { "proc/4711/stat", ") S 4700", ") t 4700" } }, .refused = "stopped" },
	{ .what = "asleep in the driver", .edit = { { "proc/4711/stat", ") S 4700", ") D 4700" }, { TASK "stat", ") S 4700", ") D 4700" },
		{ TASK "wchan", NULL, "amdgpu_fence_wait" } }, .refused = "kernel-sleep", .row = "kernel-sleep", .says = "amdgpu_fence_wait" },
	{ .what = "one thread asleep in the driver", .edit = { { "proc/4711/task/4712/stat", ") R 4700", ") D 4700" } },
		.refused = "kernel-sleep", .row = "kernel-sleep", .says = "1 thread in state D, in the kernel" },
	{ .what = "threads cannot be listed", .edit = { { "proc/4711/task", NULL, NULL } }, .unknown = "kernel-sleep kfd-version" },
	{ .what = "no rights to status", .edit = { { STATUS, NULL, NULL } },
		.unknown = "other-debugger kfd-version pid-namespace owner capabilities cost" },
	/* other debuggers */
	{ .what = "under another gdb", .edit = { { STATUS, "TracerPid:\t0", "TracerPid:\t55" }, { "proc/55/comm", NULL, "gdb\n" },
		{ "proc/4711/stat", ") S 4700", ") t 4700" } }, .refused = "other-debugger", .row = "other-debugger", .says = "traced by gdb (pid 55)" },
	{ .what = "under py-spy", .edit = { { STATUS, "TracerPid:\t0", "TracerPid:\t55" }, { "proc/55/comm", NULL, "py-spy\n" } },
		.refused = "other-debugger", .row = "other-debugger", .says = "wait: py-spy" },
	{ .what = "under a tracer of another namespace", .edit = { { STATUS, "TracerPid:\t0", "TracerPid:\t55" } }, .refused = "other-debugger",
		.row = "other-debugger", .says = "traced by another program" },
	{ .what = "another snapshot", .options = under_way, .refused = "busy" },
	/* the choice */
	{ .what = "the API server", .edit = { USES_NO_GPU }, .options = role_api, .refused = "role gpu-queues", .row = "role", .says = "API server" },
	{ .what = "an API server with queues", .options = role_api, .refused = "role" },
	{ .what = "the dispatcher", .edit = { USES_NO_GPU }, .options = role_engine, .refused = "role gpu-queues", .row = "role",
		.says = "dispatcher" },
	{ .what = "the dispatcher, queues not countable", .edit = { { KFD_PROC, NULL, NULL } }, .options = role_engine, .refused = "role",
		.unknown = "gpu-queues kfd-version" },
	{ .what = "an engine that is its own worker", .options = role_engine, .unknown = "role kfd-version", .row = "role", .says = "2 GPU queues" },
	{ .what = "a helper", .options = role_helper, .refused = "role" },
	{ .what = "role unknown, with queues", .options = role_none, .unknown = "role kfd-version" },
	{ .what = "role unknown, /dev/kfd open", .edit = { { KFD_PROC, NULL, NULL } }, .options = role_none,
		.unknown = "role gpu-queues kfd-version" },
	{ .what = "role unknown, no GPU", .edit = { { KFD_PROC, NULL, NULL }, { "proc/4711/fd/7", NULL, NULL } }, .options = role_none,
		.refused = "role gpu-queues", .row = "role", .says = "nothing shows that it uses a GPU" },
	{ .what = "role unknown, descriptors unreadable", .edit = { { KFD_PROC, NULL, NULL }, { "proc/4711/fd", NULL, NULL } },
		.options = role_none, .refused = "role", .unknown = "gpu-queues kfd-version" },
	{ .what = "a worker without queues", .edit = { { KFD_PROC "/4711", NULL, NULL } }, .refused = "gpu-queues" },
	{ .what = "a worker with an empty list of queues", .edit = { { KFD_PROC "/4711/queues/0", NULL, NULL },
		{ KFD_PROC "/4711/queues/1", NULL, NULL } }, .refused = "gpu-queues", .row = "gpu-queues", .says = "no GPU queues" },
	{ .what = "a worker that has not opened /dev/kfd", .edit = { { KFD_PROC, NULL, NULL }, { "proc/4711/fd/7", NULL, NULL } },
		.refused = "gpu-queues" },
	{ .what = "we are in a container: KFD's pids are not ours", .edit = { NO_CONTAINER_PID, { KFD_PROC "/4711", NULL, NULL } },
		.unknown = "gpu-queues kfd-version" },
	/* the debug slot */
	{ .what = "debug agent mapped", .edit = { { "proc/4711/maps", NULL, "7f20f0000000-7f20f0100000 r-xp 00000000 08:01 1 "
		"/opt/rocm/lib/librocm-debug-agent.so.2\n" } }, .refused = "debug-agent", .row = "debug-agent", .says = "librocm-debug-agent in maps" },
	{ .what = "debug agent's thread", .edit = { { "proc/4711/task/4712/comm", NULL, "RocrDebugAgent\n" }, { "proc/4711/maps", NULL, NULL } },
		.refused = "debug-agent", .row = "debug-agent", .says = "thread RocrDebugAgent" },
	{ .what = "debug agent in the environment", .edit = { { "proc/4711/environ", NULL, "A=1;HSA_TOOLS_LIB=/o/librocm-debug-agent.so.2;" } },
		.refused = "debug-agent" },
	{ .what = "another tool", .edit = { { "proc/4711/environ", NULL, "HSA_TOOLS_LIB=librocprofiler64.so;" } },
		.unknown = "debug-agent kfd-version", .row = "debug-agent", .says = "librocprofiler64.so" },
	{ .what = "a thread with half the name", .edit = { { "proc/4711/task/4712/comm", NULL, "RocrDebugAgent2\n" } } },
	{ .what = "maps cannot be read", .edit = { { "proc/4711/maps", NULL, NULL } }, .unknown = "debug-agent kfd-version" },
	{ .what = "maps never answers", .edit = { { "proc/4711/maps", NULL, "|" } }, .unknown = "debug-agent kfd-version" },
	{ .what = "a title has overwritten the environment", .edit = { { "proc/4711/environ", NULL, ";;;;;;;;" } } },
	{ .what = "GPU core being written", .edit = { { "proc/4711/fd/9", NULL, "->/var/crash/gpucore.4711" } }, .refused = "core-dump",
		.row = "core-dump", .says = "open: gpucore.4711" },
	{ .what = "core of a pattern", .edit = { { "proc/4711/fd/9", NULL, "->/var/crash/python.4711.gpu" } }, .refused = "core-dump" },
	{ .what = "kernel writes the core", .edit = { { STATUS, "CoreDumping:\t0", "CoreDumping:\t1" } }, .refused = "core-dump" },
	{ .what = "core piped to a handler", .edit = { { TASK "children", NULL, "4750 4751 " }, { "proc/4751/comm", NULL, "systemd-coredum\n" } },
		.refused = "core-dump", .row = "core-dump", .says = "systemd-coredum" },
	{ .what = "a child that is no handler", .edit = { { TASK "children", NULL, "4751 " }, { "proc/4751/comm", NULL, "python\n" } } },
	{ .what = "core dumps cannot be seen", .edit = { { STATUS, "CoreDumping:", "Core:" }, { "proc/4711/fd", NULL, NULL } },
		.unknown = "core-dump kfd-version" },
	/* the GPU and its driver */
	{ .what = "cwsr_enable=0", .edit = { { "sys/module/amdgpu/parameters/cwsr_enable", NULL, "0\n" } }, .refused = "cwsr", .row = "cwsr",
		.says = "cwsr_enable=1 in /etc/modprobe.d" },
	{ .what = "no such parameter", .edit = { { "sys/module", NULL, NULL } }, .unknown = "cwsr kfd-version" },
	{ .what = "driver without debug interface", .edit = { { NODE, "738690688", "738657920" } }, .refused = "kfd-debug", .row = "kfd-debug",
		.says = "gfx942" },
	{ .what = "old firmware", .edit = { { NODE, "738690688", "201819776" } }, .refused = "kfd-debug", .row = "kfd-debug", .says = "firmware" },
	{ .what = "KFD 1.12", .facts = kfd_1_12, .refused = "kfd-version", .unknown = "", .row = "kfd-version", .says = "1.12" },
	{ .what = "KFD 1.13", .facts = kfd_1_13, .unknown = "" },
	{ .what = "KFD 2.0", .facts = kfd_2_0, .refused = "kfd-version", .unknown = "" },
	{ .what = "no topology", .edit = { { "sys/class/kfd/kfd/topology", NULL, NULL } }, .unknown = "kfd-debug kfd-version dispatch-info" },
	{ .what = "gfx90a without HSA_ENABLE_DEBUG", .edit = { { NODE, "90402", "90010" }, { NODE, "1494", "470" } },
		.unknown = "kfd-version dispatch-info", .row = "dispatch-info", .says = "dispatches may be empty, waves still name the kernel" },
	{ .what = "gfx90a with HSA_ENABLE_DEBUG=0", .edit = { { NODE, "90402", "90010" }, { NODE, "1494", "470" },
		{ "proc/4711/environ", NULL, "HSA_ENABLE_DEBUG=0;" } }, .unknown = "kfd-version dispatch-info" },
	{ .what = "gfx90a, environment overwritten", .edit = { { NODE, "90402", "90010" }, { NODE, "1494", "470" },
		{ "proc/4711/environ", NULL, ";;" } }, .unknown = "kfd-version dispatch-info", .row = "dispatch-info", .says = "cannot be read" },
	{ .what = "gfx90a with HSA_ENABLE_DEBUG=1", .edit = { { NODE, "90402", "90010" }, { NODE, "1494", "470" },
		{ "proc/4711/environ", NULL, "HSA_ENABLE_DEBUG=1;" } } },
	{ .what = "gfx1100 with old firmware", .edit = { { NODE, "90402", "110000" }, { NODE, "1494", "470" } },
		.unknown = "kfd-version dispatch-info" },
	/* permission */
	{ .what = "a container below us", .edit = { { STATUS, "NSpid:\t4711", "NSpid:\t4711\t7" } }, .unknown = "kfd-version pid-namespace",
		.row = "pid-namespace", .says = "pid 7 inside" },
	{ .what = "the /proc of the host, seen from a container", .edit = { { SELF, "NSpid:\t4800", "NSpid:\t4800\t12" } },
		.refused = "pid-namespace", .row = "pid-namespace", .says = "another process 4711" },
	{ .what = "rootless container of ours", .edit = { OTHER_USERNS }, .unknown = "kfd-version user-namespace" },
	{ .what = "rootless container of another", .edit = { OTHER_USERNS, OUR_USER("1001") }, .refused = "user-namespace owner" },
	{ .what = "rootless container, we may trace", .edit = { OTHER_USERNS, OUR_PTRACE } },
	{ .what = "we may trace, but in a namespace of ours", .edit = { OTHER_USERNS, OUTER_USERNS, OUR_PTRACE },
		.unknown = "kfd-version user-namespace" },
	{ .what = "of another user", .edit = { OUR_USER("1001") }, .refused = "owner", .row = "owner", .says = "sudo hangtop" },
	{ .what = "of another user, and we may trace", .edit = { OUR_USER("1001"), OUR_PTRACE } },
	{ .what = "we are root without SYS_PTRACE", .edit = { OUR_USER("0") }, .refused = "owner", .row = "owner", .says = "--cap-add=SYS_PTRACE" },
	{ .what = "we are root with SYS_PTRACE", .edit = { OUR_USER("0"), { SELF, CAP_PRM_NONE, CAP_PRM_PTRACE } } },
	{ .what = "a capability of ours that a debugger loses", .edit = { OUR_USER("1001"), { SELF, CAP_PRM_NONE, CAP_PRM_PTRACE } },
		.refused = "owner" },
	{ .what = "set-uid", .edit = { { STATUS, "Uid:\t1000\t1000", "Uid:\t1000\t0" } }, .refused = "owner" },
	{ .what = "of another group", .edit = { { STATUS, "Gid:\t1000", "Gid:\t1001" } }, .refused = "owner" },
	{ .what = "not dumpable", .facts = maps_denied, .refused = "owner", .unknown = "debug-agent kfd-version" },
	{ .what = "what we may cannot be read", .edit = { USER_UNKNOWN, YAMA("2\n") }, .unknown = "kfd-version owner capabilities yama" },
	{ .what = "it has more capabilities", .edit = { { STATUS, CAP_PRM_NONE, "CapPrm:\t0000000000001000" } }, .refused = "capabilities" },
	{ .what = "no yama", .edit = { { "proc/sys/kernel/yama", NULL, NULL } }, .row = "yama", .says = "no yama" },
	{ .what = "yama 1", .edit = { YAMA("1\n") }, .refused = "yama", .row = "yama", .says = "sudo sysctl kernel.yama.ptrace_scope=0" },
	{ .what = "yama 1, may trace", .edit = { YAMA("1\n"), OUR_PTRACE } },
	{ .what = "yama 1, started by us", .edit = { YAMA("1\n") }, .options = front_is_parent, .unknown = "kfd-version yama" },
	{ .what = "yama 2", .edit = { YAMA("2\n") }, .refused = "yama" },
	{ .what = "yama 2, started by us", .edit = { YAMA("2\n") }, .options = front_is_parent, .refused = "yama" },
	{ .what = "yama 2, may trace", .edit = { YAMA("2\n"), OUR_PTRACE } },
	{ .what = "yama 3, may trace", .edit = { YAMA("3\n"), OUR_PTRACE }, .refused = "yama", .row = "yama", .says = "until the next boot" },
	/* what it takes */
	{ .what = "no debugger", .options = no_debugger, .refused = "debugger", .row = "debugger", .says = "no rocgdb found" },
	{ .what = "debugger is gone", .options = debugger_is_gone, .refused = "debugger", .row = "debugger", .says = "/nonexistent/rocgdb" },
	{ .what = "a gdb that is not rocgdb", .options = plain_gdb, .refused = "debugger", .row = "debugger", .says = "not rocgdb by its name" },
	{ .what = "plain gdb is allowed", .options = plain_gdb_will_do, .row = "debugger", .says = "stacks only" },
	{ .what = "disk full", .facts = room_for_little, .refused = "disk" },
	{ .what = "just enough room", .facts = room_enough },
	{ .what = "no folder", .options = no_folder, .unknown = "kfd-version disk" },
	{ .what = "budget spent", .options = budget_is_spent, .refused = "budget", .row = "budget", .says = "2m00s are allowed" },
	{ .what = "budget nearly spent", .options = budget_is_nearly_spent },
	{ .what = "budget unknown", .options = budget_unknown, .unknown = "kfd-version budget" },
	{ .what = "memory unknown", .edit = { { STATUS, "VmRSS:", "Rss:" } }, .unknown = "kfd-version cost" },
	{ .what = "pid of a thread, which is none of /proc", .options = other_pid, .refused = "exists same-process alive gpu-queues",
		.unknown = "stopped kernel-sleep other-debugger debug-agent core-dump kfd-version pid-namespace user-namespace owner capabilities cost" },
};

#define ENVIRONMENTS (sizeof environment / sizeof environment[0])

#endif
