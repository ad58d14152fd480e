/* doctor.h - `hangtop doctor`: can hangtop do its work on this node, and what mends what is missing? Who: main.c.
 *
 * One array of checks (doctor.c); each gives one line. Tools are asked for their versions all at once, with a deadline.
 * It changes nothing. Exit status: 0 hangtop can do its work; otherwise that of the first needed check that is not ok:
 * 69 py-spy or the engine profiles are missing, 73 no session file can be written, 77 /proc cannot be read. All other
 * checks say what is lost without them and leave the status alone: most nodes have no srun, and a laptop has no GPU.
 */
#ifndef HANGTOP_APP_DOCTOR_H
#define HANGTOP_APP_DOCTOR_H

#include <stdbool.h>

#include "base/buf.h"

struct doctor_options {
	const char *root;              /* before /proc, /sys, /dev, /etc, /usr/lib and /opt; "" for this node (tests give a folder) */
	bool json;
	int deadline_ms;               /* of each tool; 0: 2000 */
};

/* Run all checks and append the text (or a JSON array). Returns the exit status. */
int doctor_run(const struct doctor_options *options, struct buf *out);
int cmd_doctor(int argc, char **argv);

#endif
