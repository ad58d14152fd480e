/* stack_text.h - Python and host stacks in any text: one reading of kind `stack` a process.
 *
 * py-spy dump, text, 0.1 to 0.4.3: "Process PID: CMD" (or "Stack dump for <a line of ps>"), "Python vX (EXE)", "Parent Process ..",
 *   "Thread ID (STATE)[: "NAME"]" ("Thread ID[: "NAME"]" of a core), frames of four blanks or a TAB "NAME (FILE[:LINE])", innermost
 *   first; locals and elisions are skipped. An empty line does not end a stack. Frames without a header are a thread, and a process,
 *   without names. A header that "Error:" follows is a dump that failed.
 * SGLang's "[.. TP6] Pyspy dump for PID N:" names the rank, and so does a heading "=== rank 6 ===" or the prefix of the lines.
 * faulthandler, 3.8 to 3.14: "Timeout (H:MM:SS)!", "Thread 0x.. [NAME] (most recent call first):", "Current thread 0x..",
 *   "  File "F", line N in NAME", ??? for what it cannot read.
 * gdb: "#N [0x.. in ]FUNCTION (ARGS) at|from FILE", wrapped over lines; emitted with how = gdb.
 * py-spy's JSON is read by stack_text_json(). Where the lines of several ranks are mixed, their prefixes tell them apart; readings
 * come in the order of their first lines. Who: scan.c, json_doc.c.
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
#define STACK_TITLES 64         /* "Pyspy dump for PID" lines remembered */
#define STACK_DUMPS 40          /* processes read at the same time, or read and waiting for an earlier one */

/* A process that is being read. */
struct stack_dump {
	bool open;
	bool ended;             /* whole; it waits for those that began before it */
	uint64_t tag;           /* of its lines' prefix: line_tag() */
	bool confirmed;         /* a Python or Thread line followed its header */
	int waited;             /* lines since the header, while it is not confirmed */
	int lines;              /* that followed the first */
	bool thread;            /* a thread is open: frames belong to it */
	bool fault_handler, gdb;
	uint64_t offset;
	int64_t pid;            /* -1 unknown */
	char rank[LINE_RANK_MAX];
	const char *how;
	struct buf threads;     /* JSON of the threads, without the brackets */
	int count, frames;
	bool main_seen, current_seen;
	struct buf frame;       /* of gdb: may be wrapped */
};

struct stack_scan {
	const struct reading_sink *sink;
	struct stack_dump dump[STACK_DUMPS];
	int open;               /* dumps that are not ended */
	struct stack_dump *last; /* the one that began last; NULL none yet */
	struct { int64_t pid; char rank[LINE_RANK_MAX]; } title[STACK_TITLES]; /* "Pyspy dump for PID" */
	int titles;
	char heading[LINE_RANK_MAX]; /* the rank of a line "=== rank 3 ===" just above; "" none */
	uint64_t heading_offset;
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
