# tests of base, and the rules of who includes whom
check_PROGRAMS += tests/unit/test_base
TESTS += tests/unit/test_base tests/unit/include_rules.sh
EXTRA_DIST += tests/unit/include_rules.sh
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_LDADD = $(LIB_BASE) $(TEST_LIBS) $(ALL_LIBS)
