/* fuzz.c - libFuzzer's entry: $FUZZ_TARGET names the row of targets.c. run.sh starts it. */
#include "config.h"

#include "targets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *at, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < fuzz_target_count; i++)
		if (name && strcmp(fuzz_targets[i].name, name) == 0)
			target = &fuzz_targets[i];
		else if (!name)
			puts(fuzz_targets[i].name);
	if (!target)
		exit(name ? 64 : 0); /* without a name: the list of them */
	fuzz_start();
	return 0;
}

/* libFuzzer's blocks have their exact length. */
int LLVMFuzzerTestOneInput(const uint8_t *at, size_t n)
{
	target->run(span_make((const char *)at, n));
	return 0;
}
