/* test_rocm_smi.c - JSON of rocm-smi 4.5 to 7. */
#include "config.h"

#include "parse/rocm_smi.h"

#include "tests/unit/gpu_golden.h"

static void gpus_of_all_versions(void **state)
{
	static const struct {
		const char *file;
		int gpu;
		double busy, activity, used, total, power, junction, edge, mem;
	} rows[] = {
		{ "mi210-2.rocm-smi-4.5.json", 0, 100, 55, 30000000000, 34342961152, 198, 41, 38, 47 },
		{ "mi210-2.rocm-smi-4.5.json", 2, 0, 0, NAN, 34342961152, NAN, NAN, 31, NAN },
		{ "mi250-secondary-die.rocm-smi-6.0.json", 0, 100, 12, NAN, NAN, 512, NAN, NAN, NAN },
		{ "mi250-secondary-die.rocm-smi-6.0.json", 1, 99, 11, NAN, NAN, NAN, NAN, NAN, NAN },
		{ "mi300x-8-hung.rocm-smi-6.2.json", 0, 100, 0, 188978561024, 206141652992, 241, 51, NAN, 40 },
		{ "mi300x-8-hung.rocm-smi-6.2.json", 7, 100, 0, 189007921152, 206141652992, 248, 58, NAN, 40 },
		{ "mi300x-cpx-64.rocm-smi-7.0.json", 0, 0, 0, 1000000000, 25769803776, 310, 45, NAN, 39 },
		{ "mi300x-cpx-64.rocm-smi-7.0.json", 63, 0, NAN, 1000000063, 25769803776, NAN, 48.5, NAN, 39 },
		{ "noise-before.rocm-smi-5.7.json", 0, 3, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
		{ "phoenix-mixed-keys.rocm-smi-6.1.json", 0, 19, NAN, NAN, NAN, 7.222, NAN, 31, NAN },
		{ "phoenix-mixed-keys.rocm-smi-6.1.json", 10, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct gpu_reading *r = NULL;
		struct gpu_list list;
		struct error error;

		assert_int_equal(parse_golden(rocm_smi_parse, rows[i].file, &list, &error), 0);
		for (size_t j = 0; j < list.gpus; j++)
			if (list.gpu[j].gpu == rows[i].gpu)
				r = &list.gpu[j];
		if (!r)
			fail_msg("%s: no GPU %d", rows[i].file, rows[i].gpu);
		same_real(r->busy_pct, rows[i].busy, "busy");
		same_real(r->mem_activity_pct, rows[i].activity, "activity");
		same_real(r->vram_used, rows[i].used, "used");
		same_real(r->vram_total, rows[i].total, "total");
		same_real(r->power_w, rows[i].power, "power");
		same_real(r->temp_junction_c, rows[i].junction, "junction");
		same_real(r->temp_edge_c, rows[i].edge, "edge");
		same_real(r->temp_mem_c, rows[i].mem, "mem");
		gpu_list_release(&list);
	}
}

static void cards_are_sorted_and_gaps_stay(void **state)
{
	struct gpu_list list;
	struct error error;

	(void)state;
	parse_golden(rocm_smi_parse, "phoenix-mixed-keys.rocm-smi-6.1.json", &list, &error);
	assert_int_equal(list.gpus, 3);
	assert_int_equal(list.gpu[1].gpu, 1);
	assert_int_equal(list.gpu[2].gpu, 10);
	same_real(list.gpu[0].vram_pct, 87, "occupancy");
	same_real(list.gpu[0].sclk_mhz, 800, "sclk");
	same_real(list.gpu[0].mclk_mhz, 400, "mclk");
	assert_string_equal(list.gpu[0].bdf, "0000:C4:00.0");
	assert_string_equal(list.gpu[0].name, "Phoenix3");
	gpu_list_release(&list);
	parse_golden(rocm_smi_parse, "mi210-2.rocm-smi-4.5.json", &list, &error);
	assert_int_equal(list.gpus, 2); /* card1 is missing: no row of zeros */
	gpu_list_release(&list);
	parse_golden(rocm_smi_parse, "mi300x-cpx-64.rocm-smi-7.0.json", &list, &error);
	assert_int_equal(list.gpus, 64);
	gpu_list_release(&list);
}

static void processes(void **state)
{
	static const struct {
		const char *file;
		int64_t pid, gpus, vram, sdma, cu;
		const char *name;
	} rows[] = {
		{ "mi300x-8-hung.rocm-smi-6.2.json", 41100, 0, 0, 0, 0, "atom::enginecore" },
		{ "mi300x-8-hung.rocm-smi-6.2.json", 41217, 1, 188758360064, 0, 0, "atom::tp7" },
		{ "noise-before.rocm-smi-5.7.json", 5500, 1, -1, -1, -1, "python3" },
		{ "noise-before.rocm-smi-5.7.json", 5501, 1, 1024, 0, 0, "pt_main_thread" },
		{ "pids.rocm-smi-5.7.json", 812, 0, 0, 0, 0, "pt main thread" },
		{ "pids.rocm-smi-5.7.json", 722222, 8, 0, 0, 0, "" },
		{ "pids.rocm-smi-5.7.json", 1304, 1, -1, -1, -1, "gunicorn" },
		{ "pids.rocm-smi-5.7.json", 41210, 1, 188743680000, 0, 228, "atom::tp0" },
		{ "pids.rocm-smi-5.7.json", 77, 2, 4096, 12, 4, "ray::worker" },
		{ "pids.rocm-smi-5.7.json", 78, 1, -1, 12, 4, "python3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct gpu_process_reading *p = NULL;
		struct gpu_list list;
		struct error error;

		assert_int_equal(parse_golden(rocm_smi_parse, rows[i].file, &list, &error), 0);
		for (size_t j = 0; j < list.processes; j++)
			if (list.process[j].pid == rows[i].pid)
				p = &list.process[j];
		if (!p)
			fail_msg("%s: no process %lld", rows[i].file, (long long)rows[i].pid);
		assert_string_equal(p->name, rows[i].name);
		assert_int_equal(p->gpu, -1);
		assert_int_equal(p->gpus, rows[i].gpus);
		assert_int_equal(p->vram, rows[i].vram);
		assert_int_equal(p->sdma_us, rows[i].sdma);
		assert_int_equal(p->cu_occupancy, rows[i].cu);
		gpu_list_release(&list);
	}
}

static void rejects(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "nothing" },
		{ " \n\n", "nothing" },
		{ "ERROR: Cannot print JSON/CSV output for concise output\n", "no JSON" },
		{ "  {\"card0\": {}}", "no JSON" },
		{ "{\"card0\": {\"GPU use (%)\": \"10", "cut off" },
		{ "{oops}\n{also}\n", "broken" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct gpu_list list;
		struct error error;

		assert_int_equal(parse_exact(rocm_smi_parse, span_of(rows[i].text), &list, &error), -1);
		assert_non_null(strstr(error.text, rows[i].words));
		assert_int_equal(list.gpus, 0);
		gpu_list_release(&list);
	}
}

static void odd_values_are_unknown_and_odd_types_harmless(void **state)
{
	const char *text = "{not json}\r\n{\"card0\": {\"GPU use (%)\": \"65535\", \"VRAM Total Used Memory (B)\": \"-1\","
			   " \"Average Graphics Package Power (W)\": 12, \"PCI Bus\": \"N/A\"}, \"card1\": 5, \"cardX\": {},"
			   " \"card-1\": {}, \"card99999999\": {}, \"system\": \"none\"}\ntrailing";
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_exact(rocm_smi_parse, span_of(text), &list, &error), 0);
	assert_int_equal(list.gpus, 1);
	same_real(list.gpu[0].busy_pct, NAN, "busy");
	same_real(list.gpu[0].vram_used, NAN, "used");
	same_real(list.gpu[0].power_w, NAN, "power");
	assert_string_equal(list.gpu[0].bdf, "");
	gpu_list_release(&list);
}

static void no_head_is_read_past_its_end(void **state)
{
	(void)state;
	parse_all_heads(rocm_smi_parse, "mi300x-8-hung.rocm-smi-6.2.json");
	parse_all_heads(rocm_smi_parse, "pids.rocm-smi-5.7.json");
}

static void many_braces_end_soon(void **state)
{
	size_t n = 1 << 20;
	char *text = malloc(n);
	struct gpu_list list;
	struct error error;

	(void)state;
	for (size_t i = 0; i < n; i += 2)
		memcpy(text + i, "{\n", 2);
	assert_int_equal(parse_exact(rocm_smi_parse, span_make(text, n), &list, &error), -1);
	gpu_list_release(&list);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_of_all_versions),
		cmocka_unit_test(cards_are_sorted_and_gaps_stay),
		cmocka_unit_test(processes),
		cmocka_unit_test(rejects),
		cmocka_unit_test(odd_values_are_unknown_and_odd_types_harmless),
		cmocka_unit_test(no_head_is_read_past_its_end),
		cmocka_unit_test(many_braces_end_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
