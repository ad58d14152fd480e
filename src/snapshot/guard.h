/* guard.h - may a debugger be attached to this process? Every check is a row of one table.
 *
 * Who: snapshot.c, in the process of its own that takes a snapshot (never the front or an agent: reading maps of a process
 * that sits in the driver can wait for ever). guard_look() collects facts and never touches a driver or the target; guard_check()
 * is a pure function of them. What cannot be found out is unknown: GUARD_UNKNOWN does not forbid unless the check says so.
 * Strings of options are borrowed; facts and rows own their text, which is scrubbed.
 *
 * Where the facts come from (proc(5) of Linux 4.18 to 6.x; KFD's sysfs as libamd-dbgapi 0.70 to 0.78 reads it):
 *   PROC/PID/stat, status, task/N/comm, task/N/stat, task/N/children    the process and its threads
 *   PROC/PID/maps, environ, fd (links only), ns/user (link only)        the debug agent, /dev/kfd, a core dump
 *   PROC/self/status, PROC/self/ns (links only), PROC/sys/kernel/yama/ptrace_scope    what we may
 *   SYS/module/amdgpu/parameters/cwsr_enable, SYS/class/kfd/kfd/proc/PID/queues, SYS/class/kfd/kfd/topology/nodes/N/properties
 * /dev/kfd is never opened, so the version of its debug interface stays unknown; the capability bits of the topology say
 * whether it has one.
 */
#ifndef HANGTOP_SNAPSHOT_GUARD_H
#define HANGTOP_SNAPSHOT_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_ROWS_MAX 32
#define GUARD_ROOM_BYTES (64LL << 20) /* free in the folder of the output */

struct guard_options {
	const char *proc_root;  /* "/proc" */
	const char *sys_root;   /* "/sys" */
	int64_t pid;
	int64_t start_ticks;    /* start of the process that was chosen; 0: whatever has the pid now */
	int64_t front_pid;      /* of the hangtop whose descendants are ours; 0: us */
	const char *role;       /* api engine worker helper, as the proc source says; "" unknown */
	const char *engine;     /* name of the profile; "" unknown */
	const char *debugger;   /* path; NULL: none found */
	const char *folder;     /* where output goes: must have room */
	int64_t budget_ms, used_ms; /* of stopped time an hour; used so far; -1 unknown */
	bool busy;              /* another snapshot of this process is under way */
	bool allow_plain_gdb;   /* tests and the demo: a gdb that is not rocgdb will do */
};

/* What was found. -1 (or "") is unknown. */
struct guard_facts {
	int64_t pid;
	bool exists;
	char state;             /* of /proc/PID/stat; 0 unknown */
	int64_t start_ticks, wanted_start_ticks;
	int64_t tracer;         /* TracerPid */
	char tracer_comm[20];
	int stuck_threads;      /* threads in state D */
	char stuck_in[48];      /* wait channel of one of them */
	int64_t uid, our_uid;   /* ours is the real one, as ptrace compares; uid -2: its real, effective and saved uid differ */
	int same_group;         /* its three group ids are our real one */
	int ptrace_capable;     /* a debugger that we start has CAP_SYS_PTRACE */
	int caps_within;        /* the capabilities of the target are among ours */
	int maps_denied;        /* the kernel does not let us read its maps */
	int ours;               /* the target is a descendant of us */
	int yama;               /* ptrace_scope; -1: no yama */
	int namespaces;         /* pid namespaces below ours that it lives in: 0 the same as ours */
	int64_t inner_pid;      /* its pid in the innermost */
	int proc_is_outer;      /* /proc counts the pids of a namespace above ours: its numbers are not those of ptrace */
	int same_user_namespace;
	int initial_user_namespace; /* we are in the one of the host */
	int agent_mapped;       /* librocm-debug-agent in maps */
	int agent_thread;       /* a thread named RocrDebugAgent */
	char tools_lib[200];    /* HSA_TOOLS_LIB */
	int sigquit_caught;     /* bit of SIGQUIT in SigCgt */
	int gpu_queues;         /* queues of the process in the KFD's sysfs; 0 none */
	int kfd_open;           /* /dev/kfd among its descriptors */
	int cwsr_enabled;       /* amdgpu parameter cwsr_enable */
	int enable_debug;       /* HSA_ENABLE_DEBUG=1 in its environment */
	char gfx[40];           /* gfx90a, of the first GPU of the topology */
	int debug_supported;    /* capability bits of that GPU: driver, and firmware, can be debugged */
	int debug_firmware;
	int dispatch_info;      /* waves can always name their dispatch */
	int core_handler;       /* a core dump is being written, or its handler runs: it holds the debug slot */
	char core_what[80];     /* how that was seen */
	int kfd_major, kfd_minor; /* version of the debug interface; -1 unknown */
	int threads;
	int64_t rss_kb;
	int64_t free_bytes;     /* in the folder */
	int rocgdb;             /* the debugger is rocgdb (1), another gdb (0), absent (-1); judged by the name of the file */
	char debugger[400];
	char role[12], engine[20];
	int64_t budget_ms, used_ms;
	bool busy, allow_plain_gdb;
};

enum guard_state { GUARD_OK, GUARD_REFUSED, GUARD_UNKNOWN };

struct guard_row {
	const char *id;         /* of the table */
	enum guard_state state;
	char detail[240];       /* what was found; for a refusal why it must not be */
	char remedy[200];       /* "" none */
};

void guard_look(const struct guard_options *options, struct guard_facts *out);
/* Fills rows in the order of the table; returns how many. */
int guard_check(const struct guard_facts *facts, struct guard_row rows[GUARD_ROWS_MAX]);
/* No row refuses. */
bool guard_allows(const struct guard_row *rows, int count);
const char *guard_state_word(enum guard_state state);
/* May SIGQUIT be offered to ask the debug agent for its waves? False: `why` says why not. True: `why` says what it does: it
 * stops all waves for good. */
bool guard_sigquit(const struct guard_facts *facts, const char **why);

#endif
