/* settings.c - settings from a file, and what is wrong with them in words. */
#include "config.h"

#include "app/settings.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/paths.h"
#include "base/mem.h"
#include "ui/keys.h"

#define VALUES_MAX 256

struct reading {
	const char *path;
	const char *(*option)(void *, const char *, const char *);
	void *context;
};

char *settings_path(void)
{
	const char *mine = getenv("HANGTOP_CONFIG");
	char *dir, path[4400];

	if (mine)
		return mem_text(mine);
	dir = path_config();
	snprintf(path, sizeof path, "%s/config.ini", dir);
	free(dir);
	return mem_text(path);
}

/* Options point into argv for the life of the process; so do those of the file. */
static const char *keep(const char *value)
{
	static char *kept[VALUES_MAX];
	static int count;

	return count < VALUES_MAX ? (kept[count++] = mem_text(value)) : NULL;
}

static void warn(const struct reading *r, const char *section, const char *name, const char *why)
{
	fprintf(stderr, "hangtop: %s: [%s] %s: %s; left out\n", r->path, section, name, why);
}

static int on_line(void *context, const char *section, const char *name, const char *value)
{
	struct reading *r = context;
	const char *why = NULL;
	struct error error;

	if (strcmp(section, "options") == 0) {
		const char *kept = keep(value);

		why = kept ? r->option(r->context, name, kept) : "too many settings";
	} else if (strcmp(section, "keys") == 0) {
		if (keys_bind(span_of(name), span_of(value), &error) < 0)
			why = error.text;
	} else {
		why = "not a section hangtop knows (options, keys)";
	}
	if (why)
		warn(r, section, name, why);
	return 1;
}

void settings_read(const char *path, const char *(*option)(void *context, const char *name, const char *value), void *context)
{
	struct reading r = { path, option, context };
	int line;

	errno = 0;
	line = ini_parse(path, on_line, &r);
	if (line > 0)
		fprintf(stderr, "hangtop: %s: line %d is neither \"name = value\" nor \"[section]\"; left out\n", path, line);
	else if (line < 0 && errno != ENOENT && errno != ENOTDIR)
		fprintf(stderr, "hangtop: %s cannot be read: %s; going on without it\n", path, strerror(errno));
}
