/* test_base.c - spans, buffers, maps, text and the JSON writer. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

static void numbers(void **state)
{
	static const struct { const char *text; int ok; int64_t value; } row[] = {
		{ "0", 1, 0 }, { "-7", 1, -7 }, { "+7", 1, 7 }, { " 12 ", 1, 12 }, { "9223372036854775807", 1, INT64_MAX },
		{ "-9223372036854775808", 1, INT64_MIN }, { "9223372036854775808", 0, 0 }, { "", 0, 0 }, { "-", 0, 0 }, { "1x", 0, 0 },
		{ "99999999999999999999", 0, 0 },
	};
	static const struct { const char *text; int ok; double value; } real[] = {
		{ "12", 1, 12 }, { "12.5", 1, 12.5 }, { "-1.5e3", 1, -1500 }, { "1e-2", 1, 0.01 }, { ".5", 1, 0.5 }, { "1,5", 0, 0 },
		{ "", 0, 0 }, { "e5", 0, 0 }, { "1.2.3", 0, 0 },
	};
	uint64_t hex;
	struct span rest;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		int64_t value = 99;

		assert_int_equal(span_int(span_of(row[i].text), &value), row[i].ok);
		assert_true(value == (row[i].ok ? row[i].value : 99));
	}
	for (size_t i = 0; i < sizeof real / sizeof real[0]; i++) {
		double value = 99;

		assert_int_equal(span_real(span_of(real[i].text), &value), real[i].ok);
		assert_true(!real[i].ok || (value - real[i].value < 1e-9 && real[i].value - value < 1e-9));
	}
	rest = span_of("0x7fFg");
	assert_true(span_take_hex(&rest, &hex) && hex == 0x7ff && span_is(rest, "g"));
	rest = span_of("12345678123456789");
	assert_false(span_take_hex(&rest, &hex));
	assert_int_equal(rest.len, 17);
}

static void cutting(void **state)
{
	struct span rest = span_of("a\r\nb\n\nlast"), line;
	static const char *const lines[] = { "a", "b", "", "last" };
	int n = 0;

	(void)state;
	while (span_line(&rest, &line))
		assert_true(span_is(line, lines[n++]));
	assert_int_equal(n, 4);
	rest = span_of("a,,b");
	n = 0;
	while (span_cut(&rest, ',', &line))
		n++;
	assert_int_equal(n, 3);
	rest = span_of("  one\ttwo ");
	assert_true(span_word(&rest, &line) && span_is(line, "one"));
	assert_true(span_word(&rest, &line) && span_is(line, "two"));
	assert_false(span_word(&rest, &line));
	assert_int_equal(span_find(span_of("xabcab"), "ab"), 1);
	assert_int_equal(span_find(span_of("a"), "ab"), -1);
	assert_true(span_is(span_sub(span_of("abc"), 2, 99), "c"));
	assert_true(span_is(span_sub(span_of("abc"), 9, 1), ""));
}

static void buffer_has_a_maximum(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 10);
	buf_printf(&buf, "%s", "123456");
	assert_false(buf.cut);
	buf_printf(&buf, "%d", 7890123);
	assert_true(buf.cut);
	assert_string_equal(buf_string(&buf), "1234567890");
	buf_drop(&buf, 4);
	assert_string_equal(buf_string(&buf), "567890");
	buf_drop(&buf, 99);
	assert_int_equal(buf.len, 0);
	buf_release(&buf);
	assert_string_equal(buf_string(&buf), "");
}

static void map_keeps_order(void **state)
{
	struct map map;
	char key[32];

	(void)state;
	map_init(&map, free);
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "k%03d", 999 - i);
		map_set(&map, key, mem_text(key));
	}
	map_set(&map, "k500", mem_text("again"));
	assert_int_equal(map.count, 1000);
	assert_string_equal(map_get(&map, "k500"), "again");
	assert_true(map_remove(&map, "k999"));
	assert_false(map_remove(&map, "k999"));
	assert_null(map_get(&map, "k999"));
	assert_string_equal(map.entry[0].key, "k998");
	map_sort(&map);
	assert_string_equal(map.entry[0].key, "k000");
	for (int i = 0; i < 999; i++) {
		snprintf(key, sizeof key, "k%03d", i);
		assert_non_null(map_get(&map, key));
	}
	map_release(&map);
}

static void scrubbing(void **state)
{
	static const struct { const char *from, *to; } row[] = {
		{ "plain", "plain" }, { "\x1b[31mred", "^[[31mred" }, { "a\tb", "a b" }, { "\x7f", "^?" }, { "\xff\xfe", "<ff><fe>" },
		{ "\xc2\x9b" "31m", "<9b>31m" }, { "a\xe2\x80\xae" "b", "ab" }, { "\xc3\xa9", "\xc3\xa9" }, { "\xe6\x97\xa5", "\xe6\x97\xa5" },
		{ "\xe6\x97", "<e6><97>" }, { "\xed\xa0\x80", "<ed><a0><80>" }, { "\r\n", "^M^J" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		size_t n = strlen(row[i].from);
		char *exact = malloc(n ? n : 1);
		struct buf out;

		memcpy(exact, row[i].from, n);
		buf_init(&out, 0);
		text_scrub(&out, span_make(exact, n));
		assert_string_equal(buf_string(&out), row[i].to);
		buf_release(&out);
		free(exact);
	}
}

static void widths_and_words(void **state)
{
	char out[32];

	(void)state;
	assert_int_equal(text_width(span_of("ab\xe6\x97\xa5")), 4);
	assert_true(span_is(text_fit(span_of("ab\xe6\x97\xa5"), 3), "ab"));
	assert_string_equal(text_duration(out, sizeof out, 133000), "2m13s");
	assert_string_equal(text_duration(out, sizeof out, 3840000), "1h04m");
	assert_string_equal(text_duration(out, sizeof out, -5), "0ms");
	assert_string_equal(text_bytes(out, sizeof out, 1536), "1.5K");
	assert_string_equal(text_bytes(out, sizeof out, 206158430208.0), "192G");
	assert_true(text_looks_secret(span_of("OPENAI_API_KEY")));
	assert_true(text_looks_secret(span_of("hf_token")));
	assert_false(text_looks_secret(span_of("HIP_VISIBLE_DEVICES")));
}

static void json(void **state)
{
	struct json_write w;
	struct buf out;

	(void)state;
	buf_init(&out, 0);
	jw_start(&w, &out);
	jw_object(&w, NULL);
	jw_string(&w, "a\"", "x\n\x01\xff");
	jw_array(&w, "n");
	jw_int(&w, NULL, -1);
	jw_real(&w, NULL, 0.1);
	jw_real(&w, NULL, 12);
	jw_real(&w, NULL, 1.0 / 0.0);
	jw_bool(&w, NULL, true);
	jw_end_array(&w);
	jw_string(&w, "z", NULL);
	jw_end_object(&w);
	assert_string_equal(buf_string(&out), "{\"a\\\"\":\"x\\n\\u0001\xef\xbf\xbd\",\"n\":[-1,0.1,12.0,null,true],\"z\":null}");
	buf_release(&out);
}

static void errors(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(error_set(NULL, "x"), -1);
	assert_int_equal(error_set_errno(&error, 2, "cannot open %s", "f"), -1);
	assert_string_equal(error.text, "cannot open f: No such file or directory");
	error_fix(&error, "make %s", "it");
	assert_string_equal(error.fix, "make it");
	error_set(&error, "new");
	assert_string_equal(error.fix, "");
}

static void secrets_are_masked(void **state)
{
	static const struct { const char *line, *masked; } row[] = {
		{ "server_args=ServerArgs(model='m', api_key='sk-abcdef0123456789', port=30000)", "server_args=ServerArgs(model='m', api_key=***, port=30000)" },
		{ "Authorization: Bearer eyJhbGciOi.abc.def next", "Authorization: *** next" },
		{ "HF_TOKEN=hf_abcdefghijklmnop1234 python", "HF_TOKEN=*** python" },
		{ "got hf_abcdefghijklmnop1234 from the hub", "got *** from the hub" },
		{ "{\"token\": \"abcd1234\", \"n\": 1}", "{\"token\": ***, \"n\": 1}" },
		{ "password=hunter2;", "password=***;" },
		{ "max_tokens=512, num_tokens: 9, token usage: 0.44, #new-token: 16384", "max_tokens=512, num_tokens: 9, token usage: 0.44, #new-token: 16384" },
		{ "api_key=None", "api_key=None" },
		{ "keys: a b", "keys: a b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf out;

		buf_init(&out, 0);
		text_mask(&out, span_of(row[i].line));
		assert_string_equal(buf_string(&out), row[i].masked);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(cutting), cmocka_unit_test(buffer_has_a_maximum),
		cmocka_unit_test(map_keeps_order), cmocka_unit_test(scrubbing), cmocka_unit_test(widths_and_words),
		cmocka_unit_test(json), cmocka_unit_test(errors),
		cmocka_unit_test(secrets_are_masked),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
