/* test_amd_smi.c - JSON of amd-smi 6 and 7. */
#include "config.h"

#include "parse/amd_smi.h"

#include "tests/unit/gpu_golden.h"

#define MB 1048576.0
#define GB (1024 * MB)

static void gpus_of_all_shapes(void **state)
{
	static const struct {
		const char *file;
		size_t gpus;
		int gpu;
		double busy, activity, used, total, power, junction, mem, sclk;
	} rows[] = {
		{ "mi300x-monitor.amd-smi-6.3.json", 3, 0, 100, 0, 180225 * MB, 196592 * MB, 251, 52, 40, 2097 },
		{ "mi300x-monitor.amd-smi-6.3.json", 3, 2, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
		{ "mi300x-monitor-watch.amd-smi-7.0.json", 1, 0, 96, 0, 3.1 * GB, 191.7 * GB, 293, 50, NAN, 2106 },
		{ "mi300x-metric.amd-smi-7.0.json", 2, 0, 100, 0, 180225 * MB, 196592 * MB, 243, 53, 41, NAN },
		{ "mi300x-metric.amd-smi-7.0.json", 2, 1, NAN, NAN, 180220 * MB, 196592 * MB, NAN, NAN, NAN, NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct gpu_reading *r = NULL;
		struct gpu_list list;
		struct error error;

		assert_int_equal(parse_golden(amd_smi_parse, rows[i].file, &list, &error), 0);
		assert_int_equal(list.gpus, rows[i].gpus);
		for (size_t j = 0; j < list.gpus; j++)
			if (list.gpu[j].gpu == rows[i].gpu)
				r = &list.gpu[j];
		assert_non_null(r);
		same_real(r->busy_pct, rows[i].busy, "busy");
		same_real(r->mem_activity_pct, rows[i].activity, "activity");
		same_real(r->vram_used, rows[i].used, "used");
		same_real(r->vram_total, rows[i].total, "total");
		same_real(r->power_w, rows[i].power, "power");
		same_real(r->temp_junction_c, rows[i].junction, "junction");
		same_real(r->temp_mem_c, rows[i].mem, "mem");
		same_real(r->sclk_mhz, rows[i].sclk, "sclk");
		gpu_list_release(&list);
	}
}

static void processes_know_their_gpu(void **state)
{
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_golden(amd_smi_parse, "process.amd-smi-7.0.json", &list, &error), 0);
	assert_int_equal(list.gpus, 0);
	assert_int_equal(list.processes, 2);
	assert_int_equal(list.process[0].pid, 41210);
	assert_int_equal(list.process[0].gpu, 0);
	assert_int_equal(list.process[0].vram, (int64_t)(175.8 * GB));
	assert_int_equal(list.process[0].cu_occupancy, 228);
	assert_int_equal(list.process[0].evicted_ms, 0);
	assert_string_equal(list.process[0].name, "python3");
	assert_int_equal(list.process[1].pid, 41300);
	assert_int_equal(list.process[1].vram, -1);
	assert_int_equal(list.process[1].cu_occupancy, -1);
	assert_string_equal(list.process[1].name, "");
	gpu_list_release(&list);
}

static void values_in_any_form(void **state)
{
	const char *text = "[{\"gpu\": 0, \"gfx\": \"97 %\", \"power_usage\": 12.5, \"vram_used\": \"3.0 GB\", \"mem\": \"N/A\","
			   " \"vram_total\": {\"value\": \"N/A\", \"unit\": \"MB\"}, \"hotspot_temperature\": [1]},"
			   " {\"gpu\": \"N/A\"}, 5, {\"gpu\": -1}, {\"gpu\": 1e9}]";
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_exact(amd_smi_parse, span_of(text), &list, &error), 0);
	assert_int_equal(list.gpus, 1);
	same_real(list.gpu[0].busy_pct, 97, "busy");
	same_real(list.gpu[0].power_w, 12.5, "power");
	same_real(list.gpu[0].vram_used, 3 * GB, "used");
	same_real(list.gpu[0].vram_total, NAN, "total");
	same_real(list.gpu[0].mem_activity_pct, NAN, "activity");
	same_real(list.gpu[0].temp_junction_c, NAN, "junction");
	gpu_list_release(&list);
}

static void a_later_round_wins_even_when_it_knows_less(void **state)
{
	const char *text = "[{\"gpu\": 0, \"gfx\": 5, \"power_usage\": 7}]\n[{\"gpu\": 0, \"gfx\": \"N/A\", \"power_usage\": 8}]\n[{\"gpu\"";
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_exact(amd_smi_parse, span_of(text), &list, &error), 0);
	same_real(list.gpu[0].busy_pct, NAN, "busy");
	same_real(list.gpu[0].power_w, 8, "power");
	gpu_list_release(&list);
}

static void errors_have_the_tool_s_words(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "", "nothing" },
		{ "ERROR:root:Driver not loaded (amdgpu not found in modules)\n", "no JSON" },
		{ "[{\"gpu\": 0, \"gfx\"", "no JSON" },
		{ "[]", "without a GPU" },
		{ "{\"gpu_data\": \"N/A\"}", "without a GPU" },
	};
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_golden(amd_smi_parse, "no-driver.amd-smi-6.4.json", &list, &error), -1);
	assert_non_null(strstr(error.text, "Driver not loaded (amdgpu not found in modules) (code 34)"));
	gpu_list_release(&list);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(parse_exact(amd_smi_parse, span_of(rows[i].text), &list, &error), -1);
		if (!strstr(error.text, rows[i].words))
			fail_msg("'%s' gives '%s'", rows[i].text, error.text);
		gpu_list_release(&list);
	}
}

static void no_head_is_read_past_its_end(void **state)
{
	(void)state;
	parse_all_heads(amd_smi_parse, "mi300x-metric.amd-smi-7.0.json");
	parse_all_heads(amd_smi_parse, "process.amd-smi-7.0.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_of_all_shapes),
		cmocka_unit_test(processes_know_their_gpu),
		cmocka_unit_test(values_in_any_form),
		cmocka_unit_test(a_later_round_wins_even_when_it_knows_less),
		cmocka_unit_test(errors_have_the_tool_s_words),
		cmocka_unit_test(no_head_is_read_past_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
