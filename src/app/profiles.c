/* profiles.c - find and read profile files. */
#include "config.h"

#include "app/profiles.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/paths.h"
#include "base/mem.h"

#define PROFILE_BYTES_MAX (256 * 1024)

static bool has_profiles(const char *dir)
{
	char path[4200];

	if (strlen(dir) > 4100)
		return false;
	snprintf(path, sizeof path, "%s/profiles", dir);
	return access(path, R_OK | X_OK) == 0;
}

char *data_dir(void)
{
	const char *env = getenv("HANGTOP_DATA");
	static const char *const beside[] = { "data", "../data" };
	char exe[4000], path[4096];
	ssize_t n;

	if (env && *env)
		return mem_text(env);
	n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n > 0) {
		exe[n] = 0;
		*strrchr(exe, '/') = 0;
		for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
			snprintf(path, sizeof path, "%s/%s", exe, beside[i]);
			if (has_profiles(path))
				return mem_text(path);
		}
	}
	return mem_text(DATADIR);
}

static void load_file(struct profile_set *set, const char *path, struct buf *trouble)
{
	struct profile *profile;
	struct error error;
	struct buf text;
	char block[16384];
	FILE *file = fopen(path, "re");
	size_t n;

	if (!file) {
		buf_printf(trouble, "cannot read %s: %s\n", path, strerror(errno));
		return;
	}
	buf_init(&text, PROFILE_BYTES_MAX);
	while ((n = fread(block, 1, sizeof block, file)) > 0 && !text.cut)
		buf_add(&text, block, n);
	fclose(file);
	profile = profile_parse(buf_as_span(&text), path, &error);
	if (profile)
		profile_set_add(set, profile);
	else
		buf_printf(trouble, "%s\n", error.text);
	buf_release(&text);
}

static void load_dir(struct profile_set *set, const char *dir, struct buf *trouble)
{
	struct dirent **list = NULL;
	char path[4600];
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (span_ends(span_of(list[i]->d_name), ".conf") && list[i]->d_name[0] != '.') {
			snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
			load_file(set, path, trouble);
		}
		free(list[i]);
	}
	free(list);
}

void profiles_load(struct profile_set *set, const char *extra, struct buf *trouble)
{
	char *data = data_dir(), *config = path_config(), path[4400];

	snprintf(path, sizeof path, "%s/profiles", data);
	load_dir(set, path, trouble);
	snprintf(path, sizeof path, "%s/profiles", config);
	load_dir(set, path, trouble);
	if (extra)
		load_dir(set, extra, trouble);
	if (!set->count)
		buf_printf(trouble, "no engine profiles in %s/profiles: set HANGTOP_DATA to hangtop's data folder\n", data);
	free(data);
	free(config);
}
