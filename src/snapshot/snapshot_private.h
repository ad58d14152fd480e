/* snapshot_private.h - what snapshot.c and snapshot_import.c share. Who: those two. */
#ifndef HANGTOP_SNAPSHOT_SNAPSHOT_PRIVATE_H
#define HANGTOP_SNAPSHOT_SNAPSHOT_PRIVATE_H

#include "snapshot/snapshot.h"
#include "snapshot/verify.h"

void snapshot_tell(const struct snapshot_options *options, const struct observation *o);
/* The first SNAPSHOT_TEXT_MAX bytes into SNAPSHOT_output; release `text` when the observation is no longer needed. */
void snapshot_read_output(struct observation *o, const char *path, struct buf *text);
void snapshot_say_verified(struct observation *o, const struct verify *v);

#endif
