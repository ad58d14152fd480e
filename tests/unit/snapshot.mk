# tests of snapshot
check_PROGRAMS += tests/unit/test_snapshot
TESTS += tests/unit/test_snapshot
tests_unit_test_snapshot_SOURCES = tests/unit/test_snapshot.c
tests_unit_test_snapshot_LDADD = $(LIB_SNAPSHOT) $(TEST_LIBS) $(ALL_LIBS)

check_PROGRAMS += tests/unit/test_wave_groups
TESTS += tests/unit/test_wave_groups
tests_unit_test_wave_groups_SOURCES = tests/unit/test_wave_groups.c
tests_unit_test_wave_groups_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
