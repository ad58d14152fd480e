/* side_file.c - small files that outlive whoever writes them. */
#include "config.h"

#include "snapshot/side_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define HOUR_MS 3600000
#define FILES_MAX 100000
#define LINES_MAX 10000

int side_folder(const char *folder, struct error *error)
{
	char path[SIDE_PATH_MAX];

	snprintf(path, sizeof path, "%s", folder);
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		error_set_errno(error, errno, "cannot make the folder %s", folder);
		return error_fix(error, "set XDG_STATE_HOME to a folder that can be written");
	}
	return 0;
}

void side_path(char out[SIDE_PATH_MAX], const char *folder, const char *id, const char *ending)
{
	snprintf(out, SIDE_PATH_MAX, "%s/%s%s", folder, id, ending);
}

int side_lock(const char *folder, int64_t pid, struct error *error)
{
	char path[SIDE_PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/pid-%" PRId64 ".lock", folder, pid);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot make %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		error_set(error, "%s", "");
		close(fd);
		return -1;
	}
	return fd;
}

FILE *side_open(const char *folder, const char *id, struct error *error)
{
	char path[SIDE_PATH_MAX];
	int fd;

	side_path(path, folder, id, ".jsonl");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0) {
		error_set_errno(error, errno, "cannot write %s", path);
		return NULL;
	}
	return fdopen(fd, "a");
}

int side_write(FILE *file, const struct observation *o)
{
	struct buf line;
	bool ok;

	buf_init(&line, OBSERVATION_LINE_MAX);
	observation_encode(o, &line);
	buf_char(&line, '\n');
	ok = fwrite(line.at, 1, line.len, file) == line.len && fflush(file) == 0 && (fdatasync(fileno(file)) == 0 || errno == EINVAL);
	buf_release(&line);
	return ok ? 0 : -1;
}

void side_run_write(const char *folder, const char *id, const struct side_run *run)
{
	char path[SIDE_PATH_MAX], text[128];
	int fd, n;

	side_path(path, folder, id, ".run");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	n = snprintf(text, sizeof text, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", run->debugger, run->debugger_start, run->target,
		run->target_start);
	if (write(fd, text, (size_t)n) == n)
		fdatasync(fd);
	close(fd);
}

bool side_run_read(const char *folder, const char *id, struct side_run *run)
{
	char path[SIDE_PATH_MAX], text[128];
	struct span rest;
	ssize_t n;
	int fd;

	side_path(path, folder, id, ".run");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	rest = span_make(text, n > 0 ? (size_t)n : 0);
	return span_take_int(&rest, &run->debugger) && span_skip(&rest, " ") && span_take_int(&rest, &run->debugger_start) &&
	       span_skip(&rest, " ") && span_take_int(&rest, &run->target) && span_skip(&rest, " ") && span_take_int(&rest, &run->target_start) &&
	       run->debugger > 1 && run->target > 1;
}

bool side_read(const char *folder, const char *id, const char *ending, void (*each)(void *context, const struct observation *o), void *context)
{
	char path[SIDE_PATH_MAX], *line = NULL;
	struct buf arena;
	size_t size = 0;
	ssize_t n;
	FILE *file;
	int lines = 0;

	side_path(path, folder, id, ending);
	file = fopen(path, "re");
	if (!file)
		return false;
	buf_init(&arena, OBSERVATION_LINE_MAX);
	while (lines++ < LINES_MAX && (n = getline(&line, &size, file)) > 0) {
		struct observation o;

		buf_clear(&arena);
		if (n <= OBSERVATION_LINE_MAX && line[n - 1] == '\n' &&
			observation_decode(span_make(line, (size_t)n - 1), &o, &arena, NULL) == 0)
			each(context, &o);
	}
	buf_release(&arena);
	free(line);
	fclose(file);
	return true;
}

/* --- the budget --- */

struct used { int64_t pid, start, since; double ms; };

static void add_used(void *context, const struct observation *o)
{
	struct used *used = context;
	int64_t pid, start, began;
	double ms;

	if (o->kind == KIND_snapshot && observation_get_int(o, SNAPSHOT_pid, &pid) && pid == used->pid &&
		observation_get_int(o, SNAPSHOT_start, &start) && start == used->start && observation_get_int(o, SNAPSHOT_began, &began) &&
		began >= used->since && observation_get_real(o, SNAPSHOT_stopped_ms, &ms))
		used->ms += ms;
}

int64_t side_used_ms(const char *folder, int64_t pid, int64_t start_ms, int64_t now)
{
	struct used used = { pid, start_ms, now - HOUR_MS, 0 };
	char prefix[32], id[256];
	struct dirent *entry;
	int files = 0;
	DIR *dir = opendir(folder);

	snprintf(prefix, sizeof prefix, "%" PRId64 "-", pid);
	while (dir && files++ < FILES_MAX && (entry = readdir(dir))) {
		struct span name = span_of(entry->d_name);
		const char *ending = span_ends(name, ".done.jsonl") ? ".done.jsonl" : ".jsonl";

		if (!span_starts(name, prefix) || !span_ends(name, ending))
			continue;
		snprintf(id, sizeof id, "%.*s", (int)(name.len - strlen(ending)), name.at);
		side_read(folder, id, ending, add_used, &used);
	}
	if (dir)
		closedir(dir);
	return (int64_t)used.ms;
}
