/* log_rows.h - from classified lines to observations: counts, open requests, and the lines themselves at a bounded rate.
 *
 * Who: source/log. Lines go in with log_rows_line(); log_rows_flush() after each turn and at each tick emits what is due:
 * `progress` at most every 100 ms, `requests` at most every 200 ms but always the last state, `log` rows at most 5 a second a class
 * (50 for faults, ends, starts and ready); the last line that was swallowed is emitted later, with their number in `repeats`.
 *
 * Looking back (log_rows_look_back_begin/_end): lines from before hangtop came. They count neither as progress nor as arrivals; of
 * those that tell the state of this run of the server (since the last start line) the last of each class is emitted at the end,
 * of faults and ends the first too.
 */
#ifndef HANGTOP_SOURCE_LOG_ROWS_H
#define HANGTOP_SOURCE_LOG_ROWS_H

#include "base/buf.h"
#include "parse/log_class.h"
#include "source/source.h"

#define LOG_ENGINES_MAX 256
#define LOG_TEXT_MAX 2048

/* A line that is kept to be emitted later. */
struct log_kept {
	bool used;
	enum log_class class;
	int64_t offset;
	struct buf text;
};

struct log_limit {
	int64_t second;         /* start of the second that is counted */
	int count;
	int64_t swallowed;
	struct log_kept last;   /* the last one swallowed */
};

struct log_rows {
	struct source_env *env;
	struct log_classifier *classifier;      /* of the caller; names the ranks */
	const char *file;               /* shown; owned by the caller */
	const char *name;               /* of the profile; NULL: no progress is counted */
	struct log_limit limit[LOG_CLASSES];
	int64_t emitted_at[LOG_CLASSES];       /* offset of the last row of the class, -1 none; at or before it all has been told */

	bool looking_back;
	struct log_kept first[LOG_CLASSES], last[LOG_CLASSES];

	int64_t total, total_emitted, progress_t;
	int64_t pending;                        /* from the lines' own count; -1 unknown */
	int64_t running[LOG_ENGINES_MAX], waiting[LOG_ENGINES_MAX]; /* -1 unknown */
	int64_t arrived, finished;
	bool requests_changed;
	int64_t requests_t;
	struct buf scratch;
};

void log_rows_init(struct log_rows *r, struct source_env *env);
void log_rows_release(struct log_rows *r);
/* Another file, or the same one from its start: offsets start anew, counts go on. */
void log_rows_restart(struct log_rows *r, const char *file);
void log_rows_line(struct log_rows *r, const struct log_match *m, int64_t offset, bool unfinished);
void log_rows_look_back_begin(struct log_rows *r);
void log_rows_look_back_end(struct log_rows *r);
void log_rows_flush(struct log_rows *r, int64_t now_mono);

#endif
