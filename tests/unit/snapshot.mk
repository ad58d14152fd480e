# tests of snapshot
check_PROGRAMS += tests/unit/test_snapshot
TESTS += tests/unit/test_snapshot
tests_unit_test_snapshot_SOURCES = tests/unit/test_snapshot.c
tests_unit_test_snapshot_LDADD = $(LIB_SNAPSHOT) $(TEST_LIBS) $(ALL_LIBS)
