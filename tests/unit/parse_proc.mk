# tests of /proc, py-spy and the server's tree
check_PROGRAMS += tests/unit/test_proc
TESTS += tests/unit/test_proc
tests_unit_test_proc_SOURCES = tests/unit/test_proc.c tests/unit/gpu_tree.h
tests_unit_test_proc_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
