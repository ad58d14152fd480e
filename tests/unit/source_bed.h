/* source_bed.h - run one source on a loop of its own, with a target we write and its observations collected. */
#ifndef HANGTOP_TESTS_SOURCE_BED_H
#define HANGTOP_TESTS_SOURCE_BED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/clock.h"
#include "base/mem.h"
#include "source/source.h"
#include "tests/unit/profile_file.h"

#define BED_PATIENCE_MS 20000

struct bed {
	uv_loop_t loop;
	uv_timer_t tick;        /* wakes the loop up, so that conditions are looked at */
	struct source_options options;
	struct profile_set profiles;
	struct target target;
	struct source_env env;
	const struct source_class *class;
	struct source *source;
	struct record **record;
	int records;
	bool closed;
};

static inline void bed_emit(void *context, const struct observation *o)
{
	struct bed *b = context;

	b->record = mem_array(b->record, (size_t)b->records + 1, sizeof *b->record);
	b->record[b->records++] = record_new(o);
}

static inline void bed_tick(uv_timer_t *timer)
{
	(void)timer;
}

static inline void bed_init(struct bed *b, const struct source_class *class)
{
	memset(b, 0, sizeof *b);
	uv_loop_init(&b->loop);
	uv_timer_init(&b->loop, &b->tick);
	uv_timer_start(&b->tick, bed_tick, 5, 5);
	for (size_t i = 0; i < SHIPPED; i++)
		profile_set_add(&b->profiles, shipped_profile(shipped[i]));
	target_init(&b->target, &b->profiles);
	b->options = (struct source_options){ .sys_root = "/sys", .proc_root = "/proc", .gpu = "off", .log_offset = -1,
		.interval_ms = 1000 };
	b->class = class;
	b->env = (struct source_env){ .loop = &b->loop, .options = &b->options, .node = "n1", .target = &b->target, .emit = bed_emit,
		.context = b };
}

static inline void bed_start(struct bed *b)
{
	b->source = b->class->start(&b->env);
}

static inline void bed_closed(void *context)
{
	((struct bed *)context)->closed = true;
}

static inline void bed_forget(struct bed *b)
{
	for (int i = 0; i < b->records; i++)
		record_free(b->record[i]);
	free(b->record);
	b->record = NULL;
	b->records = 0;
}

/* Ends the source; 0 when the loop was left empty. */
static inline int bed_release(struct bed *b)
{
	int status;

	b->class->stop(b->source, bed_closed, b);
	uv_close((uv_handle_t *)&b->tick, NULL);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	status = b->closed ? uv_loop_close(&b->loop) : -1;
	bed_forget(b);
	target_release(&b->target);
	profile_set_release(&b->profiles);
	return status;
}

/* Run the loop until the condition holds; false after BED_PATIENCE_MS. */
#define BED_UNTIL(b, condition) ({ \
	int64_t bed_end = clock_mono_ms() + BED_PATIENCE_MS; \
	while (!(condition) && clock_mono_ms() < bed_end) \
		uv_run(&(b)->loop, UV_RUN_ONCE); \
	(condition); \
})

/* The i-th observation of a kind (from 0), or the last one with -1; NULL when there is none. */
static inline const struct observation *bed_get(const struct bed *b, enum kind kind, int i)
{
	const struct observation *last = NULL;

	for (int k = 0; k < b->records; k++)
		if (b->record[k]->o.kind == kind) {
			last = &b->record[k]->o;
			if (i-- == 0)
				return last;
		}
	return i < 0 ? last : NULL;
}

static inline int bed_count(const struct bed *b, enum kind kind)
{
	int n = 0;

	for (int k = 0; k < b->records; k++)
		n += b->record[k]->o.kind == kind;
	return n;
}

/* A number of the last observation of a kind; -99 when it is null or there is none. */
static inline double bed_number(const struct bed *b, enum kind kind, int field)
{
	const struct observation *o = bed_get(b, kind, -1);
	double value = -99;

	if (o)
		observation_get_real(o, field, &value);
	return value;
}

/* A text of the last observation of a kind; "" when it is null or there is none. */
static inline const char *bed_text(const struct bed *b, enum kind kind, int field)
{
	const struct observation *o = bed_get(b, kind, -1);
	struct span text;

	return o && observation_get_text(o, field, &text) ? text.at : ""; /* records keep a NUL behind */
}

#endif
