#include "config.h"

#include "ui/prompt.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/keys.h"

static const struct {
	const char *label, *hint;
} words[PROMPT_COUNT] = {
	[PROMPT_SEARCH] = { "search: ", "" },
	[PROMPT_FILTER] = { "filter: ", "lines with this text stay; empty shows all" },
	[PROMPT_COMMAND] = { ":", "goto TIME, note TEXT, help, quit, or a panel's name" },
	[PROMPT_TIME] = { "go to time: ", "3m ago, -90s, 10:05, 10:05:30, 2026-12-01 10:05" },
	[PROMPT_MARK] = { "bookmark: ", "a word or two; Enter alone is fine" },
	[PROMPT_PID] = { "watch PID: ", "a number" },
	[PROMPT_AGENT] = { "SIGQUIT, stops its waves for good. Type the rank: ", "" },
	[PROMPT_QUIT] = { "stacks are being taken: quit? y n ", "" },
};

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	p->kind = kind;
	snprintf(p->text, sizeof p->text, "%s", text);
	p->len = p->at = strlen(p->text);
}

static bool continues(char c)
{
	return (c & 0xc0) == 0x80;
}

static void step(struct prompt *p, int by)
{
	if (by < 0 && p->at)
		do
			p->at--;
		while (p->at && continues(p->text[p->at]));
	if (by > 0 && p->at < p->len)
		do
			p->at++;
		while (p->at < p->len && continues(p->text[p->at]));
}

static void cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->at = from;
}

static void insert(struct prompt *p, int code)
{
	char text[4];
	size_t n = text_put(text, (uint32_t)code);

	if (p->len + n >= sizeof p->text)
		return;
	memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
	memcpy(p->text + p->at, text, n);
	p->len += n;
	p->at += n;
}

static void cut_word(struct prompt *p)
{
	size_t from = p->at;

	while (from && p->text[from - 1] == ' ')
		from--;
	while (from && p->text[from - 1] != ' ')
		from--;
	cut(p, from, p->at);
}

static enum prompt_result finish(struct prompt *p, enum prompt_result result)
{
	if (result == PROMPT_DONE)
		memcpy(p->last[p->kind], p->text, sizeof p->text);
	p->kind = PROMPT_NONE;
	return result;
}

enum prompt_result prompt_key(struct prompt *p, int key)
{
	size_t at = p->at;

	if (p->kind == PROMPT_QUIT)
		return finish(p, key == 'y' || key == 'Y' || key == 'q' ? PROMPT_DONE : PROMPT_CANCELLED);
	switch (key) {
	case UI_KEY_ENTER:
		return finish(p, PROMPT_DONE);
	case UI_KEY_ESC:
	case UI_KEY_F10:
	case KEY_CTRL('g'):
		return finish(p, PROMPT_CANCELLED);
	case UI_KEY_BACKSPACE:
		if (!p->len)
			return finish(p, PROMPT_CANCELLED);
		step(p, -1);
		cut(p, p->at, at);
		break;
	case UI_KEY_DELETE:
		step(p, 1);
		cut(p, at, p->at);
		break;
	case UI_KEY_LEFT:
		step(p, -1);
		break;
	case UI_KEY_RIGHT:
		step(p, 1);
		break;
	case UI_KEY_HOME:
	case KEY_CTRL('a'):
		p->at = 0;
		break;
	case UI_KEY_END:
	case KEY_CTRL('e'):
		p->at = p->len;
		break;
	case KEY_CTRL('u'):
		cut(p, 0, p->at);
		break;
	case KEY_CTRL('w'):
		cut_word(p);
		break;
	case UI_KEY_UP:
		prompt_open(p, p->kind, p->last[p->kind]);
		break;
	default:
		if (key >= 0x20 && key < 0x110000 && key != 0x7f && !(key >= 0x80 && key < 0xa0) &&
			!(key >= 0xd800 && key < 0xe000))
			insert(p, key);
		break;
	}
	return PROMPT_GOES_ON;
}

void prompt_draw(const struct prompt *p, struct canvas *c, int y)
{
	int room, x, before, shift;

	canvas_fill(c, (struct rect){ 0, y, c->w, 1 }, STYLE_NORMAL);
	x = canvas_text(c, 0, y, -1, STYLE_TITLE, span_of(words[p->kind].label));
	if (x > c->w - 4)
		x = 0;
	room = c->w - x;
	before = text_width(span_make(p->text, p->at));
	shift = before >= room ? before - room + 1 : 0;
	if (!p->len)
		canvas_text(c, x + 2, y, -1, STYLE_DIM, span_of(words[p->kind].hint));
	struct rect old = canvas_clip(c, (struct rect){ x, y, room, 1 });
	canvas_text(c, x - shift, y, -1, STYLE_BOLD, span_make(p->text, p->len));
	canvas_select(c, x + before - shift, y, 1);
	canvas_clip(c, old);
}
