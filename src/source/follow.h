/* follow.h - follow one growing file by its lines.
 *
 * Who: source/log. The owner calls follow_turn() every 200 ms, and again at once while it returns FOLLOW_MORE.
 * The file is read with pread in blocks, never mapped; a turn ends after FOLLOW_TURN_BYTES or FOLLOW_TURN_MS, so that the loop
 * is never held up. Noticed: truncation (read again from 0), rotation (another inode at the path: the old file is read to its end,
 * then the new one from 0), deletion (the open file is followed on), creation.
 * Lines end with LF, CR or CRLF (a progress bar's states are lines); empty ones and runs of NUL at the start of a line are skipped;
 * of a line longer than FOLLOW_LINE_MAX the first so many bytes are one line and the rest is skipped.
 */
#ifndef HANGTOP_SOURCE_FOLLOW_H
#define HANGTOP_SOURCE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/span.h"

#define FOLLOW_LINE_MAX (64 * 1024)
#define FOLLOW_BLOCK (128 * 1024)
#define FOLLOW_TURN_BYTES (8 << 20)
#define FOLLOW_TURN_MS 4

enum follow_state {
	FOLLOW_IDLE,            /* at the end */
	FOLLOW_MORE,            /* there is more to read: call again soon */
	FOLLOW_ABSENT,          /* no such file (yet) */
	FOLLOW_FAILED,          /* error says why */
};

struct follow {
	/* `unfinished`: the last line has no end yet; it will be told again, whole, with the same offset. */
	void (*line)(void *context, struct span line, int64_t offset, bool unfinished);
	void (*restarted)(void *context);      /* offsets start from 0 again: truncated, or another file */
	void *context;

	char *path;             /* opened; may be a link in /proc/PID/fd */
	int fd;                 /* -1 none */
	dev_t dev;
	ino_t ino;
	int64_t offset;         /* of the next byte to read */
	int64_t size;           /* at the last look */
	uint64_t lines, bytes;  /* told and read since the start */

	char *block;            /* FOLLOW_LINE_MAX bytes of an unfinished line, then a block */
	size_t kept;            /* bytes of the unfinished line */
	bool skipping;          /* in the rest of an overlong line */
	bool told_unfinished;
};

void follow_init(struct follow *f, void (*line)(void *, struct span, int64_t, bool), void (*restarted)(void *), void *context);
void follow_release(struct follow *f);
/* Open path and stand at offset (-1: the end; more than its size: 0). Returns FOLLOW_IDLE, _ABSENT or _FAILED. */
enum follow_state follow_open(struct follow *f, const char *path, int64_t offset, struct error *error);
void follow_close(struct follow *f);
enum follow_state follow_turn(struct follow *f, struct error *error);
void follow_rewind(struct follow *f);   /* to the start of the open file, to read it again */
/* Tell the whole lines in the last `bytes` before where we stand, then stand at the start of the line that has no end yet, if
 * there is one. Right after follow_open(), or to understand anew what has been read. */
void follow_look_back(struct follow *f, int64_t bytes);

#endif
