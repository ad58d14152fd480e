/* reader.h - the session file, read: for replay, scrubbing and people's own questions.
 *
 * Foreign files are opened read-only and defensively (trusted_schema off, cell size check, limits), never with
 * `immutable`. A file that is being written can be read at the same time: no call keeps a transaction open.
 * A file of an older hangtop is read as it is; what it has not is null. Observations handed to callbacks are borrowed.
 */
#ifndef HANGTOP_STORE_READER_H
#define HANGTOP_STORE_READER_H

#include "base/error.h"
#include "model/observation.h"

struct reader;

int reader_open(struct reader **out, const char *path, struct error *error);
void reader_close(struct reader *reader);

/* First and last t in the file. False for an empty session. */
bool reader_range(struct reader *reader, int64_t *first, int64_t *last);

/* A fact about the session (table meta), appended to `out`. False when it is not there. */
bool reader_meta(struct reader *reader, const char *key, struct buf *out);

typedef void (*reader_each)(void *context, const struct observation *o);

/* Everything a model needs to be at T: the latest row of every subject at or before T, the last
 * MODEL_EVENTS_MAX rows of the event kinds, verdicts and findings, the rows of the last two minutes that histories are made
 * of, the last two stacks with frames of every process. In order of t. A model fed with these equals one fed with all
 * rows up to T. Rows of gpu that only serve a history may have nothing but t, node, gpu and busy_pct. */
int reader_state_at(struct reader *reader, int64_t t, reader_each each, void *context, struct error *error);

/* All rows with from < t <= to, in order of t; within one t in order of kind, then of arrival. */
int reader_between(
	struct reader *reader, int64_t from, int64_t to, reader_each each, void *context, struct error *error);

/* t of the next (direction 1) or previous (-1) event worth a stop: verdict, finding, fault, fatal, start or ready log line,
 * note, mark, action. False when there is none. */
bool reader_next_event(struct reader *reader, int64_t t, int direction, int64_t *found);
/* t of the next or previous sample tick (gpu, process_sample, server, stack or log row). */
bool reader_next_sample(struct reader *reader, int64_t t, int direction, int64_t *found);

#endif
