/* keys.h - key codes, actions, and the one table that binds them.
 *
 * Keys are code points, or UI_KEY_* above all of them. The table drives the dispatch (keys_find), the help and
 * --list-keys; the user's own file rebinds it (keys_bind) before the screen opens.
 * No key kills, resets or restarts anything, by design.
 */
#ifndef HANGTOP_UI_KEYS_H
#define HANGTOP_UI_KEYS_H

#include <stddef.h>

#include "base/error.h"
#include "base/span.h"

#define KEY_CTRL(c) ((c)&0x1f)
#define UI_KEY_TAB 9
#define UI_KEY_ENTER 13
#define UI_KEY_ESC 27

enum ui_key {
	UI_KEY_UP = 0x200000,
	UI_KEY_DOWN,
	UI_KEY_LEFT,
	UI_KEY_RIGHT,
	UI_KEY_PAGE_UP,
	UI_KEY_PAGE_DOWN,
	UI_KEY_HOME,
	UI_KEY_END,
	UI_KEY_BACKSPACE,
	UI_KEY_DELETE,
	UI_KEY_BACK_TAB,
	UI_KEY_F1,
	UI_KEY_F2,
	UI_KEY_F3,
	UI_KEY_F4,
	UI_KEY_F5,
	UI_KEY_F6,
	UI_KEY_F7,
	UI_KEY_F8,
	UI_KEY_F9,
	UI_KEY_F10,
	UI_KEY_MOUSE, /* ask term_mouse() and call ui_mouse() */
	UI_KEY_RESIZE, /* curses has seen a new size */
};

enum panel_id {
	PANEL_NONE,
	PANEL_OVERVIEW,
	PANEL_SERVER,
	PANEL_GPUS,
	PANEL_RANKS,
	PANEL_STACKS,
	PANEL_WAVES,
	PANEL_LOG,
	PANEL_EVENTS,
	PANEL_SOURCES, /* the last with a number */
	PANEL_SNAPSHOT,
	PANEL_HELP,
	PANEL_COUNT
};

enum action {
	ACTION_NONE,
	ACTION_PANEL, /* the digit is the number */
	ACTION_NEXT_PANEL,
	ACTION_PREVIOUS_PANEL,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_LEFT,
	ACTION_RIGHT,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_TOP,
	ACTION_BOTTOM,
	ACTION_OPEN,
	ACTION_ZOOM,
	ACTION_SEARCH,
	ACTION_NEXT_MATCH,
	ACTION_PREVIOUS_MATCH,
	ACTION_FILTER,
	ACTION_STACKS,
	ACTION_CLASSES,
	ACTION_WAVES,
	ACTION_SNAPSHOT,
	ACTION_SNAPSHOTS,
	ACTION_YES,
	ACTION_ASK_AGENT,
	ACTION_EVIDENCE,
	ACTION_PID,
	ACTION_PAUSE,
	ACTION_LIVE,
	ACTION_NEXT_SAMPLE,
	ACTION_PREVIOUS_SAMPLE,
	ACTION_BACK_10S,
	ACTION_ON_10S,
	ACTION_BACK_1M,
	ACTION_ON_1M,
	ACTION_NEXT_EVENT,
	ACTION_PREVIOUS_EVENT,
	ACTION_GOTO,
	ACTION_FASTER,
	ACTION_SLOWER,
	ACTION_MARK,
	ACTION_MARKS,
	ACTION_COMMAND,
	ACTION_HELP,
	ACTION_BACK,
	ACTION_QUIT,
	ACTION_REDRAW,
	ACTION_SUSPEND,
};

enum key_group { GROUP_PANEL, GROUP_MOVE, GROUP_LOOK, GROUP_TIME, GROUP_DO, GROUP_PROGRAM, GROUP_COUNT };

#define BINDING_KEYS 10

struct binding {
	enum action action;
	enum key_group group;
	unsigned where; /* bit 1 << enum panel_id; 0 everywhere */
	int keys[BINDING_KEYS]; /* ends with 0 */
	const char *name; /* in the configuration file */
	const char *words; /* for the help */
};

extern struct binding binding_table[];
extern const int binding_count;

/* The binding of a key in a panel: one for this panel before one for everywhere; NULL when it means nothing. */
const struct binding *keys_find(int key, enum panel_id panel);
/* The first binding of an action that has a key; NULL when the user left it none. */
const struct binding *keys_of(enum action action);
const char *keys_group_title(enum key_group group);
/* "Ctrl-L", "PgUp", "Shift-Tab", "G": returns out. */
const char *keys_name(char *out, size_t size, int key);
/* The keys of a binding, a blank between. Returns out. */
const char *keys_names(char *out, size_t size, const struct binding *b);
/* Give an action (by name) the keys named in a list with blanks between, instead of those it had. A key belongs to one
 * action of a panel: others lose it. Quitting always keeps a key. -1 with the error and nothing changed. */
int keys_bind(struct span name, struct span keys, struct error *error);

#endif
