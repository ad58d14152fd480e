/* evidence_read_more.c - in the child: descriptors, threads, folders, the kernel log and the server's log. */
#include "config.h"

#include "app/evidence_read.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/evidence_mask.h"
#include "base/text.h"

#define ENTRIES_MAX 8192       /* of one folder */
#define DEPTH_MAX 6
#define SMALL 16384            /* of one file in a tree */
#define KMSG_RECORDS_MAX 200000

static DIR *open_dir(const struct reading *r, int at, const char *name)
{
	int fd = r->dir_errno ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (r->dir_errno)
		errno = r->dir_errno;
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strlen(x), m = strlen(y);

	if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y) && n != m)
		return n < m ? -1 : 1; /* numbers in their order */
	return strcmp(x, y);
}

/* Names in a folder, sorted; the caller frees them and the array. */
static size_t names_in(DIR *dir, char ***out)
{
	char **name = NULL;
	size_t n = 0;

	for (struct dirent *e; n < ENTRIES_MAX && (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		if (n % 64 == 0)
			name = realloc(name, (n + 64) * sizeof *name);
		if (!name || !(name[n] = strdup(e->d_name)))
			_exit(1);
		n++;
	}
	if (n)
		qsort(name, n, sizeof *name, by_name);
	*out = name;
	return n;
}

static void say_scrubbed(struct reading *r, struct span text)
{
	struct buf clean;

	buf_init(&clean, 0);
	text_scrub(&clean, text);
	reading_say(r, buf_string(&clean), clean.len);
	buf_release(&clean);
}

/* --- descriptors --- */

void read_link(struct reading *r, const struct item *item)
{
	char target[PATH_MAX];
	ssize_t n = r->dir_errno ? -1 : readlinkat(r->dir, item->from, target, sizeof target);

	if (n < 0) {
		reading_failed(r, r->dir_errno ? r->dir_errno : errno);
		return;
	}
	say_scrubbed(r, span_make(target, (size_t)n));
	reading_say(r, "\n", 1);
}

void read_fds(struct reading *r, const struct item *item)
{
	DIR *dir = open_dir(r, r->dir, item->from);
	char **name;
	size_t n;

	if (!dir) {
		reading_failed(r, errno);
		return;
	}
	n = names_in(dir, &name);
	for (size_t i = 0; i < n; i++) {
		char target[PATH_MAX];
		ssize_t len = readlinkat(dirfd(dir), name[i], target, sizeof target);

		if (len > 0) {
			reading_printf(r, "%s\t", name[i]);
			say_scrubbed(r, span_make(target, (size_t)len));
			reading_say(r, "\n", 1);
		}
		free(name[i]);
	}
	free(name);
	closedir(dir);
}

/* --- threads --- */

/* What of a thread's file is there; no word when it is not. */
static void say_file(struct reading *r, int dir, const char *label, const char *path)
{
	char block[SMALL];
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, block, sizeof block);

	if (fd >= 0)
		close(fd);
	if (n > 0)
		reading_printf(r, "%s%.*s%s", label, (int)n, block, block[n - 1] == '\n' ? "" : "\n");
}

void read_tasks(struct reading *r, const struct item *item)
{
	static const char *const file[] = { "comm", "stat", "wchan", "syscall", "stack" };
	DIR *dir = open_dir(r, r->dir, item->from);
	char **name, path[300], label[16];
	size_t n;

	if (!dir) {
		reading_failed(r, errno);
		return;
	}
	n = names_in(dir, &name);
	for (size_t i = 0; i < n; i++) {
		reading_printf(r, "== %s\n", name[i]);
		for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
			snprintf(path, sizeof path, "%s/%s", name[i], file[k]);
			snprintf(label, sizeof label, strcmp(file[k], "stack") ? "%s " : "%s:\n", file[k]);
			say_file(r, dirfd(dir), label, path);
		}
		free(name[i]);
	}
	free(name);
	closedir(dir);
}

/* --- folders --- */

void read_folder(struct reading *r, const struct item *item)
{
	DIR *dir = open_dir(r, r->dir, item->from);
	char **name, stamp[32];
	struct stat st;
	size_t n;

	if (!dir) {
		reading_failed(r, errno);
		return;
	}
	n = names_in(dir, &name);
	reading_printf(r, "# bytes\tuid\tmodified\tname\n");
	for (size_t i = 0; i < n; i++) {
		if (fstatat(dirfd(dir), name[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
			reading_printf(r, "%lld\t%ld\t%s\t", (long long)st.st_size, (long)st.st_uid,
				evidence_stamp(stamp, sizeof stamp, (int64_t)st.st_mtime * 1000));
			say_scrubbed(r, span_of(name[i]));
			reading_say(r, "\n", 1);
		}
		free(name[i]);
	}
	free(name);
	closedir(dir);
}

static bool left_out(const char *names, const char *name)
{
	struct span rest = span_of(names), word;

	while (span_word(&rest, &word)) {
		bool any = span_ends(word, "*");

		if (any ? strncmp(name, word.at, word.len - 1) == 0 : span_is(word, name))
			return true;
	}
	return false;
}

static void say_tree_file(struct reading *r, int dir, const char *path, const char *name)
{
	char block[SMALL];
	ssize_t n = -1;
	int fd;

	reading_printf(r, "== %s\n", path); /* before it is read: the last one named is the one that hangs */
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, block, sizeof block);
	if (n < 0)
		reading_printf(r, "(%s)\n", strerror(errno));
	else if (n > 0 && memchr(block, 0, (size_t)n))
		reading_printf(r, "(%zd bytes, not text)\n", n);
	else
		reading_printf(r, "%.*s%s", (int)n, block, n && block[n - 1] != '\n' ? "\n" : "");
	if (fd >= 0)
		close(fd);
}

static void say_tree(struct reading *r, DIR *dir, const char *above, const char *not, int depth)
{
	char **name;
	size_t n = names_in(dir, &name);

	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct stat st;
		DIR *below;

		snprintf(path, sizeof path, "%s%s%s", above, *above ? "/" : "", name[i]);
		if (fstatat(dirfd(dir), name[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && r->state == EVIDENCE_OK) {
			if (left_out(not, name[i]))
				reading_printf(r, "== %s\n(not read: it may wait for the GPU)\n", path);
			else if (S_ISREG(st.st_mode) && (st.st_mode & 0444))
				say_tree_file(r, dirfd(dir), path, name[i]);
			else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX && (below = open_dir(r, dirfd(dir), name[i])))
				say_tree(r, below, path, not, depth + 1);
		}
		free(name[i]);
	}
	free(name);
	closedir(dir);
}

void read_tree(struct reading *r, const struct item *item)
{
	DIR *dir = open_dir(r, r->dir, item->from);

	if (dir)
		say_tree(r, dir, "", item->context, 0);
	else
		reading_failed(r, errno);
}

void read_gpu(struct reading *r, const struct item *item)
{
	DIR *dir = open_dir(r, r->dir, item->from), *below;
	struct span rest = span_of(item->context), word;

	if (!dir) {
		reading_failed(r, errno);
		return;
	}
	while (span_word(&rest, &word)) {
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)word.len, word.at);
		if (faccessat(dirfd(dir), name, F_OK, 0) == 0)
			say_tree_file(r, dirfd(dir), name, name);
	}
	if ((below = open_dir(r, dirfd(dir), "hwmon")))
		say_tree(r, below, "hwmon", "power uevent", 0);
	closedir(dir);
}

/* --- the kernel log --- */

/* "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT\n KEY=VALUE\n": what dmesg prints of it. */
static void say_record(struct reading *r, struct span line)
{
	struct span text = span_after(line, ";"), piece;
	uint64_t micro = 0;
	struct buf masked;

	for (int i = 0; i < 3; i++)
		if (!span_cut(&line, ',', &piece))
			return;
	if (!span_uint(piece, &micro) || !text.len)
		return;
	buf_init(&masked, 0);
	evidence_mask_text(&masked, text);
	reading_printf(r, "[%5llu.%06llu] ", (unsigned long long)(micro / 1000000), (unsigned long long)(micro % 1000000));
	say_scrubbed(r, buf_as_span(&masked));
	reading_say(r, "\n", 1);
	buf_release(&masked);
}

static void say_records(struct reading *r, struct span text)
{
	struct span line;

	while (span_line(&text, &line))
		if (!span_starts(line, " ")) /* KEY=VALUE of the record before */
			say_record(r, line);
}

void read_kmsg(struct reading *r, const struct item *item)
{
	char record[8192];
	struct stat st;
	int fd = -1;

	if (stat(item->from, &st) < 0 || !(S_ISCHR(st.st_mode) || S_ISREG(st.st_mode)) ||
		(fd = open(item->from, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0) {
		reading_failed(r, errno);
		return;
	}
	for (int i = 0; i < KMSG_RECORDS_MAX; i++) {
		ssize_t n = read(fd, record, sizeof record);

		if (n > 0)
			say_records(r, span_make(record, (size_t)n));
		else if (n == 0 || (errno != EPIPE && errno != EINTR)) { /* EPIPE: records were overwritten; the next is there */
			if (n < 0 && errno != EAGAIN)
				reading_failed(r, errno);
			break;
		}
	}
	close(fd);
}

/* --- the server's log --- */

/* From the first whole line on. */
static void say_log(struct reading *r, int fd, off_t size, const struct secrets *secrets)
{
	off_t from = size > (off_t)EVIDENCE_LOG_MAX ? size - (off_t)EVIDENCE_LOG_MAX : 0, at = from;
	struct buf raw, masked, whole;
	struct span text;
	ssize_t n = 1;

	buf_init(&raw, EVIDENCE_LOG_MAX);
	buf_init(&masked, EVIDENCE_LOG_MAX * 2);
	buf_init(&whole, EVIDENCE_LOG_MAX * 2);
	while (at < size && n > 0) {
		char block[SMALL];

		n = pread(fd, block, size - at < (off_t)sizeof block ? (size_t)(size - at) : sizeof block, at);
		if (n > 0)
			buf_add(&raw, block, (size_t)n);
		at += n > 0 ? n : 0;
	}
	text = buf_as_span(&raw);
	if (from && span_find_char(text, '\n') >= 0)
		text = span_sub(text, (size_t)span_find_char(text, '\n') + 1, text.len);
	evidence_mask_text(&masked, text);
	if (from)
		reading_end(r, EVIDENCE_CUT, "the last %zu of %lld bytes", text.len, (long long)size);
	if (n < 0)
		reading_failed(r, errno);
	if (secrets)
		secrets_mask(secrets, &whole, buf_as_span(&masked));
	else
		buf_span(&whole, buf_as_span(&masked));
	reading_say(r, buf_string(&whole), whole.len);
	buf_release(&raw);
	buf_release(&masked);
	buf_release(&whole);
}

void read_log(struct reading *r, const struct item *item)
{
	int fd = reading_open(r, item->from);
	struct stat st;

	if (fd < 0 && errno == EINVAL)
		reading_end(r, EVIDENCE_MISSING, "not a regular file");
	else if (fd < 0)
		reading_failed(r, errno);
	else if (fstat(fd, &st) == 0)
		say_log(r, fd, st.st_size, item->context);
	if (fd >= 0)
		close(fd);
}

void read_log_fd(struct reading *r, const struct item *item)
{
	struct stat st, other;
	char target[PATH_MAX];
	ssize_t n = -1;

	if (!r->dir_errno)
		n = readlinkat(r->dir, item->from, target, sizeof target - 1);
	if (n < 0) {
		reading_failed(r, r->dir_errno ? r->dir_errno : errno);
		return;
	}
	target[n] = 0;
	reading_from(r, target);
	if (fstatat(r->dir, item->from, &st, 0) < 0)
		reading_failed(r, errno);
	else if (!S_ISREG(st.st_mode))
		reading_end(r, EVIDENCE_NONE, "the server's output is no file");
	else if (strcmp(item->from, "fd/2") == 0 && fstatat(r->dir, "fd/1", &other, 0) == 0 && st.st_ino == other.st_ino &&
		st.st_dev == other.st_dev)
		reading_end(r, EVIDENCE_NONE, "it goes where standard output goes");
	else
		read_log(r, item);
}
