# tests of profiles, log lines, HTTP bodies, and of the log and server sources
PARSE_LOG_TESTS = tests/unit/test_profile tests/unit/test_log_class tests/unit/test_models tests/unit/test_metrics \
	tests/unit/test_source_log tests/unit/test_source_server
check_PROGRAMS += $(PARSE_LOG_TESTS)
TESTS += $(PARSE_LOG_TESTS)
tests_unit_test_profile_SOURCES = tests/unit/test_profile.c tests/unit/profile_file.h
tests_unit_test_profile_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_log_class_SOURCES = tests/unit/test_log_class.c tests/unit/log_lines.h tests/unit/profile_file.h
tests_unit_test_log_class_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_models_SOURCES = tests/unit/test_models.c tests/unit/profile_file.h
tests_unit_test_models_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c tests/unit/profile_file.h
tests_unit_test_metrics_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_source_log_SOURCES = tests/unit/test_source_log.c tests/unit/source_bed.h tests/unit/profile_file.h
tests_unit_test_source_log_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_source_server_SOURCES = tests/unit/test_source_server.c tests/unit/source_bed.h tests/unit/http_stub.h tests/unit/profile_file.h
tests_unit_test_source_server_LDADD = $(LIB_SOURCE) $(TEST_LIBS) $(ALL_LIBS)
