/* test_ui_keys.c - every key: what it asks of the app, what it shows; prompts, commands, mouse; the key table itself. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui_scene.h"
#include "ui/command.h"
#include "ui/keys.h"

struct world {
	struct scene scene;
	struct ui *ui;
	struct canvas canvas;
	struct request request;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	struct ui_options options = { .mouse = true };

	scene_hung(&w->scene);
	w->ui = ui_new(&options);
	canvas_init(&w->canvas);
	canvas_resize(&w->canvas, 80, 24);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	canvas_release(&w->canvas);
	ui_free(w->ui);
	scene_release(&w->scene);
	free(w);
	return 0;
}

static bool press(struct world *w, int key)
{
	return ui_key(w->ui, key, &w->scene.view, &w->request);
}

static void type(struct world *w, const char *text)
{
	for (; *text; text++)
		press(w, *text == '\r' ? UI_KEY_ENTER : (unsigned char)*text);
}

/* The screen as text without style lines. */
static char *screen(struct world *w)
{
	struct buf all, out;
	struct span rest, line;

	ui_draw(w->ui, &w->canvas, &w->scene.view);
	buf_init(&all, 0);
	buf_init(&out, 0);
	canvas_dump(&w->canvas, &all);
	rest = buf_as_span(&all);
	while (span_line(&rest, &line)) {
		if (span_starts(line, "~"))
			continue;
		buf_span(&out, line);
		buf_char(&out, '\n');
	}
	buf_release(&all);
	return buf_take(&out);
}

static bool shows(struct world *w, const char *text)
{
	char *s = screen(w);
	bool found = strstr(s, text) != NULL;

	free(s);
	return found;
}

#define SHOWS(w, text)                                                                                                 \
	do {                                                                                                           \
		if (!shows(w, text)) {                                                                                 \
			char *s_ = screen(w);                                                                          \
			fail_msg("no \"%s\" in\n%s", text, s_);                                                        \
		}                                                                                                      \
	} while (0)

/* Text of the cursor's row. */
static void cursor_row(struct world *w, char *out, size_t size)
{
	size_t len = 0;

	ui_draw(w->ui, &w->canvas, &w->scene.view);
	out[0] = 0;
	for (int i = 0; i < w->canvas.w * w->canvas.h; i++) {
		const struct cell *c = &w->canvas.cell[i];

		if (c->selected && len + c->len + 1 < size) {
			memcpy(out + len, c->text, c->len);
			len += c->len;
			out[len] = 0;
		}
	}
}

static void expect_cursor(struct world *w, const char *text)
{
	char row[400];

	cursor_row(w, row, sizeof row);
	if (!strstr(row, text))
		fail_msg("cursor on \"%s\", want %s", row, text);
}

/* --- tests --- */

static void keys_ask_the_app(void **state)
{
	static const struct {
		int key;
		enum request_kind kind;
		int64_t n;
	} cases[] = {
		{ 's', REQUEST_STACKS, 0 },
		{ ' ', REQUEST_PAUSE, 0 },
		{ 'L', REQUEST_LIVE, 0 },
		{ 't', REQUEST_STEP, 1 },
		{ 'T', REQUEST_STEP, -1 },
		{ ',', REQUEST_SEEK, -10000 },
		{ '.', REQUEST_SEEK, 10000 },
		{ '<', REQUEST_SEEK, -60000 },
		{ '>', REQUEST_SEEK, 60000 },
		{ 'e', REQUEST_EVENT, 1 },
		{ 'E', REQUEST_EVENT, -1 },
		{ '+', REQUEST_FASTER, 1 },
		{ '-', REQUEST_FASTER, -1 },
		{ 'q', REQUEST_QUIT, 0 },
		{ UI_KEY_ESC, REQUEST_QUIT, 0 },
		{ UI_KEY_F10, REQUEST_QUIT, 0 },
		{ 'Q', REQUEST_QUIT, 0 },
		{ KEY_CTRL('c'), REQUEST_QUIT, 0 },
		{ KEY_CTRL('z'), REQUEST_SUSPEND, 0 },
		{ KEY_CTRL('l'), REQUEST_NONE, 0 },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(press(w, cases[i].key));
		if (w->request.kind != cases[i].kind || w->request.n != cases[i].n)
			fail_msg("key %d: request %d n %lld", cases[i].key, w->request.kind, (long long)w->request.n);
	}
}

/* Keys of later versions, and keys that must never exist, do nothing. */
static void keys_that_do_nothing(void **state)
{
	static const int keys[] = { 'i', 'd', 'a', ';', 'y', UI_KEY_F2, UI_KEY_F9, 'K', 'R', 'r', 'X',
		'0', 0x20ac };
	struct world *w = *state;
	char *before = screen(w);

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char *after;

		if (press(w, keys[i]) || w->request.kind != REQUEST_NONE)
			fail_msg("key %d does something", keys[i]);
		after = screen(w);
		assert_string_equal(before, after);
		free(after);
	}
	free(before);
}

static void the_table_is_sound(void **state)
{
	(void)state;
	for (int i = 0; i < binding_count; i++) {
		assert_non_null(binding_table[i].words);
		assert_int_not_equal(binding_table[i].keys[0], 0);
		for (int k = 0; k < BINDING_KEYS && binding_table[i].keys[k]; k++)
			for (int j = 0; j < i; j++)
				for (int l = 0; l < BINDING_KEYS && binding_table[j].keys[l]; l++)
					if (binding_table[j].keys[l] == binding_table[i].keys[k])
						assert_true(binding_table[i].where && binding_table[j].where &&
							    !(binding_table[i].where & binding_table[j].where));
	}
}

static int bind(const char *action, const char *keys)
{
	struct error error;

	return keys_bind(span_of(action), span_of(keys), &error);
}

/* Last in the list: it leaves the table changed. */
static void keys_can_be_bound(void **state)
{
	struct world *w = *state;
	char names[80];

	assert_int_equal(bind("stacks", "F5 Ctrl-K y"), 0);
	assert_string_equal(keys_names(names, sizeof names, keys_of(ACTION_STACKS)), "F5 Ctrl-K y");
	press(w, 's');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_STACKS);
	press(w, UI_KEY_F1);
	press(w, 'G');
	press(w, '/');
	for (const char *c = "Ctrl-K"; *c; c++)
		press(w, *c);
	press(w, UI_KEY_ENTER);
	SHOWS(w, "F5 Ctrl-K y");
	press(w, UI_KEY_ESC);
	/* a key belongs to one action: the other loses it */
	assert_int_equal(bind("help", "b"), 0);
	assert_null(keys_of(ACTION_GOTO));
	press(w, 'b');
	SHOWS(w, "in this panel: Overview");
	assert_int_equal(bind("panel", "x"), -1);
	assert_int_equal(bind("no-such", "x"), -1);
	assert_int_equal(bind("stacks", "NoKey"), -1);
	assert_int_equal(bind("stacks", "Ctrl-"), -1);
	assert_int_equal(bind("stacks", "a b c d e f g i j k"), -1);
	assert_int_equal(bind("quit", ""), -1);
	assert_int_equal(bind("stacks", "Q Ctrl-C"), -1); /* nothing would quit any more */
	assert_string_equal(keys_names(names, sizeof names, keys_of(ACTION_STACKS)), "F5 Ctrl-K y");
}

static void panels(void **state)
{
	static const char *const names[] = { "Overview", "Server", "GPUs", "Ranks", "Stacks", "Waves", "Log", "Events",
		"Sources" };
	struct world *w = *state;
	char title[40];

	for (int i = 0; i < 9; i++) {
		press(w, '1' + i);
		snprintf(title, sizeof title, "── %s ", names[i]);
		SHOWS(w, title);
	}
	press(w, UI_KEY_TAB);
	SHOWS(w, "── Snapshot ");
	press(w, UI_KEY_TAB);
	SHOWS(w, "── Overview ");
	press(w, UI_KEY_BACK_TAB);
	press(w, UI_KEY_BACK_TAB);
	SHOWS(w, "── Sources ");
	press(w, 'w');
	SHOWS(w, "── Waves ");
	type(w, ":log\r:waves\r");
	SHOWS(w, "── Waves ");
	press(w, 'c');
	SHOWS(w, "── Stacks ");
	press(w, '?');
	SHOWS(w, "in this panel: Stacks");
	assert_true(press(w, 'q'));
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "── Stacks ");
	press(w, UI_KEY_F1);
	press(w, UI_KEY_F1);
	SHOWS(w, "── Stacks ");
}

static void a_snapshot_is_taken_after_y_twice(void **state)
{
	struct world *w = *state;

	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	press(w, 'S');
	assert_int_equal(w->request.kind, REQUEST_SNAPSHOT);
	assert_int_equal(w->request.n, 0);
	SHOWS(w, "── Snapshot ");
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "nothing is proposed");
	scene_snapshot(&w->scene, "4103-1", 1, "preview", "");
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "y again stops pid 4103");
	press(w, 'j'); /* forgets it */
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_SNAPSHOT);
	assert_int_equal(w->request.n, 4103);
	scene_snapshot(&w->scene, "4103-2", 1, "refused", "");
	press(w, 'y');
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
}

static void the_second_y_is_for_the_snapshot_of_the_first(void **state)
{
	struct world *w = *state;

	press(w, 'v');
	scene_snapshot(&w->scene, "4103-1", 2, "preview", "");
	press(w, 'y');
	scene_snapshot(&w->scene, "4103-2", 1, "preview", "");
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
}

static void the_cursor_goes_to_the_snapshot_that_was_asked_for(void **state)
{
	struct world *w = *state;

	scene_snapshot(&w->scene, "4103-1", 20, "done", "ok");
	press(w, 'v');
	SHOWS(w, "▸ 10:07:35");
	press(w, 'S');
	scene_snapshot(&w->scene, "4103-2", 1, "done", "ok");
	SHOWS(w, "▸ 10:07:54");
	press(w, UI_KEY_ENTER);
	SHOWS(w, "▾ 10:07:54");
	scene_snapshot(&w->scene, "4103-3", 0, "done", "ok"); /* it was moved: it stays */
	SHOWS(w, "▸ 10:07:55");
	press(w, UI_KEY_ENTER);
	SHOWS(w, "▸ 10:07:54");
}

static void read_only_takes_no_snapshot(void **state)
{
	struct world *w = *state;

	w->scene.view.read_only = true;
	scene_snapshot(&w->scene, "4103-1", 1, "preview", "");
	press(w, 'S');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "read only");
	press(w, 'v');
	press(w, 'y');
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_NONE);
}

static void the_agent_is_asked_after_the_rank_is_typed(void **state)
{
	struct world *w = *state;

	press(w, 'v');
	scene_snapshot(&w->scene, "4103-1", 1, "refused", "");
	press(w, 'A');
	SHOWS(w, "not offered");
	FEED(&w->scene.model, "{'t':%lld,'node':'n1','kind':'guard','pid':4103,'check':'agent-dump','state':'ok','detail':'x','snapshot':'4103-1'}", AT(1));
	press(w, 'A');
	SHOWS(w, "Type the rank");
	type(w, "TP2\r");
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "not its rank");
	press(w, 'A');
	type(w, "TP3\r");
	assert_int_equal(w->request.kind, REQUEST_SNAPSHOT);
	assert_int_equal(w->request.n, 4103);
	assert_string_equal(w->request.text, "TP3");
}

static void an_alarm_is_acknowledged(void **state)
{
	struct world *w = *state;

	scene_snapshot(&w->scene, "4103-1", 1, "failed", "stopped");
	SHOWS(w, "STOPPED after a snapshot: kill -CONT 4103");
	press(w, 'v');
	press(w, UI_KEY_ENTER);
	assert_int_equal(w->request.kind, REQUEST_ACKNOWLEDGE);
	assert_string_equal(w->request.text, "4103-1");
	press(w, 'x');
	assert_int_equal(w->request.kind, REQUEST_EVIDENCE);
}

static void zoom(void **state)
{
	struct world *w = *state;

	press(w, '4');
	press(w, 'z');
	assert_false(shows(w, "── Ranks"));
	assert_false(shows(w, "? help"));
	SHOWS(w, "HUNG");
	press(w, UI_KEY_ESC);
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "── Ranks");
}

static void moving(void **state)
{
	struct world *w = *state;

	press(w, '4');
	expect_cursor(w, "TP0");
	press(w, 'j');
	press(w, UI_KEY_DOWN);
	expect_cursor(w, "TP2");
	press(w, 'k');
	expect_cursor(w, "TP1");
	press(w, 'G');
	expect_cursor(w, "TP7");
	press(w, 'j');
	expect_cursor(w, "TP7");
	press(w, 'g');
	expect_cursor(w, "TP0");
	press(w, UI_KEY_PAGE_DOWN);
	expect_cursor(w, "TP7");
	press(w, UI_KEY_HOME);
	expect_cursor(w, "TP0");
	canvas_resize(&w->canvas, 80, 8); /* 8 lines: 3 for rows, one of them the heading */
	press(w, 'G');
	expect_cursor(w, "TP7");
	SHOWS(w, "rank");
	press(w, UI_KEY_PAGE_UP);
	expect_cursor(w, "TP");
}

/* The cursor stays on its rank while others come and go. */
static void cursor_stays_on_its_row(void **state)
{
	struct world *w = *state;

	press(w, '4');
	press(w, 'j');
	press(w, 'j');
	expect_cursor(w, "TP2");
	press(w, UI_KEY_ENTER);
	expect_cursor(w, "TP2");
	press(w, 'g');
	press(w, UI_KEY_ENTER);
	press(w, '1');
	press(w, '4');
	expect_cursor(w, "TP0");
	FEED(&w->scene.model,
		"{'t':%lld,'node':'n1','kind':'process','pid':4099,'start':1,'role':'worker','rank':'PP0','ended':0}",
		AT(1));
	ranks_build(w->scene.ranks, &w->scene.model);
	expect_cursor(w, "TP0");
}

static void details_open_and_close(void **state)
{
	struct world *w = *state;

	press(w, '4');
	press(w, UI_KEY_ENTER);
	SHOWS(w, "/usr/bin/python3.10");
	SHOWS(w, "NCCL_DEBUG=WARN");
	press(w, 'j'); /* on a line of details */
	press(w, UI_KEY_ENTER);
	assert_false(shows(w, "/usr/bin/python3.10"));
	expect_cursor(w, "TP0");
	press(w, '5');
	press(w, UI_KEY_ENTER);
	SHOWS(w, "busy_loop (atom/model_engine/async_proc.py:88)");
	SHOWS(w, "ProcessGroupNCCL");
}

static void overview_opens_panels(void **state)
{
	struct world *w = *state;

	press(w, 'j');
	expect_cursor(w, "server");
	for (int i = 0; i < 3; i++)
		press(w, 'j');
	press(w, UI_KEY_ENTER);
	SHOWS(w, "── GPUs");
}

static void search_and_filter(void **state)
{
	struct world *w = *state;

	press(w, '7');
	expect_cursor(w, "Request 41");
	press(w, '/');
	type(w, "tp");
	SHOWS(w, "search: tp");
	press(w, UI_KEY_ENTER);
	expect_cursor(w, "TP0");
	press(w, 'n');
	expect_cursor(w, "TP3");
	press(w, 'n'); /* around */
	expect_cursor(w, "TP0");
	press(w, 'N');
	expect_cursor(w, "TP3");
	type(w, "/nowhere\r");
	SHOWS(w, "not found");
	press(w, UI_KEY_ESC); /* clears the search, does not quit */
	assert_int_equal(w->request.kind, REQUEST_NONE);
	type(w, "\\warn");
	assert_false(shows(w, "Request 41"));
	press(w, UI_KEY_ENTER);
	SHOWS(w, "1 of 4");
	SHOWS(w, "filter: warn");
	press(w, '1');
	press(w, '7');
	SHOWS(w, "filter: warn"); /* kept */
	type(w, "&");
	press(w, KEY_CTRL('u'));
	press(w, UI_KEY_ESC); /* cancelled: the old one comes back */
	SHOWS(w, "filter: warn");
	press(w, UI_KEY_F4);
	press(w, KEY_CTRL('u'));
	press(w, UI_KEY_ENTER);
	SHOWS(w, "Request 41");
	press(w, 'n');
	SHOWS(w, "press /");
}

static void log_follows_its_end(void **state)
{
	struct world *w = *state;

	press(w, '7');
	expect_cursor(w, "Request 41");
	scene_log(&w->scene, 1, "fault", "TP2", "Memory access fault");
	expect_cursor(w, "Memory access fault");
	press(w, 'k');
	scene_log(&w->scene, 0.5, "fault", "TP2", "another one");
	expect_cursor(w, "Request 41");
	press(w, 'G');
	expect_cursor(w, "another one");
	scene_log(&w->scene, 0.1, "fault", "TP2", "the last");
	expect_cursor(w, "the last");
}

static void prompts(void **state)
{
	struct world *w = *state;

	type(w, "b3m ago");
	SHOWS(w, "go to time: 3m ago");
	press(w, UI_KEY_ENTER);
	assert_int_equal(w->request.kind, REQUEST_GOTO);
	assert_string_equal(w->request.text, "3m ago");
	press(w, 'b');
	press(w, UI_KEY_UP);
	press(w, UI_KEY_BACKSPACE);
	press(w, UI_KEY_LEFT);
	press(w, 'X');
	press(w, UI_KEY_HOME);
	press(w, UI_KEY_DELETE);
	press(w, UI_KEY_ENTER);
	assert_string_equal(w->request.text, "m aXg");
	type(w, "m\r");
	assert_int_equal(w->request.kind, REQUEST_MARK);
	assert_string_equal(w->request.text, "");
	press(w, 'm');
	press(w, 0x65e5); /* a wide character */
	press(w, UI_KEY_BACKSPACE);
	press(w, 0x672c);
	SHOWS(w, "bookmark: 本");
	press(w, UI_KEY_ENTER);
	assert_string_equal(w->request.text, "本");
	type(w, "o4103\r");
	assert_int_equal(w->request.kind, REQUEST_PID);
	assert_int_equal(w->request.n, 4103);
	type(w, "o-7\r");
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "a PID is a number");
	type(w, "b\r");
	assert_int_equal(w->request.kind, REQUEST_NONE);
	type(w, "bq");
	press(w, UI_KEY_ESC);
	assert_int_equal(w->request.kind, REQUEST_NONE);
	/* A key that comes a thousand times overruns nothing; Ctrl-C quits out of a prompt. */
	press(w, 'b');
	for (int i = 0; i < 1000; i++)
		press(w, 0x1f600);
	free(screen(w));
	press(w, KEY_CTRL('c'));
	assert_int_equal(w->request.kind, REQUEST_QUIT);
}

static void commands(void **state)
{
	static const struct {
		const char *line;
		enum command_result result;
		enum panel_id panel;
		enum request_kind kind;
		const char *text;
	} cases[] = {
		{ "", COMMAND_EMPTY, PANEL_NONE, REQUEST_NONE, "" },
		{ "  ", COMMAND_EMPTY, PANEL_NONE, REQUEST_NONE, "" },
		{ "goto 3m ago", COMMAND_REQUEST, PANEL_NONE, REQUEST_GOTO, "3m ago" },
		{ " note  two words ", COMMAND_REQUEST, PANEL_NONE, REQUEST_NOTE, "two words" },
		{ "quit", COMMAND_REQUEST, PANEL_NONE, REQUEST_QUIT, "" },
		{ "q", COMMAND_REQUEST, PANEL_NONE, REQUEST_QUIT, "" },
		{ "help", COMMAND_PANEL, PANEL_HELP, REQUEST_NONE, "" },
		{ "ranks", COMMAND_PANEL, PANEL_RANKS, REQUEST_NONE, "" },
		{ "ra", COMMAND_PANEL, PANEL_RANKS, REQUEST_NONE, "" },
		{ "s", COMMAND_UNKNOWN, PANEL_NONE, REQUEST_NONE, "" },
		{ "note", COMMAND_UNKNOWN, PANEL_NONE, REQUEST_NONE, "" },
		{ "kill 1", COMMAND_UNKNOWN, PANEL_NONE, REQUEST_NONE, "" },
	};
	struct world *w = *state;
	char line[40] = "ov";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct command c;

		if (command_parse(span_of(cases[i].line), &c) != cases[i].result || c.panel != cases[i].panel ||
			c.request.kind != cases[i].kind || strcmp(c.request.text, cases[i].text) != 0)
			fail_msg("\"%s\"", cases[i].line);
		assert_int_equal(cases[i].result == COMMAND_UNKNOWN, c.error[0] != 0);
	}
	command_complete(line, sizeof line);
	assert_string_equal(line, "overview ");
	strcpy(line, "zz");
	command_complete(line, sizeof line);
	assert_string_equal(line, "zz");
	type(w, ":gp");
	press(w, UI_KEY_TAB);
	press(w, UI_KEY_ENTER);
	SHOWS(w, "── GPUs");
	type(w, ":frobnicate\r");
	SHOWS(w, "no command frobnicate");
	press(w, 'j');
	assert_false(shows(w, "no command"));
}

static void bookmarks(void **state)
{
	struct world *w = *state;

	press(w, '\'');
	expect_cursor(w, "before the restart");
	press(w, UI_KEY_ENTER);
	assert_int_equal(w->request.kind, REQUEST_GOTO);
	assert_int_equal(w->request.n, AT(100));
}

static void quitting_while_stacks_run(void **state)
{
	struct world *w = *state;

	w->scene.view.stacks_running = 3;
	press(w, 'q');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	SHOWS(w, "quit? y n");
	press(w, 'n');
	assert_int_equal(w->request.kind, REQUEST_NONE);
	press(w, 'q');
	press(w, 'y');
	assert_int_equal(w->request.kind, REQUEST_QUIT);
}

static void mouse(void **state)
{
	struct world *w = *state;
	struct view *v = &w->scene.view;

	free(screen(w));
	assert_true(ui_mouse(w->ui, 29, 23, 1, false, v, &w->request)); /* "4Ranks" in the key bar */
	SHOWS(w, "── Ranks");
	assert_true(ui_mouse(w->ui, 10, 6, 1, false, v, &w->request));
	expect_cursor(w, "TP2");
	assert_true(ui_mouse(w->ui, 10, 6, 1, true, v, &w->request));
	SHOWS(w, "HIP_VISIBLE_DEVICES=2");
	ui_mouse(w->ui, 10, 6, 1, true, v, &w->request);
	ui_mouse(w->ui, 0, 5, 5, false, v, &w->request); /* wheel */
	expect_cursor(w, "TP5");
	assert_false(ui_mouse(w->ui, 0, 3, 1, false, v, &w->request)); /* the heading */
	assert_false(ui_mouse(w->ui, -1, 500, 1, false, v, &w->request));
	ui_mouse(w->ui, 79, 23, 1, false, v, &w->request);
	assert_int_equal(w->request.kind, REQUEST_QUIT);
}

static void badges_and_messages(void **state)
{
	struct world *w = *state;
	struct view *v = &w->scene.view;

	v->mode = VIEW_PAUSED;
	SHOWS(w, "PAUSED");
	v->mode = VIEW_REPLAY;
	v->playing = true;
	v->speed = 4;
	SHOWS(w, "REPLAY x4");
	v->mode = VIEW_LIVE;
	v->read_only = true;
	SHOWS(w, "LIVE RO");
	v->message = "stacks \033[31mrequested";
	v->message_t = v->now - 4000;
	SHOWS(w, "stacks ^[[31mrequested");
	v->message_t = v->now - 5000;
	assert_false(shows(w, "requested"));
}

/* Random keys and sizes: no crash, nothing outside (the sanitizers see), the verdict always on line 1. */
static void any_keys_any_size(void **state)
{
	static const int special[] = { UI_KEY_UP, UI_KEY_DOWN, UI_KEY_LEFT, UI_KEY_RIGHT, UI_KEY_PAGE_UP,
		UI_KEY_PAGE_DOWN, UI_KEY_HOME, UI_KEY_END, UI_KEY_BACKSPACE, UI_KEY_DELETE, UI_KEY_BACK_TAB,
		UI_KEY_ENTER, UI_KEY_ESC, UI_KEY_TAB, UI_KEY_F3, UI_KEY_F4, UI_KEY_RESIZE, 0x65e5 };
	struct world *w = *state;
	uint32_t seed = 12345;

	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 24 < 16)
			canvas_resize(&w->canvas, (int)(seed >> 8 & 0xff) % 130, (int)(seed >> 16 & 0xff) % 50);
		press(w, seed >> 31 ? special[(seed >> 8) % (sizeof special / sizeof *special)]
				    : (int)(0x20 + (seed >> 8) % 0x5f));
		if (i % 7 == 0)
			ui_mouse(w->ui, (int)(seed % 80), (int)(seed >> 10 & 31), (int)(seed >> 20 & 7), seed >> 29 & 1,
				&w->scene.view, &w->request);
		if (i % 3 == 0) {
			ui_draw(w->ui, &w->canvas, &w->scene.view);
			if (w->canvas.w >= 20 && w->canvas.h >= 5)
				assert_int_equal(w->canvas.cell[0].style, STYLE_BADGE_BAD);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(keys_ask_the_app),
		TEST(keys_that_do_nothing),
		TEST(the_table_is_sound),
		TEST(panels),
		TEST(a_snapshot_is_taken_after_y_twice),
		TEST(the_second_y_is_for_the_snapshot_of_the_first),
		TEST(the_cursor_goes_to_the_snapshot_that_was_asked_for),
		TEST(read_only_takes_no_snapshot),
		TEST(the_agent_is_asked_after_the_rank_is_typed),
		TEST(an_alarm_is_acknowledged),
		TEST(zoom),
		TEST(moving),
		TEST(cursor_stays_on_its_row),
		TEST(details_open_and_close),
		TEST(overview_opens_panels),
		TEST(search_and_filter),
		TEST(log_follows_its_end),
		TEST(prompts),
		TEST(commands),
		TEST(bookmarks),
		TEST(quitting_while_stacks_run),
		TEST(mouse),
		TEST(badges_and_messages),
		TEST(any_keys_any_size),
		TEST(keys_can_be_bound),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
