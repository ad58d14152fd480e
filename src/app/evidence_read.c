/* evidence_read.c - in the child: the loop over the items, and plain files. */
#include "config.h"

#include "app/evidence_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/evidence_mask.h"
#include "base/text.h"
#include "parse/proc_files.h"

#define BLOCK 16384
#define ENVIRON_MAX (256 * 1024)

/* --- what is said --- */

static void send_all(int fd, const void *at, size_t n)
{
	const char *from = at;

	while (n) {
		ssize_t done = write(fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1); /* nobody listens any more */
		from += done;
		n -= (size_t)done;
	}
}

static void send_frame(const struct reading *r, enum part_frame_type type, const void *at, size_t n)
{
	struct part_frame f = { .type = type, .len = (uint32_t)n, .state = r->state, .lost = r->lost };
	char block[sizeof f + BLOCK];

	memcpy(block, &f, sizeof f);
	memcpy(block + sizeof f, at, n);
	send_all(r->pipe, block, sizeof f + n);
}

void reading_say(struct reading *r, const void *at, size_t n)
{
	const char *from = at;

	if (n > r->room) {
		n = r->room;
		if (r->state == EVIDENCE_OK)
			reading_end(r, EVIDENCE_CUT, "there is more than is kept");
	}
	r->room -= n;
	for (size_t part; n; n -= part, from += part) {
		part = n < BLOCK ? n : BLOCK;
		send_frame(r, FRAME_BYTES, from, part);
	}
}

void reading_printf(struct reading *r, const char *format, ...)
{
	char text[4096 + PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n > 0)
		reading_say(r, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void reading_from(struct reading *r, const char *path)
{
	send_frame(r, FRAME_FROM, path, strnlen(path, PATH_MAX - 1));
}

void reading_end(struct reading *r, enum evidence_state state, const char *format, ...)
{
	va_list args;

	r->state = state;
	r->lost = state == EVIDENCE_MISSING;
	va_start(args, format);
	vsnprintf(r->why, sizeof r->why, format, args);
	va_end(args);
}

/* Of a process that is there a file that is not: this kernel was built without it. */
static bool is_alive(const struct reading *r)
{
	return !r->dir_errno && r->dir >= 0 && faccessat(r->dir, "stat", F_OK, 0) == 0;
}

void reading_failed(struct reading *r, int number)
{
	bool absent = number == ENOENT || number == ENOTDIR || number == ESRCH;

	if (r->part->start_ticks && absent && !is_alive(r))
		reading_end(r, EVIDENCE_MISSING, "the process has ended");
	else if (absent)
		reading_end(r, EVIDENCE_NONE, "there is no such file here");
	else
		reading_end(r, EVIDENCE_MISSING, "%s", number == EACCES || number == EPERM ? "not permitted for this user" : strerror(number));
}

/* --- files --- */

int reading_open(const struct reading *r, const char *path)
{
	struct stat st;
	int fd;

	if (r->dir_errno && *path != '/') {
		errno = r->dir_errno;
		return -1;
	}
	/* Looked at first: to open a FIFO wakes who writes to it, to open a device may do anything. */
	if (fstatat(r->dir, path, &st, 0) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	fd = openat(r->dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static ssize_t read_some(int fd, char *block, size_t size)
{
	ssize_t n;

	do
		n = read(fd, block, size);
	while (n < 0 && errno == EINTR);
	return n;
}

void read_plain(struct reading *r, const struct item *item)
{
	int fd = reading_open(r, item->from);
	char block[BLOCK];
	ssize_t n = 0;

	if (fd < 0) {
		reading_failed(r, errno);
		return;
	}
	while (r->state == EVIDENCE_OK && (n = read_some(fd, block, sizeof block)) > 0)
		reading_say(r, block, (size_t)n);
	if (n < 0)
		reading_failed(r, errno);
	close(fd);
}

/* Into memory, for what is masked before it is said. */
static bool slurp(struct reading *r, const char *path, struct buf *out)
{
	int fd = reading_open(r, path);
	char block[BLOCK];
	ssize_t n = -1;

	while (fd >= 0 && !out->cut && (n = read_some(fd, block, sizeof block)) > 0)
		buf_add(out, block, (size_t)n);
	if (n < 0)
		reading_failed(r, errno);
	if (fd >= 0)
		close(fd);
	return n >= 0;
}

void read_cmdline(struct reading *r, const struct item *item)
{
	struct buf raw, words, masked, clean;

	buf_init(&raw, ENVIRON_MAX);
	buf_init(&words, ENVIRON_MAX);
	buf_init(&masked, ENVIRON_MAX * 2);
	buf_init(&clean, ENVIRON_MAX * 4);
	if (slurp(r, item->from, &raw)) {
		proc_cmdline(buf_as_span(&raw), &words);
		evidence_mask_text(&masked, buf_as_span(&words));
		text_scrub(&clean, buf_as_span(&masked));
		reading_say(r, buf_string(&clean), clean.len);
		reading_say(r, "\n", 1);
	}
	buf_release(&raw);
	buf_release(&words);
	buf_release(&masked);
	buf_release(&clean);
}

void read_environ(struct reading *r, const struct item *item)
{
	struct secrets found = { .count = 0 };
	struct buf raw, masked;

	buf_init(&raw, ENVIRON_MAX);
	buf_init(&masked, EVIDENCE_FILE_MAX);
	if (slurp(r, item->from, &raw)) {
		struct span whole = buf_as_span(&raw);

		/* The last variable of one that was cut may be half a name, or half a secret. */
		if (raw.cut)
			whole = span_sub(whole, 0, (size_t)(span_find_last(whole, 0) + 1));
		evidence_mask_environ(&masked, whole, &found);
		for (int i = 0; i < found.count; i++)
			send_frame(r, FRAME_SECRET, found.value[i], strlen(found.value[i]));
		secrets_release(&found);
		reading_say(r, buf_string(&masked), masked.len);
		if (raw.cut)
			reading_end(r, EVIDENCE_CUT, "there is more than is kept");
	}
	buf_release(&raw);
	buf_release(&masked);
}

/* --- the child --- */

/* The folder of the process it was found as, or errno. */
static int open_dir(struct reading *r)
{
	const struct part *p = r->part;
	struct proc_stat stat;
	struct buf text;
	bool same = true;

	r->dir = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0)
		return errno;
	buf_init(&text, 4096);
	if (p->start_ticks)
		same = slurp(r, "stat", &text) && proc_stat_parse(buf_as_span(&text), &stat) && stat.start == p->start_ticks;
	buf_release(&text);
	return same ? 0 : ESRCH;
}

_Noreturn void part_child(const struct part *part, int fd)
{
	struct reading r = { .part = part, .pipe = fd, .dir = AT_FDCWD };

	if (*part->dir)
		r.dir_errno = open_dir(&r);
	for (int i = 0; i < part->items; i++) {
		const struct item *item = &part->item[i];

		r.state = EVIDENCE_OK;
		r.lost = false;
		r.why[0] = 0;
		r.room = item->cap ? item->cap : EVIDENCE_FILE_MAX;
		item->read(&r, item);
		send_frame(&r, FRAME_END, r.why, strlen(r.why));
	}
	_exit(0);
}
