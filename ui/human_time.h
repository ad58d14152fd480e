/* human_time.h - times as people type them: "now", "3m ago", "1h30m ago", "-90s", "+10s", "10:05", "10:05:30",
 * "yesterday 10:05", "2026-12-01 10:05[:30[.250]]", with a T between and a Z at the end too (UTC),
 * "@1764573675[.250]".
 *
 * Who: the app, on REQUEST_GOTO and for options; local time is the C library's. A time of day without a date
 * is the last such one
 * before `now` (or within the next minute).
 */
#ifndef HANGTOP_UI_HUMAN_TIME_H
#define HANGTOP_UI_HUMAN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

/* ms since the epoch. False (and *t untouched) when it is no time. */
bool human_time(struct span text, int64_t now, int64_t *t);

#endif
