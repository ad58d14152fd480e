/* pattern.h - one PCRE2 pattern: search a text, get one group. Who: source/proc (process titles and command lines).
 *
 * Patterns come from profiles. A match limit bounds the work on hostile input; over it counts as no match.
 */
#ifndef HANGTOP_PARSE_PATTERN_H
#define HANGTOP_PARSE_PATTERN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/span.h"

struct pattern;

struct pattern *pattern_new(const char *text, struct error *error); /* NULL when it does not compile */
void pattern_free(struct pattern *pattern);
/* group1 (may be NULL) is the text of group 1, empty when there is none. */
bool pattern_find(const struct pattern *pattern, struct span text, struct span *group1);

#endif
