/* file_blocks.c - windows of a mapped file, or plain read(). */
#include "config.h"

#include "app/file_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define WINDOW FILE_BLOCK_MAX
#define READ_BLOCK (256 * 1024)

/* For the handler: the window that is being looked at. */
static struct {
	char *at;
	size_t len;
	volatile sig_atomic_t broken;
} window;

/* From the page that is not there to the end of the window: zeros. A second fault elsewhere is not ours. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1), end = (uintptr_t)window.at + window.len;

	(void)context;
	if (window.at && page >= (uintptr_t)window.at && page < end &&
		mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
		window.broken = 1;
		return;
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* Why the window broke: -1 and the error. */
static int broken(int fd, const char *name, off_t at, struct error *error)
{
	struct stat st;
	char byte;

	if (pread(fd, &byte, 1, at) < 0)
		return error_set_errno(error, errno, "cannot read %s", name);
	if (fstat(fd, &st) == 0)
		return error_set(error, "%s was cut to %lld bytes while it was read: what stood behind is missing", name, (long long)st.st_size);
	return error_set(error, "%s changed while it was read", name);
}

static int map_windows(int fd, const char *name, off_t size, file_block_fn *block, void *context, struct error *error)
{
	int status = 0;

	for (off_t at = 0; at < size && status == 0; at += WINDOW) {
		size_t n = size - at < WINDOW ? (size_t)(size - at) : WINDOW;
		char *bytes = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, at);

		if (bytes == MAP_FAILED)
			return error_set_errno(error, errno, "cannot map %s", name);
		window.at = bytes;
		window.len = n;
		block(context, bytes, n);
		window.at = NULL;
		munmap(bytes, n);
		if (window.broken)
			status = broken(fd, name, at, error);
	}
	return status;
}

/* Whatever came after the size was looked at, and files that cannot be mapped. */
static int read_rest(int fd, const char *name, file_block_fn *block, void *context, struct error *error)
{
	char *bytes = mem_alloc(READ_BLOCK);
	ssize_t n;
	int status = 0;

	while ((n = read(fd, bytes, READ_BLOCK)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			block(context, bytes, (size_t)n);
	if (n < 0)
		status = error_set_errno(error, errno, "cannot read %s", name);
	free(bytes);
	return status;
}

int file_blocks(int fd, const char *name, file_block_fn *block, void *context, struct error *error)
{
	struct sigaction ours = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO }, before;
	struct stat st;
	int status;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < WINDOW || lseek(fd, 0, SEEK_CUR) != 0)
		return read_rest(fd, name, block, context, error);
	window.broken = 0;
	sigemptyset(&ours.sa_mask);
	sigaction(SIGBUS, &ours, &before);
	status = map_windows(fd, name, st.st_size, block, context, error);
	sigaction(SIGBUS, &before, NULL);
	if (status == 0 && lseek(fd, st.st_size, SEEK_SET) == st.st_size)
		status = read_rest(fd, name, block, context, error);
	return status;
}
