# tests of /proc, py-spy, the server's tree and the stack source
check_PROGRAMS += tests/unit/test_proc tests/unit/test_source_stack
TESTS += tests/unit/test_proc tests/unit/test_source_stack
tests_unit_test_proc_SOURCES = tests/unit/test_proc.c tests/unit/gpu_tree.h
tests_unit_test_proc_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_source_stack_SOURCES = tests/unit/test_source_stack.c tests/unit/gpu_tree.h
tests_unit_test_source_stack_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
