# tests of src/store
store_tests = tests/unit/test_store_rows tests/unit/test_store_state tests/unit/test_store_trouble tests/unit/test_store_full \
	tests/unit/test_store_kill tests/unit/test_store_doc
check_PROGRAMS += $(store_tests)
TESTS += $(store_tests)
STORE_TEST_LIBS = $(LIB_STORE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_store_rows_SOURCES = tests/unit/test_store_rows.c tests/unit/store_file.h tests/unit/store_load.h
tests_unit_test_store_rows_LDADD = $(STORE_TEST_LIBS)
tests_unit_test_store_state_SOURCES = tests/unit/test_store_state.c
tests_unit_test_store_state_LDADD = $(STORE_TEST_LIBS)
tests_unit_test_store_trouble_SOURCES = tests/unit/test_store_trouble.c
tests_unit_test_store_trouble_LDADD = $(STORE_TEST_LIBS)
tests_unit_test_store_full_SOURCES = tests/unit/test_store_full.c
tests_unit_test_store_full_LDADD = $(STORE_TEST_LIBS)
tests_unit_test_store_kill_SOURCES = tests/unit/test_store_kill.c tests/unit/store_kill.h
tests_unit_test_store_kill_LDADD = $(STORE_TEST_LIBS)
tests_unit_test_store_doc_SOURCES = tests/unit/test_store_doc.c
tests_unit_test_store_doc_LDADD = $(STORE_TEST_LIBS)
