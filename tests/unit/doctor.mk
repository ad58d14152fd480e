# tests of doctor
check_PROGRAMS += tests/unit/test_doctor
TESTS += tests/unit/test_doctor
tests_unit_test_doctor_SOURCES = tests/unit/test_doctor.c
tests_unit_test_doctor_LDADD = $(LIB_APP) $(TEST_LIBS) $(ALL_LIBS)
# the manual page against --help
TESTS += tests/unit/test_manual.sh
EXTRA_DIST += tests/unit/test_manual.sh
