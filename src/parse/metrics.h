/* metrics.h - one number out of Prometheus or OpenMetrics text.
 *
 * Lines: NAME VALUE [TIME] and NAME{label="text",...} VALUE [TIME] [# {exemplar} ...]; HELP, TYPE, EOF and other comments are
 * skipped; label texts may hold escaped quotes, backslashes and braces; values are numbers, NaN, +Inf, -Inf. Prometheus 0.0.4 and
 * OpenMetrics 1.0, as vLLM, SGLang and ATOM write them. Who: source/server.
 */
#ifndef HANGTOP_PARSE_METRICS_H
#define HANGTOP_PARSE_METRICS_H

#include <stdbool.h>

#include "base/span.h"

/* The sum of all samples of `name`, over their labels; NaN and infinities do not count. False when there is none. */
bool metrics_sum(struct span text, const char *name, double *sum);

#endif
