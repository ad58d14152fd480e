/* overview.h - the sections of the overview. Who: panel_overview.c and the files that draw its sections.
 *
 * Each section says how many rows it needs at least, to be good, and at most; panel_overview.c deals out the
 * rows of the screen.
 */
#ifndef HANGTOP_UI_OVERVIEW_H
#define HANGTOP_UI_OVERVIEW_H

#include "ui/event_list.h"
#include "ui/gpu_fold.h"
#include "ui/panel.h"

#define LOG_LINES_MAX 40
#define RANGE_MAX 16 /* columns for the names of a class or a group of GPUs */

struct overview {
	struct build *b;
	struct gpu_fold gpus;
	struct event_list *events;
	const struct observation *log[LOG_LINES_MAX];
	int label; /* columns of the section names */
	int gpu_width; /* of the names of GPUs */
	bool narrow; /* under 60 columns: short forms */
	bool headed; /* tables have headings */
	struct buf reason; /* what did not fit on line 2 */
	struct rank_frames frames; /* scratch */
};

struct section {
	const char *name;
	enum panel_id target;
	void (*size)(struct overview *v, int *least, int *good, int *most);
	void (*put)(struct overview *v, int rows);
};

/* A row of a section; its name stands on row 0 only. Enter on it goes to the panel `target`. */
void overview_start(struct overview *v, const char *name, int n, enum panel_id target);

void overview_server_size(struct overview *v, int *least, int *good, int *most);
void overview_server_put(struct overview *v, int rows);
void overview_gpu_size(struct overview *v, int *least, int *good, int *most);
void overview_gpu_put(struct overview *v, int rows);
void overview_ranks_size(struct overview *v, int *least, int *good, int *most);
void overview_ranks_put(struct overview *v, int rows);
void overview_stack_size(struct overview *v, int *least, int *good, int *most);
void overview_stack_put(struct overview *v, int rows);
void overview_log_size(struct overview *v, int *least, int *good, int *most);
void overview_log_put(struct overview *v, int rows);
void overview_events_size(struct overview *v, int *least, int *good, int *most);
void overview_events_put(struct overview *v, int rows);
int overview_gpu_names(const struct overview *v); /* columns of the names of GPUs */

#endif
