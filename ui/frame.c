#include "config.h"

#include "ui/frame.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "model/snapshots.h"

/* --- line 1 --- */

static const char *mode_words(const struct view *view, char *out, size_t size)
{
	bool playing = view->mode != VIEW_LIVE && view->playing;

	if (view->mode == VIEW_LIVE)
		snprintf(out, size, "LIVE");
	else if (playing)
		snprintf(out, size, "REPLAY x%g", view->speed);
	else
		snprintf(out, size, view->mode == VIEW_PAUSED ? "PAUSED" : "REPLAY");
	if (view->read_only)
		snprintf(out + strlen(out), size - strlen(out), " RO");
	return out;
}

/* Right part, most dispensable first: node, REC, clock, mode. Returns where it begins. */
static int right_part(struct canvas *c, const struct view *view, int left)
{
	char node[80] = "", clock[32], mode[48], text[200];
	struct span fit = text_fit(span_of(view->node ? view->node : ""), 20);
	int x;

	if (fit.len && !memchr(fit.at, 0x1b, fit.len))
		snprintf(node, sizeof node, "  %.*s", (int)fit.len, fit.at);
	clock_hms(clock, sizeof clock, view->now);
	mode_words(view, mode, sizeof mode);
	for (int drop = 0; drop < 4; drop++) {
		snprintf(text, sizeof text, "%s%s%s%s%s ", drop < 3 ? clock : "", drop < 3 ? " " : "", mode,
			view->recording && drop < 2 ? " REC" : "", drop < 1 ? node : "");
		if (left + text_width(span_of(text)) + 1 <= c->w || drop == 3)
			break;
	}
	x = c->w - text_width(span_of(text));
	if (x < 0)
		x = 0;
	canvas_text(c, x, 0, -1, STYLE_BAR, span_of(text));
	return x;
}

void frame_verdict(struct canvas *c, const struct view *view, bool ascii)
{
	const struct verdict *v = view->verdict;
	struct span where = span_of(v->where);
	char text[160], age[24], mode[48];
	int x, right, room = c->w - (int)strlen(mode_words(view, mode, sizeof mode)) - 2;

	canvas_fill(c, (struct rect){ 0, 0, c->w, 1 }, STYLE_BAR);
	snprintf(text, sizeof text, " %s %s ", panel_state_glyph(v->state, ascii), panel_state_words(v->state, where));
	if (v->state == STATE_HUNG && where.len && text_width(span_of(text)) + 8 > room)
		snprintf(text, sizeof text, " %s HUNG %s ", panel_state_glyph(v->state, ascii), v->where);
	x = canvas_text(c, 0, 0, c->w, panel_badge_style(v->state), span_of(text));
	if (v->since) {
		snprintf(text, sizeof text, "  %s", panel_age(age, sizeof age, view, v->since));
		if (x + (int)strlen(text) < room)
			x += canvas_text(c, x, 0, -1, STYLE_BAR, span_of(text));
	}
	if (v->grade >= 'A' && v->grade <= 'D') {
		snprintf(text, sizeof text, c->w >= 60 ? "  grade %c" : "  %c", v->grade);
		if (x + (int)strlen(text) < room)
			x += canvas_text(c, x, 0, -1, STYLE_BAR, span_of(text));
	}
	right = right_part(c, view, x + 1);
	/* The candidates, when there is room between for all of them: half a name would be another one. */
	if (v->candidates[0]) {
		struct buf clean;

		buf_init(&clean, 1024);
		buf_text(&clean, "  candidate ");
		text_scrub(&clean, span_of(v->candidates));
		if (x + text_width(buf_as_span(&clean)) < right)
			canvas_text(c, x, 0, right - x, STYLE_BAR, buf_as_span(&clean));
		buf_release(&clean);
	}
}

void frame_reason(struct canvas *c, const struct view *view, bool whole, int y)
{
	char reason[400];
	struct buf clean;
	struct span rest;

	buf_init(&clean, 4096);
	text_scrub(&clean, span_of(panel_arrows(reason, sizeof reason, view->verdict->reason, c->ascii)));
	rest = buf_as_span(&clean);
	if (whole) { /* the overview shows the rest */
		struct span line = panel_words(&rest, c->w - 1);

		canvas_text(c, 0, y, c->w, STYLE_BOLD, line);
		if (rest.len)
			canvas_text(c, text_width(line), y, 1, STYLE_DIM, span_of("…"));
	} else {
		canvas_text(c, 0, y, c->w, STYLE_BOLD, rest);
		if (text_width(rest) > c->w)
			canvas_text(c, c->w - 1, y, 1, STYLE_DIM, span_of("…"));
	}
	buf_release(&clean);
}

void frame_alarm(struct canvas *c, const struct view *view, int y)
{
	static struct snapshots all;
	const struct snapshot_seen *s;
	struct buf clean;
	int64_t pid = 0;

	if (!model_event(view->model, KIND_snapshot, 0))
		return;
	snapshots_gather(&all, view->model);
	s = snapshots_alarm(&all, view->model);
	if (!s)
		return;
	observation_get_int(s->last, SNAPSHOT_pid, &pid);
	buf_init(&clean, 1024);
	if (observation_text_is(s->last, SNAPSHOT_verified, "stopped"))
		buf_printf(&clean, " !! pid %lld STOPPED after a snapshot: kill -CONT %lld", (long long)pid, (long long)pid);
	else if (observation_text_is(s->last, SNAPSHOT_verified, "traced"))
		buf_printf(&clean, " !! pid %lld still TRACED after a snapshot", (long long)pid);
	else if (observation_text_is(s->last, SNAPSHOT_verified, "unknown"))
		buf_printf(&clean, " !! pid %lld: whether it runs after a snapshot is UNKNOWN", (long long)pid);
	else
		buf_printf(&clean, " !! pid %lld DIED in a snapshot", (long long)pid);
	buf_text(&clean, "  (v, Enter: seen)");
	canvas_fill(c, (struct rect){ 0, y, c->w, 1 }, STYLE_BADGE_BAD);
	canvas_text(c, 0, y, c->w, STYLE_BADGE_BAD, buf_as_span(&clean));
	buf_release(&clean);
}

/* --- the title of the panel --- */

/* "10:01:00 ───●── 10:09:12" where in the session we are. Returns where it begins. */
static int time_bar(struct canvas *c, const struct view *view, int y)
{
	char first[16], last[16];
	int w = c->w >= 100 ? 40 : 16, x, at;
	double share;

	if (view->mode == VIEW_LIVE || view->last_t <= view->first_t || !view->first_t || c->w < 60)
		return c->w;
	clock_hms(first, sizeof first, view->first_t);
	clock_hms(last, sizeof last, view->last_t);
	x = c->w - w - 21;
	canvas_text(c, x, y, -1, STYLE_NORMAL, span_of(" "));
	canvas_text(c, x + 1, y, 8, STYLE_DIM, span_of(first));
	canvas_text(c, x + 9, y, -1, STYLE_NORMAL, span_of(" "));
	canvas_hline(c, x + 10, y, w, STYLE_LINE);
	canvas_text(c, x + 10 + w, y, -1, STYLE_NORMAL, span_of(" "));
	canvas_text(c, x + 11 + w, y, 8, STYLE_DIM, span_of(last));
	canvas_text(c, x + 19 + w, y, -1, STYLE_NORMAL, span_of(" "));
	share = (double)(view->now - view->first_t) / (double)(view->last_t - view->first_t);
	at = (int)(share * (w - 1) + 0.5);
	canvas_text(c, x + 10 + (at < 0 ? 0 : at >= w ? w - 1 : at), y, 1, STYLE_KEY, span_of("●"));
	return x;
}

void frame_title(struct canvas *c, const struct view *view, const struct panel *panel, const struct list *list, int y)
{
	char text[400];
	int x = 2, end;

	canvas_hline(c, 0, y, c->w, STYLE_LINE);
	end = time_bar(c, view, y);
	snprintf(text, sizeof text, " %s ", panel->name);
	x += canvas_text(c, x, y, end - x, STYLE_TITLE, span_of(text));
	if (list->total && (panel->counted || list->match < list->total)) {
		if (list->match < list->total)
			snprintf(text, sizeof text, "%d of %d ", list->match, list->total);
		else
			snprintf(text, sizeof text, "%d ", list->total);
		x += canvas_text(c, x, y, end - x, STYLE_DIM, span_of(text));
	}
	if (list->filter[0]) {
		snprintf(text, sizeof text, " filter: %s ", list->filter);
		x += 1 + canvas_text(c, x + 1, y, end - x - 1, STYLE_WARN, span_of(text));
	}
	if (list->search[0]) {
		snprintf(text, sizeof text, " search: %s ", list->search);
		x += 1 + canvas_text(c, x + 1, y, end - x - 1, STYLE_MATCH, span_of(text));
	}
	if (list->count - list->pinned > list->height - list->pinned && end - x > 12) {
		int lines = list->height - list->pinned, rest = list->count - list->top - lines;

		if (rest > 0)
			snprintf(text, sizeof text, " %d more below ", rest);
		else
			snprintf(text, sizeof text, "%s", list->top > list->pinned ? " end " : "");
		x = end - (int)strlen(text) - 2;
		canvas_text(c, x, y, -1, STYLE_DIM, span_of(text));
	}
}

/* --- the last line --- */

struct hint {
	enum action action;
	const char *word;
};

static const struct hint live_hints[] = { { ACTION_STACKS, "stacks" }, { ACTION_SEARCH, "search" }, { ACTION_GOTO, "time" },
	{ ACTION_MARK, "mark" } };
static const struct hint past_hints[] = { { ACTION_PAUSE, "play" }, { ACTION_NEXT_SAMPLE, "sample" },
	{ ACTION_ON_10S, "+10s" }, { ACTION_NEXT_EVENT, "event" }, { ACTION_GOTO, "time" } };
static const struct hint end_hints[] = { { ACTION_HELP, "help" }, { ACTION_BACK, "quit" } };

struct bar {
	struct canvas *c; /* NULL: measure only */
	struct frame_bar *hits;
	int x, y;
};

static void put(struct bar *b, enum style style, const char *text)
{
	if (b->c)
		canvas_text(b->c, b->x, b->y, -1, style, span_of(text));
	b->x += text_width(span_of(text));
}

static void hit(struct bar *b, int from, enum panel_id panel, int key)
{
	if (b->c && b->hits->hits < (int)(sizeof b->hits->hit / sizeof *b->hits->hit))
		b->hits->hit[b->hits->hits++] = (struct frame_hit){ from, b->x - from, panel, key };
}

static void hints(struct bar *b, const struct hint *hint, int n, bool words)
{
	for (int i = 0; i < n; i++) {
		int from = b->x;

		const struct binding *binding = keys_of(hint[i].action);
		char key[24];

		if (!binding)
			continue;
		put(b, STYLE_KEY, keys_name(key, sizeof key, binding->keys[0]));
		if (words) {
			put(b, STYLE_DIM, " ");
			put(b, STYLE_DIM, hint[i].word);
		}
		hit(b, from, PANEL_NONE, binding->keys[0]);
		put(b, STYLE_DIM, words ? "  " : " ");
	}
	b->x -= words ? 2 : 1;
}

/* names 2: "1 Overview", 1: "1Overview", 0: only the number, but the panel shown in full. */
static void panels(struct bar *b, enum panel_id shown, int names)
{
	for (int i = PANEL_OVERVIEW; i <= PANEL_SOURCES; i++) {
		char digit[2] = { (char)('0' + i), 0 };
		bool current = (int)shown == i;
		int from = b->x;

		put(b, current ? STYLE_CURRENT : STYLE_KEY, digit);
		if (names == 2 || (current && !names))
			put(b, current ? STYLE_CURRENT : STYLE_DIM, " ");
		if (names || current)
			put(b, current ? STYLE_CURRENT : STYLE_NORMAL, panel_table[i].name);
		hit(b, from, (enum panel_id)i, 0);
		put(b, STYLE_DIM, " ");
	}
	b->x--;
}

/* Draw (or measure) one arrangement: returns the columns it needs. */
static int arrange(struct canvas *c, const struct view *view, enum panel_id shown, int y, struct frame_bar *hits,
	int names, bool mode, bool words, int width)
{
	struct bar b = { c, hits, 0, y };
	const struct hint *more = view->mode == VIEW_LIVE ? live_hints : past_hints;
	int count = view->mode == VIEW_LIVE ? 4 : 5, end;

	panels(&b, shown, names);
	if (mode) {
		b.x += 3;
		hints(&b, more, count, true);
		if (view->mode == VIEW_PAUSED) {
			b.x += 2;
			hints(&b, &(struct hint){ ACTION_LIVE, "live" }, 1, true);
		}
	}
	end = b.x + 2;
	b.x = 0;
	b.c = NULL;
	hints(&b, end_hints, 2, words);
	end += b.x;
	b.c = c;
	b.x = width - b.x;
	hints(&b, end_hints, 2, words);
	return end;
}

static void arrange_best(struct canvas *c, const struct view *view, enum panel_id shown, int y, struct frame_bar *bar)
{
	static const struct arrangement {
		int names;
		bool mode, words;
	} live[] = { { 2, true, true }, { 2, false, true }, { 1, false, true }, { 1, false, false }, { 0, true, true }, { 0, false, true }, { 0, false, false } },
	  past[] = { { 2, true, true }, { 1, true, true }, { 0, true, true }, { 0, true, false }, { 1, false, true }, { 0, false, true }, { 0, false, false } };
	const struct arrangement *a = view->mode == VIEW_LIVE ? live : past;
	int i = 0;

	while (i < 6 && arrange(NULL, view, shown, y, bar, a[i].names, a[i].mode, a[i].words, c->w) > c->w)
		i++;
	arrange(c, view, shown, y, bar, a[i].names, a[i].mode, a[i].words, c->w);
}

void frame_keys(struct canvas *c, const struct view *view, enum panel_id shown, const char *message, int y,
	struct frame_bar *bar)
{
	struct buf clean;

	bar->hits = 0;
	if (!message) {
		arrange_best(c, view, shown, y, bar);
		return;
	}
	buf_init(&clean, 4096);
	text_scrub(&clean, span_of(message));
	canvas_text(c, 0, y, c->w, STYLE_INFO, buf_as_span(&clean));
	if (c->w >= 60 && text_width(buf_as_span(&clean)) + 18 < c->w) {
		struct bar b = { c, bar, c->w - 14, y };

		hints(&b, end_hints, 2, true);
	}
	buf_release(&clean);
}
