/* code_file.c - looks for code objects on disk: names come from a log, so only plain files are opened, and walks have a bound. */
#include "config.h"

#include "app/code_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define ENTRIES_MAX 200000
#define COPY_MAX (INT64_C(2) << 30)
#define BLOCK (256 * 1024)

struct search {
	const struct code_object *object;
	struct code_file *file;
	time_t newest;
	int found, entries;
};

static int open_plain(const char *path, int64_t *size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	errno = EINVAL;
	return -1;
}

/* --- finding --- */

static void take(struct search *s, const char *path, const struct stat *st)
{
	if (!s->found++ || st->st_mtime > s->newest) {
		s->newest = st->st_mtime;
		snprintf(s->file->source, sizeof s->file->source, "%s", path);
	}
}

static void walk(struct search *s, const char *folder, int levels)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;
	char path[PATH_MAX];

	while (dir && s->entries++ < ENTRIES_MAX && (entry = readdir(dir))) {
		bool fits = code_object_is_saved_as(s->object->uri, span_of(entry->d_name));

		if (entry->d_name[0] == '.' || (!fits && !levels) ||
			(size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= sizeof path || lstat(path, &st) < 0)
			continue;
		if (fits && S_ISREG(st.st_mode))
			take(s, path, &st);
		else if (levels && S_ISDIR(st.st_mode))
			walk(s, path, levels - 1);
	}
	if (dir)
		closedir(dir);
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The file of a file:// URI: where it says, or under its name in the folder. */
static bool find_library(struct code_file *file, const char *folder, const struct code_object *object)
{
	const char *slash = strrchr(object->path, '/');

	snprintf(file->source, sizeof file->source, "%s", object->path);
	if (object->path[0] == '/' && exists(file->source))
		return true;
	return folder && (size_t)snprintf(file->source, sizeof file->source, "%s/%s", folder, slash ? slash + 1 : object->path) <
		sizeof file->source && exists(file->source);
}

static int not_found(const char *folder, const struct code_object *object, struct error *error)
{
	const char *unsaved = "start the server with HSA_TOOLS_LIB=/opt/rocm/lib/librocm-debug-agent.so.2 and "
		"ROCM_DEBUG_AGENT_OPTIONS=\"--all --save-code-objects=DIR\", then name DIR with --code-objects";
	struct stat st;
	struct buf name;

	if (folder && stat(folder, &st) < 0) {
		error_set_errno(error, errno, "cannot look into the folder of code objects %s", folder);
		return error_fix(error, "name the folder given to the debug agent as --save-code-objects=DIR");
	}
	if (object->scheme == CODE_OBJECT_FILE) {
		error_set(error, "the library %.250s is not on this machine", object->path);
		return error_fix(error, "copy it out of the container into a folder and name that folder with --code-objects");
	}
	if (!folder) {
		error_set(error, "the code was in memory of process %lld, and no folder of saved code objects is given", (long long)object->pid);
		return error_fix(error, "%s", unsaved);
	}
	buf_init(&name, 4096);
	code_object_saved_suffix(object->uri, &name);
	error_set(error, "no file in %.150s has a name that ends with %.200s", folder, buf_string(&name));
	buf_release(&name);
	return error_fix(error, "the pid is that of the container, and must be the one of the dump; if it was not saved, %s", unsaved);
}

/* --- a part of a file --- */

static int make_copy(struct code_file *file, int from, struct error *error)
{
	const char *folder = getenv("TMPDIR");
	int64_t done = 0;
	ssize_t n = 0;
	char *block;

	if ((size_t)snprintf(file->path, sizeof file->path, "%s/hangtop-code-XXXXXX", folder && *folder ? folder : "/tmp") >= sizeof file->path)
		return error_set(error, "the name in TMPDIR is too long");
	file->fd = mkostemp(file->path, O_CLOEXEC);
	if (file->fd < 0) {
		error_set_errno(error, errno, "cannot make a temporary file %s", file->path);
		return error_fix(error, "set TMPDIR to a folder that can be written");
	}
	file->copied = true;
	block = mem_alloc(BLOCK);
	while (done < file->size) {
		size_t want = file->size - done < BLOCK ? (size_t)(file->size - done) : BLOCK;

		n = pread(from, block, want, file->offset + done);
		if (n <= 0 || write(file->fd, block, (size_t)n) != n)
			break;
		done += n;
	}
	free(block);
	if (done == file->size)
		return 0;
	error_set_errno(error, n == 0 ? EIO : errno, "cannot copy the code object out of %s to %s", file->source, file->path);
	return error_fix(error, "set TMPDIR to a folder with %lld MiB of room", (long long)(file->size >> 20) + 1);
}

/* The whole file when it is the saved one or no range is named, else the range. */
static int open_part(struct code_file *file, const struct code_object *object, struct error *error)
{
	int64_t size;
	int fd = open_plain(file->source, &size), status;

	if (fd < 0)
		return error_set_errno(error, errno, "cannot read the code object %s", file->source);
	file->offset = 0;
	file->size = size;
	if (file->saved && object->size >= 0 && size != object->size) {
		close(fd);
		error_set(error, "%.250s has %lld bytes, the code object had %lld", file->source, (long long)size, (long long)object->size);
		return error_fix(error, "it was saved only in part (disk full?), or by another run: save it again");
	}
	if (!file->saved && object->size >= 0 && object->offset >= 0) {
		if (object->offset > size || object->size > size - object->offset || object->size > COPY_MAX) {
			close(fd);
			error_set(error, "%.200s has %lld bytes, but the code object lies at %lld and has %lld", file->source, (long long)size,
				(long long)object->offset, (long long)object->size);
			return error_fix(error, "this is another version of the library than the one that ran: take the one of the container");
		}
		file->offset = object->offset;
		file->size = object->size;
	}
	if (file->size == size) {
		file->fd = fd;
		snprintf(file->path, sizeof file->path, "%s", file->source);
		return 0;
	}
	status = make_copy(file, fd, error);
	close(fd);
	return status;
}

int code_file_open(struct code_file *file, const char *folder, const struct code_object *object, struct error *error)
{
	struct search search = { .object = object, .file = file };

	memset(file, 0, sizeof *file);
	file->fd = -1;
	if (folder)
		walk(&search, folder, 1);
	file->saved = search.found > 0;
	file->others = search.found > 1 ? search.found - 1 : 0;
	if (!file->saved && !(object->scheme == CODE_OBJECT_FILE && find_library(file, folder, object)))
		return not_found(folder, object, error);
	if (open_part(file, object, error) == 0)
		return 0;
	code_file_close(file);
	return -1;
}

void code_file_close(struct code_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->copied)
		unlink(file->path);
	file->fd = -1;
	file->copied = false;
}

static bool read_at(void *context, uint64_t offset, void *to, size_t len)
{
	const struct code_file *file = context;

	return offset <= INT64_MAX - len && pread(file->fd, to, len, (off_t)offset) == (ssize_t)len;
}

struct code_elf_reader code_file_reader(struct code_file *file)
{
	return (struct code_elf_reader){ read_at, file };
}
