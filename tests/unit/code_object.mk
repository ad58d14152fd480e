# tests of code objects; test_disassemble makes real ones with clang, ld.lld and llvm-objdump
check_PROGRAMS += tests/unit/test_code_object
TESTS += tests/unit/test_code_object
tests_unit_test_code_object_SOURCES = tests/unit/test_code_object.c tests/unit/data_file.h
tests_unit_test_code_object_LDADD = $(LIB_PARSE) $(TEST_LIBS) $(ALL_LIBS)
EXTRA_DIST += tests/data/code_object/kernels.s tests/data/code_object/kernels.c
check_PROGRAMS += tests/unit/test_disassemble
TESTS += tests/unit/test_disassemble
tests_unit_test_disassemble_SOURCES = tests/unit/test_disassemble.c tests/unit/data_file.h
tests_unit_test_disassemble_LDADD = $(LIB_APP) $(TEST_LIBS) $(ALL_LIBS)
