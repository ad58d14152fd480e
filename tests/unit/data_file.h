/* data_file.h - helpers for tests: files below srcdir, and texts in heap blocks of their exact length. */
#ifndef HANGTOP_TESTS_DATA_FILE_H
#define HANGTOP_TESTS_DATA_FILE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"

/* A copy that a sanitizer sees the ends of; free() its `at`. */
static inline struct span data_exact(struct span text)
{
	char *at = malloc(text.len ? text.len : 1);

	if (text.len)
		memcpy(at, text.at, text.len);
	return span_make(at, text.len);
}

static inline const char *data_path(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static inline const char *data_path(char *out, size_t size, const char *format, ...)
{
	const char *top = getenv("srcdir");
	int n = snprintf(out, size, "%s/", top ? top : ".");
	va_list args;

	va_start(args, format);
	vsnprintf(out + n, size - (size_t)n, format, args);
	va_end(args);
	return out;
}

/* The whole file in an exact block; at NULL when there is none. */
static inline struct span data_read(const char *path)
{
	FILE *file = fopen(path, "re");
	struct buf text;
	char block[4096];
	struct span exact;
	size_t n;

	if (!file)
		return span_make(NULL, 0);
	buf_init(&text, 0);
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		buf_add(&text, block, n);
	fclose(file);
	exact = data_exact(buf_as_span(&text));
	buf_release(&text);
	return exact;
}

#endif
