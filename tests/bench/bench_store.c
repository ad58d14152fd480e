/* bench_store.c - what recording costs and how fast a moment is found again. One line a figure; needs a folder with room. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../unit/store_load.h"
#include "model/model.h"
#include "store/reader.h"
#include "store/writer.h"

static char dir[300];

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Bytes this process has had written to a disk. */
static double written(void)
{
	unsigned long long bytes = 0;
	char line[100];
	FILE *f = fopen("/proc/self/io", "re");

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "write_bytes: ", 13) == 0)
			bytes = strtoull(line + 13, NULL, 10);
	if (f)
		fclose(f);
	return (double)bytes;
}

static void add(void *context, const struct observation *o)
{
	writer_add(context, o);
}

static struct writer *start(const char *name, char *path, size_t size)
{
	struct writer_options options = {0};
	struct writer *w;
	struct error error;

	snprintf(path, size, "%s/%s.db", dir, name);
	options.path = path;
	if (writer_open(&w, &options, &error) < 0) {
		fprintf(stderr, "bench_store: %s\n", error.text);
		exit(1);
	}
	return w;
}

static double file_mb(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

static void figure(const char *what, double value, const char *unit, const char *bar)
{
	printf("%-58s %12.2f %-10s bar %s\n", what, value, unit, bar);
	fflush(stdout);
}

/* Ticks as fast as the writer takes them, in batches of its own making. */
static void flood(int ticks)
{
	char path[400];
	struct writer *w = start("flood", path, sizeof path);
	struct load load = {.each = add, .context = w, .seed = 1};
	double began = now_ms();

	for (int i = 0; i < ticks; i++) {
		load_tick(&load, LOAD_T0 + i * INT64_C(1000));
		if (i % 200 == 199)
			writer_wait(w, 20000);
	}
	writer_wait(w, 0);
	figure("values a second, batches by size", (double)load.values / (now_ms() - began) * 1e3, "values/s",
		"> 300000");
	figure("values in a tick", (double)load.values / ticks, "values", "325");
	writer_close(w);
	unlink(path);
}

/* One tick, one commit, as it is live. */
static void tick_by_tick(int ticks)
{
	char path[400];
	struct writer *w = start("ticks", path, sizeof path);
	struct load load = {.each = add, .context = w, .seed = 1};
	double began = now_ms(), bytes = written();

	for (int i = 0; i < ticks; i++) {
		load_tick(&load, LOAD_T0 + i * INT64_C(1000));
		writer_wait(w, 0);
	}
	figure("values a second, one commit a tick", (double)load.values / (now_ms() - began) * 1e3, "values/s",
		"> 300000");
	writer_close(w);
	figure("written to disk, one commit a tick", (written() - bytes) / (double)load.values, "B/value", "< 200");
	unlink(path);
}

static void hour(bool hung, const char *what)
{
	char path[400];
	struct writer *w = start("hour", path, sizeof path);
	struct load load = {.each = add, .context = w, .seed = 1, .hung = hung};

	for (int i = 0; i < 3600; i++) {
		int64_t t = LOAD_T0 + i * INT64_C(1000);

		load_tick(&load, t);
		for (int rank = 0; rank < LOAD_RANKS && i % 10 == 0; rank++)
			load_stack(&load, t, rank, t, 1);
		if (i % 100 == 99)
			writer_wait(w, 0);
	}
	writer_close(w);
	figure(what, file_mb(path), "MB", "< 25");
	unlink(path);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void count(void *context, const struct observation *o)
{
	(void)o;
	++*(int *)context;
}

static void feed(void *context, const struct observation *o)
{
	model_observe(context, o);
}

static void evict_page_cache(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static double state_at(struct reader *r, int64_t t, reader_each each, void *context)
{
	struct error error;
	double began = now_ms();

	if (reader_state_at(r, t, each, context, &error) < 0) {
		fprintf(stderr, "bench_store: %s\n", error.text);
		exit(1);
	}
	return now_ms() - began;
}

#define SEEKS 100

static void seeks(const char *path, int64_t length)
{
	double warm[SEEKS], fed[SEEKS], cold[SEEKS];
	struct load dice = {.seed = 7};
	struct reader *r;
	struct model m;
	int rows = 0;

	if (reader_open(&r, path, NULL) < 0)
		exit(1);
	for (int i = 0; i < SEEKS; i++) {
		int64_t t = LOAD_T0 + (int64_t)load_random(&dice, (uint64_t)length);

		state_at(r, t, count, &rows); /* twice: the pages are there the second time */
		rows = 0;
		warm[i] = state_at(r, t, count, &rows);
		model_init(&m);
		fed[i] = state_at(r, t, feed, &m);
		model_release(&m);
	}
	reader_close(r);
	for (int i = 0; i < SEEKS; i++) {
		int64_t t = LOAD_T0 + (int64_t)load_random(&dice, (uint64_t)length);

		evict_page_cache(path);
		if (reader_open(&r, path, NULL) < 0)
			exit(1);
		cold[i] = state_at(r, t, count, &rows);
		reader_close(r);
	}
	qsort(warm, SEEKS, sizeof *warm, compare);
	qsort(fed, SEEKS, sizeof *fed, compare);
	qsort(cold, SEEKS, sizeof *cold, compare);
	figure("state at T, warm, median", warm[SEEKS / 2], "ms", "< 5");
	figure("state at T, warm, 95th percentile", warm[SEEKS * 95 / 100], "ms", "-");
	figure("state at T into a model, warm, median", fed[SEEKS / 2], "ms", "-");
	figure("state at T, cold, median", cold[SEEKS / 2], "ms", "< 20");
	figure("state at T, cold, 95th percentile", cold[SEEKS * 95 / 100], "ms", "-");
}

static void long_session(double values)
{
	char path[400];
	struct writer *w = start("long", path, sizeof path);
	struct load load = {.each = add, .context = w, .seed = 1};
	int64_t t = LOAD_T0;

	for (int i = 0; (double)load.values < values; i++, t += 1000) {
		load_tick(&load, t);
		for (int rank = 0; rank < LOAD_RANKS && i % 10 == 0; rank++)
			load_stack(&load, t, rank, t, 1);
		if (i % 100 == 99)
			writer_wait(w, 0);
	}
	writer_close(w);
	printf("session of %.1f million values, %.1f hours, %.0f MB\n", (double)load.values / 1e6,
		(double)(t - LOAD_T0) / 3.6e6, file_mb(path));
	seeks(path, t - LOAD_T0);
	unlink(path);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof dir, "%s/hangtop-bench-XXXXXX", argc > 1 ? argv[1] : tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		fprintf(stderr, "bench_store: cannot make %s\n", dir);
		return 1;
	}
	flood(6000);
	tick_by_tick(2000);
	hour(false, "an hour of 8 GPUs and 8 ranks, stacks every 10 s");
	hour(true, "the same, hung");
	long_session(1e7);
	rmdir(dir);
	return 0;
}
