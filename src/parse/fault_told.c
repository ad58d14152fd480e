/* fault_told.c - reasons of faults as pastes spell them, and each fault told once. */
#include "config.h"

#include "parse/fault_private.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NEAR 65536              /* bytes of log within which two wordings are of one fault */

static const char *const reasons[] = { "Page not present or supervisor privilege", "Write access to a read-only page",
	"Execute access to a page marked NX", "Host access only", "DRAM ECC failure", "SRAM ECC failure", "Generic hang recovery",
	"Can't determine the exact fault address", "Memory in use", "Unknown", "GPU Hang", "ECC" };

bool fault_take_address(struct span s, char out[24])
{
	size_t n = 2;

	*out = 0;
	s = span_trim(s);
	if (span_starts(s, "(nil)")) {
		memcpy(out, "0x0", 4);
		return true;
	}
	if (!span_starts(s, "0x"))
		return false;
	while (n < s.len && n < 22 && (isxdigit((unsigned char)s.at[n]) || s.at[n] == 'x' || s.at[n] == 'X'))
		n++;
	if (n == 2)
		return false;
	memcpy(out, s.at, n);
	out[n] = 0;
	return true;
}

/* --- reasons --- */

/* Equal but for blanks and case: how many bytes of s it takes; 0 when it is not. `cut`: s ended before `known` did. */
static size_t same_words(struct span s, const char *known, bool *cut)
{
	size_t i = 0;

	*cut = false;
	for (; *known; known++) {
		if (*known == ' ')
			continue;
		while (i < s.len && s.at[i] == ' ')
			i++;
		*cut = i == s.len;
		if (*cut || tolower((unsigned char)s.at[i]) != tolower((unsigned char)*known))
			return 0;
		i++;
	}
	return i;
}

bool fault_reason_is_known(struct span s)
{
	bool cut;

	s = span_trim(s);
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (same_words(s, reasons[i], &cut))
			return true;
	return false;
}


bool fault_reason_is_cut(struct span s)
{
	bool cut;

	s = span_trim(s);
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (!same_words(s, reasons[i], &cut) && cut)
			return true;
	return false;
}

/* ", R, R" behind a reason: how long. */
static size_t more_reasons(struct span s)
{
	struct span rest = s;
	size_t n = 1;
	bool cut;

	while (n && span_skip(&rest, ", ")) {
		n = 0;
		for (size_t i = 0; i < sizeof reasons / sizeof *reasons && !n; i++)
			n = same_words(rest, reasons[i], &cut);
		rest = span_sub(rest, n, rest.len);
	}
	return rest.at ? (size_t)(rest.at - s.at) - (n ? 0 : 2) : 0;
}

struct span fault_reason_of(struct span s, char *mended, size_t size)
{
	long end;
	bool cut;

	s = span_trim(s);
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		size_t n = same_words(s, reasons[i], &cut);

		if (n && n != strlen(reasons[i])) {
			snprintf(mended, size, "%s", reasons[i]);
			return span_of(mended);
		}
		if (n && (n == s.len || !islower((unsigned char)s.at[n])))
			return span_sub(s, 0, n + more_reasons(span_sub(s, n, s.len)));
	}
	end = span_find_char(s, '.');
	if (end >= 0)
		s.len = (size_t)end;
	end = span_find_char(s, '"');
	if (end >= 0)
		s.len = (size_t)end;
	return span_trim(s);
}

struct span fault_behind_reason(struct span s)
{
	static const char *const words[] = { "eason: ", "easons: ", "eason :", "eason:", "easons:" };
	struct span rest;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((rest = span_after(s, words[i])).len)
			return rest;
	return span_make("", 0);
}

/* --- faults, each once --- */

static void emit(struct fault_scan *f, const struct fault_told *t)
{
	struct reading r;

	if (*t->address)
		snprintf(f->address[f->address_next++ % FAULT_ADDRESSES], sizeof f->address[0], "%s", t->address);
	reading_start(&r, "fault", t->offset);
	if (t->node >= 0)
		reading_int(&r, "kfd_node", t->node);
	reading_word(&r, "agent", t->agent);
	reading_word(&r, "address", t->address);
	reading_word(&r, "reason", t->reason);
	reading_word(&r, "rank", t->rank);
	reading_emit(&r, f->sink);
	f->faults++;
}

static bool bare(const struct fault_told *t)
{
	return t->node < 0 && !*t->agent;
}

static bool same_address(const char *a, const char *b)
{
	struct span x = span_of(a), y = span_of(b);
	uint64_t m, n;

	if (strcasecmp(a, b) == 0)
		return true;
	return span_take_hex(&x, &m) && span_take_hex(&y, &n) && !x.len && !y.len && m == n;
}

static void emit_first(struct fault_scan *f)
{
	emit(f, &f->held[0]);
	f->holds--;
	memmove(&f->held[0], &f->held[1], (size_t)f->holds * sizeof f->held[0]);
}

/* All that need not wait. */
static void emit_ready(struct fault_scan *f, uint64_t offset)
{
	while (f->holds && (!bare(&f->held[0]) || f->held[0].offset + NEAR < offset))
		emit_first(f);
}

static bool told_before(const struct fault_scan *f, const char *address)
{
	for (int i = 0; i < FAULT_ADDRESSES; i++)
		if (*f->address[i] && same_address(f->address[i], address))
			return true;
	for (int i = 0; i < f->holds; i++)
		if (same_address(f->held[i].address, address))
			return true;
	return false;
}

/* A bare fault of this address that waits for its node. */
static struct fault_told *bare_fault(struct fault_scan *f, const char *address)
{
	for (int i = 0; i < f->holds; i++)
		if (*address && bare(&f->held[i]) && same_address(f->held[i].address, address))
			return &f->held[i];
	return NULL;
}

void fault_tell(struct fault_scan *f, const struct fault_told *t)
{
	struct fault_told *same;

	emit_ready(f, t->offset);
	if (bare(t) && *t->address && told_before(f, t->address))
		return;
	same = bare(t) ? NULL : bare_fault(f, t->address);
	if (same) {
		same->node = t->node;
		memcpy(same->agent, t->agent, sizeof t->agent);
		if (*t->reason)
			memcpy(same->reason, t->reason, sizeof t->reason);
		if (!*same->rank)
			memcpy(same->rank, t->rank, sizeof t->rank);
	} else {
		if (f->holds == FAULT_HELD)
			emit_first(f);
		f->held[f->holds++] = *t;
	}
	emit_ready(f, t->offset);
}

void fault_set_reason(struct fault_told *t, struct span reason)
{
	snprintf(t->reason, sizeof t->reason, "%.*s", (int)(reason.len < sizeof t->reason ? reason.len : sizeof t->reason - 1), reason.len ? reason.at : "");
}

void fault_start_told(struct fault_told *t, uint64_t offset, const char *rank)
{
	memset(t, 0, sizeof *t);
	t->offset = offset;
	t->node = -1;
	snprintf(t->rank, sizeof t->rank, "%s", rank);
}

int64_t fault_take_node(struct span s)
{
	uint64_t n;

	return span_take_uint(&s, &n) && n < 100000 ? (int64_t)n : -1;
}

void fault_told_flush(struct fault_scan *f)
{
	while (f->holds)
		emit_first(f);
}
