/* explain_data.h - kernels.tsv and the signatures, read: shipped ones, then the user's, which win. Who: cmd_explain.c, screen.c (kernels only).
 * Files that do not parse are complained about on standard error and left out. */
#ifndef HANGTOP_APP_EXPLAIN_DATA_H
#define HANGTOP_APP_EXPLAIN_DATA_H

#include "model/kernel_words.h"
#include "model/signature.h"

struct explain_data {
	struct kernel_set kernels;
	struct signature_set signatures;
};

/* `extra` (may be NULL): one more folder with kernels.tsv and signatures/. */
void explain_data_load(struct explain_data *data, const char *extra);
void explain_data_release(struct explain_data *data);
/* Only the kernels, into an empty set; kernels_release when done. */
void kernel_data_load(struct kernel_set *kernels, const char *extra);

#endif
