# tests of kernel names and signatures
check_PROGRAMS += tests/unit/test_kernel_words tests/unit/test_signatures
TESTS += tests/unit/test_kernel_words tests/unit/test_signatures
tests_unit_test_kernel_words_SOURCES = tests/unit/test_kernel_words.c tests/unit/data_file.h
tests_unit_test_kernel_words_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)
tests_unit_test_signatures_SOURCES = tests/unit/test_signatures.c tests/unit/data_file.h
tests_unit_test_signatures_LDADD = $(LIB_MODEL) $(TEST_LIBS) $(ALL_LIBS)
EXTRA_DIST += tests/data/signatures
