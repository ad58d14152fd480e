/* test_gpu_metrics.c - the binary file of the firmware's numbers. */
#include "config.h"

#include "parse/gpu_metrics.h"

#include "tests/unit/gpu_golden.h"

static unsigned char *table(size_t size, unsigned format, unsigned content)
{
	unsigned char *at = malloc(size);

	memset(at, 0xff, size); /* all "not available" */
	at[0] = (unsigned char)size;
	at[1] = (unsigned char)(size >> 8);
	at[2] = (unsigned char)format;
	at[3] = (unsigned char)content;
	return at;
}

static void put(unsigned char *at, size_t offset, unsigned value)
{
	at[offset] = (unsigned char)value;
	at[offset + 1] = (unsigned char)(value >> 8);
}

static void every_format(void **state)
{
	/* Offsets written out again, from the kernel's structures, so that a slip in the table shows. */
	static const struct {
		unsigned content;
		size_t size, hotspot, mem, power, busy, activity, gfxclk, uclk;
	} rows[] = {
		{ 0, 80, 18, 20, 34, 28, 30, 54, 58 },
		{ 1, 96, 6, 8, 22, 16, 18, 54, 58 },
		{ 2, 104, 6, 8, 22, 16, 18, 54, 58 },
		{ 3, 120, 6, 8, 22, 16, 18, 54, 58 },
		{ 4, 288, 4, 6, 10, 12, 14, 240 + 14, 280 },
		{ 5, 360, 4, 6, 10, 12, 14, 312 + 2, 352 },
		{ 6, 1664, 4, 6, 10, 12, 14, 264 + 6, 304 },
		{ 7, 2208, 4, 6, 10, 12, 14, 296, 336 },
		{ 8, 4512, 4, 6, 10, 12, 14, 296, 336 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		unsigned char *at = table(rows[i].size, 1, rows[i].content);
		struct gpu_reading r;
		struct error error;

		put(at, rows[i].hotspot, 51);
		put(at, rows[i].mem, 40);
		put(at, rows[i].power, 241);
		put(at, rows[i].busy, 100);
		put(at, rows[i].activity, 3);
		put(at, rows[i].gfxclk, 2100);
		put(at, rows[i].uclk, 1300);
		gpu_reading_init(&r, 0);
		assert_int_equal(gpu_metrics_fill(span_make((char *)at, rows[i].size), &r, &error), 0);
		same_real(r.temp_junction_c, 51, "hotspot");
		same_real(r.temp_mem_c, 40, "mem");
		same_real(r.temp_edge_c, NAN, "edge");
		same_real(r.power_w, 241, "power");
		same_real(r.busy_pct, 100, "busy");
		same_real(r.mem_activity_pct, 3, "activity");
		same_real(r.sclk_mhz, 2100, "sclk");
		same_real(r.mclk_mhz, 1300, "mclk");
		free(at);
	}
}

static void not_available_is_unknown(void **state)
{
	unsigned char *at = table(288, 1, 4);
	struct gpu_reading r;

	(void)state;
	gpu_reading_init(&r, 0);
	r.power_w = 99; /* known already: kept */
	put(at, 10, 241);
	put(at, 12, 500); /* no percentage */
	assert_int_equal(gpu_metrics_fill(span_make((char *)at, 288), &r, NULL), 0);
	same_real(r.busy_pct, NAN, "busy");
	same_real(r.temp_junction_c, NAN, "hotspot");
	same_real(r.sclk_mhz, NAN, "sclk");
	same_real(r.power_w, 99, "power");
	free(at);
}

static void refused(void **state)
{
	static const struct {
		size_t size;
		unsigned format, content;
		const char *words;
	} rows[] = {
		{ 120, 2, 4, "2.4 is not known (1.0 to 1.8 are); it is that of an APU" },
		{ 264, 3, 0, "3.0 is not known (1.0 to 1.8 are); it is that of an APU" },
		{ 200, 1, 9, "1.9 is not known" },
		{ 64, 1, 3, "needs 120" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		unsigned char *at = table(rows[i].size, rows[i].format, rows[i].content);
		struct gpu_reading r;
		struct error error;

		gpu_reading_init(&r, 0);
		assert_int_equal(gpu_metrics_fill(span_make((char *)at, rows[i].size), &r, &error), -1);
		if (!strstr(error.text, rows[i].words))
			fail_msg("%s", error.text);
		same_real(r.power_w, NAN, "power");
		free(at);
	}
}

static void short_reads(void **state)
{
	unsigned char *at = table(120, 1, 3);

	(void)state;
	for (size_t n = 0; n < 120; n++) { /* the header says 120, fewer came */
		unsigned char *copy = malloc(n ? n : 1);
		struct gpu_reading r;

		memcpy(copy, at, n);
		gpu_reading_init(&r, 0);
		assert_int_equal(gpu_metrics_fill(span_make((char *)copy, n), &r, NULL), -1);
		free(copy);
	}
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format),
		cmocka_unit_test(not_available_is_unknown),
		cmocka_unit_test(refused),
		cmocka_unit_test(short_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
