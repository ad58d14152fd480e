/* file_blocks.h - a file from its beginning to its end, block by block, as fast as the machine can. Who: cmd_explain.c.
 *
 * Big regular files are mapped in windows, which saves the copy; all else (pipes, small and special files) is read. A file that
 * somebody cuts while it is mapped, or a page that the disk cannot give, raises SIGBUS: the handler puts zeros there, the block is
 * delivered with them, and reading stops with an error. Not for several threads at once. Live logs are followed with pread instead
 * (source/follow.h): there a page that does not come would hold up everything.
 */
#ifndef HANGTOP_APP_FILE_BLOCKS_H
#define HANGTOP_APP_FILE_BLOCKS_H

#include <stddef.h>

#include "base/error.h"

#define FILE_BLOCK_MAX (2 << 20)

typedef void file_block_fn(void *context, const char *bytes, size_t n);

/* `name` is for messages. -1 when reading failed; what came before was delivered. */
int file_blocks(int fd, const char *name, file_block_fn *block, void *context, struct error *error);

#endif
