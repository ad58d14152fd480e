/* test_human_time.c - what is a time, which one, and what is not. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "ui/human_time.h"

#define NOW 1796119675000LL /* 2026-12-01 10:07:55 UTC */
#define S(n) ((n)*1000LL)
#define H(n) S((n)*3600LL)
#define MIDNIGHT (NOW - H(10) - S(7 * 60 + 55))

/* The text in a heap block of its exact length, so that a read past it is seen. */
static bool parse(const char *text, int64_t now, int64_t *t)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	bool ok;

	memcpy(copy, text, len);
	ok = human_time((struct span){ copy, len }, now, t);
	free(copy);
	return ok;
}

static void times_in_utc(void **state)
{
	static const struct {
		const char *text;
		int64_t t;
	} cases[] = {
		{ "now", NOW },
		{ "3m ago", NOW - S(180) },
		{ "3 minutes ago", NOW - S(180) },
		{ "1h30m ago", NOW - H(1) - S(1800) },
		{ "1h 30m ago", NOW - H(1) - S(1800) },
		{ "90s", NOW - S(90) },
		{ "-90s", NOW - S(90) },
		{ "+10s", NOW + S(10) },
		{ "250ms ago", NOW - 250 },
		{ "2d ago", NOW - H(48) },
		{ "2m13s ago", NOW - S(133) },
		{ "  5s ago ", NOW - S(5) },
		{ "10:05", MIDNIGHT + H(10) + S(300) },
		{ "10:05:30", MIDNIGHT + H(10) + S(330) },
		{ "10:05:30.25", MIDNIGHT + H(10) + S(330) + 250 },
		{ "9:05", MIDNIGHT + H(9) + S(300) },
		{ "10:08", MIDNIGHT + H(10) + S(480) },
		{ "10:30", MIDNIGHT - H(24) + H(10) + S(1800) },
		{ "23:59:59", MIDNIGHT - S(1) },
		{ "00:00", MIDNIGHT },
		{ "today 23:00", MIDNIGHT + H(23) },
		{ "yesterday 10:05", MIDNIGHT - H(14) + S(300) },
		{ "yesterday", MIDNIGHT - H(24) },
		{ "2026-12-01 10:05", MIDNIGHT + H(10) + S(300) },
		{ "2026-12-01", MIDNIGHT },
		{ "2026-11-30 10:05:30", MIDNIGHT - H(14) + S(330) },
		{ "2026-12-01T10:05:30Z", MIDNIGHT + H(10) + S(330) },
		{ "2026-12-01T10:05:30.5Z", MIDNIGHT + H(10) + S(330) + 500 },
		{ "@1796119675", NOW },
		{ "@1796119675.250", NOW + 250 },
		{ "2024-02-29 00:00", 1709164800000LL },
	};
	static const char *const bad[] = { "", " ", "soon", "3", "3x ago", "3m later", "+3m ago", "24:00", "10:60",
		"10:05:60", "10:", ":05", "10:05x", "2026-13-01 10:05", "2026-02-30 10:05", "2026-12-01x10:05",
		"2026-12-01 10", "2026-12-01 10:05:30Zx", "@", "@x", "@12.", "@99999999999999", "-", "+",
		"99999999999999999999s ago", "2000000000d ago", "10:05:30.", "now now", "1h 10:05", "3m -5s" };
	int64_t t;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		t = 0;
		if (!parse(cases[i].text, NOW, &t) || t != cases[i].t)
			fail_msg("\"%s\": %lld, want %lld", cases[i].text, (long long)t, (long long)cases[i].t);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		t = 42;
		if (parse(bad[i], NOW, &t) || t != 42)
			fail_msg("\"%s\" was taken for a time", bad[i]);
	}
}

static void local_time_and_summer(void **state)
{
	int64_t t;

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_true(parse("2026-07-01 12:00", NOW, &t));
	assert_int_equal(t, 1782900000000LL); /* 10:00 UTC */
	assert_true(parse("2026-12-01 12:00", NOW, &t));
	assert_int_equal(t, MIDNIGHT + H(11));
	assert_true(parse("2026-12-01T12:00Z", NOW, &t));
	assert_int_equal(t, MIDNIGHT + H(12));
	assert_true(parse("10:05", NOW, &t)); /* it is 11:07 there */
	assert_int_equal(t, MIDNIGHT + H(9) + S(300));
	/* The day after the clocks went back is 25 hours after. */
	assert_true(parse("yesterday 00:30", 1792972800000LL, &t)); /* 2026-10-26 01:00 local */
	assert_int_equal(t, 1792881000000LL);
	setenv("TZ", "UTC", 1);
	tzset();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(times_in_utc),
		cmocka_unit_test(local_time_and_summer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
