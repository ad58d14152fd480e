EXTRA_PROGRAMS += tests/bench/bench_store tests/bench/bench_kill
tests_bench_bench_store_SOURCES = tests/bench/bench_store.c tests/unit/store_load.h
tests_bench_bench_store_LDADD = $(LIB_STORE) $(ALL_LIBS)
tests_bench_bench_kill_SOURCES = tests/bench/bench_kill.c tests/unit/store_kill.h
tests_bench_bench_kill_LDADD = $(LIB_STORE) $(ALL_LIBS)
