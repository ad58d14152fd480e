/* clock.c - the two clocks. */
#include "config.h"

#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

const char *clock_hms(char *out, size_t size, int64_t t)
{
	time_t seconds = (time_t)(t / 1000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(out, size, "%H:%M:%S", &tm))
		out[0] = 0;
	return out;
}

const char *clock_stamp(char *out, size_t size, int64_t t)
{
	time_t seconds = (time_t)(t / 1000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm))
		out[0] = 0;
	return out;
}
