/* pyspy.h - py-spy dumps, text and JSON, and its error texts. Who: source/stack.
 *
 * Text (py-spy 0.3.3 to 0.4.3): "Process PID: CMD", "Python vX (EXE)", blank line, "Thread ID (STATE): \"NAME\"", frames of
 * four blanks "NAME (FILE:LINE)", innermost first; locals (eight blanks or more) are skipped. The main thread comes first.
 * JSON (dump --json): an array of threads, newest first: it is turned round here.
 * Errors: one table from a part of stderr to what it means and how to mend it; texts up to 0.4.1 and from 0.4.2 on.
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

/* Append the threads as the JSON of STACK_threads, main thread first. Returns how many threads; -1 when the text is no dump. */
int pyspy_json(struct span text, struct buf *out, struct error *error);
int pyspy_text(struct span text, struct buf *out, struct error *error);

enum pyspy_trouble { PYSPY_UNKNOWN, PYSPY_DENIED, PYSPY_TRACED, PYSPY_GONE, PYSPY_NOT_PYTHON, PYSPY_VERSION, PYSPY_RACE };
/* What an error text means; `words` and `remedy` are constants. PYSPY_RACE: try once more. */
enum pyspy_trouble pyspy_error(struct span err, const char **words, const char **remedy);

#endif
