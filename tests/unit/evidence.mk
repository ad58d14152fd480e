# tests of the evidence bundle
check_PROGRAMS += tests/unit/test_evidence
TESTS += tests/unit/test_evidence
tests_unit_test_evidence_SOURCES = tests/unit/test_evidence.c
tests_unit_test_evidence_LDADD = $(LIB_APP) $(TEST_LIBS) $(ALL_LIBS)
TESTS += tests/e2e/test_evidence.py
EXTRA_DIST += tests/e2e/test_evidence.py
