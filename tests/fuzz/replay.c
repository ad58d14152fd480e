/* replay.c - every input at hand through every target of targets.c, without libFuzzer. Speaks TAP, a line a target.
 *
 * Inputs: tests/data/explain, tests/data/code_object, tests/fuzz/corpus, tests/fuzz/found, the golden files of the GPU tools; shipped
 * profiles and signatures. `replay FILE...` takes these instead. A crash is the last line "# target: file" on standard error.
 */
#include "config.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "targets.h"

#define FILES_MAX 20000
#define FILES_LEAST 100         /* fewer: a folder is not where it should be */
#define BYTES_MAX (4 << 20)

static char *files[FILES_MAX];
static size_t count;

static int on_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F && count < FILES_MAX)
		files[count++] = mem_text(path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_files(void)
{
	static const char *const folders[] = { "tests/data/explain", "tests/fuzz/corpus", "tests/fuzz/found", "tests/golden/gpu",
		"tests/data/code_object", "data/profiles", "data/signatures" };
	const char *top = getenv("srcdir");
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s/%s", top ? top : ".", folders[i]);
		nftw(path, on_file, 16, FTW_PHYS);
	}
	qsort(files, count, sizeof *files, by_name);
}

/* A block of its exact length. */
static char *read_file(const char *path, size_t *len)
{
	char *all = malloc(BYTES_MAX), *text;
	FILE *f = fopen(path, "rbe");

	*len = f ? fread(all, 1, BYTES_MAX, f) : 0;
	if (f)
		fclose(f);
	text = malloc(*len ? *len : 1);
	memcpy(text, all, *len);
	free(all);
	return text;
}

int main(int argc, char **argv)
{
	bool all = argc < 2;

	for (int i = 1; i < argc; i++)
		files[count++] = mem_text(argv[i]);
	if (all)
		find_files();
	printf("1..%zu\n", fuzz_target_count + 1);
	printf("%s 1 - %zu inputs found\n", all && count < FILES_LEAST ? "not ok" : "ok", count);
	fuzz_start();
	for (size_t i = 0; i < fuzz_target_count; i++) {
		for (size_t k = 0; k < count; k++) {
			size_t len;
			char *text = read_file(files[k], &len);

			fprintf(stderr, "# %s: %s\n", fuzz_targets[i].name, files[k]);
			fuzz_targets[i].run(span_make(text, len));
			free(text);
		}
		printf("ok %zu - %s\n", i + 2, fuzz_targets[i].name);
		fflush(stdout);
	}
	for (size_t k = 0; k < count; k++)
		free(files[k]);
	return all && count < FILES_LEAST;
}
