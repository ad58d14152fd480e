/* targets.h - every reader of text from outside, as one table: bytes in, aborts when a promise does not hold.
 *
 * Who: fuzz.c (libFuzzer, `make fuzz`) and replay.c (`make check`: the inputs of tests/data/explain, corpus/ and found/).
 * Adding one: a function in one of targets_*.c, a row in targets.c.
 */
#ifndef HANGTOP_TESTS_FUZZ_TARGETS_H
#define HANGTOP_TESTS_FUZZ_TARGETS_H

#include <stddef.h>

#include "base/span.h"
#include "parse/profile.h"

struct fuzz_target {
	const char *name;
	void (*run)(struct span text);  /* text is a heap block of its exact length */
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

/* Once, before the first run: shipped profiles and tables from $srcdir/data. */
void fuzz_start(void);
/* A promise that does not hold. */
#define FUZZ_EXPECT(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_broken(const char *condition, const char *file, int line);
/* A number that follows from the input. */
unsigned fuzz_dice(struct span text);

extern struct profile_set fuzz_profiles;

void target_scan(struct span text);
void target_split(struct span text);
void target_lines(struct span text);
void target_explain(struct span text);
void target_session(struct span text);
void target_observation(struct span text);
void target_code_elf(struct span text);
void target_code_object(struct span text);
void target_disassembly(struct span text);

#endif
