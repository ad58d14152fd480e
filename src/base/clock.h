/* clock.h - the two clocks. Only src/app, src/source, src/transport and src/store may call it;
 * parse and model get the time as an argument.
 */
#ifndef HANGTOP_BASE_CLOCK_H
#define HANGTOP_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t clock_wall_ms(void);            /* since the epoch */
int64_t clock_mono_ms(void);            /* monotonic, for deadlines */
/* "10:07:55" local time of t; with date "2026-12-01 10:07:55". Return out. */
const char *clock_hms(char *out, size_t size, int64_t t);
const char *clock_stamp(char *out, size_t size, int64_t t);

#endif
