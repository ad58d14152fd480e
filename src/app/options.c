/* options.c - the table of options and the two things made of it: the parser and --help. */
#include "config.h"

#include "app/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/settings.h"
#include "base/mem.h"

#define LIVE (CMD_RUN | CMD_RECORD | CMD_DEMO)
#define SOURCES (CMD_RUN | CMD_RECORD | CMD_AGENT)
#define NODE (SOURCES | CMD_EVIDENCE)
#define SCREEN (CMD_RUN | CMD_REPLAY | CMD_DEMO)

enum kind_of_option { FLAG, WORD, NUMBER, SECONDS };

#define AT(member) offsetof(struct app_options, member)

static const struct option_row {
	const char *name;
	char letter;
	enum kind_of_option kind;
	const char *arg;
	size_t at;
	unsigned commands;
	const char *words;
} row[] = {
	{ "pid", 'p', NUMBER, "PID", AT(pid), CMD_STACKS | NODE | CMD_SNAPSHOT, "the server's process (default: found by its command line)" },
	{ "log", 'l', WORD, "FILE", AT(source.log), CMD_STACKS | NODE, "the server's log (default: its standard output, then the profile's)" },
	{ "log-from-start", 0, FLAG, NULL, AT(log_from_start), SOURCES, "read the log from its beginning, not from its end" },
	{ "log-offset", 0, NUMBER, "BYTES", AT(source.log_offset), SOURCES, "read the log from this offset on, when it is that long" },
	{ "url", 'u', WORD, "URL", AT(source.url), CMD_STACKS | SOURCES, "base URL of the server, e.g. http://127.0.0.1:8000" },
	{ "engine", 'e', WORD, "NAME", AT(source.engine), CMD_STACKS | NODE | CMD_SNAPSHOT, "profile: atom, vllm, sglang, torchrun or your own" },
	{ "api-key-file", 0, WORD, "FILE", AT(source.api_key_file), SOURCES, "file with the API key (or environment HANGTOP_API_KEY)" },
	{ "gpu", 'g', WORD, "HOW", AT(source.gpu), NODE, "auto, sysfs, rocm-smi, amd-smi, nvidia-smi or off" },
	{ "rank", 'r', WORD, "RANK", AT(rank), CMD_SNAPSHOT, "the worker with this rank" },
	{ "all-ranks", 0, FLAG, NULL, AT(all_ranks), CMD_SNAPSHOT, "all workers, one after another" },
	{ "target", 't', NUMBER, "PID", AT(target), CMD_SNAPSHOT, "this process" },
	{ "yes-i-accept-a-pause", 0, FLAG, NULL, AT(yes), CMD_SNAPSHOT, "take it; without this only what would be done is shown" },
	{ "gdb", 0, WORD, "PATH", AT(gdb), SOURCES | CMD_SNAPSHOT, "the debugger (default: rocgdb)" },
	{ "plain-gdb", 0, FLAG, NULL, AT(plain_gdb), SOURCES | CMD_SNAPSHOT, "a gdb that is not rocgdb will do: host stacks only" },
	{ "deadline", 0, SECONDS, "SECONDS", AT(deadline_s), SOURCES | CMD_SNAPSHOT, "of the debugger, then it is interrupted (default 90)" },
	{ "grace", 0, SECONDS, "SECONDS", AT(grace_s), SOURCES | CMD_SNAPSHOT, "after that, then it is killed (default 60)" },
	{ "ask-agent", 0, WORD, "RANK", AT(ask_agent), CMD_SNAPSHOT, "where the debug agent is loaded: send it SIGQUIT; its waves come in the log and stay stopped. RANK again, to be sure" },
	{ "import", 0, FLAG, NULL, AT(import), CMD_SNAPSHOT, "finish and print what a dead hangtop left behind" },
	{ "role", 0, WORD, "ROLE", AT(role), CMD_SNAPSHOT, "of the target, when the caller knows: worker, engine, api" },
	{ "start", 0, NUMBER, "MS", AT(start), CMD_SNAPSHOT, "when the target was started, in ms since the epoch: another one is refused" },
	{ "why", 0, WORD, "WHO", AT(why), CMD_SNAPSHOT, "who asks, for the record" },
	{ "scenario", 's', WORD, "NAME", AT(scenario), CMD_DEMO,
		"healthy idle loading long-decode livelock cpu-deadlock one-rank-behind fault worker-death" },
	{ "hang-after", 0, SECONDS, "SECONDS", AT(hang_after_s), CMD_DEMO, "when the trouble starts, after ready (default 8)" },
	{ "tp", 0, NUMBER, "N", AT(tp), CMD_DEMO, "ranks (default 8)" },
	{ "seed", 0, NUMBER, "N", AT(seed), CMD_DEMO, "for a repeatable demo" },
	{ "port", 0, NUMBER, "PORT", AT(port), CMD_DEMO, "HTTP port of the demo server (default: a free one)" },
	{ "keep", 0, FLAG, NULL, AT(keep), CMD_DEMO, "keep the demo's folder" },
	{ "db", 'd', WORD, "FILE", AT(db), LIVE | CMD_EXPLAIN, "session file (default: a new one in the state folder; explain: none)" },
	{ "code-objects", 0, WORD, "DIR", AT(code_objects), CMD_EXPLAIN, "disassemble around the pc; DIR has what the debug agent saved" },
	{ "out", 'o', WORD, "PLACE", AT(out), CMD_EVIDENCE, "folder to put the bundle in (default: the state folder), or a file NAME.tar" },
	{ "no-db", 0, FLAG, NULL, AT(no_db), LIVE, "write no session file" },
	{ "session-size", 0, NUMBER, "MB", AT(session_mb), LIVE, "cap of the session file; old samples make room (default 1024)" },
	{ "jsonl", 0, WORD, "FILE", AT(jsonl), LIVE, "also write every observation as a JSON line (- is standard output)" },
	{ "stall", 0, SECONDS, "SECONDS", AT(stall_s), LIVE | CMD_REPLAY, "HUNG this long after the last progress (default 30)" },
	{ "interval", 'i', SECONDS, "SECONDS", AT(interval_s), SOURCES | CMD_DEMO, "between samples (default 1)" },
	{ "stacks-every", 0, SECONDS, "SECONDS", AT(stacks_s), SOURCES | CMD_DEMO, "stacks in the background (default 30, 0 off)" },
	{ "once", '1', FLAG, NULL, AT(once), CMD_RUN | CMD_DEMO | CMD_REPLAY, "no screen: print the verdict once it has settled, and exit" },
	{ "json", 'j', FLAG, NULL, AT(json), CMD_STACKS | CMD_RUN | CMD_DEMO | CMD_REPLAY | CMD_DOCTOR | CMD_EXPLAIN | CMD_SNAPSHOT, "one JSON object (run, demo, replay: with --once); snapshot: observation lines" },
	{ "timeout", 0, SECONDS, "SECONDS", AT(timeout_s), CMD_RUN | CMD_DEMO | CMD_EVIDENCE,
		"with --once: give up settling after this long; evidence: be done by then (default 20)" },
	{ "duration", 0, SECONDS, "SECONDS", AT(duration_s), CMD_RECORD, "stop after this long (default: until interrupted)" },
	{ "at", 0, WORD, "TIME", AT(at), CMD_REPLAY, "start at this time: 10:05, 3m ago (of the end), 2026-12-01 10:05" },
	{ "speed", 0, SECONDS, "X", AT(speed), CMD_REPLAY, "speed of play (default 1)" },
	{ "paused", 0, FLAG, NULL, AT(paused), CMD_REPLAY, "start paused" },
	{ "dump", 0, WORD, "FILE", AT(dump), LIVE | CMD_REPLAY, "at the end write the model and verdict as text, to compare" },
	{ "read-only", 'R', FLAG, NULL, AT(read_only), CMD_RUN | CMD_DEMO, "never touch a process of the server" },
	{ "ascii", 'a', FLAG, NULL, AT(ascii), SCREEN, "no UTF-8 on the screen" },
	{ "color", 0, WORD, "WHEN", AT(color), SCREEN, "auto, always or never" },
	{ "palette", 0, WORD, "NAME", AT(palette), SCREEN, "default, mono, high-contrast, light or 16" },
	{ "no-mouse", 0, FLAG, NULL, AT(no_mouse), SCREEN, "leave the mouse to the terminal" },
	{ "quiet", 'q', FLAG, NULL, AT(quiet), SCREEN | CMD_RECORD, "no bell, no title; record: print nothing" },
	{ "sources", 0, WORD, "LIST", AT(sources), CMD_AGENT, "comma-separated: server gpu proc stack log kmsg" },
	{ "node", 0, WORD, "NAME", AT(node), CMD_STACKS | NODE | CMD_SNAPSHOT, "name of this node (default: the host name)" },
	{ "profiles", 0, WORD, "DIR", AT(source.profile_dir), CMD_STACKS | NODE | CMD_SNAPSHOT | CMD_DEMO | CMD_EXPLAIN, "more engine profiles" },
	{ "py-spy", 0, WORD, "PATH", AT(source.py_spy), CMD_STACKS | NODE | CMD_DEMO, "" },
	{ "rocm-smi", 0, WORD, "PATH", AT(source.rocm_smi), NODE, "" },
	{ "amd-smi", 0, WORD, "PATH", AT(source.amd_smi), NODE, "" },
	{ "sys-root", 0, WORD, "DIR", AT(source.sys_root), CMD_STACKS | NODE | CMD_SNAPSHOT, "read this instead of /sys" },
	{ "proc-root", 0, WORD, "DIR", AT(source.proc_root), CMD_STACKS | NODE | CMD_SNAPSHOT, "read this instead of /proc" },
	{ "plain", 0, FLAG, NULL, AT(plain), CMD_RUN | CMD_DEMO, "no screen: print a line when the verdict changes" },
	{ "slow", 0, FLAG, NULL, AT(slow), SCREEN, "at most one frame a second, for a slow line" },
	{ "no-config", 0, FLAG, NULL, AT(no_config), SCREEN | CMD_RECORD, "do not read the configuration file" },
	{ "list-keys", 0, FLAG, NULL, AT(list_keys), CMD_RUN, "print the actions and their keys, as the configuration file has them" },
	{ "kmsg", 0, WORD, "FILE", AT(source.kmsg), NODE, "read this instead of /dev/kmsg" },
	{ "debug-log", 0, WORD, "FILE", AT(debug_log), ~0u, "append hangtop's own debug log to FILE" },
	{ "help", 'h', FLAG, NULL, AT(help), ~0u, "this text" },
	{ "version", 'V', FLAG, NULL, AT(version), ~0u, "versions of hangtop and its libraries" },
};

#define ROWS ((int)(sizeof row / sizeof row[0]))

static void defaults(struct app_options *o)
{
	memset(o, 0, sizeof *o);
	o->source.sys_root = "/sys";
	o->source.proc_root = "/proc";
	o->source.gpu = "auto";
	o->source.log_offset = -1;
	o->stall_s = 30;
	o->interval_s = 1;
	o->stacks_s = 30;
	o->speed = 1;
	o->hang_after_s = 8;
	o->tp = 8;
	o->scenario = "livelock";
	o->debug_log = getenv("HANGTOP_DEBUG");
	o->sources = "server,gpu,proc,stack,log,kmsg";
}

/* False when the value is not one of this option. */
static bool set_option(struct app_options *out, const struct option_row *r, const char *value)
{
	char *at = (char *)out + r->at;
	struct span text = span_of(value);
	int64_t number;
	double seconds;

	switch (r->kind) {
	case FLAG:
		if (value && !span_is(text, "yes") && !span_is(text, "no"))
			return false;
		*(bool *)at = !value || span_is(text, "yes");
		return true;
	case WORD:
		*(const char **)at = value;
		return true;
	case NUMBER:
		if (!span_int(text, &number) || number < 0)
			return false;
		*(int64_t *)at = number;
		return true;
	case SECONDS:
		if (!span_real(text, &seconds) || seconds < 0 || seconds > 1e7)
			return false;
		*(double *)at = seconds;
		return true;
	}
	return false;
}

static bool one_of(const char *value, const char *const *choice)
{
	if (!value)
		return true;
	for (int i = 0; choice[i]; i++)
		if (strcmp(choice[i], value) == 0)
			return true;
	return false;
}

/* The option whose word is none it takes, or NULL. */
static const char *check_words(const struct app_options *o)
{
	static const char *const gpu[] = { "auto", "sysfs", "rocm-smi", "amd-smi", "nvidia-smi", "off", NULL };
	static const char *const color[] = { "auto", "always", "never", NULL };
	static const char *const palette[] = { "default", "mono", "high-contrast", "light", "16", NULL };
	static const char *const scenario[] = { "healthy", "idle", "loading", "long-decode", "livelock", "cpu-deadlock",
		"one-rank-behind", "fault", "worker-death", NULL };

	if (!one_of(o->source.gpu, gpu))
		return "gpu";
	if (!one_of(o->color, color))
		return "color";
	if (!one_of(o->palette, palette))
		return "palette";
	return one_of(o->scenario, scenario) ? NULL : "scenario";
}

/* --- the configuration file --- */

struct from_file {
	struct app_options *out;
	enum command command;
};

static const char *option_from_file(void *context, const char *name, const char *value)
{
	struct from_file *f = context;
	struct app_options trial = *f->out;

	for (int i = 0; i < ROWS; i++) {
		if (strcmp(row[i].name, name) != 0)
			continue;
		if (!(row[i].commands & f->command))
			return NULL; /* for another subcommand */
		if (!set_option(&trial, &row[i], value))
			return row[i].kind == FLAG ? "say yes or no" : "not a number that makes sense here";
		if (check_words(&trial))
			return "not one of the words this option takes";
		*f->out = trial;
		return NULL;
	}
	return "no option has this name";
}

static bool asked_not_to(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--no-config") == 0)
			return true;
	return false;
}

static void read_config(struct app_options *out, enum command command, int argc, char **argv)
{
	struct from_file f = { out, command };
	char *path;

	if (!(command & (SCREEN | CMD_RECORD)) || asked_not_to(argc, argv))
		return;
	path = settings_path();
	settings_read(path, option_from_file, &f);
	free(path);
}

static bool is_http(const char *url)
{
	struct span text = span_of(url);

	return (span_skip(&text, "http://") || span_skip(&text, "https://")) && text.len && *text.at != '/';
}

static int check(struct app_options *o, const char *name)
{
	const char *wrong = check_words(o);

	if (o->source.url && !is_http(o->source.url)) {
		fprintf(stderr, "hangtop: --url wants http://HOST:PORT, not \"%s\"\n", o->source.url);
		return EXIT_USAGE;
	}

	if (wrong) {
		fprintf(stderr, "hangtop: --%s does not take that word; see hangtop %s --help\n", wrong, name);
		return EXIT_USAGE;
	}
	if (o->stall_s < 2)
		o->stall_s = 2;
	if (o->interval_s < 0.1)
		o->interval_s = 0.1;
	if (o->interval_s > 60)
		o->interval_s = 60;
	o->source.interval_ms = (int)(o->interval_s * 1000);
	if (o->stacks_s > 86400)
		o->stacks_s = 86400;
	if (o->session_mb > 1 << 20)
		o->session_mb = 1 << 20; /* a terabyte */
	o->source.stacks_every_ms = (int)(o->stacks_s * 1000);
	o->source.pid = o->pid;
	o->source.log_from_start = o->log_from_start;
	return 0;
}

int options_parse(struct app_options *out, enum command command, const char *name, int argc, char **argv)
{
	struct option longs[sizeof row / sizeof row[0] + 1] = { { 0 } };
	char letters[sizeof row / sizeof row[0] * 2 + 2] = ":";
	size_t n = 1;
	int c, count = 0, index[sizeof row / sizeof row[0]], which;

	defaults(out);
	if (command != CMD_EXPLAIN)
		out->db = getenv("HANGTOP_DB");
	for (int i = 0; i < ROWS; i++) {
		if (!(row[i].commands & command))
			continue;
		longs[count].name = row[i].name;
		longs[count].has_arg = row[i].kind == FLAG ? no_argument : required_argument;
		longs[count].val = 1000 + i;
		index[count++] = i;
		if (row[i].letter) {
			letters[n++] = row[i].letter;
			if (row[i].kind != FLAG)
				letters[n++] = ':';
		}
	}
	letters[n] = 0;
	read_config(out, command, argc, argv);
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':') {
			fprintf(stderr, "hangtop: %s \"%s\"; see hangtop %s --help\n",
				c == ':' ? "a value is missing after" : "unknown or ambiguous option", argv[optind - 1], name);
			return EXIT_USAGE;
		}
		which = c - 1000;
		for (int k = 0; k < count && c < 1000; k++)
			if (row[index[k]].letter == c)
				which = index[k];
		if (!set_option(out, &row[which], optarg)) {
			fprintf(stderr, "hangtop: --%s wants a number, not \"%s\"; see hangtop %s --help\n", row[which].name, optarg,
				name);
			return EXIT_USAGE;
		}
	}
	if (optind < argc && (command & (CMD_REPLAY | CMD_EXPORT)))
		out->file = argv[optind++];
	if (command == CMD_EXPLAIN) {
		out->file_list = argv + optind;
		out->files = argc - optind;
		optind = argc;
	}
	if (optind < argc) {
		fprintf(stderr, "hangtop: \"%s\" is one argument too many; see hangtop %s --help\n", argv[optind], name);
		return EXIT_USAGE;
	}
	return check(out, name);
}

void options_help(enum command command, const char *name, struct buf *out)
{
	(void)name;
	for (int i = 0; i < ROWS; i++) {
		char left[64];

		if (!(row[i].commands & command))
			continue;
		if (row[i].letter)
			snprintf(left, sizeof left, "-%c, --%s%s%s", row[i].letter, row[i].name, row[i].arg ? "=" : "",
				row[i].arg ? row[i].arg : "");
		else
			snprintf(left, sizeof left, "    --%s%s%s", row[i].name, row[i].arg ? "=" : "", row[i].arg ? row[i].arg : "");
		buf_printf(out, "  %-27s %s\n", left, *row[i].words ? row[i].words : "path of the tool (default: found)");
	}
}

int options_words(const struct app_options *o, enum command command, const char **argv, int max)
{
	static char number[sizeof row / sizeof row[0]][32];
	struct app_options plain;
	int n = 0;

	defaults(&plain);
	for (int i = 0; i < ROWS && n + 2 < max; i++) {
		const char *mine = (const char *)o + row[i].at, *normal = (const char *)&plain + row[i].at;
		bool differs = false;

		if (!(row[i].commands & command) || row[i].at == AT(sources) || row[i].at == AT(node))
			continue;
		if (row[i].kind == FLAG)
			differs = *(const bool *)mine;
		else if (row[i].kind == WORD)
			differs = *(const char *const *)mine &&
				(!*(const char *const *)normal || strcmp(*(const char *const *)mine, *(const char *const *)normal) != 0);
		else if (row[i].kind == NUMBER)
			differs = *(const int64_t *)mine != *(const int64_t *)normal;
		else
			differs = *(const double *)mine != *(const double *)normal;
		if (!differs)
			continue;
		snprintf(number[i], sizeof number[i], "--%s", row[i].name);
		argv[n++] = number[i];
		if (row[i].kind == WORD) {
			argv[n++] = *(const char *const *)mine;
		} else if (row[i].kind != FLAG) {
			static char value[sizeof row / sizeof row[0]][32];

			if (row[i].kind == NUMBER)
				snprintf(value[i], sizeof value[i], "%lld", (long long)*(const int64_t *)mine);
			else
				snprintf(value[i], sizeof value[i], "%.3f", *(const double *)mine);
			argv[n++] = value[i];
		}
	}
	return n;
}

int options_agent_args(const struct app_options *o, const char **argv, int max)
{
	return options_words(o, CMD_AGENT, argv, max);
}
