# tests of transport
check_PROGRAMS += tests/unit/test_transport
TESTS += tests/unit/test_transport
tests_unit_test_transport_SOURCES = tests/unit/test_transport.c
tests_unit_test_transport_LDADD = $(LIB_TRANSPORT) $(TEST_LIBS) $(ALL_LIBS)
