/* frame.h - what stands around the panel: the verdict line, the reason, the title of the panel, the key bar. */
#ifndef HANGTOP_UI_FRAME_H
#define HANGTOP_UI_FRAME_H

#include "ui/panel.h"

struct frame_hit {
	int x, w;
	enum panel_id panel; /* PANEL_NONE: another key of the bar */
	int key;
};

/* Places in the key bar that a mouse can press. */
struct frame_bar {
	struct frame_hit hit[16];
	int hits;
};

void frame_verdict(struct canvas *c, const struct view *view, bool ascii);
/* The alarm of a snapshot in place of the reason: the loudest thing on the screen. Nothing when there is none. */
void frame_alarm(struct canvas *c, const struct view *view, int y);
void frame_reason(struct canvas *c, const struct view *view, bool whole, int y);
void frame_title(struct canvas *c, const struct view *view, const struct panel *panel, const struct list *list, int y);
void frame_keys(struct canvas *c, const struct view *view, enum panel_id shown, const char *message, int y,
	struct frame_bar *bar);

#endif
