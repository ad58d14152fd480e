/* panel.h - what a panel is, and the words and values that all panels show the same way.
 *
 * A panel is one function that builds rows from the view; cursor, search, filter and scrolling are list.h's.
 * The table of panels is panel.c's. Adding one: copy the smallest (panel_sources.c), add a row there, a number
 * in keys.h, a golden test.
 *
 * Values: missing is `–`, never 0. A value older than three intervals of its kind is STALE and has a '?' behind it.
 */
#ifndef HANGTOP_UI_PANEL_H
#define HANGTOP_UI_PANEL_H

#include "ui/keys.h"
#include "ui/list.h"
#include "ui/rows.h"
#include "ui/view.h"

struct build {
	const struct view *view;
	struct rows *rows;
	const struct list *list; /* which details are open; the filter */
	enum panel_id shown; /* help: the panel it was called from */
	int w, h; /* room for rows */
	bool ascii;
};

struct panel {
	enum panel_id id;
	const char *name;
	bool tail; /* newest line last, follow it */
	bool quiet; /* no cursor before it is moved */
	bool counted; /* the number of rows means something */
	void (*build)(struct build *b);
};

extern const struct panel panel_table[PANEL_COUNT]; /* by enum panel_id; [PANEL_NONE] is empty */

void panel_overview(struct build *b);
void panel_server(struct build *b);
void panel_gpus(struct build *b);
void panel_ranks(struct build *b);
void panel_stacks(struct build *b);
void panel_waves(struct build *b);
void panel_log(struct build *b);
void panel_events(struct build *b);
void panel_sources(struct build *b);
void panel_snapshot(struct build *b);
void panel_help(struct build *b);

/* --- values --- */

struct span panel_field(const struct observation *o, int field); /* empty when null or no observation */
bool panel_stale(const struct view *view, const struct observation *o); /* NULL is not stale */
/* Right-aligned number in w columns, and one column for the '?' of a stale value. */
void panel_number(struct build *b, const struct observation *o, int field, int w, int decimals, const char *unit,
	enum style style);
void panel_bytes(struct build *b, const struct observation *o, int field, int w);
void panel_missing(struct build *b, int w); /* a dim dash, right aligned */
/* "7m14s", in whole seconds; `–` for t 0. "ago" is up to the caller. */
const char *panel_age(char *out, size_t size, const struct view *view, int64_t t);
/* Local time: "10:07:55", or with `dated` "12-01 10:07:55". */
const char *panel_time(char *out, size_t size, int64_t t, bool dated);
bool panel_dated(const struct view *view, int64_t oldest); /* is a time of day not enough? */
const char *panel_models(const struct observation *server, char *out, size_t size); /* ids, ", " between */
/* HTTP class in words, and what it proves. */
const char *panel_http_words(struct span class);
const char *panel_http_proves(struct span class);

/* --- states and classes: colour, glyph, word --- */

enum style panel_state_style(enum state state);
enum style panel_badge_style(enum state state);
const char *panel_state_glyph(enum state state, bool ascii);
enum state panel_state_by_word(struct span word);
const char *panel_state_words(enum state state, struct span where); /* "HUNG in a collective" */
enum style panel_log_style(struct span class);
enum style panel_source_style(struct span state);
/* "candidate", "likely waiting for [3]", or what the class waits for. */
const char *panel_role(const struct ranks *ranks, const struct stack_class *c, char *out, size_t size);
enum style panel_role_style(const struct ranks *ranks, const struct stack_class *c);
/* "synchronize <- all_reduce" with an arrow that fits the terminal: returns out. */
const char *panel_arrows(char *out, size_t size, const char *text, bool ascii);
void panel_top(struct build *b, enum style style, const char *top);
/* What to say of a stack in one place: "copy_kv (runner.py:2210)" of an odd one, "synchronize <- all_reduce"
 * of the others. */
const char *panel_where(char *out, size_t size, const char *where, const char *top, bool odd, bool ascii);

/* --- rows --- */

/* A column of a table; the cell is w wide and one column of gap (or '?') follows. w 0: the rest of the line. */
struct column {
	const char *name;
	int w;
	int priority; /* 0 always; the highest go first when it is narrow */
	bool right;
};

/* Which of n columns fit into `width`: fills shown[n]. `least` is what a w 0 column needs. */
void panel_columns(const struct column *column, int n, int width, int least, bool *shown);
/* The heading, pinned or not. */
void panel_heading(struct build *b, const struct column *column, int n, const bool *shown, unsigned flags);

void panel_empty(struct build *b, const char *text); /* an empty state that teaches: dim, wrapped */
/* Cut the words that fit into `columns` off the front of scrubbed text. */
struct span panel_words(struct span *rest, int columns);
/* Detail rows with wrapped text, indented. */
void panel_wrap(struct build *b, uint64_t key, int indent, enum style style, struct span text);
/* Detail rows with every field of an observation that is known, by its name in kinds.def; JSON as it is. */
void panel_fields(struct build *b, uint64_t key, int indent, const struct observation *o);
void panel_fold(struct build *b, uint64_t key); /* the mark of a row with details, 2 columns */

#endif
