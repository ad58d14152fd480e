/* pyspy.h - py-spy dumps, text and JSON, and its error texts. Who: source/stack.
 *
 * Text (py-spy 0.3.3 to 0.4.3): "Process PID: CMD", "Python vX (EXE)", blank line, "Thread ID (STATE): \"NAME\"", frames of
 * four blanks "NAME (FILE:LINE)", innermost first; locals (eight blanks or more) are skipped. The main thread comes first.
 * JSON (dump --json): an array of threads, newest first: it is turned round here.
 * Errors: one table from a part of stderr to what it means and how to mend it; texts up to 0.4.1 ("Error: X", "Reason: Y") and
 * from 0.4.2 on ("Error: X", blank line, "Caused by:").
 */
#ifndef HANGTOP_PARSE_PYSPY_H
#define HANGTOP_PARSE_PYSPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

#define PYSPY_THREADS_MAX 512
#define PYSPY_FRAMES_MAX 256

/* Append the threads as the JSON of STACK_threads, main thread first. Returns how many threads; -1 when the text is no dump, and
 * then `out` is as it was. Always whole JSON: past the maximum of `out` frames, then threads, are left out. */
int pyspy_json(struct span text, struct buf *out, struct error *error);
int pyspy_text(struct span text, struct buf *out, struct error *error);

enum pyspy_trouble {
	PYSPY_UNKNOWN, PYSPY_DENIED, PYSPY_TRACED, PYSPY_GONE, PYSPY_NOT_PYTHON, PYSPY_VERSION,
	PYSPY_RACE,             /* try once more */
	PYSPY_USAGE,            /* it does not know an option: ask for text */
	PYSPY_NOT_RUN           /* it could not be executed */
};
/* What an error text means; `words` and `remedy` are constants. */
enum pyspy_trouble pyspy_error(struct span err, const char **words, const char **remedy);
/* The line of an error text that says most, without "Error: "; empty when there is none. */
struct span pyspy_error_line(struct span err);

#endif
