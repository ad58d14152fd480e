/* evidence_bundle.c - pieces to files or to a tar, and the manifest. */
#include "config.h"

#include "app/evidence_bundle.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/evidence_hash.h"
#include "app/paths.h"
#include "base/mem.h"
#include "base/text.h"

#define BALLAST (512 * 1024)
#define TAR_BLOCK 512
#define SAME_SECOND_MAX 100
#define ROOM_FOR_END ((size_t)8 << 20) /* of the bound, for log, kernel log and summary; processes get the rest */
#define LOST_SHOWN 3

struct bundle_row {
	char *path, *from, *why;
	int64_t at;
	size_t bytes;
	enum evidence_state state;
	bool lost;
	char hash[65];
};

const char *evidence_stamp(char *out, size_t size, int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, size, "%Y%m%dT%H%M%SZ", &tm);
	return out;
}

/* --- the place --- */

static int make_folders(const char *path)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof part) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (size_t i = 1; i <= n; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = 0;
		if (mkdir(part, 0700) < 0 && errno != EEXIST && errno != EISDIR && !(errno == EROFS && access(part, F_OK) == 0))
			return -1;
	}
	return 0;
}

static void make_name(struct bundle *b, const char *node, int64_t now)
{
	char safe[65], stamp[32];
	size_t n = 0;

	for (; node[n] && n < sizeof safe - 1; n++)
		safe[n] = isalnum((unsigned char)node[n]) || node[n] == '-' || node[n] == '_' ? node[n] : '_';
	safe[n] = 0;
	snprintf(b->name, sizeof b->name, "evidence-%s-%s", safe, evidence_stamp(stamp, sizeof stamp, now));
}

static int open_folder(struct bundle *b, const char *parent, struct error *error)
{
	size_t n = strlen(b->name);
	char path[PATH_MAX];

	if (make_folders(parent) < 0)
		return error_set_errno(error, errno, "cannot make the folder %s", parent);
	for (int i = 1; i < SAME_SECOND_MAX; i++) {
		if (i > 1)
			snprintf(b->name + n, sizeof b->name - n, "-%d", i);
		snprintf(path, sizeof path, "%s/%s", parent, b->name);
		if (mkdir(path, 0700) == 0)
			break;
		if (errno != EEXIST)
			return error_set_errno(error, errno, "cannot make the folder %s", path);
	}
	b->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->dir < 0)
		return error_set_errno(error, errno, "cannot open the folder %s", path);
	b->path = mem_text(path);
	b->ballast = openat(b->dir, ".ballast", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	unlinkat(b->dir, ".ballast", 0);
	return 0;
}

static int open_tar(struct bundle *b, const char *path, struct error *error)
{
	char other[PATH_MAX];

	b->tar = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (b->tar < 0)
		return error_set_errno(error, errno, "cannot write %s", path);
	b->path = mem_text(path);
	snprintf(other, sizeof other, "%s.ballast-%d", path, (int)getpid());
	b->ballast = open(other, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (b->ballast >= 0)
		unlink(other);
	return 0;
}

int bundle_open(struct bundle *b, const char *out, const char *node, int64_t now, struct error *error)
{
	char *sessions = path_sessions(), state[PATH_MAX];
	int status;

	memset(b, 0, sizeof *b);
	b->dir = b->tar = b->ballast = -1;
	make_name(b, node, now);
	snprintf(state, sizeof state, "%.*s/evidence", (int)(strrchr(sessions, '/') - sessions), sessions);
	free(sessions);
	if (out && span_ends(span_of(out), ".tar"))
		status = open_tar(b, out, error);
	else
		status = open_folder(b, out && *out ? out : state, error);
	if (status < 0) {
		error_fix(error, "name another place with --out");
		return -1;
	}
	if (b->ballast >= 0 && posix_fallocate(b->ballast, 0, BALLAST) != 0) {
		close(b->ballast); /* no room for it, or not on this file system: then the manifest takes its chance */
		b->ballast = -1;
	}
	return 0;
}

/* --- writing --- */

static int write_whole(int fd, const char *at, size_t n)
{
	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_file(struct bundle *b, const char *path, struct span text)
{
	char part[300];
	int fd, status;

	for (size_t i = 0; path[i] && i < sizeof part; i++) {
		if (path[i] == '/') {
			memcpy(part, path, i);
			part[i] = 0;
			if (mkdirat(b->dir, part, 0700) < 0 && errno != EEXIST)
				return -1;
		}
	}
	fd = openat(b->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	status = write_whole(fd, text.at, text.len);
	if (close(fd) < 0)
		status = -1;
	if (status < 0) {
		int why = errno;

		unlinkat(b->dir, path, 0); /* half a piece would have no right hash, and takes room */
		errno = why;
	}
	return status;
}

/* ustar: name in 100 bytes and a prefix in 155, numbers in octal. */
static void tar_header(char head[TAR_BLOCK], const char *folder, const char *path, size_t bytes, int64_t at)
{
	unsigned sum = 0;

	memset(head, 0, TAR_BLOCK);
	snprintf(head, 100, "%s", path);
	snprintf(head + 100, 8, "%07o", 0600u);
	snprintf(head + 108, 8, "%07o", 0u);
	snprintf(head + 116, 8, "%07o", 0u);
	snprintf(head + 124, 12, "%011llo", (unsigned long long)bytes);
	snprintf(head + 136, 12, "%011llo", (unsigned long long)(at / 1000));
	memset(head + 148, ' ', 8);
	head[156] = '0';
	memcpy(head + 257, "ustar\00000", 8);
	snprintf(head + 345, 155, "%s", folder);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum & 0777777);
}

static int write_tar(struct bundle *b, const char *path, struct span text, int64_t at)
{
	static const char zero[TAR_BLOCK];
	off_t before = lseek(b->tar, 0, SEEK_CUR);
	char head[TAR_BLOCK];
	int why;

	tar_header(head, b->name, path, text.len, at);
	if (write_whole(b->tar, head, sizeof head) == 0 && write_whole(b->tar, text.at, text.len) == 0 &&
		write_whole(b->tar, zero, (TAR_BLOCK - text.len % TAR_BLOCK) % TAR_BLOCK) == 0)
		return 0;
	why = errno;
	if (ftruncate(b->tar, before) == 0)
		lseek(b->tar, before, SEEK_SET);
	errno = why;
	return -1;
}

static int write_piece(struct bundle *b, const char *path, struct span text, int64_t at)
{
	int status = b->tar >= 0 ? write_tar(b, path, text, at) : write_file(b, path, text);

	if (status < 0)
		b->write_errno = errno;
	return status;
}

static char *scrubbed(const char *text)
{
	struct buf out;
	char *taken;

	buf_init(&out, 4096);
	text_scrub(&out, span_of(text));
	taken = buf_take(&out);
	buf_release(&out);
	return taken;
}

void bundle_add(struct bundle *b, const struct evidence_piece *p)
{
	bool process = span_starts(span_of(p->path), "process/");
	size_t max = process ? EVIDENCE_BYTES_MAX - ROOM_FOR_END : EVIDENCE_BYTES_MAX;
	bool wanted = p->state <= EVIDENCE_CUT || p->text.len;
	struct bundle_row *r;
	char why[300];

	b->row = mem_array(b->row, b->rows + 1, sizeof *b->row);
	r = memset(&b->row[b->rows++], 0, sizeof *b->row);
	snprintf(why, sizeof why, "%s", p->why ? p->why : "");
	r->path = mem_text(p->path);
	r->from = scrubbed(p->from);
	r->at = p->at;
	r->state = p->state;
	r->lost = p->lost;
	if (wanted && p->text.len > max - (b->bytes < max ? b->bytes : max)) {
		snprintf(why, sizeof why, "the bundle is full (%zu MB)", EVIDENCE_BYTES_MAX >> 20);
		wanted = false;
	} else if (wanted && write_piece(b, p->path, p->text, p->at) < 0) {
		snprintf(why, sizeof why, "cannot be written: %s", strerror(errno));
		wanted = false;
	} else if (wanted) {
		b->bytes += r->bytes = p->text.len;
		evidence_hash(p->text.at, p->text.len, r->hash);
	}
	if (!wanted && p->state <= EVIDENCE_CUT) {
		r->state = EVIDENCE_MISSING;
		r->lost = true;
	}
	r->why = scrubbed(why);
	b->lost += r->lost;
}

/* --- the end --- */

static int by_path(const void *a, const void *b)
{
	return strverscmp(((const struct bundle_row *)a)->path, ((const struct bundle_row *)b)->path);
}

void bundle_pieces_end(struct bundle *b)
{
	if (b->rows)
		qsort(b->row, b->rows, sizeof *b->row, by_path);
	if (b->ballast >= 0)
		close(b->ballast);
	b->ballast = -1;
}

void bundle_lost(const struct bundle *b, struct buf *out)
{
	for (size_t i = 0; i < b->rows; i++) {
		bool told = !b->row[i].lost;
		size_t same = 0;

		for (size_t k = 0; k < i && !told; k++)
			told = b->row[k].lost && strcmp(b->row[k].why, b->row[i].why) == 0;
		if (told)
			continue;
		buf_printf(out, "  %s:", b->row[i].why);
		for (size_t k = i; k < b->rows; k++)
			if (b->row[k].lost && strcmp(b->row[k].why, b->row[i].why) == 0 && same++ < LOST_SHOWN)
				buf_printf(out, " %s", b->row[k].path);
		if (same > LOST_SHOWN)
			buf_printf(out, " and %zu more", same - LOST_SHOWN);
		buf_char(out, '\n');
	}
}

static void print_row(const struct bundle_row *r, struct buf *out)
{
	static const char *const word[] = { "ok", "cut", "missing", "none" };
	char stamp[32];

	buf_printf(out, "%s\t%zu\t%s\t%s\t%s\t%s\t%s\n", *r->hash ? r->hash : "-", r->bytes, r->path, word[r->state],
		evidence_stamp(stamp, sizeof stamp, r->at), r->from, r->why);
}

int bundle_close(struct bundle *b, struct error *error)
{
	static const char zero[TAR_BLOCK * 2];
	int64_t at = b->rows ? b->row[b->rows - 1].at : 0;
	struct buf out;
	int status;

	buf_init(&out, 0);
	buf_text(&out, "# sha256\tbytes\tpath\tstate\ttime\tfrom\twhy\n"
		"# check: grep -v '^[#-]' MANIFEST.txt | awk -F'\\t' '{ print $1 \"  \" $3 }' | sha256sum -c\n");
	for (size_t i = 0; i < b->rows; i++)
		print_row(&b->row[i], &out);
	status = write_piece(b, "MANIFEST.txt", buf_as_span(&out), at);
	if (status == 0 && b->tar >= 0)
		status = write_whole(b->tar, zero, sizeof zero);
	if (status == 0 && b->tar >= 0 && close(b->tar) < 0)
		status = -1;
	if (status < 0)
		error_set_errno(error, errno ? errno : b->write_errno, "cannot write the manifest of %s", b->path);
	else
		b->tar = -1;
	buf_release(&out);
	return status;
}

void bundle_release(struct bundle *b)
{
	if (b->ballast >= 0)
		close(b->ballast);
	if (b->dir >= 0)
		close(b->dir);
	if (b->tar >= 0)
		close(b->tar);
	for (size_t i = 0; i < b->rows; i++) {
		free(b->row[i].path);
		free(b->row[i].from);
		free(b->row[i].why);
	}
	free(b->row);
	free(b->path);
}
