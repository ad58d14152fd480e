# tests of src/store
store_tests = tests/unit/test_store_rows
check_PROGRAMS += $(store_tests)
TESTS += $(store_tests)
STORE_TEST_LIBS = $(LIB_STORE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_store_rows_SOURCES = tests/unit/test_store_rows.c tests/unit/store_file.h tests/unit/store_load.h
tests_unit_test_store_rows_LDADD = $(STORE_TEST_LIBS)
