/* explain_code.h - the code around the pcs of a dump's waves, for the report of explain. Who: cmd_explain.c. */
#ifndef HANGTOP_APP_EXPLAIN_CODE_H
#define HANGTOP_APP_EXPLAIN_CODE_H

#include <stddef.h>

#include "base/buf.h"
#include "model/observation.h"

/* Append what app/disassemble.h says of the first few places where waves stand, stopped waves first; why not, for those that cannot be
 * shown. `folder` holds saved code objects. Blocks while llvm-objdump runs. */
void explain_code(const struct observation *const *list, size_t n, const char *folder, struct buf *out);

#endif
