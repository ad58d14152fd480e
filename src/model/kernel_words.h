/* kernel_words.h - what a kernel's name means: which call it comes from, what kind of work it is.
 *
 * Who: explain and the screens, for every kernel they name. The rows are data (data/kernels.tsv, then the user's file):
 *
 *   FRAGMENT <TAB> CLASS <TAB> WORDS [<TAB> NOTE]
 *
 * Empty lines and lines that start with '#' are skipped. FRAGMENT occurs in the name, letter by letter; '*' inside it stands for
 * anything, so "index_copy_kernel_impl" and "multi_tensor_apply_kernel*Adam" both work. Prefer the bare function name: it is found
 * in demangled names ("at::native::x<...>"), in C names and in mangled ones ("_ZN2at6native1xE"). CLASS is one word. The first row
 * that matches wins, so special rows stand above general ones; rows loaded later stand above all rows loaded before.
 * Pure: text in, rows out; the app reads the files.
 */
#ifndef HANGTOP_MODEL_KERNEL_WORDS_H
#define HANGTOP_MODEL_KERNEL_WORDS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

#define KERNEL_ROWS_MAX 10000

struct kernel_row {
	char *fragment;
	char *class;            /* collective splitk gemm attention moe norm index elementwise ... */
	char *words;            /* the Python call or the library's routine */
	char *note;             /* where its source is, what to know; "" when there is nothing to say */
};

struct kernel_set {
	struct kernel_row *row;
	size_t count;
};

/* Put the rows of one file above those already there. -1 (and the set as it was) when a row is wrong: "file:line: ...". */
int kernels_load(struct kernel_set *set, struct span tsv, const char *file, struct error *error);
void kernels_release(struct kernel_set *set);
/* The row for a kernel as printed; NULL when none knows it. Valid until the next load or release. */
const struct kernel_row *kernels_words(const struct kernel_set *set, struct span kernel);
/* Bytes of one element, as PyTorch's OpaqueType<N> in the name says; 0 when it does not. */
int kernel_element_bytes(struct span kernel);
/* Append the row's words, and for which dtypes when the name tells: "Tensor.index_copy_(dim, idx, src), 4-byte dtype (int32, float32)". */
void kernel_say(const struct kernel_row *row, struct span kernel, struct buf *out);

#endif
