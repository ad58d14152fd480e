# the scanner of any text
check_PROGRAMS += tests/unit/test_scan
TESTS += tests/unit/test_scan
tests_unit_test_scan_SOURCES = tests/unit/test_scan.c tests/unit/profile_file.h
tests_unit_test_scan_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
