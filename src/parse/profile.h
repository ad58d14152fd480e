/* profile.h - engine profiles: how a server's processes, log and counters look (data/profiles/NAME.conf).
 *
 * Grammar (an INI): comment lines start with '#' or ';' in column 1. `[section]` (or `[profile "name"]`). `key = value`, the value
 * is the raw text to the end of the line, trimmed; no quoting, no continuation, no inline comments; any length up to 64 KiB.
 * Unknown sections and keys are errors "file:line: unknown key 'x'; did you mean 'y'?". A key may repeat where said (list).
 *
 * [profile]
 *   name = atom                     id, also the engine's name
 *   words = ATOM                    shown to people
 *   port = 8000                     default HTTP port
 *   log = /path/of/log              (list) where the log is when the process does not tell
 *   owned_by = atom                 value of owned_by in /v1/models
 * [process]
 *   api = REGEX                     on the command line (arguments joined by blanks)
 *   engine = REGEX
 *   worker = REGEX                  capture group 1, if any, is the rank text (TP3, DP1TP3, 3)
 *   helper = REGEX
 *   spawn_worker = REGEX            children of the engine (or api) that match, ordered by pipe_handle, then pid
 *   port_option = --server-port     (list) option whose value is the HTTP port
 * [log]
 *   progress request finish loading ready fault fatal warning start stats ignore = REGEX   (lists)
 *     progress: work got done; group "n" (or 1) counts, default 1; group "done" counts too, and so many requests ended with it.
 *     request: a request arrived; group "pending" = open requests now.
 *     finish: requests ended without progress (aborts); group "n" (or 1), default 1.   start: a new server run begins.
 *     stats = REGEX with named groups running, waiting: open requests as the engine counts them. May have: new (added to
 *       running), engine (number of the data-parallel engine that counts; the engines are added up).
 *       A line may be stats and of another class as well.
 *     ignore: wins over all other classes (our own poll lines are ignored in every profile).
 *   shape = REGEX                   (list) a line that only this engine writes: tells whose a log is
 *   rank = REGEX                    (list) on the line; group 1 is the rank
 * [metrics]
 *   path = /metrics
 *   progress = NAME                 (list) counters that only grow when work gets done
 *   running = NAME
 *   waiting = NAME
 * [quirk]
 *   any words = text                (list) shown in the Server panel as things to know, as "any words: text"
 *
 * Patterns are PCRE2 on bytes; one that does not compile is an error. Files in the user's folder replace the shipped one of the same name. Who: source/proc, log, server.
 * The parser is pure: text in, struct out; app/agent reads the files.
 */
#ifndef HANGTOP_PARSE_PROFILE_H
#define HANGTOP_PARSE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/span.h"

enum log_class { LOG_NONE, LOG_PROGRESS, LOG_REQUEST, LOG_FINISH, LOG_LOADING, LOG_READY, LOG_FAULT, LOG_FATAL,
	LOG_WARNING, LOG_START, LOG_STATS, LOG_IGNORE, LOG_CLASSES };
const char *log_class_word(enum log_class c);          /* "progress" ...; NULL for LOG_NONE */

struct profile_list { char **item; int count; };

struct profile {
	char *name, *words;
	int port;
	struct profile_list log_path, owned_by;
	struct profile_list api, engine, worker, helper, spawn_worker, port_option;
	struct profile_list line[LOG_CLASSES];         /* patterns of each class */
	struct profile_list rank;
	struct profile_list shape;
	char *metrics_path;
	struct profile_list metrics_progress;
	char *metrics_running, *metrics_waiting;
	struct profile_list quirk;
};

struct profile_set { struct profile **profile; int count; };

struct profile *profile_parse(struct span text, const char *file, struct error *error); /* NULL on error */
void profile_free(struct profile *profile);
const struct profile *profile_find(const struct profile_set *set, const char *name);
void profile_set_add(struct profile_set *set, struct profile *profile); /* replaces one of the same name */
void profile_set_release(struct profile_set *set);

#endif
