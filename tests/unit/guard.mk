# tests of the guard of a snapshot
check_PROGRAMS += tests/unit/test_guard
TESTS += tests/unit/test_guard
tests_unit_test_guard_SOURCES = tests/unit/test_guard.c tests/unit/guard_bed.h tests/unit/guard_environments.h tests/unit/gpu_tree.h
tests_unit_test_guard_LDADD = $(LIB_SNAPSHOT) $(TEST_LIBS) $(ALL_LIBS)
