/* event_list.h - what has happened, of several kinds, merged by time. Who: the Events panel and the overview. */
#ifndef HANGTOP_UI_EVENT_LIST_H
#define HANGTOP_UI_EVENT_LIST_H

#include "ui/panel.h"

#define EVENT_LIST_MAX 8000

struct event_list {
	const struct observation *event[EVENT_LIST_MAX]; /* oldest first */
	int count;
};

/* Verdicts, findings, actions, bookmarks, notes, faults of GPUs and of the server, ill sources, ended processes. */
void event_list_build(struct event_list *list, const struct model *m);
/* "HUNG     reason" at the end of the row being built. */
void event_row(struct build *b, const struct observation *o);

#endif
