/* wrapped.h - one long line that a terminal or a mail program broke into several, put together again.
 *
 * A terminal breaks at its width, in the middle of words: all pieces but the last have one length (one less where the paste lost a
 * blank at the end). A mail program breaks at blanks and drops them: the pieces differ in length. With one break only the bytes
 * around it tell. Pieces are taken from lines with the same prefix (line_tag()); the caller decides which go on and when it is whole.
 * Who: wave.c, fault.c, fault_queue.c. Owns its buffers; bounded: WRAPPED_PIECES, WRAPPED_MAX bytes.
 */
#ifndef HANGTOP_PARSE_WRAPPED_H
#define HANGTOP_PARSE_WRAPPED_H

#include "base/buf.h"
#include "parse/line.h"

#define WRAPPED_PIECES 256
#define WRAPPED_MAX 16384
#define WRAPPED_STRANGERS 1000  /* lines of other processes after which nothing more is awaited */

struct wrapped {
	bool open;
	uint64_t tag, offset;   /* of the first line */
	char rank[LINE_RANK_MAX];
	bool timed;             /* the first line had a time */
	int strangers;          /* lines that did not go on with it, so far */
	struct buf raw, text;   /* pieces one behind the other; joined */
	unsigned short end[WRAPPED_PIECES], width[WRAPPED_PIECES];      /* where a piece ends in raw; how long its whole line was */
	int pieces;
};

void wrapped_init(struct wrapped *w);
void wrapped_release(struct wrapped *w);
/* `piece` is a part of the line's text, to its end. */
void wrapped_start(struct wrapped *w, const struct line *l, struct span piece);
/* False when there is no room: what is there stays. */
bool wrapped_add(struct wrapped *w, const struct line *l, struct span piece);
/* The whole, joined; valid until the next call. */
struct span wrapped_text(struct wrapped *w);
void wrapped_close(struct wrapped *w);

#endif
