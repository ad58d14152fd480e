/* proc.h - the two halves of the proc source: proc.c finds and looks, proc_say.c says it. */
#ifndef HANGTOP_SOURCE_PROC_H
#define HANGTOP_SOURCE_PROC_H

#include "source/proc_tree.h"
#include "source/source.h"

#define TRACKED_MAX 512
#define SCAN_STUCK_MS 3000      /* a scan that takes longer waits for somebody */

struct tracked {
	int64_t pid, start_ticks, start;
	int64_t ppid;
	enum role role;
	char rank[32], how[16], comm[20], *title, *env;
	int ended;
	bool said;                     /* a row has been emitted for what is here now */
	int64_t said_at;               /* mono */
	char state;
	int64_t state_since;           /* wall */
	int64_t ticks, ticks_at;       /* CPU at the last sample, mono */
};

struct proc_source {
	struct source_env *env;
	struct proc_tree tree;         /* the thread pool's while `scanning` */
	uv_timer_t timer;
	uv_work_t work;
	bool scanning;
	int64_t scanning_since, scanning_pid;
	struct tracked *tracked;
	int count;
	int64_t pid;                   /* asked for by option or request; 0 find */
	int64_t scanned, sampled, healthy; /* mono */
	/* of the last scan */
	bool looked;
	const struct profile *profile; /* stays when the server has ended */
	int port;
	size_t seen;
	int denied;                    /* processes whose environment we may not read */
	char trouble[200];
	struct buf text;
	bool stopping, timer_closed;
	void (*closed)(void *);
	void *context;
};

void proc_say_process(struct proc_source *s, struct tracked *t);
void proc_say_sample(struct proc_source *s, struct tracked *t, const struct proc_stat *stat);
void proc_say_health(struct proc_source *s);

#endif
