/* engine_log.h - the log of a model server read as a whole: whose it is, is it ready, does work get done.
 *
 * The lines' classes are those of the engine's profile (log_class.h); the engine is told by its profile's `shape` patterns. Beside
 * them: statistics lines of vLLM (V0, V1) and SGLang, "all slots are idle" of llama.cpp, the bar of loading weights, answers to
 * /v1/models. Emits `log` (fault, fatal, ready, start and some warnings) as they come and one `server_log` at the end.
 * Who: scan.c. profiles may be NULL: only what all engines share.
 */
#ifndef HANGTOP_PARSE_ENGINE_LOG_H
#define HANGTOP_PARSE_ENGINE_LOG_H

#include <stdbool.h>

#include "parse/line.h"
#include "parse/log_class.h"
#include "parse/reading.h"

#define ENGINES_MAX 64          /* data-parallel engines whose statistics are kept apart */
#define PROFILES_MAX 16
#define LOG_ROWS_MAX 200        /* of each class */

struct engine_log {
	const struct reading_sink *sink;
	const struct profile_set *profiles;
	struct log_classifier *shape[PROFILES_MAX], *common, *classifier; /* classifier: of the engine once it is known */
	struct profile shape_profile[PROFILES_MAX];
	int shapes;
	struct literals *shape_words;   /* of all shapes; the number is the profile's */
	uint64_t wordless_shapes;       /* bits: these must be tried on every line */
	const struct profile *engine;
	unsigned changes;       /* of the classifier */
	int ready;              /* -1 unknown, 0, 1 */
	int64_t running, waiting;       /* -1 unknown */
	struct { bool stalled; char since[9]; } stall[ENGINES_MAX];
	int models_ok;          /* -1 unknown */
	int64_t arrived, finished, prefills;
	int load_percent;       /* -1 unknown */
	const char *last_work;
	int64_t progress_s, last_s;     /* seconds of the day; -1 unknown */
	uint64_t rows[LOG_CLASSES];
	uint64_t lines;
};

void engine_log_init(struct engine_log *e, const struct reading_sink *sink, const struct profile_set *profiles);
void engine_log_release(struct engine_log *e);
/* The patterns that count now. They are others when `changes` is. */
struct log_classifier *engine_log_classifier(const struct engine_log *e);

/* What scan.c found in a line when it looked for all words at once. */
struct engine_words {
	bool own;               /* one of "/v1/models", "Avg prompt throughput: ", "shards", "all slots are idle" */
	const uint64_t *found;  /* those of the classifier (log_classify_found); NULL when they were not looked for */
};

/* True when a `log` was emitted for it. */
bool engine_log_line(struct engine_log *e, const struct line *l, const struct engine_words *words);
/* A line that somebody asks for (class note). */
void engine_log_note(struct engine_log *e, const struct line *l);
/* /v1/models named its owner, or was answered. */
void engine_log_owner(struct engine_log *e, const char *owned_by);
void engine_log_models(struct engine_log *e, bool ok);
void engine_log_flush(struct engine_log *e, uint64_t lines);

#endif
