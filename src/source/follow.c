/* follow.c - reading a file that grows, shrinks, moves and goes. */
#include "config.h"

#include "source/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

void follow_init(struct follow *f, void (*line)(void *, struct span, int64_t, bool), void (*restarted)(void *), void *context)
{
	memset(f, 0, sizeof *f);
	f->line = line;
	f->restarted = restarted;
	f->context = context;
	f->fd = -1;
}

static void forget_line(struct follow *f)
{
	f->kept = 0;
	f->skipping = false;
	f->told_unfinished = false;
}

void follow_close(struct follow *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	forget_line(f);
}

void follow_release(struct follow *f)
{
	follow_close(f);
	free(f->path);
	free(f->block);
	f->path = f->block = NULL;
}

/* Nothing but regular files is ever opened: to open and close the reading end of a pipe would end its writer. */
static int open_regular(const char *path, struct stat *st, struct error *error)
{
	bool there = stat(path, st) == 0;
	int fd = there && S_ISREG(st->st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

	if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	if (fd < 0 && !(there && !S_ISREG(st->st_mode)))
		return error_set_errno(error, errno, "cannot open %s", path);
	errno = EINVAL;
	return error_set(error, "%s is not a regular file", path);
}

enum follow_state follow_open(struct follow *f, const char *path, int64_t offset, struct error *error)
{
	struct stat st;
	int fd = open_regular(path, &st, error);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? FOLLOW_ABSENT : FOLLOW_FAILED;
	follow_close(f);
	if (path != f->path) {
		free(f->path);
		f->path = mem_text(path);
	}
	if (!f->block)
		f->block = mem_alloc(FOLLOW_LINE_MAX + FOLLOW_BLOCK);
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = st.st_size;
	f->offset = offset < 0 ? f->size : offset > f->size ? 0 : offset;
	return FOLLOW_IDLE;
}

/* --- lines --- */

static void tell(struct follow *f, struct span line, int64_t offset)
{
	while (line.len && line.at[0] == 0) {
		line = span_sub(line, 1, line.len);
		offset++;
	}
	if (line.len == 0)
		return;
	f->lines++;
	f->line(f->context, line, offset, false);
}

/* The end of the line at p: the LF or CR behind it, or NULL. *lf remembers the next LF across calls. */
static char *line_end(char *p, char *end, char **lf)
{
	char *cr;

	if (*lf < p)
		*lf = memchr(p, '\n', (size_t)(end - p));
	if (!*lf)
		*lf = end;
	cr = memchr(p, '\r', (size_t)(*lf - p));
	if (cr)
		return cr;
	return *lf == end ? NULL : *lf;
}

/* Tell all whole lines in [block, block + len), which starts at file offset `base`; returns the bytes used. */
static size_t split(struct follow *f, size_t len, int64_t base)
{
	char *p = f->block, *end = p + len, *lf = NULL, *stop;

	while (p < end && (stop = line_end(p, end, &lf))) {
		if (f->skipping)
			f->skipping = false;
		else
			tell(f, span_sub(span_make(p, (size_t)(stop - p)), 0, FOLLOW_LINE_MAX), base + (p - f->block));
		p = stop + 1;
	}
	return (size_t)(p - f->block);
}

static void take_block(struct follow *f, size_t n)
{
	size_t len = f->kept + n, used, nul = 0;
	int64_t base = f->offset - (int64_t)f->kept;

	used = split(f, len, base);
	f->offset += (int64_t)n;
	f->bytes += n;
	f->told_unfinished = false;
	f->kept = len - used;
	while (nul < f->kept && f->block[used + nul] == 0)
		nul++;
	f->kept -= nul;
	used += nul;
	if (f->skipping)
		f->kept = 0;
	if (f->kept > FOLLOW_LINE_MAX) {
		tell(f, span_make(f->block + used, FOLLOW_LINE_MAX), base + (int64_t)used);
		f->skipping = true;
		f->kept = 0;
	}
	memmove(f->block, f->block + used, f->kept);
}

/* What has no end and does not grow: a progress bar's last state, or the last words of a process that died. */
static void tell_unfinished(struct follow *f)
{
	if (f->told_unfinished || f->skipping || f->kept == 0)
		return;
	f->told_unfinished = true;
	f->line(f->context, span_make(f->block, f->kept), f->offset - (int64_t)f->kept, true);
}

/* --- turns --- */

void follow_rewind(struct follow *f)
{
	f->offset = 0;
	forget_line(f);
}

/* The path leads to another file now. An unfinished line of the old one will not get longer. */
static enum follow_state rotate(struct follow *f, struct error *error)
{
	enum follow_state state;

	if (f->kept && !f->skipping)
		tell(f, span_make(f->block, f->kept), f->offset - (int64_t)f->kept);
	state = follow_open(f, f->path, 0, error);
	if (state == FOLLOW_IDLE) {
		f->restarted(f->context);
		return FOLLOW_MORE;
	}
	forget_line(f);
	return state;
}

static enum follow_state at_end(struct follow *f, bool grew, struct error *error)
{
	struct stat st;

	if (grew)
		return FOLLOW_IDLE; /* whether it is another file now is looked at when this one is quiet */
	/* Not there for the moment, or not readable: follow what is open. */
	if (stat(f->path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_ino != f->ino || st.st_dev != f->dev))
		return rotate(f, error);
	tell_unfinished(f);
	return FOLLOW_IDLE;
}

static int look(struct follow *f, struct error *error)
{
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return error_set_errno(error, errno, "cannot look at %s", f->path);
	f->size = st.st_size;
	if (f->size < f->offset) {
		follow_rewind(f);
		f->restarted(f->context);
	}
	return 0;
}

enum follow_state follow_turn(struct follow *f, struct error *error)
{
	int64_t until = clock_mono_ms() + FOLLOW_TURN_MS;
	size_t taken = 0;
	ssize_t n;

	if (f->fd < 0)
		return FOLLOW_ABSENT;
	if (look(f, error) < 0)
		return FOLLOW_FAILED;
	while (f->offset < f->size) {
		if (taken >= FOLLOW_TURN_BYTES || (taken && clock_mono_ms() >= until))
			return FOLLOW_MORE;
		n = pread(f->fd, f->block + f->kept, FOLLOW_BLOCK, f->offset);
		if (n < 0) {
			error_set_errno(error, errno, "cannot read %s", f->path);
			return FOLLOW_FAILED;
		}
		if (n == 0)
			break; /* it shrank just now */
		take_block(f, (size_t)n);
		taken += (size_t)n;
	}
	return at_end(f, taken != 0, error);
}

void follow_look_back(struct follow *f, int64_t bytes)
{
	struct follow back;
	bool whole;

	if (f->fd < 0)
		return;
	f->offset -= (int64_t)f->kept;
	f->kept = 0;
	back = *f;
	whole = bytes >= f->offset;
	back.block = mem_alloc(FOLLOW_LINE_MAX + FOLLOW_BLOCK);
	back.offset = whole ? 0 : f->offset - bytes;
	back.skipping = !whole;
	while (back.offset < f->offset) {
		int64_t left = f->offset - back.offset;
		ssize_t n = pread(back.fd, back.block + back.kept, left < FOLLOW_BLOCK ? (size_t)left : FOLLOW_BLOCK, back.offset);

		if (n <= 0)
			break;
		take_block(&back, (size_t)n);
	}
	f->offset -= (int64_t)back.kept;
	f->skipping = back.skipping;
	free(back.block);
}
