/* scan.h - any text an operator has at hand, read in one pass: lines to parsers, readings out.
 *
 * Bytes go in as they come, in pieces of any size; the result does not depend on where they are cut. Lines of any length: what is
 * past LINE_KEPT_MAX of one is not looked at. Memory is bounded whatever the input.
 * Most bytes of a log with wave dumps are rows of registers: they are told by their length and skipped (wave.h). Of other lines a
 * search for the words of all parsers at once decides which parsers see them (literals.h).
 * Who: app/cmd_explain, source/log.
 */
#ifndef HANGTOP_PARSE_SCAN_H
#define HANGTOP_PARSE_SCAN_H

#include "parse/profile.h"
#include "parse/reading.h"

#define LINE_KEPT_MAX (1 << 20)

struct scan_counts {
	uint64_t bytes, lines, waves, faults, rows;     /* rows: of registers and memory */
	uint64_t ordinary;      /* lines that no parser knew */
};

struct scan;

struct scan_options {
	struct reading_sink sink;
	const struct profile_set *profiles;     /* must outlive the scan; NULL: engines are not told */
	const struct span *note;                /* words a line with which is kept as a log line (class note); borrowed */
	int notes;
	bool gpu_only;          /* only what GPUs and their runtimes print: for a log whose lines another reads */
};

struct scan *scan_new(const struct scan_options *options);
void scan_feed(struct scan *s, const char *bytes, size_t n);
/* One line without its end, from a follower that cuts lines itself. */
void scan_line(struct scan *s, struct span line, uint64_t offset);
/* The input is at its end, or quiet for a while (a live log): what waits for more is emitted as it is. */
void scan_flush(struct scan *s, bool end);
/* Another file begins: offsets count from 0 again. Flushes. */
void scan_next_file(struct scan *s);
void scan_free(struct scan *s);
void scan_count(const struct scan *s, struct scan_counts *out);

#endif
