/* evidence_bundle.h - the bundle on disk: a folder, or one tar file, with a manifest of every piece.
 *
 * Who: cmd_evidence.c opens and closes it; the readers' and tools' results go in by bundle_add().
 * The folder is evidence-NODE-YYYYmmddTHHMMSSZ (0700, files 0600) in the state folder or in --out; --out=NAME.tar is a tar file
 * of the same (ustar, written here, since tools may hang). Pieces come from memory. A write that fails takes only its own piece
 * out; a ballast is given back at the end, so that summary and manifest fit on a disk that is full.
 *
 * MANIFEST.txt, a line a piece, between tabs: sha256 (or -), bytes, path, state, UTC time, where it is from, why.
 * States: ok; cut (there is more than is kept); missing (it could not be had); none (this node has no such thing).
 */
#ifndef HANGTOP_APP_EVIDENCE_BUNDLE_H
#define HANGTOP_APP_EVIDENCE_BUNDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define EVIDENCE_BYTES_MAX ((size_t)64 << 20)
#define EVIDENCE_FILE_MAX ((size_t)2 << 20)
#define EVIDENCE_LOG_MAX ((size_t)4 << 20)

enum evidence_state { EVIDENCE_OK, EVIDENCE_CUT, EVIDENCE_MISSING, EVIDENCE_NONE };

struct evidence_piece {
	const char *path;              /* below the bundle, '/' between */
	const char *from;              /* file or command */
	int64_t at;                    /* wall ms */
	enum evidence_state state;
	const char *why;               /* "" for ok */
	bool lost;                     /* something that is there was not had: the bundle is partial */
	struct span text;
};

struct bundle_row;

struct bundle {
	char *path;                    /* what is told to the user; owned */
	char name[120];                /* of the folder, in the tar as well */
	int dir;                       /* -1 when it is a tar */
	int tar, ballast;              /* -1 not open */
	size_t bytes;
	struct bundle_row *row;
	size_t rows;
	size_t lost;                   /* pieces */
	int write_errno;               /* of the last write that failed; 0 none did */
};

/* out NULL: the state folder. */
int bundle_open(struct bundle *b, const char *out, const char *node, int64_t now, struct error *error);
void bundle_add(struct bundle *b, const struct evidence_piece *piece);
/* All pieces but the summary are in: sort them, and give the room for summary and manifest back. */
void bundle_pieces_end(struct bundle *b);
/* Append "path: why" of all that was lost, a line each, the same reasons together. */
void bundle_lost(const struct bundle *b, struct buf *out);
/* Write the manifest. -1: the bundle is of no use. */
int bundle_close(struct bundle *b, struct error *error);
void bundle_release(struct bundle *b);
const char *evidence_stamp(char *out, size_t size, int64_t wall_ms); /* 20261201T101500Z */

#endif
