/* place.c - where a session lives. */
#include "config.h"

#include "store/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

static int cannot(struct error *error, int number, const char *what, const char *path)
{
	error_set_errno(error, number, "%s %.200s", what, path);
	return error_fix(error, "give a place that can be written with --db FILE, or --no-db");
}

static int make_parents(const char *path, struct error *error)
{
	char part[4096];

	snprintf(part, sizeof part, "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct stat st;

		*slash = 0;
		if (stat(part, &st) < 0 && mkdir(part, 0700) < 0 && errno != EEXIST)
			return cannot(error, errno, "cannot make the folder", part);
		*slash = '/';
	}
	return 0;
}

/* WAL needs shared memory on one host: NFS, SMB, CIFS, SMB2, FUSE, Lustre, GPFS, CephFS, OCFS2, 9P, AFS, BeeGFS. */
static bool on_network(const char *path)
{
	static const unsigned long remote[] = {0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x0bd00bd0,
		0x47504653, 0x00c36400, 0x7461636f, 0x01021997, 0x5346414f, 0x19830326};
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
		if (((unsigned long)fs.f_type & 0xffffffff) == remote[i])
			return true;
	return false;
}

static int create_file(struct place *place, struct error *error)
{
	struct stat st;
	int fd = open(place->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	place->created = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(place->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return cannot(error, errno, "cannot write the session file", place->path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		error_set(error, "%s is not a regular file", place->path);
		return error_fix(error, "give another place with --db FILE, or --no-db");
	}
	place->dev = st.st_dev;
	place->ino = st.st_ino;
	close(fd);
	return 0;
}

static int lock(struct place *place, struct error *error)
{
	place->ballast_fd = open(place->ballast, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (place->ballast_fd < 0)
		return cannot(error, errno, "cannot write beside the session file:", place->ballast);
	if (flock(place->ballast_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(place->ballast_fd);
		place->ballast_fd = -1;
		error_set(error, "another hangtop records into %s", place->path);
		return error_fix(error, "give another file with --db FILE");
	}
	return 0;
}

int place_open(struct place *place, const char *path, struct error *error)
{
	memset(place, 0, sizeof *place);
	place->ballast_fd = -1;
	if (strlen(path) >= sizeof place->path)
		return cannot(error, ENAMETOOLONG, "cannot write the session file", path);
	snprintf(place->path, sizeof place->path, "%s", path);
	snprintf(place->ballast, sizeof place->ballast, "%s.ballast", path);
	if (make_parents(path, error) < 0 || create_file(place, error) < 0)
		return -1;
	if (lock(place, error) < 0) {
		place_undo(place);
		return -1;
	}
	place->network = on_network(path);
	place_take_reserve(place);
	return 0;
}

void place_close(struct place *place)
{
	if (place->ballast_fd < 0)
		return;
	unlink(place->ballast);
	close(place->ballast_fd);
	place->ballast_fd = -1;
}

void place_undo(struct place *place)
{
	place_close(place);
	if (place->created && place_bytes(place, "") == 0)
		unlink(place->path);
}

void place_give_back(struct place *place)
{
	if (ftruncate(place->ballast_fd, 0) < 0)
		unlink(place->ballast);
	place->reserve = false;
}

bool place_take_reserve(struct place *place)
{
	struct statvfs fs;

	if (place->reserve)
		return true;
	if (fstatvfs(place->ballast_fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < 3 * (uint64_t)PLACE_BALLAST)
		return false;
	place->reserve = posix_fallocate(place->ballast_fd, 0, PLACE_BALLAST) == 0;
	if (!place->reserve && ftruncate(place->ballast_fd, 0) < 0)
		unlink(place->ballast);
	return place->reserve;
}

bool place_is_there(const struct place *place)
{
	struct stat st;

	return stat(place->path, &st) == 0 && st.st_dev == place->dev && st.st_ino == place->ino;
}

int64_t place_bytes(const struct place *place, const char *suffix)
{
	char name[4112];
	struct stat st;

	snprintf(name, sizeof name, "%s%s", place->path, suffix);
	return stat(name, &st) == 0 ? (int64_t)st.st_size : 0;
}
