/* table.c - all sources. */
#include "config.h"

#include "source/source.h"

extern const struct source_class source_server, source_gpu, source_proc, source_stack, source_log, source_kmsg;

const struct source_class *const source_table[] = {
	&source_server, &source_gpu, &source_proc, &source_stack, &source_log, &source_kmsg, NULL,
};
