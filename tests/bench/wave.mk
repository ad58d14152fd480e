EXTRA_PROGRAMS += tests/bench/wave_log tests/bench/measure
tests_bench_wave_log_SOURCES = tests/bench/wave_log.c tests/bench/wave_log.h
tests_bench_measure_SOURCES = tests/bench/measure.c
