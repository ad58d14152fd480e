/* stack_text.h - Python and host stacks in any text: one reading of kind `stack` a process.
 *
 * py-spy dump, text, 0.1 to 0.4.3: "Process PID: CMD" (or "Stack dump for <a line of ps>"), "Python vX (EXE)", "Parent Process ..",
 *   "Thread ID (STATE)[: "NAME"]", frames of four blanks or a TAB "NAME (FILE[:LINE])", innermost first; locals and elisions are skipped.
 *   An empty line does not end a stack. Frames without a header are a thread, and a process, without names.
 * SGLang's "[.. TP6] Pyspy dump for PID N:" names the rank. A header that "Error:" follows is a dump that failed.
 * faulthandler: "Thread 0x.. (most recent call first):", "Current thread 0x..", "  File "F", line N in NAME".
 * gdb: "#N [0x.. in ]FUNCTION (ARGS) at|from FILE", wrapped over lines; emitted with how = gdb.
 * py-spy's JSON is read by stack_text_json(). Who: scan.c.
 */
#ifndef HANGTOP_PARSE_STACK_TEXT_H
#define HANGTOP_PARSE_STACK_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "parse/line.h"
#include "parse/reading.h"

#define STACK_FRAMES_MAX 400
#define STACK_THREADS_MAX 2000
#define STACK_DUMPS 64

struct stack_scan {
	const struct reading_sink *sink;
	bool open;              /* a process is being read */
	bool confirmed;         /* a Python or Thread line followed its header */
	int waited;             /* lines since the header */
	bool thread;            /* a thread is open: frames belong to it */
	bool nameless;          /* it had no header */
	bool fault_handler, gdb;
	uint64_t offset;
	int64_t pid;            /* -1 unknown */
	char rank[LINE_RANK_MAX];
	const char *how;
	struct buf threads;     /* JSON of the threads, without the brackets */
	int count, frames;
	bool main_seen, current_seen;
	struct buf frame;       /* of gdb: may be wrapped */
	struct { int64_t pid; char rank[LINE_RANK_MAX]; } dump[STACK_DUMPS];   /* "Pyspy dump for PID" */
	int dumps;
};

void stack_text_init(struct stack_scan *s, const struct reading_sink *sink);
void stack_text_release(struct stack_scan *s);
bool stack_text_line(struct stack_scan *s, const struct line *l);
/* A stack is open: lines that begin with a blank may be frames. */
bool stack_text_open(const struct stack_scan *s);
/* Could this line, outside any stack, be a frame? */
bool stack_text_is_frame(struct span text);
void stack_text_json(struct stack_scan *s, const json_t *threads, uint64_t offset);
void stack_text_flush(struct stack_scan *s);

#endif
