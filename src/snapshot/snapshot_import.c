/* snapshot_import.c - snapshots whose front, agent or owner died: finished, verified, told. */
#include "config.h"

#include "snapshot/snapshot_private.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "snapshot/debugger.h"
#include "snapshot/side_file.h"

#define IMPORT_MAX 200

struct last_row {
	struct record *row;     /* the newest snapshot row */
};

static void keep_last(void *context, const struct observation *o)
{
	struct last_row *last = context;

	if (o->kind != KIND_snapshot)
		return;
	record_free(last->row);
	last->row = record_new(o);
}

static void pass_on(void *context, const struct observation *o)
{
	snapshot_tell(context, o);
}

/* Its owner died while the debugger ran. */
static void finish(const struct snapshot_options *options, const char *id, const char *output, const struct observation *began)
{
	struct verify verify = { .before = { .exists = true } };
	struct side_run run = { 0 };
	struct observation o = *began;
	struct error error;
	struct buf text;
	FILE *file;
	bool known = side_run_read(options->folder, id, &run);

	if (known) {
		debugger_wait_for((pid_t)run.debugger, run.debugger_start, options->guard.proc_root,
			options->deadline_ms ? options->deadline_ms : SNAPSHOT_DEADLINE_MS, options->grace_ms ? options->grace_ms : SNAPSHOT_GRACE_MS);
		verify.before.start_ticks = run.target_start;
		verify_after(options->guard.proc_root, run.target, !debugger_regular(output), &verify);
		snapshot_say_verified(&o, &verify);
	} else {
		observation_text(&o, SNAPSHOT_verified, "ok");
		observation_text(&o, SNAPSHOT_verify_detail, "the debugger was never started");
	}
	o.t = clock_wall_ms();
	observation_text(&o, SNAPSHOT_state, known && debugger_regular(output) ? "done" : "failed");
	observation_text(&o, SNAPSHOT_detail, "hangtop died while it was taken; finished and verified later");
	observation_text(&o, SNAPSHOT_file, output);
	snapshot_read_output(&o, output, &text);
	observation_int(&o, SNAPSHOT_bytes, (int64_t)text.len);
	file = side_open(options->folder, id, &error);
	if (file) {
		side_write(file, &o);
		fclose(file);
	}
	buf_release(&text);
}

static void import_one(const struct snapshot_options *options, const char *id, void (*output)(void *context, const struct snapshot *s))
{
	struct last_row last = { NULL };
	struct snapshot s = { .result = SNAPSHOT_DONE };
	struct error error;
	char path[SIDE_PATH_MAX];
	int64_t pid = 0;
	int lock = -1;

	snprintf(s.id, sizeof s.id, "%s", id);
	side_path(s.output, options->folder, id, ".out");
	side_read(options->folder, id, ".jsonl", keep_last, &last);
	if (last.row && observation_get_int(&last.row->o, SNAPSHOT_pid, &pid))
		lock = side_lock(options->folder, pid, &error);
	if (lock >= 0) {
		if (observation_text_is(&last.row->o, SNAPSHOT_state, "running"))
			finish(options, id, s.output, &last.row->o);
		side_read(options->folder, id, ".jsonl", pass_on, (void *)options);
		if (output && access(s.output, R_OK) == 0)
			output(options->context, &s);
		side_path(path, options->folder, id, ".run");
		unlink(path);
		snapshot_taken_over(options->folder, id);
		close(lock);
	}
	record_free(last.row);
}

int snapshot_import(const struct snapshot_options *options, void (*output)(void *context, const struct snapshot *s))
{
	DIR *dir = opendir(options->folder);
	struct dirent *entry;
	int count = 0;

	while (dir && count < IMPORT_MAX && (entry = readdir(dir))) {
		struct span name = span_of(entry->d_name);
		char id[SNAPSHOT_ID_MAX];

		if (!span_ends(name, ".jsonl") || span_ends(name, ".done.jsonl") || name.len - 6 >= sizeof id)
			continue;
		snprintf(id, sizeof id, "%.*s", (int)(name.len - 6), name.at);
		import_one(options, id, output);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}
