/* literals.h - a fast first look: which of many patterns can match this line at all?
 *
 * Nearly every pattern contains plain words without which it cannot match ("pending requests: "). literals_add() finds the longest
 * one of each top-level branch of a PCRE2 pattern, and refuses a pattern that has a branch without one of LITERAL_LEAST bytes, or
 * uses syntax it does not fully understand ((?i), \Q, comments). literals_scan() then looks for all words at once,
 * by a hash of four bytes at every place. Who: log_class.c, scan.c.
 */
#ifndef HANGTOP_PARSE_LITERALS_H
#define HANGTOP_PARSE_LITERALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define LITERAL_LEAST 4
#define LITERALS_PATTERNS 512   /* numbers below this */

struct literals;

struct literals *literals_new(void);
void literals_free(struct literals *l);
/* Pattern `number` needs one of the words found in `pattern`. False, and nothing added, when there is no such word. */
bool literals_add(struct literals *l, struct span pattern, int number);
/* All words of another set, their numbers raised by `from`. Numbers that do not fit are left out: the caller checks. */
void literals_join(struct literals *l, const struct literals *other, int from);
void literals_ready(struct literals *l);        /* after the last add, before the first scan */
/* Set the bits of the patterns that may match; bits must be LITERALS_PATTERNS / 64 words. False when none may. */
bool literals_scan(const struct literals *l, struct span line, uint64_t *bits);

#endif
