/* feed.h - helpers for tests of the model: observations from JSON text. */
#ifndef HANGTOP_TESTS_FEED_H
#define HANGTOP_TESTS_FEED_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"

/* Decode one line written with single quotes for double ones, in a heap block of its exact length. */
static inline struct record *feed_record(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline struct record *feed_record(const char *format, ...)
{
	struct observation o;
	struct record *record;
	struct error error;
	struct buf arena;
	va_list args;
	char *text, *exact;
	size_t n;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	n = strlen(text);
	exact = malloc(n ? n : 1);
	for (size_t i = 0; i < n; i++)
		exact[i] = text[i] == '\'' ? '"' : text[i];
	buf_init(&arena, 1 << 22);
	if (observation_decode(span_make(exact, n), &o, &arena, &error) < 0) {
		fprintf(stderr, "feed: %s in %s\n", error.text, text);
		abort();
	}
	record = record_new(&o);
	buf_release(&arena);
	free(exact);
	free(text);
	return record;
}

#define FEED(model, ...) do { \
	struct record *feed_r = feed_record(__VA_ARGS__); \
	model_observe((model), &feed_r->o); \
	record_free(feed_r); \
} while (0)

#endif
