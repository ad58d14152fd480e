#include "config.h"

#include "ui/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/snapshots.h"
#include "ui/command.h"
#include "ui/frame.h"
#include "ui/keys.h"
#include "ui/list.h"
#include "ui/panel.h"
#include "ui/prompt.h"

#define LEAST_W 20
#define LEAST_H 5
#define SHIFT 8 /* columns of one step to the side */
#define WHEEL 3
#define MESSAGE_MS 5000

struct ui {
	struct ui_options options;
	enum panel_id panel;
	enum panel_id before_help;
	struct list list[PANEL_COUNT];
	struct rows rows; /* of the panel shown */
	struct prompt prompt;
	char old_filter[LIST_TEXT_MAX]; /* to come back to on Esc */
	struct frame_bar bar;
	bool zoom;
	char armed[80]; /* id of the snapshot that the next y takes; "" none */
	int w, h; /* of the last frame */
	char message[200]; /* our own; goes with the next key */
};

struct ui *ui_new(const struct ui_options *options)
{
	struct ui *ui = mem_alloc(sizeof *ui);

	ui->options = *options;
	ui->panel = PANEL_OVERVIEW;
	rows_init(&ui->rows);
	for (int i = 0; i < PANEL_COUNT; i++)
		list_init(&ui->list[i], panel_table[i].tail, panel_table[i].quiet);
	ui->w = 80;
	ui->h = 24;
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (int i = 0; i < PANEL_COUNT; i++)
		list_release(&ui->list[i]);
	rows_release(&ui->rows);
	free(ui);
}

/* --- the panel shown --- */

static struct list *current(struct ui *ui)
{
	return &ui->list[ui->panel];
}

/* Lines above and below the rows of the panel. */
static struct rect panel_place(const struct ui *ui)
{
	int top = ui->zoom ? 1 : ui->h < 8 ? 2 : 3, bottom = ui->zoom ? ui->prompt.kind != PROMPT_NONE : 1;

	return (struct rect){ 0, top, ui->w, ui->h - top - bottom > 0 ? ui->h - top - bottom : 0 };
}

static void build(struct ui *ui, const struct view *view)
{
	struct rect place = panel_place(ui);
	struct build b = { .view = view,
		.rows = &ui->rows,
		.list = current(ui),
		.shown = ui->before_help,
		.w = place.w,
		.h = place.h,
		.ascii = ui->options.ascii };

	rows_clear(&ui->rows);
	panel_table[ui->panel].build(&b);
	list_settle(current(ui), &ui->rows, place.h);
}

static void show(struct ui *ui, enum panel_id panel)
{
	if (panel == PANEL_HELP && ui->panel != PANEL_HELP)
		ui->before_help = ui->panel;
	ui->panel = panel;
	if (panel == PANEL_HELP) { /* from its start */
		list_release(current(ui));
		list_init(current(ui), false, false);
	}
}

static void say(struct ui *ui, const char *text)
{
	snprintf(ui->message, sizeof ui->message, "%s", text);
}

static void ask(struct request *request, enum request_kind kind, int64_t n, const char *text)
{
	request->kind = kind;
	request->n = n;
	snprintf(request->text, sizeof request->text, "%s", text);
}

/* --- what was typed --- */

static void ask_agent(struct ui *ui, const struct view *view, struct request *request, const char *typed);

static void find(struct ui *ui, int direction)
{
	struct list *l = current(ui);

	if (!l->search[0])
		say(ui, "nothing to search for yet: press /");
	else if (!list_find(l, &ui->rows, direction))
		say(ui, "not found in this panel");
}

static void run_command(struct ui *ui, struct request *request)
{
	struct command c;

	switch (command_parse(span_of(ui->prompt.text), &c)) {
	case COMMAND_EMPTY:
		break;
	case COMMAND_PANEL:
		show(ui, c.panel);
		break;
	case COMMAND_REQUEST:
		*request = c.request;
		break;
	case COMMAND_UNKNOWN:
		say(ui, c.error);
		break;
	}
}

static void prompt_done(struct ui *ui, enum prompt_kind kind, const struct view *view, struct request *request)
{
	const char *text = ui->prompt.text;
	uint64_t pid;

	switch (kind) {
	case PROMPT_SEARCH:
		if (current(ui)->search[0])
			find(ui, 0);
		break;
	case PROMPT_COMMAND:
		run_command(ui, request);
		break;
	case PROMPT_TIME:
		if (*text)
			ask(request, REQUEST_GOTO, 0, text);
		break;
	case PROMPT_MARK:
		ask(request, REQUEST_MARK, view->now, text);
		break;
	case PROMPT_PID:
		if (span_uint(span_of(text), &pid) && pid > 0 && pid <= 4194304)
			ask(request, REQUEST_PID, (int64_t)pid, text);
		else if (*text)
			say(ui, "a PID is a number from 1 to 4194304");
		break;
	case PROMPT_AGENT:
		ask_agent(ui, view, request, text);
		break;
	case PROMPT_QUIT:
		ask(request, REQUEST_QUIT, 0, "");
		break;
	default:
		break;
	}
}

/* Search and filter act while they are typed. */
static void prompt_preview(struct ui *ui, enum prompt_kind kind, const char *text, const struct view *view)
{
	struct list *l = current(ui);

	if (kind == PROMPT_SEARCH)
		snprintf(l->search, sizeof l->search, "%s", text);
	else if (kind == PROMPT_FILTER)
		snprintf(l->filter, sizeof l->filter, "%s", text);
	else
		return;
	build(ui, view);
}

static void type(struct ui *ui, int key, const struct view *view, struct request *request)
{
	enum prompt_kind kind = ui->prompt.kind;

	if (kind == PROMPT_COMMAND && key == UI_KEY_TAB) {
		char line[PROMPT_TEXT_MAX];

		snprintf(line, sizeof line, "%s", ui->prompt.text);
		command_complete(line, sizeof line);
		prompt_open(&ui->prompt, kind, line);
		return;
	}
	switch (prompt_key(&ui->prompt, key)) {
	case PROMPT_GOES_ON:
		prompt_preview(ui, kind, ui->prompt.text, view);
		break;
	case PROMPT_DONE:
		prompt_preview(ui, kind, ui->prompt.text, view);
		prompt_done(ui, kind, view, request);
		break;
	case PROMPT_CANCELLED:
		prompt_preview(ui, kind, kind == PROMPT_FILTER ? ui->old_filter : "", view);
		break;
	}
}

static void open_prompt(struct ui *ui, enum prompt_kind kind)
{
	struct list *l = current(ui);

	if (kind == PROMPT_FILTER)
		memcpy(ui->old_filter, l->filter, sizeof ui->old_filter);
	prompt_open(&ui->prompt, kind, kind == PROMPT_FILTER ? l->filter : "");
}

/* --- actions --- */

static void open_row(struct ui *ui, struct request *request)
{
	const struct row *row = list_current(current(ui), &ui->rows);
	size_t i;

	if (!row)
		return;
	if (ui->panel == PANEL_OVERVIEW) {
		show(ui, (enum panel_id)row->target);
		return;
	}
	if (ui->panel == PANEL_EVENTS && row->target) {
		char text[40];

		snprintf(text, sizeof text, "@%lld.%03d", (long long)(row->target / 1000), (int)(row->target % 1000));
		ask(request, REQUEST_GOTO, row->target, text);
		return;
	}
	/* On a line of details: close what they belong to. */
	for (i = (size_t)(row - ui->rows.row); i > 0 && (ui->rows.row[i].flags & ROW_DETAIL); i--)
		;
	current(ui)->key = ui->rows.row[i].key;
	list_toggle(current(ui), ui->rows.row[i].key);
}

static void back(struct ui *ui, int key, const struct view *view, struct request *request)
{
	struct list *l = current(ui);

	if (ui->panel == PANEL_HELP) {
		show(ui, ui->before_help);
	} else if (ui->zoom) {
		ui->zoom = false;
	} else if (key == UI_KEY_ESC && (l->search[0] || l->filter[0])) {
		l->search[0] = l->filter[0] = 0;
	} else if (view->stacks_running) {
		open_prompt(ui, PROMPT_QUIT);
	} else {
		ask(request, REQUEST_QUIT, 0, "");
	}
}

/* --- the snapshot --- */

static void propose_snapshot(struct ui *ui, const struct view *view, struct request *request)
{
	if (view->read_only) {
		say(ui, "read only: nothing touches a process of the server");
		return;
	}
	show(ui, PANEL_SNAPSHOT);
	list_follow(current(ui));
	ask(request, REQUEST_SNAPSHOT, 0, "");
}

/* The first y arms, the second asks; any other key forgets it. */
static void yes(struct ui *ui, const struct view *view, struct request *request)
{
	static struct snapshots all;
	const struct snapshot_seen *s = &all.seen[0];
	char text[sizeof ui->message];
	int64_t pid = 0;

	snapshots_gather(&all, view->model);
	if (view->read_only || !all.count || !snapshot_is(s, "preview") || !observation_get_int(s->last, SNAPSHOT_pid, &pid)) {
		say(ui, view->read_only ? "read only: no snapshot can be taken" : "nothing is proposed yet: S does, and its checks take a moment");
		return;
	}
	if (strlen(ui->armed) == s->id.len && memcmp(ui->armed, s->id.at, s->id.len) == 0) {
		ui->armed[0] = 0;
		ask(request, REQUEST_SNAPSHOT, pid, "");
		return;
	}
	snprintf(ui->armed, sizeof ui->armed, "%.*s", (int)s->id.len, s->id.at);
	snprintf(text, sizeof text, "y again stops pid %lld for a moment and looks at it; any other key forgets it", (long long)pid);
	say(ui, text);
}

/* The newest snapshot, when asking the debug agent of its process is offered; NULL otherwise. */
static const struct snapshot_seen *agent_offer(const struct view *view)
{
	static struct snapshots all;

	snapshots_gather(&all, view->model);
	for (int i = 0; !view->read_only && all.count && i < all.seen[0].guard.count; i++)
		if (observation_text_is(all.seen[0].guard.row[i], GUARD_check, "agent-dump") && observation_text_is(all.seen[0].guard.row[i], GUARD_state, "ok"))
			return &all.seen[0];
	return NULL;
}

static void ask_agent(struct ui *ui, const struct view *view, struct request *request, const char *typed)
{
	const struct snapshot_seen *s = agent_offer(view);
	struct span rank = { "", 0 };
	int64_t pid = 0;

	if (!s || !observation_get_int(s->last, SNAPSHOT_pid, &pid))
		say(ui, view->read_only ? "read only: no signal is sent" : "not offered: S shows what the check agent-dump says");
	else if (!typed)
		prompt_open(&ui->prompt, PROMPT_AGENT, "");
	else if (observation_get_text(s->last, SNAPSHOT_rank, &rank) && rank.len && span_is(rank, typed))
		ask(request, REQUEST_SNAPSHOT, pid, typed);
	else
		say(ui, "that is not its rank: nothing was done");
}

/* Enter on the snapshot with the alarm: it was seen. */
static void acknowledge(struct ui *ui, const struct view *view, struct request *request)
{
	static struct snapshots all;
	const struct snapshot_seen *s;
	char id[80];

	snapshots_gather(&all, view->model);
	s = snapshots_alarm(&all, view->model);
	if (!s || view->mode != VIEW_LIVE)
		return;
	snprintf(id, sizeof id, "%.*s", (int)s->id.len, s->id.at);
	ask(request, REQUEST_ACKNOWLEDGE, 0, id);
	say(ui, "acknowledged");
}

static void turn_panel(struct ui *ui, int by)
{
	int panel = ui->panel == PANEL_HELP ? (int)ui->before_help : (int)ui->panel;

	panel = (panel - PANEL_OVERVIEW + by + PANEL_SNAPSHOT) % PANEL_SNAPSHOT + PANEL_OVERVIEW;
	show(ui, (enum panel_id)panel);
}

static void show_marks(struct ui *ui)
{
	show(ui, PANEL_EVENTS);
	snprintf(current(ui)->filter, LIST_TEXT_MAX, "bookmark");
}

/* Moving about in the panel. False when the action is another one. */
static bool move(struct ui *ui, enum action action)
{
	struct list *l = current(ui);
	struct rows *r = &ui->rows;

	switch (action) {
	case ACTION_UP:
		list_move(l, r, -1);
		return true;
	case ACTION_DOWN:
		list_move(l, r, 1);
		return true;
	case ACTION_PAGE_UP:
		list_move(l, r, -list_page(l));
		return true;
	case ACTION_PAGE_DOWN:
		list_move(l, r, list_page(l));
		return true;
	case ACTION_TOP:
		list_top(l, r);
		return true;
	case ACTION_BOTTOM:
		list_bottom(l, r);
		return true;
	case ACTION_LEFT:
		l->shift = l->shift > SHIFT ? l->shift - SHIFT : 0;
		return true;
	case ACTION_RIGHT:
		if (l->shift < 1000)
			l->shift += SHIFT;
		return true;
	case ACTION_NEXT_MATCH:
		find(ui, 1);
		return true;
	case ACTION_PREVIOUS_MATCH:
		find(ui, -1);
		return true;
	default:
		return false;
	}
}

/* What the app does for us: one request each. */
static const struct {
	enum action action;
	enum request_kind kind;
	int64_t n;
} requests[] = {
	{ ACTION_STACKS, REQUEST_STACKS, 0 },
	{ ACTION_EVIDENCE, REQUEST_EVIDENCE, 0 },
	{ ACTION_PAUSE, REQUEST_PAUSE, 0 },
	{ ACTION_LIVE, REQUEST_LIVE, 0 },
	{ ACTION_NEXT_SAMPLE, REQUEST_STEP, 1 },
	{ ACTION_PREVIOUS_SAMPLE, REQUEST_STEP, -1 },
	{ ACTION_BACK_10S, REQUEST_SEEK, -10000 },
	{ ACTION_ON_10S, REQUEST_SEEK, 10000 },
	{ ACTION_BACK_1M, REQUEST_SEEK, -60000 },
	{ ACTION_ON_1M, REQUEST_SEEK, 60000 },
	{ ACTION_NEXT_EVENT, REQUEST_EVENT, 1 },
	{ ACTION_PREVIOUS_EVENT, REQUEST_EVENT, -1 },
	{ ACTION_FASTER, REQUEST_FASTER, 1 },
	{ ACTION_SLOWER, REQUEST_FASTER, -1 },
	{ ACTION_QUIT, REQUEST_QUIT, 0 },
	{ ACTION_SUSPEND, REQUEST_SUSPEND, 0 },
};

static const struct {
	enum action action;
	enum prompt_kind kind;
} prompts[] = {
	{ ACTION_SEARCH, PROMPT_SEARCH },
	{ ACTION_FILTER, PROMPT_FILTER },
	{ ACTION_COMMAND, PROMPT_COMMAND },
	{ ACTION_GOTO, PROMPT_TIME },
	{ ACTION_MARK, PROMPT_MARK },
	{ ACTION_PID, PROMPT_PID },
};

static void act(struct ui *ui, enum action action, int key, const struct view *view, struct request *request)
{
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		if (requests[i].action == action)
			ask(request, requests[i].kind, requests[i].n, "");
	for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
		if (prompts[i].action == action)
			open_prompt(ui, prompts[i].kind);
	switch (action) {
	case ACTION_PANEL:
		show(ui, (enum panel_id)(key - '0'));
		break;
	case ACTION_NEXT_PANEL:
		turn_panel(ui, 1);
		break;
	case ACTION_PREVIOUS_PANEL:
		turn_panel(ui, -1);
		break;
	case ACTION_OPEN:
		open_row(ui, request);
		if (ui->panel == PANEL_SNAPSHOT)
			acknowledge(ui, view, request);
		break;
	case ACTION_SNAPSHOT:
		propose_snapshot(ui, view, request);
		break;
	case ACTION_YES:
		yes(ui, view, request);
		break;
	case ACTION_ASK_AGENT:
		ask_agent(ui, view, request, NULL);
		break;
	case ACTION_SNAPSHOTS:
		show(ui, PANEL_SNAPSHOT);
		break;
	case ACTION_ZOOM:
		ui->zoom = !ui->zoom;
		break;
	case ACTION_CLASSES:
		show(ui, PANEL_STACKS);
		break;
	case ACTION_WAVES:
		show(ui, PANEL_WAVES);
		break;
	case ACTION_MARKS:
		show_marks(ui);
		break;
	case ACTION_HELP:
		show(ui, ui->panel == PANEL_HELP ? ui->before_help : PANEL_HELP);
		break;
	case ACTION_BACK:
		back(ui, key, view, request);
		break;
	default:
		break;
	}
}

bool ui_key(struct ui *ui, int key, const struct view *view, struct request *request)
{
	const struct binding *b;

	memset(request, 0, sizeof *request);
	ui->message[0] = 0;
	if (ui->prompt.kind != PROMPT_NONE && key != KEY_CTRL('c')) {
		type(ui, key, view, request);
		return true;
	}
	b = keys_find(key, ui->panel);
	if (!b || b->action != ACTION_YES)
		ui->armed[0] = 0;
	if (!b)
		return key == UI_KEY_RESIZE;
	build(ui, view); /* the rows of now, for the cursor to move over */
	if (!move(ui, b->action))
		act(ui, b->action, key, view, request);
	return true;
}

bool ui_mouse(struct ui *ui, int x, int y, int button, bool twice, const struct view *view, struct request *request)
{
	struct rect place = panel_place(ui);

	memset(request, 0, sizeof *request);
	if (ui->prompt.kind != PROMPT_NONE)
		return false;
	build(ui, view);
	if (button == 4 || button == 5) {
		list_move(current(ui), &ui->rows, button == 4 ? -WHEEL : WHEEL);
		return true;
	}
	if (button != 1)
		return false;
	if (y == ui->h - 1 && !ui->zoom) {
		for (int i = 0; i < ui->bar.hits; i++) {
			const struct frame_hit *hit = &ui->bar.hit[i];

			if (x < hit->x || x >= hit->x + hit->w)
				continue;
			if (hit->panel == PANEL_NONE)
				return ui_key(ui, hit->key, view, request);
			show(ui, hit->panel);
			return true;
		}
		return false;
	}
	if (!list_click(current(ui), &ui->rows, y - place.y))
		return false;
	if (twice)
		open_row(ui, request);
	return true;
}

/* --- drawing --- */

static const char *message_now(const struct ui *ui, const struct view *view)
{
	if (ui->message[0])
		return ui->message;
	if (view->message && view->message[0] && view->now - view->message_t < MESSAGE_MS &&
		view->now >= view->message_t)
		return view->message;
	return NULL;
}

void ui_draw(struct ui *ui, struct canvas *c, const struct view *view)
{
	const struct panel *panel = &panel_table[ui->panel];
	const char *message = message_now(ui, view);
	struct rect place;

	c->ascii = ui->options.ascii;
	canvas_clear(c);
	ui->w = c->w;
	ui->h = c->h;
	if (c->w < LEAST_W || c->h < LEAST_H) {
		canvas_text(c, 0, 0, c->w, STYLE_NORMAL, span_of("terminal too small"));
		return;
	}
	build(ui, view);
	place = panel_place(ui);
	frame_verdict(c, view, ui->options.ascii);
	if (!ui->zoom) {
		frame_reason(c, view, ui->panel == PANEL_OVERVIEW, 1);
		if (place.y > 2)
			frame_title(c, view, panel, current(ui), 2);
	}
	list_draw(current(ui), &ui->rows, c, place);
	frame_alarm(c, view, 1);
	if (ui->prompt.kind != PROMPT_NONE)
		prompt_draw(&ui->prompt, c, c->h - 1);
	else if (!ui->zoom || message) {
		if (ui->zoom)
			canvas_fill(c, (struct rect){ 0, c->h - 1, c->w, 1 }, STYLE_NORMAL);
		frame_keys(c, view, ui->panel, message, c->h - 1, &ui->bar);
	}
}
