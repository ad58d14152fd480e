/* test_file_blocks.c - every byte once and in order, whatever the file is, and a file that changes under the reader. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/file_blocks.h"

#define BIG (3 * FILE_BLOCK_MAX + 12345)

struct taken {
	int fd;
	size_t n, wrong, zeros;
	void (*change)(struct taken *t);
};

static char expected(size_t at)
{
	return (char)('!' + at % 89);
}

static void take(void *context, const char *bytes, size_t n)
{
	struct taken *t = context;

	assert_true(n > 0 && n <= FILE_BLOCK_MAX);
	if (t->change)
		t->change(t);
	t->change = NULL;
	for (size_t i = 0; i < n; i++) {
		t->zeros += bytes[i] == 0;
		t->wrong += bytes[i] && bytes[i] != expected(t->n + i);
	}
	t->n += n;
}

static int file_of(size_t size)
{
	char path[] = "/tmp/hangtop-test-XXXXXX", *bytes = malloc(size + 1);
	int fd = mkstemp(path);

	assert_true(fd >= 0 && bytes);
	unlink(path);
	for (size_t i = 0; i < size; i++)
		bytes[i] = expected(i);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	free(bytes);
	return fd;
}

static struct taken read_size(size_t size, void (*change)(struct taken *), struct error *error, int *status)
{
	struct taken t = { .fd = file_of(size), .change = change };

	*status = file_blocks(t.fd, "a file", take, &t, error);
	close(t.fd);
	return t;
}

static void all_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 4096, FILE_BLOCK_MAX - 1, FILE_BLOCK_MAX, FILE_BLOCK_MAX + 1, BIG };
	struct error error;
	int status;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct taken t = read_size(sizes[i], NULL, &error, &status);

		assert_int_equal(status, 0);
		assert_int_equal(t.n, sizes[i]);
		assert_int_equal(t.wrong + t.zeros, 0);
	}
}

static void cut(struct taken *t)
{
	assert_int_equal(ftruncate(t->fd, 5000), 0);
}

static void a_file_that_is_cut(void **state)
{
	struct error error;
	int status;
	struct taken t = read_size(BIG, cut, &error, &status);

	(void)state;
	assert_int_equal(status, -1);
	assert_non_null(strstr(error.text, "a file was cut to 5000 bytes"));
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.n, FILE_BLOCK_MAX);
	assert_true(t.zeros >= FILE_BLOCK_MAX - 8192);
}

static void append(struct taken *t)
{
	char more[100];

	for (size_t i = 0; i < sizeof more; i++)
		more[i] = expected(BIG + i);
	assert_int_equal(pwrite(t->fd, more, sizeof more, BIG), sizeof more);
}

static void a_file_that_grows(void **state)
{
	struct error error;
	int status;
	struct taken t = read_size(BIG, append, &error, &status);

	(void)state;
	assert_int_equal(status, 0);
	assert_int_equal(t.n, BIG + 100);
	assert_int_equal(t.wrong + t.zeros, 0);
}

static void a_pipe(void **state)
{
	struct taken t = { .n = 0 };
	struct error error;
	char bytes[1000];
	int end[2];

	(void)state;
	assert_int_equal(pipe(end), 0);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = expected(i);
	assert_int_equal(write(end[1], bytes, sizeof bytes), sizeof bytes);
	close(end[1]);
	assert_int_equal(file_blocks(end[0], "a pipe", take, &t, &error), 0);
	assert_int_equal(t.n, sizeof bytes);
	assert_int_equal(t.wrong + t.zeros, 0);
	close(end[0]);
}

static void a_folder(void **state)
{
	struct taken t = { .n = 0 };
	struct error error;
	FILE *folder = fopen("/", "r");

	(void)state;
	assert_non_null(folder);
	assert_int_equal(file_blocks(fileno(folder), "/", take, &t, &error), -1);
	assert_non_null(strstr(error.text, "cannot read /"));
	fclose(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(a_file_that_is_cut),
		cmocka_unit_test(a_file_that_grows),
		cmocka_unit_test(a_pipe),
		cmocka_unit_test(a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
