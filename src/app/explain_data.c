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

static void load_folder(struct explain_data *data, const char *folder)
{
	struct dirent **list;
	struct error error;
	struct buf text;
	char path[4400];
	int n;

	buf_init(&text, FILE_MAX);
	snprintf(path, sizeof path, "%s/kernels.tsv", folder);
	if (read_file(path, &text) && kernels_load(&data->kernels, buf_as_span(&text), path, &error) < 0)
		complain_about(&error);
	snprintf(path, sizeof path, "%s/signatures", folder);
	n = scandir(path, &list, is_conf, alphasort);
	for (int i = 0; i < n; i++) {
		struct signature *s;

		snprintf(path, sizeof path, "%s/signatures/%s", folder, list[i]->d_name);
		if (read_file(path, &text)) {
			s = signature_parse(buf_as_span(&text), path, &error);
			if (s)
				signature_set_add(&data->signatures, s);
			else
				complain_about(&error);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	buf_release(&text);
}

void explain_data_load(struct explain_data *data, const char *extra)
{
	char *shipped = data_dir(), *mine = path_config();

	memset(data, 0, sizeof *data);
	load_folder(data, shipped);
	load_folder(data, mine);
	if (extra)
		load_folder(data, extra);
	free(shipped);
	free(mine);
}

void explain_data_release(struct explain_data *data)
{
	kernels_release(&data->kernels);
	signature_set_release(&data->signatures);
}
