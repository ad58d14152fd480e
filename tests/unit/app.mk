# tests of app
check_PROGRAMS += tests/unit/test_settings
TESTS += tests/unit/test_settings
tests_unit_test_settings_SOURCES = tests/unit/test_settings.c
tests_unit_test_settings_LDADD = $(LIB_APP) $(TEST_LIBS) $(ALL_LIBS)

check_PROGRAMS += tests/unit/test_file_blocks
TESTS += tests/unit/test_file_blocks
tests_unit_test_file_blocks_SOURCES = tests/unit/test_file_blocks.c
tests_unit_test_file_blocks_LDADD = $(LIB_APP) $(TEST_LIBS) $(ALL_LIBS)
