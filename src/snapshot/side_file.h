/* side_file.h - the files of one snapshot in the folder of snapshots, and who works on which process.
 *
 *   ID.jsonl       observation lines as they happen; fsync after each: what has begun is known whatever dies next
 *   ID.out         both outputs of the debugger
 *   ID.run         while the debugger runs: "DEBUGGER START TARGET START" (pids, start ticks)
 *   ID.done.jsonl  ID.jsonl after a session took it over
 *   pid-PID.lock   locked while somebody works on that process
 * ID is PID-MS (ms since the epoch). Who: snapshot.c, snapshot_import.c. All files 0600, the folder 0700.
 */
#ifndef HANGTOP_SNAPSHOT_SIDE_FILE_H
#define HANGTOP_SNAPSHOT_SIDE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "model/observation.h"

#define SIDE_PATH_MAX 4400

struct side_run { int64_t debugger, debugger_start, target, target_start; };

int side_folder(const char *folder, struct error *error); /* made when missing */
void side_path(char out[SIDE_PATH_MAX], const char *folder, const char *id, const char *ending);
/* fd of the lock, held until it is closed or we die; -1: somebody has it (error->text "") or it cannot be made. */
int side_lock(const char *folder, int64_t pid, struct error *error);
FILE *side_open(const char *folder, const char *id, struct error *error);
int side_write(FILE *file, const struct observation *o);
void side_run_write(const char *folder, const char *id, const struct side_run *run);
bool side_run_read(const char *folder, const char *id, struct side_run *run);
/* Stopped time of a process within the hour before `now`, from the side files of it. */
int64_t side_used_ms(const char *folder, int64_t pid, int64_t start_ms, int64_t now);
/* Each observation of ID.jsonl (or ID.done.jsonl). False when it cannot be read. */
bool side_read(const char *folder, const char *id, const char *ending, void (*each)(void *context, const struct observation *o), void *context);

#endif
