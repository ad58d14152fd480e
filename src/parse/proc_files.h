/* proc_files.h - the texts of /proc/PID. Who: source/proc, source/stack.
 *
 * Grammar: proc(5) of Linux 4.18 to 6.x.
 *   stat     "PID (COMM) S PPID ..."; COMM may hold blanks and parentheses: it ends at the last ')'.
 *   status   "Name:\tvalue" lines; unknown ones are skipped, missing ones leave -1.
 *   cmdline  arguments with a NUL after each. A title set by setproctitle is one string followed by NULs.
 *   environ  NAME=value with a NUL after each; all NULs after setproctitle.
 *   task/TID/stack    "[<0>] futex_wait_queue+0x6d/0xb0 [module]" lines, innermost first; empty for a thread that runs
 *   task/TID/wchan    a function's name; "0" for none
 *   task/TID/syscall  "NUMBER 0x... ..."; "running"; "-1 SP PC" when blocked but not in a system call
 */
#ifndef HANGTOP_PARSE_PROC_FILES_H
#define HANGTOP_PARSE_PROC_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

struct proc_stat {
	int64_t pid, ppid;
	char comm[20];
	char state;
	int64_t utime, stime;          /* clock ticks */
	int64_t threads;
	int64_t start;                 /* clock ticks since boot */
	int64_t rss_pages;
};

struct proc_status {
	int64_t uid, tracer, threads, vol_switches, invol_switches; /* -1 unknown; tracer 0 none */
	int64_t rss;                   /* bytes */
};

bool proc_stat_parse(struct span text, struct proc_stat *out);
void proc_status_parse(struct span text, struct proc_status *out);
/* The command line in words: arguments joined by one blank, empty ones dropped. A title keeps its first string only.
 * Values of options that are keys or passwords become "***". */
void proc_cmdline(struct span text, struct buf *out);
/* Value of an option in a raw cmdline ("--port\0" "8000\0" or "--port=8000\0"). False when it is not there. */
bool proc_cmdline_option(struct span text, const char *option, struct span *value);
/* N of "pipe_handle=N" in a spawn_main command line; -1 when there is none. */
int64_t proc_pipe_handle(struct span text);
/* Value of a variable in a raw environ. */
bool proc_environ_get(struct span text, const char *name, struct span *value);
/* The variables worth keeping, as a JSON object; secrets masked as "***". Always whole JSON: what does not fit is left out. */
void proc_environ_chosen(struct span text, struct buf *out);

enum proc_view { PROC_STACK, PROC_WCHAN, PROC_SYSCALL };
/* The next function (of syscall: the number) of a task's file, cut off `rest`. False at the end. */
bool proc_kernel_frame(enum proc_view view, struct span *rest, struct span *name);

#endif
