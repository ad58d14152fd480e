/* options.h - the command line: one table for all subcommands, from which --help is generated.
 *
 * Who: main.c and the cmd_*.c. Strings point into argv (or the environment) and live as long as the process.
 */
#ifndef HANGTOP_APP_OPTIONS_H
#define HANGTOP_APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "source/source.h"

/* Subcommands, as bits: which options each one takes. */
enum command { CMD_RUN = 1, CMD_RECORD = 2, CMD_REPLAY = 4, CMD_DEMO = 8, CMD_AGENT = 16, CMD_EXPORT = 32, CMD_DOCTOR = 64,
	CMD_EXPLAIN = 128, CMD_SNAPSHOT = 256, CMD_STACKS = 1024, CMD_EVIDENCE = 512 };

/* Exit codes (ux.md; man page). */
enum { EXIT_HEALTHY = 0, EXIT_SUSPECT = 1, EXIT_HUNG = 2, EXIT_UNKNOWN = 3, EXIT_PARTIAL = 4, EXIT_USAGE = 64, EXIT_NO_INPUT = 66, EXIT_NO_TOOL = 69,
	EXIT_CANNOT_WRITE = 73, EXIT_NO_PERMISSION = 77, EXIT_INTERRUPTED = 130 };

struct app_options {
	struct source_options source;
	const char *node;
	const char *db;
	const char *code_objects;
	bool no_db;
	double stall_s, interval_s, stacks_s, timeout_s, duration_s, speed, hang_after_s;
	int64_t pid, session_mb, tp, seed, port;
	int64_t target, start;         /* of snapshot */
	const char *rank, *role, *gdb, *why, *ask_agent;
	double deadline_s, grace_s;
	bool all_ranks, import, yes, plain_gdb;
	bool once, json, read_only, ascii, no_mouse, paused, keep, quiet, help, version, log_from_start, plain, slow, no_config, list_keys;
	const char *color, *palette, *jsonl, *at, *dump, *scenario, *sources, *debug_log, *out;
	const char *file;              /* the operand of replay and export */
	char **file_list;              /* the operands of explain, in argv */
	int files;
};

/* Parse argv of one subcommand (argv[0] is its name). Returns 0, or an exit code after printing a one-line hint. */
int options_parse(struct app_options *out, enum command command, const char *name, int argc, char **argv);
/* Text of --help for a subcommand. */
void options_help(enum command command, const char *name, struct buf *out);
/* Append the options a subcommand takes that differ from the defaults (but for --node), as argv words, for starting it as a child.
 * Returns the count. The words are valid until the next call. */
int options_words(const struct app_options *o, enum command command, const char **argv, int max);
/* The same for an agent. */
int options_agent_args(const struct app_options *o, const char **argv, int max);

#endif
