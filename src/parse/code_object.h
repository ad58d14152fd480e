/* code_object.h - the URI by which the debug agent, rocgdb and the loader name a code object, and the name of its saved copy.
 *
 *   memory://PID#offset=NUMBER&size=NUMBER          the code was in the process's memory; PID as the process itself sees it
 *   file://PATH[#offset=NUMBER&size=NUMBER]         a file, or a part of one (member of a bundle in a library)
 * `?` may stand for `#`. NUMBER in C notation: 0x..., 0..., decimal. Bytes of PATH outside [A-Za-z0-9/_.~-] are %XX.
 * `file:////a` is /a, `file://name.so` a relative name.
 * The agent saves it (options -s, --save-code-objects) as [<digits>_]URI with each of : / # ? & = replaced by _.
 * Who: app/disassemble.c, the report of explain, the Waves panel. ROCm 3.7 to 7.x.
 */
#ifndef HANGTOP_PARSE_CODE_OBJECT_H
#define HANGTOP_PARSE_CODE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

#define CODE_OBJECT_PATH_MAX 4096

enum code_object_scheme { CODE_OBJECT_FILE, CODE_OBJECT_MEMORY };

struct code_object {
	enum code_object_scheme scheme;
	int64_t pid;                      /* -1 unknown (file) */
	char path[CODE_OBJECT_PATH_MAX];  /* decoded; "" of memory */
	int64_t offset, size;             /* bytes; -1 unknown */
	struct span uri;                  /* as it was, borrowed */
};

/* False when it is no such URI, or its path is too long or holds a NUL. */
bool code_object_parse(struct span uri, struct code_object *out);
/* Append the name of the saved copy, without the digits before it. */
void code_object_saved_suffix(struct span uri, struct buf *buf);
bool code_object_is_saved_as(struct span uri, struct span filename);
/* Append what to type into a shell to disassemble [low, high) of the file, or of a part of it when offset >= 0. high 0: all of it. */
void code_object_objdump(const char *tool, const char *path, int64_t offset, int64_t size, uint64_t low, uint64_t high, struct buf *buf);
/* The same of a wave: around its pc, when it is known where its code is loaded (load_base, else 0). A saved copy is named by a pattern.
 * False for what is no URI. */
bool code_object_command(struct span uri, uint64_t load_base, uint64_t pc, struct buf *buf);

#endif
