/* test_observation.c - lines in, lines out. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/observation.h"

static int decode(const char *text, struct observation *o, struct buf *arena)
{
	char *block = malloc(strlen(text) + 1);
	struct error error;
	int status;

	memcpy(block, text, strlen(text));
	status = observation_decode(span_make(block, strlen(text)), o, arena, &error);
	free(block);
	return status;
}

static const struct { const char *what, *text; int status; } row[] = {
	{ "plain", "{\"t\":1,\"node\":\"n\",\"kind\":\"note\",\"text\":\"x\"}", 0 },
	{ "label of srun", "n1: {\"t\":1,\"node\":\"n\",\"kind\":\"note\",\"text\":\"x\"}", 0 },
	{ "no node", "{\"t\":1,\"kind\":\"note\"}", 0 },
	{ "unknown member", "{\"t\":1,\"kind\":\"note\",\"later\":[1,2]}", 0 },
	{ "wrong type is null", "{\"t\":1,\"kind\":\"note\",\"text\":5}", 0 },
	{ "empty", "", -1 },
	{ "words", "hello world", -1 },
	{ "cut short", "{\"t\":1,\"kind\":\"no", -1 },
	{ "array", "[1]", -1 },
	{ "no time", "{\"kind\":\"note\"}", -1 },
	{ "time as text", "{\"t\":\"1\",\"kind\":\"note\"}", -1 },
	{ "unknown kind", "{\"t\":1,\"kind\":\"nonsense\"}", -1 },
	{ "text before without a blank", "x{\"t\":1,\"kind\":\"note\"}", -1 },
	{ "duplicate member", "{\"t\":1,\"t\":2,\"kind\":\"note\"}", -1 },
};

static void lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct observation o;
		struct buf arena;

		buf_init(&arena, 1 << 16);
		if (decode(row[i].text, &o, &arena) != row[i].status)
			fail_msg("%s", row[i].what);
		buf_release(&arena);
	}
}

/* Every field of every kind survives encoding and decoding. */
static void round_trip(void **state)
{
	(void)state;
	for (int k = 0; k < KIND_COUNT; k++) {
		const struct kind_info *info = &kind_table[k];
		struct observation o, back;
		struct buf text, again, arena;

		observation_init(&o, (enum kind)k, "node \"1\"", 1764573675123);
		o.lag = 7;
		for (int f = 0; f < info->fields; f++) {
			if (info->field[f].type == FIELD_INT)
				observation_int(&o, f, -9007199254740993 + f);
			else if (info->field[f].type == FIELD_REAL)
				observation_real(&o, f, 0.1 * (f + 1));
			else if (info->field[f].type == FIELD_JSON)
				observation_text(&o, f, "[{\"a\":[1,\"\\u0001\"]}]");
			else
				observation_text(&o, f, "a\"b\\\n\t\x01 \xc3\xa9");
		}
		buf_init(&text, 0);
		buf_init(&again, 0);
		buf_init(&arena, 0);
		observation_encode(&o, &text);
		assert_int_equal(observation_decode(buf_as_span(&text), &back, &arena, NULL), 0);
		assert_int_equal(back.kind, k);
		assert_string_equal(back.node, "node \"1\"");
		observation_encode(&back, &again);
		assert_string_equal(buf_string(&text), buf_string(&again));
		buf_release(&text);
		buf_release(&again);
		buf_release(&arena);
	}
}

static void null_is_not_zero(void **state)
{
	struct observation o;
	int64_t number = 5;
	struct buf text;

	(void)state;
	observation_init(&o, KIND_gpu, "n", 1);
	observation_real(&o, GPU_busy_pct, 0.0 / 0.0);
	assert_true(observation_is_null(&o, GPU_busy_pct));
	assert_false(observation_get_int(&o, GPU_busy_pct, &number));
	assert_int_equal(number, 5);
	buf_init(&text, 0);
	observation_encode(&o, &text);
	assert_null(strstr(buf_string(&text), "busy_pct"));
	buf_release(&text);
}

static void keys(void **state)
{
	struct observation o;
	struct buf key;

	(void)state;
	observation_init(&o, KIND_gpu_process, "n1", 1);
	observation_int(&o, GPU_PROCESS_pid, 42);
	observation_int(&o, GPU_PROCESS_gpu, 3);
	buf_init(&key, 0);
	observation_key(&o, &key);
	assert_string_equal(buf_string(&key), "n1/gpu_process/42/3");
	buf_release(&key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(null_is_not_zero),
		cmocka_unit_test(keys),
	};

	return cmocka_run_group_tests_name("observation", tests, NULL, NULL);
}
