/* cmd_replay.c - `hangtop replay` and `hangtop export`. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/paths.h"
#include "app/replay.h"
#include "app/report.h"
#include "app/screen.h"
#include "base/clock.h"
#include "store/reader.h"
#include "ui/human_time.h"

struct replaying {
	uv_loop_t loop;
	struct screen *screen;
	struct replay *replay;
	int code;
};

static void on_quit(void *context, int number)
{
	struct replaying *r = context;

	if (!r->screen)
		return;
	screen_close(r->screen);
	r->screen = NULL;
	r->code = number == SIGINT ? EXIT_INTERRUPTED : 0;
}

static int show(struct replaying *r, const struct app_options *options)
{
	struct error error;

	uv_loop_init(&r->loop);
	if (screen_open(&r->screen, &r->loop, options, &error) < 0) {
		uv_loop_close(&r->loop);
		return complain(&error, EXIT_NO_TOOL);
	}
	screen_on_quit(r->screen, on_quit, r);
	screen_replay(r->screen, r->replay);
	uv_run(&r->loop, UV_RUN_DEFAULT);
	uv_loop_close(&r->loop);
	return r->code;
}

static int dump(struct replay *replay, const char *path)
{
	FILE *file = fopen(path, "we");
	struct buf text;

	if (!file) {
		fprintf(stderr, "hangtop: cannot write %s: %s\n", path, strerror(errno));
		return EXIT_CANNOT_WRITE;
	}
	buf_init(&text, 0);
	core_dump(replay_core(replay), &text);
	fwrite(buf_string(&text), 1, text.len, file);
	buf_release(&text);
	return fclose(file) == 0 ? 0 : EXIT_CANNOT_WRITE;
}

static int cannot_print(void)
{
	fprintf(stderr, "hangtop: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_CANNOT_WRITE;
}

/* Without a screen: play it (from its start, so that the dump is what live had) and say what it came to. */
static int print_end(struct replay *replay, const struct app_options *options, int64_t to, bool seek)
{
	struct error error;
	struct core *core = replay_core(replay);
	struct buf out;
	int code;

	if ((seek ? replay_seek(replay, to, &error) : replay_play(replay, to, &error)) < 0)
		return complain(&error, EXIT_UNKNOWN);
	if (options->dump && (code = dump(replay, options->dump)))
		return code;
	buf_init(&out, 0);
	if (options->json)
		report_json(core, core->grid, &out);
	else
		report_text(core, core->grid, &out);
	fwrite(buf_string(&out), 1, out.len, stdout);
	buf_release(&out);
	return fflush(stdout) == 0 ? report_exit_code(&core->verdict) : cannot_print();
}

int cmd_replay(const struct app_options *given)
{
	struct app_options options = *given;
	struct replaying r = { 0 };
	struct error error;
	char *newest = NULL;
	int64_t first, last, at;
	int code;

	if (!options.file)
		options.file = newest = path_newest_session();
	if (!options.file) {
		fprintf(stderr, "hangtop: no session file given, and none in the state folder; see hangtop replay --help\n");
		return EXIT_USAGE;
	}
	if (replay_open(&r.replay, options.file, given->stall_s == 30 ? 0 : (int64_t)(given->stall_s * 1000), &error) < 0) {
		free(newest);
		return complain(&error, EXIT_UNKNOWN);
	}
	replay_range(r.replay, &first, &last);
	at = last;
	if (options.at && !human_time(span_of(options.at), last, &at)) {
		fprintf(stderr, "hangtop: --at does not understand \"%s\": try 10:05, 3m ago, 2026-12-01 10:05\n", options.at);
		code = EXIT_USAGE;
	} else if (options.once || options.dump || !screen_possible()) {
		code = print_end(r.replay, &options, at, options.at != NULL);
	} else {
		if (options.at || options.paused)
			replay_seek(r.replay, options.at ? at : last, &error);
		code = show(&r, &options);
	}
	replay_close(r.replay);
	free(newest);
	return code;
}

static void print_line(void *context, const struct observation *o)
{
	struct buf *line = context;

	buf_clear(line);
	observation_encode(o, line);
	buf_char(line, '\n');
	fwrite(line->at, 1, line->len, stdout);
}

int cmd_export(const struct app_options *options)
{
	struct reader *reader;
	struct error error;
	struct buf line;
	int64_t first, last;
	int code = 0;

	if (!options->file) {
		fprintf(stderr, "hangtop: export wants a session file; see hangtop export --help\n");
		return EXIT_USAGE;
	}
	if (reader_open(&reader, options->file, &error) < 0)
		return complain(&error, EXIT_UNKNOWN);
	buf_init(&line, OBSERVATION_LINE_MAX);
	if (reader_range(reader, &first, &last) &&
		reader_between(reader, first - 1, last, print_line, &line, &error) < 0)
		code = complain(&error, EXIT_UNKNOWN);
	if (fflush(stdout) != 0)
		code = cannot_print();
	buf_release(&line);
	reader_close(reader);
	return code;
}
