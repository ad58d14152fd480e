/* stop_reason.h - what the reasons for which a wave stopped mean. Who: the report of explain, the Waves panel.
 * Names are those of the debug agent and of rocgdb, ROCm 4 to 7.
 */
#ifndef HANGTOP_MODEL_STOP_REASON_H
#define HANGTOP_MODEL_STOP_REASON_H

#include "base/span.h"

/* Of one reason as printed; NULL when it is not known. */
const char *stop_reason_words(struct span reason);

#endif
