/* test_models.c - bodies of /v1/models and of errors. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse/models.h"
#include "tests/unit/profile_file.h"

static int parse(const char *text, struct models *m, struct error *error)
{
	struct span exact = exact_copy(span_of(text));
	int status = models_parse(exact, m, error);

	free((char *)exact.at);
	return status;
}

static void test_lists(void **state)
{
	static const struct { const char *body, *json, *owned_by; } row[] = {
		{ "{\"object\":\"list\",\"data\":[{\"id\":\"/data/M-671B\",\"object\":\"model\",\"created\":1787000000,\"owned_by\":\"atom\"}]}",
			"[\"/data/M-671B\"]", "atom" },
		{ "{\"object\":\"list\",\"data\":[{\"id\":\"base\",\"owned_by\":\"vllm\",\"max_model_len\":131072,\"permission\":[{\"id\":"
			"\"modelperm-0\"}]},{\"id\":\"lora-\\u00e9\\ud83d\\ude80\",\"parent\":\"base\",\"max_model_len\":null}]}",
			"[\"base\",\"lora-\xc3\xa9\xf0\x9f\x9a\x80\"]", "vllm" },
		{ "{\"data\":[],\"models\":[1,2]}", "[]", "" },
		{ " {\"data\":[1,null,{\"id\":7},{\"name\":\"x\"},{\"id\":\"y\",\"owned_by\":3}]}\n", "[\"y\"]", "" },
		{ "{\"data\":[{\"id\":\"a\\u001b[2Jb\\u0000c\",\"owned_by\":\"\\u0007\"}]}", "[\"a^[[2Jb^@c\"]", "^G" },
		{ "{\"data\":[{\"id\":\"a\",\"id\":\"b\"}]}", "[\"b\"]", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct models m;
		struct error error;
		struct buf json;

		buf_init(&json, 0);
		assert_int_equal(parse(row[i].body, &m, &error), 0);
		models_json(&m, &json);
		assert_string_equal(buf_string(&json), row[i].json);
		assert_string_equal(m.owned_by, row[i].owned_by);
		buf_release(&json);
		models_release(&m);
	}
}

static void test_no_list(void **state)
{
	static const struct { const char *body, *error; } row[] = {
		{ "", "the answer is no JSON: it is empty" },
		{ "<html><body>It works!", "the answer is no JSON: '[' or '{' expected near '<'" },
		{ "{\"status\":\"ok\"}", "the answer is JSON, but no list of models: member \"data\" is missing" },
		{ "{\"data\":{}}", "the answer is JSON, but no list of models: member \"data\" is missing" },
		{ "[1]", "the answer is JSON, but no list of models: member \"data\" is missing" },
		{ "{\"object\":\"list\",\"data\":[{\"id\":\"base\",\"root\"", "the answer is no JSON: ':' expected near end of file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct models m;
		struct error error;

		assert_int_equal(parse(row[i].body, &m, &error), -1);
		assert_string_equal(error.text, row[i].error);
		assert_int_equal(m.count, 0);
		models_release(&m);
	}
}

static void test_bounds(void **state)
{
	struct models m;
	struct error error;
	struct buf body;

	(void)state;
	buf_init(&body, 0);
	buf_text(&body, "{\"data\":[{\"id\":\"");
	for (int i = 0; i < 2000; i++)
		buf_char(&body, 'x');
	buf_text(&body, "\"}");
	for (int i = 0; i < 700; i++)
		buf_printf(&body, ",{\"id\":\"m%d\"}", i);
	buf_text(&body, "]}");
	assert_int_equal(parse(buf_string(&body), &m, &error), 0);
	assert_int_equal(m.count, MODELS_MAX);
	assert_int_equal(m.total, 701);
	assert_int_equal(strlen(m.id[0]), MODELS_ID_MAX);
	models_release(&m);
	buf_release(&body);
}

static void test_status(void **state)
{
	static const struct { int http; const char *body, *class, *words; } row[] = {
		{ 200, "{\"data\":[]}", "ok", "" },
		{ 204, "", "ok", "" },
		{ 307, "", "redirect", "" },
		{ 401, "{\"error\":\"Unauthorized\"}", "unauthorized", "Unauthorized" },
		{ 401, "{\"error\":{\"message\":\"bad key\",\"type\":\"x\",\"code\":\"invalid_api_key\"}}", "unauthorized", "bad key" },
		{ 403, "<html><center>nginx</center>", "unauthorized", "" },
		{ 404, "{\"detail\":\"Not Found\"}", "not-found", "Not Found" },
		{ 405, "{\"detail\":\"Method Not Allowed\"}", "client-error", "Method Not Allowed" },
		{ 400, "{\"object\":\"error\",\"message\":\"no\",\"code\":1}", "client-error", "no" },
		{ 429, "slow\x1b[2Jdown", "unavailable", "slow^[[2Jdown" },
		{ 500, "Internal Server Error", "server-error", "Internal Server Error" },
		{ 502, "<html>x</html>", "proxy-error", "" },
		{ 503, "{\"error\":{\"code\":503,\"message\":\"Loading model\"}}", "unavailable", "Loading model" },
		{ 503, "", "unavailable", "" },
		{ 503, "\n<!DOCTYPE html><html>", "proxy-error", "" },
		{ 504, "", "proxy-error", "" },
		{ 999, "", "not-http", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct span exact = exact_copy(span_of(row[i].body));
		struct buf words;

		buf_init(&words, 0);
		assert_string_equal(models_status_class(row[i].http, exact), row[i].class);
		if (row[i].http >= 300)
			models_error_words(exact, &words);
		assert_string_equal(buf_string(&words), row[i].words);
		buf_release(&words);
		free((char *)exact.at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_no_list),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
