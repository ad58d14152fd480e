/* rocgdb.h - a session of rocgdb (or plain gdb) as text: messages of the attach, tables, waves.
 *
 * Tables of ROCgdb 10 (ROCm 4) to 16 (ROCm 7), any column widths, one row a line, or wrapped by gdb (indented) or at the terminal's
 * width (anywhere):
 *   [*] Id [State] AMDGPU Agent (GPUID n) [Arch] Device Cores Threads Location
 *   [*] Id AMDGPU Queue a:q (QID n) Type [Read Write] Size Address         read from both ends: values overflow their columns
 *   [*] Id AMDGPU Dispatch a:q:d (PKID n) [grid] [workgroup] [Fence] ... Kernel
 *   [*] Id AMDGPU Wave a:q:d:w (x,y,z)/n ["name"] [0xPC in ]FUNCTION (ARGS) at|from ...
 *   No agents|queues|dispatches are currently active.
 * gdb/MI records (^done,..., "target-id") are read by gdb_mi.h into the same readings.
 * A session begins with the first such line and is emitted (kind debugger) at the end, at the next attach, or when something of a
 * process follows the detach. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_ROCGDB_H
#define HANGTOP_PARSE_ROCGDB_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/line.h"
#include "parse/reading.h"

#define ROCGDB_DISPATCHES_MAX 512       /* remembered to name the kernels of waves */
#define ROCGDB_WAVES_MAX 4096           /* held until the tables are all read */

enum rocgdb_attach { ATTACH_UNKNOWN, ATTACH_OK, ATTACH_CPU_ONLY, ATTACH_REFUSED, ATTACH_TRACED };

struct rocgdb_wave {
	uint64_t offset;
	int64_t thread;
	char target[64], pc[24];
	char *function;         /* as the frame has it, without gdb's arguments; NULL unknown */
};

struct rocgdb_scan {
	const struct reading_sink *sink;
	bool seen;              /* something of a session */
	enum rocgdb_attach attach;
	bool detached, failed;
	bool rows;              /* of the GPU were seen */
	bool process;           /* these, or rows or frames of the host: something was attached */
	char why[200];
	char signal[24];        /* the last that tells of an error; the first of a GPU thread stays */
	int64_t signal_thread;  /* gdb's number of the thread that received it; -1 unknown */
	bool signal_before;     /* the line before was "Thread 6 received signal" */
	bool signal_of_gpu;
	uint64_t offset;
	struct buf mi_text;     /* a record of MI whose brackets are not closed yet */
	bool mi_string;         /* it ends inside a string */
	int mi_depth;
	uint64_t mi_offset;
	struct buf row;         /* a row that may go on in the next line */
	uint64_t row_offset;
	size_t row_last, row_width; /* lengths of its last and its longest line */
	struct { char target[64]; char *kernel; } dispatch[ROCGDB_DISPATCHES_MAX];
	int dispatches;
	struct rocgdb_wave *wave;
	int waves, wave_cap;
};

void rocgdb_init(struct rocgdb_scan *g, const struct reading_sink *sink);
void rocgdb_release(struct rocgdb_scan *g);
bool rocgdb_line(struct rocgdb_scan *g, const struct line *l);
/* A row is open that the next line may continue. */
bool rocgdb_waits(const struct rocgdb_scan *g);
void rocgdb_flush(struct rocgdb_scan *g);

/* For gdb_mi.c: the same rows from records. Text that is unknown is empty, numbers -1. */
void rocgdb_see(struct rocgdb_scan *g, uint64_t offset, bool rows);
void rocgdb_dispatch(struct rocgdb_scan *g, uint64_t offset, int64_t id, struct span target, int64_t pkid, struct span grid, struct span workgroup,
	bool fence_known, struct span fence, struct span kernel, bool current);
void rocgdb_wave(struct rocgdb_scan *g, uint64_t offset, int64_t id, struct span target, struct span pc, struct span function);
/* A command failed; the first reason stays. */
void rocgdb_failed(struct rocgdb_scan *g, uint64_t offset, struct span why);
/* A thread got a signal; those of a user or a debugger (SIGINT, SIGTRAP) are none. It is of the GPU when `of_gpu`, or when a wave has
 * the number of the thread. */
void rocgdb_signal(struct rocgdb_scan *g, uint64_t offset, struct span name, int64_t thread, bool of_gpu);
/* "[2097152,1,1]" as a JSON array into out (at least 80 bytes); false when it is none. */
bool rocgdb_numbers(struct span text, char *out, size_t size);

#endif
