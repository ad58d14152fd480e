/* test_metrics.c - sums out of Prometheus text. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse/metrics.h"
#include "tests/unit/profile_file.h"

static const char text[] =
	"# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
	"# TYPE vllm:num_requests_running gauge\n"
	"vllm:num_requests_running{engine=\"0\",model_name=\"a\"} 3.0\n"
	"vllm:num_requests_running{engine=\"1\",model_name=\"a\"} 2.0\r\n"
	"vllm:num_requests_running_max 77\n"
	"atom:requests_running 4\n"
	"atom:generation_tokens_total 1.234e6 1787000000000\n"
	"odd{a=\"}\",b=\"x\\\"} 9\",c=\"\\\\\"} 5 # {trace_id=\"q\"} 0.5 1.2\n"
	"tab\t7\n"
	"partly{a=\"1\"} NaN\n"
	"partly{a=\"2\"} 6\n"
	"never NaN\n"
	"endless +Inf\n"
	"spaced {a=\"1\"} 8\n"
	"unended{a=\"1\" 5\n"
	"novalue\n"
	"novalue2 \n"
	"word x\n"
	"negative -2.5\n"
	"# EOF";

static void test_sums(void **state)
{
	static const struct { const char *name; double sum; } row[] = {
		{ "vllm:num_requests_running", 5 }, { "vllm:num_requests_running_max", 77 }, { "atom:requests_running", 4 },
		{ "atom:generation_tokens_total", 1234000 }, { "odd", 5 }, { "tab", 7 }, { "partly", 6 }, { "negative", -2.5 },
	};
	static const char *const none[] = { "never", "endless", "unended", "novalue", "novalue2", "word", "vllm:num", "# HELP", "EOF",
		"absent" };
	struct span exact = exact_copy(span_of(text));
	double sum;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		sum = -1;
		assert_true(metrics_sum(exact, row[i].name, &sum));
		assert_true(fabs(sum - row[i].sum) < 1e-9);
	}
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		sum = -1;
		assert_false(metrics_sum(exact, none[i], &sum));
		assert_true(sum == -1);
	}
	free((char *)exact.at);
}

/* Cut anywhere: nothing outside is read, and nothing but a number of the text comes out. */
static void test_cut(void **state)
{
	double sum;

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		struct span exact = exact_copy(span_make(text, n));

		if (metrics_sum(exact, "odd", &sum))
			assert_true(sum == 5);
		metrics_sum(exact, "partly", &sum);
		free((char *)exact.at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sums), cmocka_unit_test(test_cut) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
