/* commands.h - one function a subcommand; each returns the exit code. Who: main.c. */
#ifndef HANGTOP_APP_COMMANDS_H
#define HANGTOP_APP_COMMANDS_H

#include "app/options.h"

int cmd_run(const struct app_options *options);        /* screen, or --once */
int cmd_record(const struct app_options *options);
int cmd_demo(const struct app_options *options);
int cmd_replay(const struct app_options *options);
int cmd_explain(const struct app_options *options);
int cmd_stacks(const struct app_options *options);
int cmd_snapshot(const struct app_options *options);
int cmd_evidence(const struct app_options *options);   /* a bundle of all that can be read without touching the server */
int cmd_export(const struct app_options *options);

/* The work of run, record and demo: a live session until the user, a signal or the verdict ends it. */
struct session_options {
	bool screen;                   /* else wait */
	bool once;                     /* end when the verdict has settled and print it */
	int64_t settle_ms;             /* a quiet state must have held this long ... */
	int64_t timeout_ms;            /* ... give up after this long; 0 never */
	bool tell;                     /* print changes of the verdict (record) */
	/* Asked a few times a second; nonzero ends the session (the demo server has died). May be NULL. */
	bool (*over)(void *context);
	void *context;
};
int session_run(const struct app_options *options, const struct session_options *session);
/* Print an error and its remedy to stderr and return `code`. */
struct error;
int complain(const struct error *error, int code);

#endif
