/* snapshot_text.h - an observation of a snapshot as a line or two of text. Who: cmd_snapshot.c. */
#ifndef HANGTOP_APP_SNAPSHOT_TEXT_H
#define HANGTOP_APP_SNAPSHOT_TEXT_H

#include "base/buf.h"
#include "model/observation.h"

/* Appends nothing for what is not worth a line. Foreign text is scrubbed. */
void snapshot_text(const struct observation *o, struct buf *out);

#endif
