/* log_class.h - what one line of a server log means, by the patterns of a profile (profile.h, PCRE2 on bytes).
 *
 * Known in every profile, and without one: lines of the ROCm and CUDA runtimes, RCCL and Python that mean a fault or an end
 * (common[] in log_class.c), and the access lines of polls such as our own (`"GET /v1/models`, /health, /metrics), which are ignored.
 *
 * The first class of this order that matches wins: ignore, request (its text is the user's and can say anything), fault, fatal,
 * start, ready, progress, finish, loading, warning, stats. The numbers of a stats pattern are filled in whatever the class.
 *
 * Speed: a search for the plain words of all patterns at once decides for most lines (literals.h); patterns without such a word
 * are joined into one alternation. Only then are single patterns tried, with PCRE2's JIT and a match limit.
 * Who: source/log, app/explain.
 */
#ifndef HANGTOP_PARSE_LOG_CLASS_H
#define HANGTOP_PARSE_LOG_CLASS_H

#include <stdint.h>

#include "base/buf.h"
#include "parse/profile.h"

#define LOG_LINE_MAX 65536      /* bytes of a line that are looked at */
#define LOG_RANK_MAX 32

struct log_classifier;
struct literals;

struct log_match {
	enum log_class class;
	int64_t n;              /* how many: 1 unless the line says */
	int64_t done;           /* requests that ended with it; 0 unless the line says */
	int64_t pending;        /* open requests; -1 unknown, and so the next */
	int64_t running, waiting;
	int64_t engine;         /* which engine (data-parallel rank) counts so; 0 unless the line says */
	struct span text;       /* the line without colours; borrowed until the next call or the end of `line` */
};

/* profile may be NULL: only what is common. NULL on error. */
struct log_classifier *log_classifier_new(const struct profile *profile, struct error *error);
void log_classifier_free(struct log_classifier *c);
/* The class of the line (without its LF). Returns out->class; LOG_NONE for lines that do not matter. */
enum log_class log_classify(struct log_classifier *c, struct span line, struct log_match *out);
/* For those who look for other words as well: put this classifier's words into their set, from number `from` on (a multiple of 64), and
 * give what their scan of the line found from there on, instead of a scan of its own. False, and nothing added, when they do not fit. */
bool log_classifier_words(const struct log_classifier *c, struct literals *words, int from);
enum log_class log_classify_found(struct log_classifier *c, struct span line, const uint64_t *found, struct log_match *out);
/* The rank that the line's prefix or text names: "TP3", "DP1_TP3", "3". False, and "", when it names none. */
bool log_rank(struct log_classifier *c, struct span line, char rank[LOG_RANK_MAX]);
/* Parts upper-case and joined by '_': "dp1_tp3", "DP1 TP3" and "DP1TP3" become "DP1_TP3". */
void log_rank_normal(struct span text, char rank[LOG_RANK_MAX]);
/* Text without terminal colours in all spellings seen: ESC [1;36m, ESC lost, ^[[ as text, \u001b in JSON. Appends. */
void log_strip_colours(struct span line, struct buf *out);
/* NULL when patterns run as machine code; else why they run ten times slower. */
const char *log_classifier_slow(const struct log_classifier *c);

#endif
