/* test_gpu_files.c - contents of the small files of amdgpu and KFD. */
#include "config.h"

#include "parse/gpu_files.h"

#include "tests/unit/gpu_golden.h"

static struct span exact(const char *text)
{
	size_t n = strlen(text);
	char *at = malloc(n ? n : 1);

	memcpy(at, text, n);
	return span_make(at, n);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		double want;
	} rows[] = {
		{ "100\n", 100 },
		{ "0\n", 0 },
		{ "206141652992\n", 206141652992 },
		{ "7", 7 },
		{ "-5000\n", -5000 },
		{ "", NAN },
		{ "\n", NAN },
		{ "N/A\n", NAN },
		{ "12 W\n", NAN },
		{ "99999999999999999999\n", NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct span s = exact(rows[i].text);

		same_real(gpu_file_number(s), rows[i].want, rows[i].text);
		free((void *)s.at);
	}
}

static void dpm_levels(void **state)
{
	static const struct {
		const char *text;
		double want;
	} rows[] = {
		{ "0: 500Mhz\n1: 2100Mhz *\n", 2100 },
		{ "S: 19Mhz *\n0: 615Mhz\n1: 2000Mhz\n", 19 },
		{ "0: 500Mhz\n1: 2100Mhz\n", NAN },
		{ "1: *", NAN },
		{ "*", NAN },
		{ "", NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct span s = exact(rows[i].text);

		same_real(gpu_file_dpm_mhz(s), rows[i].want, rows[i].text);
		free((void *)s.at);
	}
}

static void partitions(void **state)
{
	char out[8] = "old";

	(void)state;
	assert_true(gpu_file_partition(span_of("SPX\n"), out, sizeof out));
	assert_string_equal(out, "SPX");
	assert_true(gpu_file_partition(span_of("NPS1\n"), out, sizeof out));
	assert_string_equal(out, "NPS1");
	assert_false(gpu_file_partition(span_of("UNKNOWN\n"), out, sizeof out));
	assert_false(gpu_file_partition(span_of(""), out, sizeof out));
	assert_false(gpu_file_partition(span_of("SPX, DPX\n"), out, sizeof out));
	assert_false(gpu_file_partition(span_of("ABCDEFGH\n"), out, sizeof out));
	assert_string_equal(out, "NPS1");
}

static void properties_of_nodes(void **state)
{
	struct span mi300 = exact("cpu_cores_count 0\nsimd_count 1216\nlocation_id 49408\ndomain 0\ndrm_render_minor 129\n"
				  "gfx_target_version 90402\nunique_id 1234605616436508552\nnum_xcc 8\nbroken\n");
	struct span cpu = exact("cpu_cores_count 96\nsimd_count 0\ndrm_render_minor 0");
	struct kfd_properties p;
	char text[24];

	(void)state;
	gpu_file_properties(mi300, &p);
	assert_int_equal(p.simd_count, 1216);
	assert_int_equal(p.render_minor, 129);
	kfd_bdf(&p, text, sizeof text);
	assert_string_equal(text, "0000:c1:00.0");
	assert_int_equal(kfd_partition_id(&p), 0);
	kfd_gfx_name(p.gfx_target_version, text, sizeof text);
	assert_string_equal(text, "gfx942");
	assert_true(p.unique_id == UINT64_C(1234605616436508552));
	p.location_id |= UINT64_C(5) << 28;
	p.domain = 2;
	assert_int_equal(kfd_partition_id(&p), 5);
	kfd_bdf(&p, text, sizeof text);
	assert_string_equal(text, "0002:c1:00.0");
	gpu_file_properties(cpu, &p);
	assert_int_equal(p.simd_count, 0);
	assert_int_equal(p.render_minor, -1);
	free((void *)mi300.at);
	free((void *)cpu.at);
}

static void gfx_names(void **state)
{
	static const struct {
		unsigned version;
		const char *name;
	} rows[] = { { 90010, "gfx90a" }, { 90008, "gfx908" }, { 90402, "gfx942" }, { 90500, "gfx950" }, { 110000, "gfx1100" },
		{ 120001, "gfx1201" }, { 0, "" }, { 99999999, "" } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[16];

		kfd_gfx_name(rows[i].version, text, sizeof text);
		assert_string_equal(text, rows[i].name);
	}
}

static void slot_names(void **state)
{
	char out[24];

	(void)state;
	assert_true(gpu_file_slot_name(span_of("DRIVER=amdgpu\nPCI_ID=1002:74A1\nPCI_SLOT_NAME=0000:c1:00.0\n"), out, sizeof out));
	assert_string_equal(out, "0000:c1:00.0");
	assert_false(gpu_file_slot_name(span_of("DRIVER=amdgpu\n"), out, sizeof out));
	assert_false(gpu_file_slot_name(span_of("PCI_SLOT_NAME=0000000000000000:c1:00.0\n"), out, sizeof out));
}

static void bytes_and_words(void **state)
{
	char name[8] = "";

	(void)state;
	same_real(gpu_bytes_of(2, span_of("MB")), 2097152, "MB");
	same_real(gpu_bytes_of(2, span_of("MiB")), 2097152, "MiB");
	same_real(gpu_bytes_of(1.5, span_of("GB")), 1610612736, "GB");
	same_real(gpu_bytes_of(7, span_of("")), 7, "no unit");
	same_real(gpu_bytes_of(7, span_of("B")), 7, "B");
	same_real(gpu_bytes_of(7, span_of("Mb/s")), NAN, "a rate");
	same_real(gpu_bytes_of(16, span_of("EB")), NAN, "underflow");
	same_real(gpu_bytes_of(18446744073709551615.0, span_of("B")), NAN, "underflow in bytes");
	same_real(gpu_bytes_of(-1, span_of("B")), NAN, "negative");
	same_real(gpu_percent(65535), NAN, "percent");
	same_real(gpu_number(span_of("(400Mhz)"), NULL), 400, "brackets");
	same_real(gpu_number(span_of("N/A (Secondary die)"), NULL), NAN, "words");
	gpu_text(name, sizeof name, span_of("N/A (Secondary die)"));
	gpu_text(name, sizeof name, span_of("[Not Supported]"));
	assert_string_equal(name, "");
	gpu_text(name, sizeof name, span_of(" abcdef\xc3\xa9 "));
	assert_string_equal(name, "abcdef"); /* no half character */
}

static void lists_keep_their_order_and_bounds(void **state)
{
	struct gpu_list list;

	(void)state;
	gpu_list_init(&list);
	for (int i = 40; i >= 0; i -= 2)
		gpu_list_gpu(&list, i)->power_w = i;
	gpu_list_gpu(&list, 3)->power_w = 3;
	assert_int_equal(list.gpus, 22);
	for (size_t i = 1; i < list.gpus; i++) {
		assert_true(list.gpu[i - 1].gpu < list.gpu[i].gpu);
		same_real(list.gpu[i].power_w, list.gpu[i].gpu, "power");
	}
	assert_null(gpu_list_gpu(&list, -1));
	assert_null(gpu_list_gpu(&list, GPU_READINGS_MAX));
	for (int i = 0; i < GPU_PROCESSES_MAX; i++)
		assert_non_null(gpu_list_process(&list));
	assert_null(gpu_list_process(&list));
	gpu_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(dpm_levels),
		cmocka_unit_test(partitions),
		cmocka_unit_test(properties_of_nodes),
		cmocka_unit_test(gfx_names),
		cmocka_unit_test(slot_names),
		cmocka_unit_test(bytes_and_words),
		cmocka_unit_test(lists_keep_their_order_and_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
