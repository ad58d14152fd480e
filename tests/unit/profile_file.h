/* profile_file.h - helpers for tests: shipped profiles, and inputs in heap blocks of their exact length. */
#ifndef HANGTOP_TESTS_PROFILE_FILE_H
#define HANGTOP_TESTS_PROFILE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "parse/profile.h"

static const char *const shipped[] = { "atom", "vllm", "sglang", "torchrun" };
#define SHIPPED (sizeof shipped / sizeof shipped[0])

/* A copy that a sanitizer sees the ends of; free() its `at`. */
static inline struct span exact_copy(struct span text)
{
	char *at = malloc(text.len ? text.len : 1);

	if (text.len)
		memcpy(at, text.at, text.len);
	return span_make(at, text.len);
}

static inline struct profile *shipped_profile(const char *name)
{
	const char *source = getenv("srcdir");
	char path[4096], block[4096];
	struct profile *profile;
	struct error error;
	struct buf text;
	FILE *file;
	size_t n;

	snprintf(path, sizeof path, "%s/data/profiles/%s.conf", source ? source : ".", name);
	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "cannot open %s\n", path);
		abort();
	}
	buf_init(&text, 0);
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		buf_add(&text, block, n);
	fclose(file);
	profile = profile_parse(buf_as_span(&text), path, &error);
	if (!profile)
		fprintf(stderr, "%s\n", error.text);
	buf_release(&text);
	return profile;
}

#endif
