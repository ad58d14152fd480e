/* explain_data.c - from the data folders. */
#include "config.h"

#include "app/explain_data.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/paths.h"
#include "app/profiles.h"
#include "base/buf.h"

#define FILE_MAX (4 << 20)

static bool read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "re");
	char block[8192];
	size_t n;

	if (!file)
		return false;
	buf_clear(out);
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		buf_add(out, block, n);
	fclose(file);
	return true;
}

static void complain_about(const struct error *error)
{
	fprintf(stderr, "hangtop: %s; left out\n", error->text);
}

static int is_conf(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && span_ends(span_of(entry->d_name), ".conf");
}

static void load_kernels(struct kernel_set *kernels, const char *folder)
{
	struct error error;
	struct buf text;
	char path[4400];

	buf_init(&text, FILE_MAX);
	snprintf(path, sizeof path, "%s/kernels.tsv", folder);
	if (read_file(path, &text) && kernels_load(kernels, buf_as_span(&text), path, &error) < 0)
		complain_about(&error);
	buf_release(&text);
}

static void load_signatures(struct signature_set *signatures, const char *folder)
{
	struct dirent **list;
	struct error error;
	struct buf text;
	char path[4400];
	int n;

	buf_init(&text, FILE_MAX);
	snprintf(path, sizeof path, "%s/signatures", folder);
	n = scandir(path, &list, is_conf, alphasort);
	for (int i = 0; i < n; i++) {
		struct signature *s;

		snprintf(path, sizeof path, "%s/signatures/%s", folder, list[i]->d_name);
		if (read_file(path, &text)) {
			s = signature_parse(buf_as_span(&text), path, &error);
			if (s)
				signature_set_add(signatures, s);
			else
				complain_about(&error);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	buf_release(&text);
}

/* Later folders win. `signatures` may be NULL. */
static void load(struct kernel_set *kernels, struct signature_set *signatures, const char *extra)
{
	char *shipped = data_dir(), *mine = path_config();
	const char *folders[] = { shipped, mine, extra };

	for (size_t i = 0; i < sizeof folders / sizeof *folders && folders[i]; i++) {
		load_kernels(kernels, folders[i]);
		if (signatures)
			load_signatures(signatures, folders[i]);
	}
	free(shipped);
	free(mine);
}

void explain_data_load(struct explain_data *data, const char *extra)
{
	memset(data, 0, sizeof *data);
	load(&data->kernels, &data->signatures, extra);
}

void kernel_data_load(struct kernel_set *kernels, const char *extra)
{
	load(kernels, NULL, extra);
}

void explain_data_release(struct explain_data *data)
{
	kernels_release(&data->kernels);
	signature_set_release(&data->signatures);
}
