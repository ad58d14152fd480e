# tests of the GPU parsers and of the gpu source
GPU_TESTS = tests/unit/test_gpu_files tests/unit/test_gpu_metrics tests/unit/test_rocm_smi tests/unit/test_amd_smi \
	tests/unit/test_nvidia_smi tests/unit/test_source_gpu
check_PROGRAMS += $(GPU_TESTS)
TESTS += $(GPU_TESTS)
tests_unit_test_gpu_files_SOURCES = tests/unit/test_gpu_files.c tests/unit/gpu_golden.h
tests_unit_test_gpu_files_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_gpu_metrics_SOURCES = tests/unit/test_gpu_metrics.c tests/unit/gpu_golden.h
tests_unit_test_gpu_metrics_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_rocm_smi_SOURCES = tests/unit/test_rocm_smi.c tests/unit/gpu_golden.h
tests_unit_test_rocm_smi_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_amd_smi_SOURCES = tests/unit/test_amd_smi.c tests/unit/gpu_golden.h
tests_unit_test_amd_smi_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_nvidia_smi_SOURCES = tests/unit/test_nvidia_smi.c tests/unit/gpu_golden.h
tests_unit_test_nvidia_smi_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_source_gpu_SOURCES = tests/unit/test_source_gpu.c tests/unit/gpu_tree.h
tests_unit_test_source_gpu_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
EXTRA_DIST += tests/golden/gpu/SOURCE \
	tests/golden/gpu/compute-apps.nvidia-smi.csv \
	tests/golden/gpu/h200-a100.nvidia-smi.csv \
	tests/golden/gpu/mi210-2.rocm-smi-4.5.json \
	tests/golden/gpu/mi250-secondary-die.rocm-smi-6.0.json \
	tests/golden/gpu/mi300x-8-hung.rocm-smi-6.2.json \
	tests/golden/gpu/mi300x-cpx-64.rocm-smi-7.0.json \
	tests/golden/gpu/mi300x-metric.amd-smi-7.0.json \
	tests/golden/gpu/mi300x-monitor-watch.amd-smi-7.0.json \
	tests/golden/gpu/mi300x-monitor.amd-smi-6.3.json \
	tests/golden/gpu/no-driver.amd-smi-6.4.json \
	tests/golden/gpu/no-driver.nvidia-smi.txt \
	tests/golden/gpu/no-driver.rocm-smi-5.2.3.err \
	tests/golden/gpu/noise-before.rocm-smi-5.7.json \
	tests/golden/gpu/phoenix-mixed-keys.rocm-smi-6.1.json \
	tests/golden/gpu/pids.rocm-smi-5.7.json \
	tests/golden/gpu/process.amd-smi-7.0.json
tests_unit_test_source_gpu_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=child_run
