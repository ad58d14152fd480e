#include "config.h"

#include "ui/human_time.h"

#include <time.h>

#define DAY_MS (24 * 3600 * 1000LL)
#define LIMIT_MS (1000000LL * DAY_MS)

static bool alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_blanks(struct span *s)
{
	while (s->len && (*s->at == ' ' || *s->at == '\t'))
		*s = span_sub(*s, 1, s->len);
}

static bool take_unit(struct span *rest, int64_t *ms)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {
		{ "ms", 1 },
		{ "s", 1000 },
		{ "sec", 1000 },
		{ "secs", 1000 },
		{ "second", 1000 },
		{ "seconds", 1000 },
		{ "m", 60000 },
		{ "min", 60000 },
		{ "mins", 60000 },
		{ "minute", 60000 },
		{ "minutes", 60000 },
		{ "h", 3600000 },
		{ "hr", 3600000 },
		{ "hour", 3600000 },
		{ "hours", 3600000 },
		{ "d", DAY_MS },
		{ "day", DAY_MS },
		{ "days", DAY_MS },
	};
	size_t n = 0;

	while (n < rest->len && alpha(rest->at[n]))
		n++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (span_is(span_sub(*rest, 0, n), units[i].name)) {
			*ms = units[i].ms;
			*rest = span_sub(*rest, n, rest->len);
			return true;
		}
	}
	return false;
}

/* "1h30m", "2 minutes", "1h 30m" off the front. */
static bool take_duration(struct span *rest, int64_t *total)
{
	bool any = false;
	int64_t unit;
	uint64_t n;

	*total = 0;
	for (;;) {
		struct span before = *rest;

		skip_blanks(rest);
		if (!span_take_uint(rest, &n)) {
			*rest = before;
			return any;
		}
		skip_blanks(rest);
		if (n > 1000000000 || !take_unit(rest, &unit) || *total > LIMIT_MS)
			return false;
		*total += (int64_t)n * unit;
		any = true;
	}
}

static bool relative(struct span s, int64_t now, int64_t *t)
{
	bool on = span_skip(&s, "+"), minus = !on && span_skip(&s, "-");
	int64_t ms;

	if (!take_duration(&s, &ms) || ms > LIMIT_MS)
		return false;
	s = span_trim(s);
	if (s.len && (on || minus || !span_is(s, "ago")))
		return false;
	*t = on ? now + ms : now - ms;
	return true;
}

static bool take_number(struct span *rest, int low, int high, int *value)
{
	uint64_t n;

	if (!span_take_uint(rest, &n) || n < (uint64_t)low || n > (uint64_t)high)
		return false;
	*value = (int)n;
	return true;
}

/* Digits after the point of a second: milliseconds. */
static bool take_fraction(struct span *rest, int *ms)
{
	bool any = false;

	for (int scale = 100; rest->len && *rest->at >= '0' && *rest->at <= '9'; scale /= 10) {
		*ms += (*rest->at - '0') * scale;
		*rest = span_sub(*rest, 1, rest->len);
		any = true;
	}
	return any;
}

/* "10:05", "10:05:30", "10:05:30.250" */
static bool take_clock(struct span *rest, struct tm *tm, int *ms)
{
	*ms = 0;
	tm->tm_sec = 0;
	if (!take_number(rest, 0, 23, &tm->tm_hour) || !span_skip(rest, ":") || !take_number(rest, 0, 59, &tm->tm_min))
		return false;
	if (!span_skip(rest, ":"))
		return true;
	if (!take_number(rest, 0, 59, &tm->tm_sec))
		return false;
	return !span_skip(rest, ".") || take_fraction(rest, ms);
}

static bool take_date(struct span *rest, struct tm *tm)
{
	struct span s = *rest;
	int year, month, day;

	if (!take_number(&s, 1970, 9999, &year) || !span_skip(&s, "-") || !take_number(&s, 1, 12, &month) ||
		!span_skip(&s, "-") || !take_number(&s, 1, 31, &day))
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	tm->tm_mday = day;
	*rest = s;
	return true;
}

static bool to_ms(struct tm tm, int ms, bool utc, int64_t *t)
{
	int day = tm.tm_mday;
	time_t seconds;

	tm.tm_isdst = -1;
	seconds = utc ? timegm(&tm) : mktime(&tm);
	if (seconds == (time_t)-1 || tm.tm_mday != day) /* 30 February */
		return false;
	*t = (int64_t)seconds * 1000 + ms;
	return true;
}

static bool absolute(struct span s, int64_t now, int64_t *t)
{
	time_t seconds = (time_t)(now / 1000);
	bool dated, utc = false, clock = true;
	int64_t at;
	struct tm tm;
	int ms = 0;

	if (!localtime_r(&seconds, &tm))
		return false;
	if ((dated = span_skip(&s, "yesterday"))) {
		int64_t noon;

		tm.tm_hour = 12;
		if (!to_ms(tm, 0, false, &noon))
			return false;
		seconds = (time_t)((noon - DAY_MS) / 1000);
		localtime_r(&seconds, &tm);
	} else if (!(dated = span_skip(&s, "today")))
		dated = take_date(&s, &tm);
	if (dated && s.len && *s.at != ' ' && *s.at != 'T')
		return false;
	if (dated && !span_skip(&s, "T"))
		skip_blanks(&s);
	if (dated && !s.len) {
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		clock = false;
	}
	if (clock && !take_clock(&s, &tm, &ms))
		return false;
	if (dated && clock)
		utc = span_skip(&s, "Z");
	if (s.len || !to_ms(tm, ms, utc, &at))
		return false;
	if (!dated && at > now + 60000) { /* still to come today: the one of yesterday is meant */
		seconds = (time_t)(now / 1000 - 24 * 3600);
		struct tm before;

		if (!localtime_r(&seconds, &before))
			return false;
		tm.tm_year = before.tm_year;
		tm.tm_mon = before.tm_mon;
		tm.tm_mday = before.tm_mday;
		if (!to_ms(tm, ms, false, &at))
			return false;
	}
	*t = at;
	return true;
}

bool human_time(struct span text, int64_t now, int64_t *t)
{
	struct span s = span_trim(text);
	uint64_t seconds;

	if (span_is(s, "now")) {
		*t = now;
		return true;
	}
	if (span_skip(&s, "@")) {
		int ms = 0;

		if (!span_take_uint(&s, &seconds) || seconds > 1000000000000 ||
			(span_skip(&s, ".") && !take_fraction(&s, &ms)) || s.len)
			return false;
		*t = (int64_t)seconds * 1000 + ms;
		return true;
	}
	return relative(s, now, t) || absolute(s, now, t);
}
