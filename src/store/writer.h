/* writer.h - the session file, written: one thread, one connection, batched.
 *
 * Who: app/core. writer_add() copies the observation into a queue and never blocks or fails; the thread commits
 * at most every 250 ms. A verdict, finding, action, note or mark is committed at once. Trouble (disk full, read-only,
 * corrupt) never stops the program: `notice` is called on the writer's thread with what happened; use uv_async_send() there.
 * Observations come in order of t. What cannot be written waits in memory (64 MiB), then the oldest samples go.
 *
 * File: SQLite, WAL (TRUNCATE on network file systems), synchronous=FULL, mode 0600. doc/session-file.md is the contract.
 */
#ifndef HANGTOP_STORE_WRITER_H
#define HANGTOP_STORE_WRITER_H

#include "base/error.h"
#include "model/observation.h"

struct writer;

struct writer_options {
	const char *path;
	int64_t size_cap; /* bytes; 0 is the default of 1 GiB. Old samples are evicted, never those around a verdict */
	void (*notice)(void *context); /* may be NULL: state changed, ask writer_status() */
	void *context;
};

struct writer_status {
	bool ok;
	char detail[300]; /* path and size, or what failed */
	char remedy[200];
	uint64_t committed, queued, dropped; /* observations */
	int64_t file_bytes; /* with its WAL */
};

/* Makes the file, or goes on with one of ours (an older format is brought up to date).
 * -1 when it cannot be made, is not ours, or another hangtop records into it; the caller goes on without one and says so. */
int writer_open(struct writer **out, const struct writer_options *options, struct error *error);
void writer_add(struct writer *writer, const struct observation *o);
/* A fact about the session as a whole, for table meta. Committed with the next batch. */
void writer_meta(struct writer *writer, const char *key, const char *value);
/* Ask the thread to commit what is queued now, also when it failed a moment ago; without waiting. */
void writer_flush(struct writer *writer);
/* Wait until at most `left` observations are not committed, or writing fails. For importers: never on the loop. */
void writer_wait(struct writer *writer, uint64_t left);
void writer_status(struct writer *writer, struct writer_status *out);
/* Commit everything, close, free. Waits at most a few seconds. */
void writer_close(struct writer *writer);

#endif
