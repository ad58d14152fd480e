EXTRA_PROGRAMS += tests/bench/bench_store
tests_bench_bench_store_SOURCES = tests/bench/bench_store.c tests/unit/store_load.h
tests_bench_bench_store_LDADD = $(LIB_STORE) $(ALL_LIBS)
