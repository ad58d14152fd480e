/* paths.c - XDG folders. */
#include "config.h"

#include "app/paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/span.h"

#define PATH_SIZE 4400

static char *state_folder(const char *name)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char path[PATH_SIZE];

	if (state && *state == '/')
		snprintf(path, sizeof path, "%s/hangtop/%s", state, name);
	else
		snprintf(path, sizeof path, "%s/.local/state/hangtop/%s", home && *home ? home : "/tmp", name);
	return mem_text(path);
}

char *path_sessions(void)
{
	return state_folder("sessions");
}

char *path_snapshots(void)
{
	return state_folder("snapshots");
}

char *path_config(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_SIZE];

	if (config && *config == '/')
		snprintf(path, sizeof path, "%s/hangtop", config);
	else
		snprintf(path, sizeof path, "%s/.config/hangtop", home && *home ? home : "/tmp");
	return mem_text(path);
}

char *path_new_session(int64_t now)
{
	char *dir = path_sessions(), path[PATH_SIZE + 64], stamp[32];
	time_t seconds = (time_t)(now / 1000);
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
	snprintf(path, sizeof path, "%s/%s-%d.hangtop", dir, stamp, (int)getpid());
	free(dir);
	return mem_text(path);
}

char *path_newest_session(void)
{
	char *dir = path_sessions(), path[PATH_SIZE + 300], *best = NULL;
	DIR *d = opendir(dir);
	struct timespec newest = { 0, 0 };
	struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d))) {
		if (!span_ends(span_of(entry->d_name), ".hangtop"))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		if (stat(path, &st) < 0 || st.st_mtim.tv_sec < newest.tv_sec ||
			(st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec < newest.tv_nsec))
			continue;
		newest = st.st_mtim;
		free(best);
		best = mem_text(path);
	}
	if (d)
		closedir(d);
	free(dir);
	return best;
}

char *path_self(void)
{
	char path[PATH_SIZE];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return mem_text("hangtop");
	path[n] = 0;
	return mem_text(path);
}
