/* code_file.h - the code object that a URI names, as a file llvm-objdump can read. Who: disassemble.c. */
#ifndef HANGTOP_APP_CODE_FILE_H
#define HANGTOP_APP_CODE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "parse/code_elf.h"
#include "parse/code_object.h"

struct code_file {
	char source[PATH_MAX];  /* where it was found */
	char path[PATH_MAX];    /* what to read: the source, or a temporary copy of a part of it */
	bool copied, saved;     /* is a copy; is the agent's saved file */
	int fd;                 /* of path */
	int64_t offset, size;   /* of the part in the source */
	int others;             /* more saved files of this name, older */
};

/* Find and open it. Nothing is left behind on failure. */
int code_file_open(struct code_file *file, const char *folder, const struct code_object *object, struct error *error);
void code_file_close(struct code_file *file);  /* removes the copy */
struct code_elf_reader code_file_reader(struct code_file *file);

#endif
