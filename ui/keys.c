#include "config.h"

#include "ui/keys.h"

#include <stdio.h>

#include "base/text.h"

#define ON(panel) (1u << PANEL_##panel)

struct binding binding_table[] = {
	{ ACTION_OPEN, GROUP_PANEL, ON(OVERVIEW), { UI_KEY_ENTER }, "open", "open the panel this line comes from" },
	{ ACTION_OPEN, GROUP_PANEL, ON(GPUS), { UI_KEY_ENTER }, "open",
		"fold and unfold equal partitions; name, address and clocks of one GPU" },
	{ ACTION_OPEN, GROUP_PANEL, ON(RANKS), { UI_KEY_ENTER }, "open", "command line, environment, executable of the rank" },
	{ ACTION_OPEN, GROUP_PANEL, ON(STACKS), { UI_KEY_ENTER }, "open", "the whole stack of the class; the other threads" },
	{ ACTION_OPEN, GROUP_PANEL, ON(WAVES), { UI_KEY_ENTER }, "open", "kernel, code object, registers and instructions of the waves" },
	{ ACTION_OPEN, GROUP_PANEL, ON(LOG), { UI_KEY_ENTER }, "open", "the whole line, its file and offset" },
	{ ACTION_OPEN, GROUP_PANEL, ON(EVENTS), { UI_KEY_ENTER }, "open",
		"evidence and next step; on a bookmark: go there in time" },
	{ ACTION_OPEN, GROUP_PANEL, ON(SNAPSHOT), { UI_KEY_ENTER }, "open", "instructions, frames, checks, command and output; an alarm is acknowledged" },
	{ ACTION_YES, GROUP_PANEL, ON(SNAPSHOT), { 'y' }, "yes", "pressed twice: take the snapshot that is proposed" },
	{ ACTION_ASK_AGENT, GROUP_PANEL, ON(SNAPSHOT), { 'A' }, "ask-agent", "where the check agent-dump offers it: SIGQUIT to the debug agent, after the rank is typed; its waves stay stopped" },
	{ ACTION_OPEN, GROUP_PANEL, ON(SERVER) | ON(SOURCES), { UI_KEY_ENTER }, "open", "the whole text of the line" },

	{ ACTION_PANEL, GROUP_MOVE, 0, { '1', '2', '3', '4', '5', '6', '7', '8', '9' }, "panel", "panel by its number" },
	{ ACTION_NEXT_PANEL, GROUP_MOVE, 0, { UI_KEY_TAB }, "next-panel", "next panel" },
	{ ACTION_PREVIOUS_PANEL, GROUP_MOVE, 0, { UI_KEY_BACK_TAB }, "previous-panel", "previous panel" },
	{ ACTION_UP, GROUP_MOVE, 0, { UI_KEY_UP, 'k' }, "up", "up" },
	{ ACTION_DOWN, GROUP_MOVE, 0, { UI_KEY_DOWN, 'j' }, "down", "down" },
	{ ACTION_LEFT, GROUP_MOVE, 0, { UI_KEY_LEFT, 'h' }, "left", "text to the left" },
	{ ACTION_RIGHT, GROUP_MOVE, 0, { UI_KEY_RIGHT, 'l' }, "right", "text to the right, for long lines" },
	{ ACTION_PAGE_UP, GROUP_MOVE, 0, { UI_KEY_PAGE_UP }, "page-up", "a page up" },
	{ ACTION_PAGE_DOWN, GROUP_MOVE, 0, { UI_KEY_PAGE_DOWN }, "page-down", "a page down" },
	{ ACTION_TOP, GROUP_MOVE, 0, { UI_KEY_HOME, 'g' }, "top", "first line" },
	{ ACTION_BOTTOM, GROUP_MOVE, 0, { UI_KEY_END, 'G' }, "bottom", "last line; stay there as lines come" },

	{ ACTION_SEARCH, GROUP_LOOK, 0, { '/', UI_KEY_F3 }, "search", "search in this panel" },
	{ ACTION_NEXT_MATCH, GROUP_LOOK, 0, { 'n' }, "next-match", "next match" },
	{ ACTION_PREVIOUS_MATCH, GROUP_LOOK, 0, { 'N' }, "previous-match", "previous match" },
	{ ACTION_FILTER, GROUP_LOOK, 0, { '\\', '&', UI_KEY_F4 }, "filter",
		"filter this panel; kept until cleared (empty text, or Esc)" },
	{ ACTION_ZOOM, GROUP_LOOK, 0, { 'z' }, "zoom", "the panel alone on the screen, and back" },

	{ ACTION_PAUSE, GROUP_TIME, 0, { ' ' }, "pause",
		"pause and resume the screen (recording goes on); replay: stop and play" },
	{ ACTION_LIVE, GROUP_TIME, 0, { 'L' }, "live", "back to live" },
	{ ACTION_NEXT_EVENT, GROUP_TIME, 0, { 'e' }, "next-event", "next event: fault, change of state, note, bookmark" },
	{ ACTION_PREVIOUS_EVENT, GROUP_TIME, 0, { 'E' }, "previous-event", "previous event" },
	{ ACTION_NEXT_SAMPLE, GROUP_TIME, 0, { 't' }, "next-sample", "next sample" },
	{ ACTION_PREVIOUS_SAMPLE, GROUP_TIME, 0, { 'T' }, "previous-sample", "previous sample" },
	{ ACTION_BACK_10S, GROUP_TIME, 0, { ',' }, "back-10-seconds", "10 seconds back" },
	{ ACTION_ON_10S, GROUP_TIME, 0, { '.' }, "on-10-seconds", "10 seconds on" },
	{ ACTION_BACK_1M, GROUP_TIME, 0, { '<' }, "back-1-minute", "1 minute back" },
	{ ACTION_ON_1M, GROUP_TIME, 0, { '>' }, "on-1-minute", "1 minute on" },
	{ ACTION_GOTO, GROUP_TIME, 0, { 'b' }, "goto", "go to a time: 3m ago, -90s, 10:05, 2026-12-01 10:05" },
	{ ACTION_FASTER, GROUP_TIME, 0, { '+' }, "faster", "replay faster; live: sample more often" },
	{ ACTION_SLOWER, GROUP_TIME, 0, { '-' }, "slower", "replay slower; live: sample less often" },
	{ ACTION_MARK, GROUP_TIME, 0, { 'm' }, "mark", "bookmark this time, with a note" },
	{ ACTION_MARKS, GROUP_TIME, 0, { '\'' }, "marks", "list of bookmarks" },

	{ ACTION_STACKS, GROUP_DO, 0, { 's' }, "stacks", "take the stacks of all ranks (stops nothing)" },
	{ ACTION_CLASSES, GROUP_DO, 0, { 'c' }, "classes", "stack classes" },
	{ ACTION_WAVES, GROUP_DO, 0, { 'w' }, "waves", "GPU faults, waves and queues" },
	{ ACTION_SNAPSHOT, GROUP_DO, 0, { 'S' }, "snapshot", "propose a GPU snapshot (rocgdb) of the rank that stands out; nothing is done yet" },
	{ ACTION_SNAPSHOTS, GROUP_DO, 0, { 'v' }, "snapshots", "the snapshots taken" },
	{ ACTION_EVIDENCE, GROUP_DO, 0, { 'x' }, "evidence", "all evidence that can be had without touching anything, into a folder" },
	{ ACTION_PID, GROUP_DO, 0, { 'o' }, "pid", "watch a process by its PID" },
	{ ACTION_COMMAND, GROUP_DO, 0, { ':' }, "command", "command: goto TIME, note TEXT, help, quit, or a panel's name" },

	{ ACTION_HELP, GROUP_PROGRAM, 0, { '?', UI_KEY_F1 }, "help", "this help" },
	{ ACTION_BACK, GROUP_PROGRAM, 0, { 'q', UI_KEY_ESC, UI_KEY_F10 }, "back", "close help or zoom; else quit" },
	{ ACTION_QUIT, GROUP_PROGRAM, 0, { 'Q', KEY_CTRL('c') }, "quit", "quit now" },
	{ ACTION_REDRAW, GROUP_PROGRAM, 0, { KEY_CTRL('l') }, "redraw", "draw the screen again" },
	{ ACTION_SUSPEND, GROUP_PROGRAM, 0, { KEY_CTRL('z') }, "suspend", "suspend; fg comes back" },
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

const struct binding *keys_of(enum action action)
{
	for (int i = 0; i < binding_count; i++)
		if (binding_table[i].action == action && binding_table[i].keys[0])
			return &binding_table[i];
	return NULL;
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

static const struct {
	int key;
	const char *name;
} key_names[] = {
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

#define KEY_NAMES (sizeof key_names / sizeof *key_names)

const char *keys_name(char *out, size_t size, int key)
{
	char text[5] = "";

	for (size_t i = 0; i < KEY_NAMES; i++) {
		if (key_names[i].key == key) {
			snprintf(out, size, "%s", key_names[i].name);
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

const char *keys_names(char *out, size_t size, const struct binding *b)
{
	size_t len = 0;

	out[0] = 0;
	for (int i = 0; i < BINDING_KEYS && b->keys[i] && len < size; i++) {
		char name[24];
		int n = snprintf(out + len, size - len, "%s%s", i ? " " : "", keys_name(name, sizeof name, b->keys[i]));

		len += n > 0 ? (size_t)n : 0;
	}
	return out;
}

/* --- the user's own keys --- */

static int key_of(struct span name)
{
	uint64_t number;
	struct span digits;
	uint32_t point;

	for (size_t i = 0; i < KEY_NAMES; i++)
		if (span_is(name, key_names[i].name))
			return key_names[i].key;
	digits = name;
	if (span_skip(&digits, "F") && digits.len && span_uint(digits, &number) && number >= 1 && number <= 10)
		return UI_KEY_F1 + (int)number - 1;
	if (name.len == 6 && span_starts(name, "Ctrl-") && name.at[5] >= 'A' && name.at[5] <= 'Z')
		return KEY_CTRL(name.at[5]);
	if (name.len && text_next(&name, &point) && !name.len && point > 0x20)
		return (int)point;
	return 0;
}

static int read_keys(struct span keys, int *out, struct error *error)
{
	struct span word;
	int n = 0;

	while (span_word(&keys, &word)) {
		if (n == BINDING_KEYS - 1)
			return error_set(error, "more than %d keys for one action", BINDING_KEYS - 1);
		out[n] = key_of(word);
		if (!out[n])
			return error_set(error, "\"%.*s\" is not the name of a key", (int)(word.len < 40 ? word.len : 40), word.at);
		n++;
	}
	out[n] = 0;
	return n;
}

static void lose_key(struct binding *b, int key)
{
	int n = 0;

	for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
		if (b->keys[i] != key)
			b->keys[n++] = b->keys[i];
	b->keys[n] = 0;
}

static bool owns_last_quit(const int *keys)
{
	for (int i = 0; i < binding_count; i++)
		if (binding_table[i].action == ACTION_QUIT)
			for (int k = 0; k < BINDING_KEYS && binding_table[i].keys[k]; k++) {
				bool taken = false;

				for (int n = 0; keys[n]; n++)
					taken = taken || keys[n] == binding_table[i].keys[k];
				if (!taken)
					return false;
			}
	return true;
}

int keys_bind(struct span name, struct span keys, struct error *error)
{
	int code[BINDING_KEYS], n = read_keys(keys, code, error);
	bool found = false, quit = span_is(name, "quit");

	if (n < 0)
		return -1;
	if (quit ? n == 0 : owns_last_quit(code))
		return error_set(error, "no key would be left to quit with");
	for (int i = 0; i < binding_count; i++)
		found = found || (span_is(name, binding_table[i].name) && binding_table[i].action != ACTION_PANEL);
	if (!found)
		return error_set(error, "no action is called \"%.*s\" (hangtop --list-keys prints them)",
			(int)(name.len < 40 ? name.len : 40), name.at);
	for (int i = 0; i < binding_count; i++) {
		struct binding *b = &binding_table[i];

		if (span_is(name, b->name)) {
			for (int k = 0; k <= n; k++)
				b->keys[k] = code[k];
			continue;
		}
		for (int k = 0; k < n; k++)
			lose_key(b, code[k]);
	}
	return 0;
}
