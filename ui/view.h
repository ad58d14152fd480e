/* view.h - what a frame is drawn from, and what the user can ask for: the whole contract between src/app and ui/.
 *
 * The app fills a struct view before each paint; panels only read it. Keys come back as struct request.
 * The same view serves live, paused and replay: only `mode` and the times differ.
 */
#ifndef HANGTOP_UI_VIEW_H
#define HANGTOP_UI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/kernel_words.h"
#include "model/model.h"
#include "model/ranks.h"
#include "model/triage.h"

enum view_mode { VIEW_LIVE, VIEW_PAUSED, VIEW_REPLAY };

struct view {
	const struct model *model;
	const struct ranks *ranks;
	const struct verdict *verdict;
	int64_t now;            /* ms since the epoch: wall clock live, replay clock otherwise */
	const char *node;
	enum view_mode mode;
	bool playing;           /* replay: running */
	double speed;           /* replay */
	bool read_only;
	bool recording;         /* a session file is being written */
	int interval_ms;        /* of samples; values older than 3 intervals are stale */
	int64_t first_t, last_t; /* of the session, for the time bar; 0 unknown */
	const char *file;       /* session shown or written; may be NULL */
	int64_t message_t;      /* when `message` was set */
	const char *message;    /* one line for the bottom, e.g. "stacks requested"; may be NULL */
	const struct kernel_set *kernels;       /* kernels in words; may be NULL */
	int stacks_running;     /* a round of stacks is under way: how many are outstanding */
};

enum request_kind {
	REQUEST_NONE,
	REQUEST_QUIT,           /* at once */
	REQUEST_STACKS,         /* s */
	REQUEST_PAUSE,          /* Space: pause or go on (live: freeze the screen; replay: stop and play) */
	REQUEST_LIVE,           /* L */
	REQUEST_STEP,           /* t T: n samples */
	REQUEST_SEEK,           /* , . < >: n ms */
	REQUEST_GOTO,           /* b or :goto: text is a human time */
	REQUEST_EVENT,          /* e E: n = 1 or -1 */
	REQUEST_FASTER,         /* + -: n = 1 or -1 */
	REQUEST_MARK,           /* m: text is the note, may be empty */
	REQUEST_NOTE,           /* :note TEXT */
	REQUEST_SUSPEND,        /* Ctrl-Z */
	REQUEST_PID,            /* o: text is a pid to watch */
	REQUEST_SNAPSHOT,       /* S: propose one (n 0); y y: take the one proposed (n is the pid); A: text is the rank typed */
	REQUEST_ACKNOWLEDGE,    /* the alarm of a snapshot was seen: text is its id */
	REQUEST_EVIDENCE,       /* x */
};

struct request {
	enum request_kind kind;
	int64_t n;
	char text[256];
};

#endif
