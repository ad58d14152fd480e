/* stack_kernel.c - what /proc tells of the threads of a process: state, kernel stack, wait channel, system call. */
#include "config.h"

#include "source/stack.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"
#include "source/proc_tree.h"

#define THREADS_MAX 64
#define FRAMES_MAX 64

/* The first of the files that says anything: the stack is for root alone, the wait channel for those who may trace. */
static void put_frames(const char *root, int64_t pid, const char *tid, struct json_write *w, struct buf *text)
{
	static const char *const file[] = { [PROC_STACK] = "stack", [PROC_WCHAN] = "wchan", [PROC_SYSCALL] = "syscall" };
	int frames = 0;

	jw_array(w, "frames");
	for (enum proc_view view = PROC_STACK; view <= PROC_SYSCALL && !frames; view++) {
		struct span rest, name;
		char path[64], frame[160];

		snprintf(path, sizeof path, "task/%.20s/%s", tid, file[view]);
		if (!proc_read(root, pid, path, text, 4000))
			continue;
		rest = buf_as_span(text);
		while (frames < FRAMES_MAX && proc_kernel_frame(view, &rest, &name)) {
			snprintf(frame, sizeof frame, "%s%.*s (kernel)", view == PROC_SYSCALL ? "syscall " : "",
				(int)(name.len < 120 ? name.len : 120), name.at);
			jw_string(w, NULL, frame);
			frames++;
		}
	}
	jw_end_array(w);
}

static bool put_thread(const char *root, int64_t pid, const char *tid, struct json_write *w, struct buf *text)
{
	struct proc_stat stat;
	struct buf comm;
	char path[64], state[2];

	snprintf(path, sizeof path, "task/%.20s/stat", tid);
	if (!isdigit((unsigned char)*tid) || !proc_read(root, pid, path, text, 4000) || !proc_stat_parse(buf_as_span(text), &stat))
		return false;
	state[0] = stat.state;
	state[1] = 0;
	buf_init(&comm, 128);
	text_scrub(&comm, span_of(stat.comm));
	jw_object(w, NULL);
	jw_int(w, "tid", stat.pid);
	jw_text(w, "name", buf_as_span(&comm));
	jw_string(w, "state", state);
	jw_bool(w, "gil", false);
	put_frames(root, pid, tid, w, text);
	jw_end_object(w);
	buf_release(&comm);
	return true;
}

int stack_of_kernel(const char *root, int64_t pid, struct buf *out)
{
	char path[4200], self[24];
	struct dirent **list = NULL;
	struct json_write w;
	struct buf text;
	int n, threads = 0;

	snprintf(path, sizeof path, "%.4000s/%lld/task", root, (long long)pid);
	n = scandir(path, &list, NULL, versionsort);
	buf_init(&text, 8192);
	jw_start(&w, out);
	jw_array(&w, NULL);
	snprintf(self, sizeof self, "%lld", (long long)pid);
	threads += put_thread(root, pid, self, &w, &text); /* the main thread; its number is the smallest only until they wrap */
	for (int i = 0; i < n; i++) {
		if (threads < THREADS_MAX && strcmp(list[i]->d_name, self) != 0)
			threads += put_thread(root, pid, list[i]->d_name, &w, &text);
		free(list[i]);
	}
	free(list);
	jw_end_array(&w);
	buf_release(&text);
	return threads;
}
