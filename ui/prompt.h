/* prompt.h - one line of text being typed at the bottom: search, filter, command, time, note, PID. */
#ifndef HANGTOP_UI_PROMPT_H
#define HANGTOP_UI_PROMPT_H

#include "ui/canvas.h"

enum prompt_kind {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_COMMAND,
	PROMPT_TIME,
	PROMPT_MARK,
	PROMPT_PID,
	PROMPT_AGENT,
	PROMPT_QUIT,
	PROMPT_COUNT
};
enum prompt_result { PROMPT_GOES_ON, PROMPT_DONE, PROMPT_CANCELLED };

#define PROMPT_TEXT_MAX 200

struct prompt {
	enum prompt_kind kind;
	char text[PROMPT_TEXT_MAX];
	size_t len, at; /* bytes; cursor */
	char last[PROMPT_COUNT][PROMPT_TEXT_MAX]; /* what was entered before, for Up */
};

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
/* After DONE or CANCELLED `kind` is PROMPT_NONE and `text` still what was typed. */
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_draw(const struct prompt *p, struct canvas *c, int y);

#endif
