/* place.h - the file around the database: folder, mode, reserve, kind of file system. Who: writer.c.
 *
 * FILE.ballast is a reserve of 4 MiB, given back to the file system when the disk is full so that a recording can end
 * decently; it is locked, so that two programs never record into one file, and removed at the end.
 */
#ifndef HANGTOP_STORE_PLACE_H
#define HANGTOP_STORE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define PLACE_BALLAST (4 << 20)

struct place {
	char path[4096], ballast[4112];
	int ballast_fd;
	bool reserve; /* the ballast has its size */
	bool network; /* no shared memory between hosts: no WAL */
	bool created; /* the file was not there before */
	dev_t dev;
	ino_t ino;
};

/* Make folders (0700) and the file (0600), and lock it. */
int place_open(struct place *place, const char *path, struct error *error);
void place_close(struct place *place);
void place_undo(struct place *place); /* opening failed: leave no empty file behind */
void place_give_back(struct place *place); /* the reserve */
/* Take the reserve (again) when the file system has plenty of room for it. True when it is there. */
bool place_take_reserve(struct place *place);
bool place_is_there(const struct place *place); /* false when the file was removed or replaced */
int64_t place_bytes(const struct place *place, const char *suffix);

#endif
