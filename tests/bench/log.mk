EXTRA_PROGRAMS += tests/bench/bench_log
tests_bench_bench_log_SOURCES = tests/bench/bench_log.c tests/unit/source_bed.h tests/unit/profile_file.h
tests_bench_bench_log_LDADD = $(LIB_SOURCE) $(ALL_LIBS)
