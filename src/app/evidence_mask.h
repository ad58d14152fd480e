/* evidence_mask.h - what may leave the node: environments and foreign text with their secrets masked as "***".
 *
 * Who: evidence_read.c (in its child) and evidence_tools.c. Output is appended; nothing is kept.
 * Masked are: values of names that look secret (text_looks_secret(), and PASS, PWD, DSN at the end of a name), values that look like
 * a key whatever their name, what text_mask() knows in a line, and user:password in a URL.
 */
#ifndef HANGTOP_APP_EVIDENCE_MASK_H
#define HANGTOP_APP_EVIDENCE_MASK_H

#include "base/buf.h"

#define SECRETS_MAX 256

/* Values of secrets, to be found again where no name stands before them. */
struct secrets {
	char *value[SECRETS_MAX];
	int count;
};

void secrets_add(struct secrets *s, struct span value);        /* once each; not what is too short to be told from words */
void secrets_mask(const struct secrets *s, struct buf *out, struct span text);
void secrets_release(struct secrets *s);

/* A raw /proc/PID/environ as lines NAME=value, harmless on a terminal. The values masked are added to `found` (may be NULL). */
void evidence_mask_environ(struct buf *out, struct span raw, struct secrets *found);
/* Lines; the last one may lack its end. */
void evidence_mask_text(struct buf *out, struct span text);

#endif
