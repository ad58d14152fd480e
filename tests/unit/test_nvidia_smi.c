/* test_nvidia_smi.c - CSV of nvidia-smi. */
#include "config.h"

#include "parse/nvidia_smi.h"

#include "tests/unit/gpu_golden.h"

#define MIB 1048576.0

static void gpus(void **state)
{
	static const struct {
		double busy, activity, used, total, temp, power;
		const char *name;
	} rows[] = {
		{ 100, 0, 139012 * MIB, 143771 * MIB, 41, 243.17, "NVIDIA H200" },
		{ NAN, NAN, 0, 143771 * MIB, 33, NAN, "NVIDIA H200" },
		{ NAN, NAN, 25 * MIB, 40960 * MIB, 30, 61, "NVIDIA A100-SXM4-40GB MIG" },
	};
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_golden(nvidia_smi_parse, "h200-a100.nvidia-smi.csv", &list, &error), 0);
	assert_int_equal(list.gpus, 3); /* the line of noise is no GPU */
	for (int i = 0; i < 3; i++) {
		same_real(list.gpu[i].busy_pct, rows[i].busy, "busy");
		same_real(list.gpu[i].mem_activity_pct, rows[i].activity, "activity");
		same_real(list.gpu[i].vram_used, rows[i].used, "used");
		same_real(list.gpu[i].vram_total, rows[i].total, "total");
		same_real(gpu_reading_temp(&list.gpu[i]), rows[i].temp, "temp");
		same_real(list.gpu[i].power_w, rows[i].power, "power");
		assert_string_equal(list.gpu[i].name, rows[i].name);
	}
	gpu_list_release(&list);
}

static void processes_find_their_gpu_by_uuid(void **state)
{
	struct span apps = golden("compute-apps.nvidia-smi.csv");
	struct gpu_list list;
	struct error error;

	(void)state;
	parse_golden(nvidia_smi_parse, "h200-a100.nvidia-smi.csv", &list, &error);
	assert_int_equal(nvidia_smi_parse(apps, &list, &error), 0);
	assert_int_equal(list.gpus, 3);
	assert_int_equal(list.processes, 2);
	assert_int_equal(list.process[0].pid, 4242);
	assert_int_equal(list.process[0].gpu, 0);
	assert_int_equal(list.process[0].vram, (int64_t)(138000 * MIB));
	assert_string_equal(list.process[0].name, "/opt/app/python3, with, commas");
	assert_int_equal(list.process[1].gpu, -1);
	assert_int_equal(list.process[1].vram, -1);
	assert_string_equal(list.process[1].name, "");
	gpu_list_release(&list);
	free((void *)apps.at);
}

static void units_may_stand_in_the_header(void **state)
{
	const char *text = "name, index, memory.used [MiB], utilization.gpu [%]\nTesla, V100, SXM2, 4, 16, 97\r\n";
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_exact(nvidia_smi_parse, span_of(text), &list, &error), 0);
	assert_int_equal(list.gpu[0].gpu, 4);
	assert_string_equal(list.gpu[0].name, "Tesla, V100, SXM2");
	same_real(list.gpu[0].vram_used, 16 * MIB, "used");
	same_real(list.gpu[0].busy_pct, 97, "busy");
	gpu_list_release(&list);
}

static void errors(void **state)
{
	struct gpu_list list;
	struct error error;

	(void)state;
	assert_int_equal(parse_golden(nvidia_smi_parse, "no-driver.nvidia-smi.txt", &list, &error), -1);
	assert_non_null(strstr(error.text, "couldn't communicate with the NVIDIA driver"));
	gpu_list_release(&list);
	assert_int_equal(parse_exact(nvidia_smi_parse, span_of(""), &list, &error), -1);
	assert_non_null(strstr(error.text, "nothing"));
	gpu_list_release(&list);
	assert_int_equal(parse_exact(nvidia_smi_parse, span_of("index, uuid\n"), &list, &error), 0);
	assert_int_equal(list.gpus, 0);
	gpu_list_release(&list);
}

static void no_head_is_read_past_its_end(void **state)
{
	(void)state;
	parse_all_heads(nvidia_smi_parse, "h200-a100.nvidia-smi.csv");
	parse_all_heads(nvidia_smi_parse, "compute-apps.nvidia-smi.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus),
		cmocka_unit_test(processes_find_their_gpu_by_uuid),
		cmocka_unit_test(units_may_stand_in_the_header),
		cmocka_unit_test(errors),
		cmocka_unit_test(no_head_is_read_past_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
