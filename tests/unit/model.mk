# tests of src/model
check_PROGRAMS += tests/unit/test_observation tests/unit/test_model tests/unit/test_triage
TESTS += tests/unit/test_observation tests/unit/test_model tests/unit/test_triage
tests_unit_test_observation_SOURCES = tests/unit/test_observation.c
tests_unit_test_observation_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_model_SOURCES = tests/unit/test_model.c tests/unit/feed.h
tests_unit_test_model_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_triage_SOURCES = tests/unit/test_triage.c tests/unit/feed.h
tests_unit_test_triage_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)

check_PROGRAMS += tests/unit/test_snapshots
TESTS += tests/unit/test_snapshots
tests_unit_test_snapshots_SOURCES = tests/unit/test_snapshots.c tests/unit/feed.h
tests_unit_test_snapshots_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)
