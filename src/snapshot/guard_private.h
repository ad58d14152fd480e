/* guard_private.h - between the files guard*.c: reading (guard_look.c), saying (guard.c), checks of permission. */
#ifndef HANGTOP_SNAPSHOT_GUARD_PRIVATE_H
#define HANGTOP_SNAPSHOT_GUARD_PRIVATE_H

#include "base/buf.h"
#include "base/span.h"
#include "snapshot/guard.h"

#define GUARD_PATH_SIZE 4096

/* "ROOT/..." into path; returns path. */
const char *guard_path(char path[GUARD_PATH_SIZE], const char *root, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Open to read; a FIFO or a device does not make it wait. -1, errno set. */
int guard_open(const char *path);
/* At most max bytes of the file. False when it cannot be read. out->cut: there was more. */
bool guard_read(const char *path, struct buf *out, size_t max);
/* The target of a link; empty when it cannot be read. */
struct span guard_link(const char *path, char *block, size_t size);
/* Scrubbed, cut to the room. */
void guard_text(char *out, size_t size, struct span foreign);

/* Fills the facts of the GPU, the debug agent and core dumps. */
void guard_look_gpu(const struct guard_options *options, struct guard_facts *f);

/* Fill a row: its state and what was found; what to do about it. */
void guard_say(struct guard_row *row, enum guard_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));
void guard_mend(struct guard_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rows of the table. */
void guard_check_pid_namespace(const struct guard_facts *f, struct guard_row *row);
void guard_check_user_namespace(const struct guard_facts *f, struct guard_row *row);
void guard_check_owner(const struct guard_facts *f, struct guard_row *row);
void guard_check_capabilities(const struct guard_facts *f, struct guard_row *row);
void guard_check_yama(const struct guard_facts *f, struct guard_row *row);

#endif
