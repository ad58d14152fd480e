/* kill -9 at any instant: the file opens, and at most a second of samples and no verdict is lost. bench_kill does more. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_file.h"
#include "store_kill.h"

#define KILLS 10
#define LATE_MS 1000

static void a_kill_loses_at_most_a_second(void **state)
{
	int verdicts = 0;

	(void)state;
	/* All into one file: each time it is written on after a kill. */
	for (int i = 0; i < KILLS; i++) {
		struct kill_result result;

		assert_int_equal(kill_once(store_path("kill.db"), 20 + i * 37 % 180, i * 100000, &result), 0);
		assert_true(result.opened);
		assert_true(result.samples > 0);
		assert_int_equal(result.committed_lost, 0);
		assert_true(result.sample_age < LATE_MS);
		assert_true(result.verdict_age < LATE_MS);
		verdicts += result.verdicts;
	}
	assert_true(verdicts > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_kill_loses_at_most_a_second)};

	return cmocka_run_group_tests(tests, store_setup, store_teardown);
}
