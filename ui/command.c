#include "config.h"

#include "ui/command.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	enum panel_id panel; /* PANEL_NONE: a request */
	enum request_kind request;
	bool argument; /* needs one */
} commands[] = {
	{ "goto", PANEL_NONE, REQUEST_GOTO, true },
	{ "note", PANEL_NONE, REQUEST_NOTE, true },
	{ "mark", PANEL_NONE, REQUEST_MARK, false },
	{ "pid", PANEL_NONE, REQUEST_PID, true },
	{ "live", PANEL_NONE, REQUEST_LIVE, false },
	{ "pause", PANEL_NONE, REQUEST_PAUSE, false },
	{ "quit", PANEL_NONE, REQUEST_QUIT, false },
	{ "overview", PANEL_OVERVIEW, REQUEST_NONE, false },
	{ "server", PANEL_SERVER, REQUEST_NONE, false },
	{ "gpus", PANEL_GPUS, REQUEST_NONE, false },
	{ "ranks", PANEL_RANKS, REQUEST_NONE, false },
	{ "stacks", PANEL_STACKS, REQUEST_NONE, false },
	{ "waves", PANEL_WAVES, REQUEST_NONE, false },
	{ "log", PANEL_LOG, REQUEST_NONE, false },
	{ "events", PANEL_EVENTS, REQUEST_NONE, false },
	{ "sources", PANEL_SOURCES, REQUEST_NONE, false },
	{ "snapshots", PANEL_SNAPSHOT, REQUEST_NONE, false },
	{ "evidence", PANEL_NONE, REQUEST_EVIDENCE, false },
	{ "help", PANEL_HELP, REQUEST_NONE, false },
};

#define COMMANDS (sizeof commands / sizeof *commands)

/* The command with this name, or the only one that starts so. */
static int lookup(struct span name)
{
	int found = -1, matches = 0;

	for (size_t i = 0; i < COMMANDS; i++) {
		if (span_is(name, commands[i].name))
			return (int)i;
		if (name.len < strlen(commands[i].name) && !memcmp(commands[i].name, name.at, name.len)) {
			found = (int)i;
			matches++;
		}
	}
	return span_is(name, "q") ? lookup(span_of("quit")) : matches == 1 ? found : -1;
}

enum command_result command_parse(struct span line, struct command *out)
{
	struct span rest = line, name;
	int i;

	memset(out, 0, sizeof *out);
	if (!span_word(&rest, &name))
		return COMMAND_EMPTY;
	rest = span_trim(rest);
	i = lookup(name);
	if (i < 0) {
		snprintf(out->error, sizeof out->error,
			"no command %.*s; there are goto note mark pid live pause quit help, and the panels' names",
			(int)(name.len < 30 ? name.len : 30), name.at);
		return COMMAND_UNKNOWN;
	}
	if (commands[i].argument && !rest.len) {
		snprintf(out->error, sizeof out->error, "%s needs something after it", commands[i].name);
		return COMMAND_UNKNOWN;
	}
	out->panel = commands[i].panel;
	if (out->panel != PANEL_NONE)
		return COMMAND_PANEL;
	out->request.kind = commands[i].request;
	snprintf(out->request.text, sizeof out->request.text, "%.*s", (int)(rest.len < 250 ? rest.len : 250), rest.at);
	return COMMAND_REQUEST;
}

void command_complete(char *line, size_t size)
{
	size_t len = strlen(line), common = 0;
	const char *first = NULL;
	int matches = 0;

	if (!len || strchr(line, ' '))
		return;
	for (size_t i = 0; i < COMMANDS; i++) {
		const char *name = commands[i].name;

		if (strncmp(name, line, len) != 0)
			continue;
		if (!matches++) {
			first = name;
			common = strlen(name);
		}
		while (strncmp(first, name, common) != 0)
			common--;
	}
	if (matches)
		snprintf(line, size, "%.*s%s", (int)common, first, matches == 1 ? " " : "");
}
