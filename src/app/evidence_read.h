/* evidence_read.h - what runs in the child of a part: one function a kind of file. They may block; the parent has the deadline.
 *
 * Who: evidence_items.c names them in its tables. A function says bytes (reading_say), and how it ended when that is not "ok"
 * (reading_end). It opens regular files, folders and /dev/kmsg only, never a FIFO or another device, and writes nothing.
 */
#ifndef HANGTOP_APP_EVIDENCE_READ_H
#define HANGTOP_APP_EVIDENCE_READ_H

#include "app/evidence_part.h"

struct reading {
	const struct part *part;
	int pipe, dir;                 /* dir: of the part, AT_FDCWD without one */
	int dir_errno;                 /* why it could not be opened; 0 it is */
	size_t room;                   /* bytes the item may still take */
	enum evidence_state state;
	bool lost;
	char why[200];
};

void reading_say(struct reading *r, const void *at, size_t n);
void reading_printf(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void reading_from(struct reading *r, const char *path);
/* missing is lost; cut and none are not. */
void reading_end(struct reading *r, enum evidence_state state, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reading_failed(struct reading *r, int number); /* by errno */
/* A regular file, opened so that it cannot block; -1 and errno. */
int reading_open(const struct reading *r, const char *path);

void read_plain(struct reading *r, const struct item *item);
void read_cmdline(struct reading *r, const struct item *item);  /* secrets masked */
void read_environ(struct reading *r, const struct item *item);  /* secrets masked */
void read_link(struct reading *r, const struct item *item);     /* where it leads */
void read_fds(struct reading *r, const struct item *item);      /* where they lead; none is opened */
void read_tasks(struct reading *r, const struct item *item);    /* name, state, wait channel and kernel stack of each thread */
void read_folder(struct reading *r, const struct item *item);   /* names, sizes, owners */
/* All small files below a folder, a section each. context: names left out, separated by blanks; '*' at the end of one is any rest. */
void read_tree(struct reading *r, const struct item *item);
/* The files of a folder that context names (separated by blanks), then what is in hwmon; a section each. */
void read_gpu(struct reading *r, const struct item *item);
void read_kmsg(struct reading *r, const struct item *item);
/* The end of a file, lines with secrets masked. context: struct secrets of the server's environments, or NULL. */
void read_log(struct reading *r, const struct item *item);
/* The same for what /proc/PID/fd/1 (2) leads to, when it is a regular file; 2: not the same as 1. */
void read_log_fd(struct reading *r, const struct item *item);

#endif
