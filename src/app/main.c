/* main.c - which subcommand, its help, and the version. */
#include "config.h"

#include <fcntl.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "app/agent.h"
#include "app/commands.h"
#include "app/doctor.h"
#include "base/debug.h"
#include "source/http_library.h"

static const struct subcommand {
	const char *name;
	enum command bit;
	int (*run)(const struct app_options *);
	const char *operand, *words;
} subcommand[] = {
	{ "run", CMD_RUN, cmd_run, "", "watch the model server on this node (this is the default)" },
	{ "record", CMD_RECORD, cmd_record, "", "watch without a screen, for batch jobs; prints changes of the verdict" },
	{ "replay", CMD_REPLAY, cmd_replay, " [FILE]", "play a session file or JSON lines (default: the newest session)" },
	{ "demo", CMD_DEMO, cmd_demo, "", "start a small server that hangs, and watch it" },
	{ "explain", CMD_EXPLAIN, cmd_explain, " FILE...", "say what a log, a dump or any other text of a broken server means (- is standard input)" },
	{ "stacks", CMD_STACKS, cmd_stacks, "", "the stacks of all ranks, now, folded; stops nothing" },
	{ "snapshot", CMD_SNAPSHOT, cmd_snapshot, "", "take a guarded snapshot of a hung worker with rocgdb, and see that it runs again" },
	{ "evidence", CMD_EVIDENCE, cmd_evidence, "", "all that can be read of a server that hangs, into one folder or tar; touches nothing" },
	{ "export", CMD_EXPORT, cmd_export, " FILE", "print a session as JSON lines" },
	{ "doctor", CMD_DOCTOR, NULL, "", "check tools, permissions and limits, and say how to mend them" },
	{ "agent", CMD_AGENT, cmd_agent, "", "the part that observes; prints JSON lines (started by the others)" },
};

#define SUBCOMMANDS ((int)(sizeof subcommand / sizeof subcommand[0]))

static void print_version(void)
{
	printf("hangtop %s\n", PACKAGE_VERSION);
	printf("ncurses %s, libuv %s, libcurl %s, SQLite %s\n", curses_version(), uv_version_string(),
		http_library_version(), sqlite3_libversion());
}

static void print_help(const struct subcommand *c)
{
	struct buf out;

	buf_init(&out, 0);
	buf_printf(&out, "Usage: hangtop %s [options]%s\n%s.\n\n", c->name, c->operand, c->words);
	if (c->bit == CMD_RUN) {
		buf_text(&out, "Other subcommands (each has --help):\n");
		for (int i = 1; i < SUBCOMMANDS; i++)
			buf_printf(&out, "  %-8s %s\n", subcommand[i].name, subcommand[i].words);
		buf_char(&out, '\n');
	}
	buf_text(&out, "Options:\n");
	options_help(c->bit, c->name, &out);
	if (c->bit & (CMD_RUN | CMD_DEMO))
		buf_text(&out, "\nExit status with --once: 0 healthy, idle or loading; 1 suspect or slow; 2 hung, fault or dead; 3 unknown.\n"
			"Others: 64 usage, 69 a tool is missing, 73 cannot write, 77 no permission, 130 interrupted.\n");
	fputs(buf_string(&out), stdout);
	buf_release(&out);
}

static int printed(void)
{
	return fflush(stdout) == 0 ? 0 : EXIT_CANNOT_WRITE;
}

static int run_subcommand(const struct subcommand *c, int argc, char **argv)
{
	struct app_options options;
	struct error error;
	int status;

	if (c->bit == CMD_DOCTOR)
		return cmd_doctor(argc, argv);
	status = options_parse(&options, c->bit, c->name, argc, argv);
	if (status)
		return status;
	if (options.help) {
		print_help(c);
		return printed();
	}
	if (options.version) {
		print_version();
		return printed();
	}
	if (options.debug_log && debug_open(options.debug_log, &error) < 0)
		return complain(&error, EXIT_CANNOT_WRITE);
	status = c->run(&options);
	debug_close();
	return status;
}

/* A standard descriptor that is closed (cron, daemons) would be taken by the next open. */
static void open_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	open_standard();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file limit is an error of write like a full disk */
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers in files and tools are not a matter of taste */
	if (argc > 1 && argv[1][0] != '-') {
		for (int i = 0; i < SUBCOMMANDS; i++)
			if (strcmp(argv[1], subcommand[i].name) == 0)
				return run_subcommand(&subcommand[i], argc - 1, argv + 1);
		if (strcmp(argv[1], "help") == 0) {
			print_help(&subcommand[0]);
			return 0;
		}
		fprintf(stderr, "hangtop: \"%s\" is not a subcommand; see hangtop --help\n", argv[1]);
		return EXIT_USAGE;
	}
	return run_subcommand(&subcommand[0], argc, argv);
}
