#include "config.h"

#include "ui/keys.h"

#include <stdio.h>

#include "base/text.h"

#define ON(panel) (1u << PANEL_##panel)

const struct binding binding_table[] = {
	{ ACTION_OPEN, GROUP_PANEL, ON(OVERVIEW), { UI_KEY_ENTER }, "open the panel this line comes from" },
	{ ACTION_OPEN, GROUP_PANEL, ON(GPUS), { UI_KEY_ENTER },
		"fold and unfold equal partitions; name, address and clocks of one GPU" },
	{ ACTION_OPEN, GROUP_PANEL, ON(RANKS), { UI_KEY_ENTER }, "command line, environment, executable of the rank" },
	{ ACTION_OPEN, GROUP_PANEL, ON(STACKS), { UI_KEY_ENTER }, "the whole stack of the class; the other threads" },
	{ ACTION_OPEN, GROUP_PANEL, ON(LOG), { UI_KEY_ENTER }, "the whole line, its file and offset" },
	{ ACTION_OPEN, GROUP_PANEL, ON(EVENTS), { UI_KEY_ENTER },
		"evidence and next step; on a bookmark: go there in time" },
	{ ACTION_OPEN, GROUP_PANEL, ON(SERVER) | ON(SOURCES), { UI_KEY_ENTER }, "the whole text of the line" },

	{ ACTION_PANEL, GROUP_MOVE, 0, { '1', '2', '3', '4', '5', '6', '7', '8' }, "panel by its number" },
	{ ACTION_NEXT_PANEL, GROUP_MOVE, 0, { UI_KEY_TAB }, "next panel" },
	{ ACTION_PREVIOUS_PANEL, GROUP_MOVE, 0, { UI_KEY_BACK_TAB }, "previous panel" },
	{ ACTION_UP, GROUP_MOVE, 0, { UI_KEY_UP, 'k' }, "up" },
	{ ACTION_DOWN, GROUP_MOVE, 0, { UI_KEY_DOWN, 'j' }, "down" },
	{ ACTION_LEFT, GROUP_MOVE, 0, { UI_KEY_LEFT, 'h' }, "text to the left" },
	{ ACTION_RIGHT, GROUP_MOVE, 0, { UI_KEY_RIGHT, 'l' }, "text to the right, for long lines" },
	{ ACTION_PAGE_UP, GROUP_MOVE, 0, { UI_KEY_PAGE_UP }, "a page up" },
	{ ACTION_PAGE_DOWN, GROUP_MOVE, 0, { UI_KEY_PAGE_DOWN }, "a page down" },
	{ ACTION_TOP, GROUP_MOVE, 0, { UI_KEY_HOME, 'g' }, "first line" },
	{ ACTION_BOTTOM, GROUP_MOVE, 0, { UI_KEY_END, 'G' }, "last line; stay there as lines come" },

	{ ACTION_SEARCH, GROUP_LOOK, 0, { '/', UI_KEY_F3 }, "search in this panel" },
	{ ACTION_NEXT_MATCH, GROUP_LOOK, 0, { 'n' }, "next match" },
	{ ACTION_PREVIOUS_MATCH, GROUP_LOOK, 0, { 'N' }, "previous match" },
	{ ACTION_FILTER, GROUP_LOOK, 0, { '\\', '&', UI_KEY_F4 },
		"filter this panel; kept until cleared (empty text, or Esc)" },
	{ ACTION_ZOOM, GROUP_LOOK, 0, { 'z' }, "the panel alone on the screen, and back" },

	{ ACTION_PAUSE, GROUP_TIME, 0, { ' ' },
		"pause and resume the screen (recording goes on); replay: stop and play" },
	{ ACTION_LIVE, GROUP_TIME, 0, { 'L' }, "back to live" },
	{ ACTION_NEXT_EVENT, GROUP_TIME, 0, { 'e' }, "next event: fault, change of state, note, bookmark" },
	{ ACTION_PREVIOUS_EVENT, GROUP_TIME, 0, { 'E' }, "previous event" },
	{ ACTION_NEXT_SAMPLE, GROUP_TIME, 0, { 't' }, "next sample" },
	{ ACTION_PREVIOUS_SAMPLE, GROUP_TIME, 0, { 'T' }, "previous sample" },
	{ ACTION_BACK_10S, GROUP_TIME, 0, { ',' }, "10 seconds back" },
	{ ACTION_ON_10S, GROUP_TIME, 0, { '.' }, "10 seconds on" },
	{ ACTION_BACK_1M, GROUP_TIME, 0, { '<' }, "1 minute back" },
	{ ACTION_ON_1M, GROUP_TIME, 0, { '>' }, "1 minute on" },
	{ ACTION_GOTO, GROUP_TIME, 0, { 'b' }, "go to a time: 3m ago, -90s, 10:05, 2026-12-01 10:05" },
	{ ACTION_FASTER, GROUP_TIME, 0, { '+' }, "replay faster; live: sample more often" },
	{ ACTION_SLOWER, GROUP_TIME, 0, { '-' }, "replay slower; live: sample less often" },
	{ ACTION_MARK, GROUP_TIME, 0, { 'm' }, "bookmark this time, with a note" },
	{ ACTION_MARKS, GROUP_TIME, 0, { '\'' }, "list of bookmarks" },

	{ ACTION_STACKS, GROUP_DO, 0, { 's' }, "take the stacks of all ranks (stops nothing)" },
	{ ACTION_CLASSES, GROUP_DO, 0, { 'c' }, "stack classes" },
	{ ACTION_PID, GROUP_DO, 0, { 'o' }, "watch a process by its PID" },
	{ ACTION_COMMAND, GROUP_DO, 0, { ':' }, "command: goto TIME, note TEXT, help, quit, or a panel's name" },

	{ ACTION_HELP, GROUP_PROGRAM, 0, { '?', UI_KEY_F1 }, "this help" },
	{ ACTION_BACK, GROUP_PROGRAM, 0, { 'q', UI_KEY_ESC, UI_KEY_F10 }, "close help or zoom; else quit" },
	{ ACTION_QUIT, GROUP_PROGRAM, 0, { 'Q', KEY_CTRL('c') }, "quit now" },
	{ ACTION_REDRAW, GROUP_PROGRAM, 0, { KEY_CTRL('l') }, "draw the screen again" },
	{ ACTION_SUSPEND, GROUP_PROGRAM, 0, { KEY_CTRL('z') }, "suspend; fg comes back" },
};

const int binding_count = sizeof binding_table / sizeof *binding_table;

static bool has_key(const struct binding *b, int key)
{
	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (b->keys[i] == key)
			return true;
	return false;
}

const struct binding *keys_find(int key, enum panel_id panel)
{
	const struct binding *general = NULL;

	for (int i = 0; i < binding_count; i++) {
		const struct binding *b = &binding_table[i];

		if (!has_key(b, key))
			continue;
		if (b->where & (1u << panel))
			return b;
		if (!b->where && !general)
			general = b;
	}
	return general;
}

const char *keys_group_title(enum key_group group)
{
	static const char *const title[GROUP_COUNT] = {
		[GROUP_PANEL] = "in this panel",
		[GROUP_MOVE] = "move",
		[GROUP_LOOK] = "search and filter",
		[GROUP_TIME] = "time",
		[GROUP_DO] = "do",
		[GROUP_PROGRAM] = "program",
	};

	return title[group];
}

const char *keys_name(char *out, size_t size, int key)
{
	static const struct {
		int key;
		const char *name;
	} names[] = {
		{ UI_KEY_UP, "Up" },
		{ UI_KEY_DOWN, "Down" },
		{ UI_KEY_LEFT, "Left" },
		{ UI_KEY_RIGHT, "Right" },
		{ UI_KEY_PAGE_UP, "PgUp" },
		{ UI_KEY_PAGE_DOWN, "PgDn" },
		{ UI_KEY_HOME, "Home" },
		{ UI_KEY_END, "End" },
		{ UI_KEY_BACKSPACE, "Backspace" },
		{ UI_KEY_DELETE, "Delete" },
		{ UI_KEY_BACK_TAB, "Shift-Tab" },
		{ UI_KEY_TAB, "Tab" },
		{ UI_KEY_ENTER, "Enter" },
		{ UI_KEY_ESC, "Esc" },
		{ ' ', "Space" },
	};
	char text[5] = "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].key == key) {
			snprintf(out, size, "%s", names[i].name);
			return out;
		}
	}
	if (key >= UI_KEY_F1 && key <= UI_KEY_F10)
		snprintf(out, size, "F%d", key - UI_KEY_F1 + 1);
	else if (key > 0 && key < 0x20)
		snprintf(out, size, "Ctrl-%c", key + 0x40);
	else if (key > 0x20 && key < 0x110000) {
		text[text_put(text, (uint32_t)key)] = 0;
		snprintf(out, size, "%s", text);
	} else
		snprintf(out, size, "key %d", key);
	return out;
}
