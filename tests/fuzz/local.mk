# Fuzzing: `make fuzz` (clang with libFuzzer: Debian clang and libclang-rt-VERSION-dev) builds the parsers apart, with coverage and
# sanitizers, and runs each target of targets.c for FUZZ_SECONDS. `make check` runs all inputs at hand through them once (replay).
check_PROGRAMS += tests/fuzz/replay
TESTS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = tests/fuzz/replay.c tests/fuzz/targets.c tests/fuzz/targets_scan.c tests/fuzz/targets_code.c tests/fuzz/targets.h tests/unit/profile_file.h
tests_fuzz_replay_LDADD = $(LIB_APP) $(ALL_LIBS)
EXTRA_DIST += tests/fuzz/fuzz.c tests/fuzz/run.sh tests/fuzz/words.dict tests/fuzz/corpus tests/fuzz/found

FUZZ_CC = clang
FUZZ_SECONDS = 10
FUZZ_CFLAGS = -std=gnu17 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
fuzz_sources = $(filter %.c,$(libbase_a_SOURCES) $(libparse_a_SOURCES) $(libmodel_a_SOURCES)) src/source/reading_say.c src/transport/frame.c \
	src/app/explain_report.c src/app/explain_text.c src/app/explain_data.c src/app/paths.c src/app/profiles.c \
	tests/fuzz/targets.c tests/fuzz/targets_scan.c tests/fuzz/targets_code.c tests/fuzz/fuzz.c
fuzz_objects = $(fuzz_sources:%.c=tests/fuzz/objects/%.o)

tests/fuzz/objects/%.o: %.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(FUZZ_CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(FUZZ_CFLAGS) -MMD -c -o $@ $<

tests/fuzz/fuzz: $(fuzz_objects)
	$(AM_V_CCLD)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $(fuzz_objects) $(ALL_LIBS)

.PHONY: fuzz fuzz-clean
fuzz: tests/fuzz/fuzz
	@srcdir='$(srcdir)' FUZZ_SECONDS='$(FUZZ_SECONDS)' $(SHELL) $(srcdir)/tests/fuzz/run.sh tests/fuzz/fuzz

clean-local: fuzz-clean
fuzz-clean:
	rm -rf tests/fuzz/objects tests/fuzz/learned tests/fuzz/broken tests/fuzz/fuzz tests/fuzz/fuzz.log

-include $(wildcard tests/fuzz/objects/*/*/*.d)
