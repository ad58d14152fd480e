/* watchdog.c - timeouts, fingerprints, deaths. */
#include "config.h"

#include "parse/watchdog.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

void watchdog_init(struct watchdog_scan *w, const struct reading_sink *sink)
{
	memset(w, 0, sizeof *w);
	w->sink = sink;
}

/* The last "Rank N" of a text. */
static bool last_rank(struct span s, char rank[LINE_RANK_MAX])
{
	bool found = false;
	size_t from = 0;
	uint64_t n;
	long at;

	while ((at = span_find(span_sub(s, from, s.len), "ank ")) >= 0) {
		struct span rest = span_sub(s, from + (size_t)at + 4, s.len);

		if (span_take_uint(&rest, &n) && n < 10000000) {
			snprintf(rank, LINE_RANK_MAX, "%u", (unsigned)n);
			found = true;
		}
		from += (size_t)at + 4;
	}
	return found;
}

static struct span op_of(struct span s)
{
	struct span rest = span_after(s, "OpType=");
	size_t n = 0;

	while (n < rest.len && (isalnum((unsigned char)rest.at[n]) || rest.at[n] == '_'))
		n++;
	return span_sub(rest, 0, n);
}

static bool timeout_line(struct watchdog_scan *w, const struct line *l, size_t at)
{
	struct span before = span_sub(l->text, 0, at), rest = span_sub(l->text, at, l->text.len), number;
	char rank[LINE_RANK_MAX] = "";
	uint64_t seq = 0, ran = 0, hash;
	bool has_seq, has_ran;
	struct reading r;

	if (!last_rank(before, rank))
		memcpy(rank, l->rank, sizeof rank);
	number = span_after(rest, "SeqNum=");
	has_seq = span_take_uint(&number, &seq);
	number = span_after(rest, "ran for ");
	has_ran = span_take_uint(&number, &ran);
	hash = map_hash(rest.at, rest.len) ^ map_hash(rank, strlen(rank));
	if (span_contains(before, "exception:") || span_contains(before, "Error:") || span_contains(before, "what():"))
		for (int i = 0; i < WATCHDOG_SEEN; i++)
			if (w->seen[i] == hash)
				return true;
	w->seen[w->next++ % WATCHDOG_SEEN] = hash;
	reading_start(&r, "collective", l->offset);
	reading_word(&r, "what", "timeout");
	reading_word(&r, "rank", rank);
	if (has_seq)
		reading_int(&r, "seq", (int64_t)seq);
	reading_text(&r, "op", op_of(rest));
	if (has_ran)
		reading_int(&r, "ran_ms", (int64_t)ran);
	reading_emit(&r, w->sink);
	return true;
}

static bool fingerprints(struct watchdog_scan *w, const struct line *l)
{
	struct span s = l->text;
	size_t from = 0, last = 0;
	bool any = false;
	long at;

	while ((at = span_find(span_sub(s, from, s.len), "CollectiveFingerPrint(SequenceNumber=")) >= 0) {
		size_t here = from + (size_t)at;
		struct span rest = span_sub(s, here + 37, s.len), before = span_sub(s, last, here - last);
		char rank[LINE_RANK_MAX] = "";
		struct reading r;
		uint64_t seq;

		if (!last_rank(before, rank))
			memcpy(rank, l->rank, sizeof rank);
		if (span_take_uint(&rest, &seq) && *rank) {
			reading_start(&r, "collective", l->offset);
			reading_word(&r, "what", "fingerprint");
			reading_word(&r, "rank", rank);
			reading_int(&r, "seq", (int64_t)seq);
			reading_text(&r, "op", op_of(rest));
			reading_emit(&r, w->sink);
			any = true;
		}
		last = from = here + 37;
	}
	return any;
}

static bool engine_watchdog(struct watchdog_scan *w, const struct line *l)
{
	struct span rest = span_after(l->text, "atchdog timeout (");
	struct reading r;
	double seconds;

	if (!rest.len || !(rest = span_after(rest, "watchdog_timeout=")).len || !span_take_real(&rest, &seconds))
		return false;
	reading_start(&r, "watchdog", l->offset);
	reading_word(&r, "rank", l->rank);
	reading_real(&r, "timeout_s", seconds);
	reading_emit(&r, w->sink);
	return true;
}

static bool death(struct watchdog_scan *w, const struct line *l)
{
	long at = span_find(l->text, "died unexpectedly");
	struct span before, rest, number;
	char rank[LINE_RANK_MAX] = "";
	struct reading r;
	int64_t code;

	if (at < 0)
		return false;
	before = span_sub(l->text, 0, (size_t)at);
	rest = span_sub(l->text, (size_t)at, l->text.len);
	/* "[ModelRunner3/8] proc", "Worker proc VllmWorker-1": the name that stands nearest */
	if (before.len > 120)
		before = span_sub(before, before.len - 120, 120);
	if (!line_rank_of_title(before, rank) && !last_rank(before, rank))
		memcpy(rank, l->rank, sizeof rank);
	reading_start(&r, "worker_death", l->offset);
	reading_word(&r, "rank", rank);
	number = span_after(rest, "exitcode=");
	if (!number.len)
		number = span_after(rest, "exitcode: ");
	if (!number.len)
		number = span_after(rest, "exit code ");
	if (span_take_int(&number, &code))
		reading_int(&r, "exitcode", code);
	reading_emit(&r, w->sink);
	return true;
}

bool watchdog_line(struct watchdog_scan *w, const struct line *l)
{
	long at = span_find(l->text, "Watchdog caught collective operation timeout");

	if (at >= 0)
		return timeout_line(w, l, (size_t)at);
	return fingerprints(w, l) || engine_watchdog(w, l) || death(w, l);
}
