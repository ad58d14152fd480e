/* gpu_golden.h - what the tests of GPU parsers share: inputs in heap blocks of their exact length, readings compared. */
#ifndef GPU_GOLDEN_H
#define GPU_GOLDEN_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "parse/gpu_reading.h"

static inline struct span golden(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[1024], *block = malloc(1 << 20), *exact;
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/golden/gpu/%s", srcdir ? srcdir : ".", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot open %s", path);
	n = fread(block, 1, 1 << 20, f);
	fclose(f);
	exact = malloc(n ? n : 1);
	memcpy(exact, block, n);
	free(block);
	return span_make(exact, n);
}

/* Parse a copy of exact length, so that a read past the end is caught. */
static inline int parse_exact(int (*parse)(struct span, struct gpu_list *, struct error *), struct span text,
	struct gpu_list *list, struct error *error)
{
	char *copy = malloc(text.len ? text.len : 1);
	int status;

	if (text.len)
		memcpy(copy, text.at, text.len);
	gpu_list_init(list);
	error_clear(error);
	status = parse(span_make(copy, text.len), list, error);
	free(copy);
	return status;
}

static inline int parse_golden(int (*parse)(struct span, struct gpu_list *, struct error *), const char *name,
	struct gpu_list *list, struct error *error)
{
	struct span text = golden(name);
	int status = parse_exact(parse, text, list, error);

	free((void *)text.at);
	return status;
}

/* Every head of the input: nothing may be read past its end, whatever comes of it. */
static inline void parse_all_heads(int (*parse)(struct span, struct gpu_list *, struct error *), const char *name)
{
	struct span text = golden(name);
	struct gpu_list list;
	struct error error;

	for (size_t n = 0; n < text.len; n += n < 400 ? 1 : 37) {
		parse_exact(parse, span_sub(text, 0, n), &list, &error);
		gpu_list_release(&list);
	}
	free((void *)text.at);
}

static inline void same_real(double is, double want, const char *what)
{
	if (isnan(is) != isnan(want) || (!isnan(want) && fabs(is - want) > 1e-6 * fmax(1, fabs(want))))
		fail_msg("%s is %.6f and should be %.6f", what, is, want);
}

#endif
