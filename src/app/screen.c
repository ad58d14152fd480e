/* screen.c - keys to requests, view to canvas to terminal. */
#include "config.h"

#include "app/screen.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/explain_data.h"
#include "app/paths.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "base/text.h"
#include "transport/child.h"
#include "ui/human_time.h"
#include "ui/keys.h"
#include "ui/term.h"
#include "ui/ui.h"

#define PAINT_MS 50             /* at most 20 frames a second */
#define PASSIVE_MS 1000         /* between frames that only new samples ask for */
#define SLOW_MS 1000            /* --slow: between any frames but those a key asks for */
#define PLAY_MS 50
#define KEYS_A_TURN 64
#define EVIDENCE_ARGS 60
#define EVIDENCE_MS 25000       /* it ends itself within 20 s */

struct screen {
	uv_loop_t *loop;
	const struct app_options *options;
	struct ui *ui;
	struct canvas canvas;
	struct kernel_set kernels;
	struct live *live;
	struct child *evidence;        /* hangtop evidence is at work */
	struct replay *replay;         /* the recording shown; in a live session: while paused */
	bool playing, scrubbed;        /* scrubbed: moved away from where it was paused */
	double speed;
	int64_t play_mono;             /* when the play clock was moved last */
	int64_t painted;               /* mono */
	int64_t second;                /* wall second shown */
	enum state painted_state;
	bool dirty, waiting, closing;
	char message[512];
	int64_t message_t;             /* wall */
	enum state title_state;
	bool titled;
	uv_poll_t keys;
	uv_timer_t paint, play;
	uv_signal_t resized, term, hup, intr;
	int open_handles;
	void (*quit)(void *, int);
	void *context;
};

bool screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

/* --- the view --- */

static bool showing_recording(const struct screen *s)
{
	return s->replay != NULL;
}

static struct core *shown_core(const struct screen *s)
{
	return showing_recording(s) ? replay_core(s->replay) : live_core(s->live);
}

static int64_t shown_now(const struct screen *s)
{
	return showing_recording(s) ? replay_now(s->replay) : live_now(s->live);
}

static void fill_view(struct screen *s, struct view *v)
{
	struct core *core = shown_core(s);

	memset(v, 0, sizeof *v);
	v->model = &core->model;
	v->ranks = core->ranks;
	v->verdict = &core->verdict;
	v->now = shown_now(s);
	v->node = core->node;
	v->kernels = &s->kernels;
	v->mode = !showing_recording(s) ? VIEW_LIVE : s->live ? VIEW_PAUSED : VIEW_REPLAY;
	v->playing = s->playing;
	v->speed = s->speed;
	v->read_only = s->options->read_only;
	v->recording = s->live && live_recording(s->live);
	v->interval_ms = s->live ? s->options->source.interval_ms : replay_interval_ms(s->replay);
	v->file = s->live ? live_db(s->live) : s->options->file;
	if (showing_recording(s)) {
		replay_range(s->replay, &v->first_t, &v->last_t);
	} else {
		v->first_t = core->model.first_t;
		v->last_t = v->now;
	}
	if (s->message_t && clock_wall_ms() - s->message_t < 5000) {
		v->message = s->message;
		v->message_t = v->now;
	}
}

static void announce(struct screen *s, const struct view *v)
{
	char title[200];

	if (s->options->quiet || (s->titled && s->title_state == v->verdict->state))
		return;
	snprintf(title, sizeof title, "hangtop %s %s", v->node, state_word(v->verdict->state));
	term_title(title);
	if (s->titled && v->mode == VIEW_LIVE && v->verdict->state >= STATE_SUSPECT)
		term_bell();
	s->title_state = v->verdict->state;
	s->titled = true;
}

static void paint(struct screen *s)
{
	struct view view;
	int width, height;

	term_size(&width, &height);
	if (width != s->canvas.w || height != s->canvas.h)
		canvas_resize(&s->canvas, width, height);
	fill_view(s, &view);
	ui_draw(s->ui, &s->canvas, &view);
	term_show(&s->canvas);
	announce(s, &view);
	s->dirty = false;
	s->painted = clock_mono_ms();
	s->painted_state = view.verdict->state;
	s->second = clock_wall_ms() / 1000;
}

static void on_paint(uv_timer_t *timer)
{
	struct screen *s = timer->data;
	int64_t wall = clock_wall_ms();

	s->waiting = false;
	if (s->dirty || wall / 1000 != s->second)
		paint(s);
	/* Next: when the second turns, so that the clock and the ages move. */
	uv_timer_start(&s->paint, on_paint, (uint64_t)(1000 - wall % 1000 + 2), 0);
}

static void paint_within(struct screen *s, int64_t spacing)
{
	int64_t since = clock_mono_ms() - s->painted, wait = since >= spacing ? 0 : spacing - since;

	s->dirty = true;
	if (s->closing || (s->waiting && uv_timer_get_due_in(&s->paint) <= (uint64_t)wait))
		return;
	s->waiting = true;
	uv_timer_start(&s->paint, on_paint, (uint64_t)wait, 0);
}

void screen_touch(struct screen *s)
{
	paint_within(s, s->options->slow ? SLOW_MS : PAINT_MS);
}

void screen_news(struct screen *s)
{
	int64_t spacing = shown_core(s)->verdict.state != s->painted_state ? PAINT_MS : PASSIVE_MS;

	paint_within(s, s->options->slow ? SLOW_MS : spacing);
}

void screen_message(struct screen *s, const char *text)
{
	snprintf(s->message, sizeof s->message, "%s", text);
	s->message_t = clock_wall_ms();
	screen_touch(s);
}

/* --- time --- */

static void stop_playing(struct screen *s)
{
	s->playing = false;
	uv_timer_stop(&s->play);
}

static void on_play(uv_timer_t *timer)
{
	struct screen *s = timer->data;
	int64_t mono = clock_mono_ms(), first, last, to;
	struct error error;

	to = replay_now(s->replay) + (int64_t)((double)(mono - s->play_mono) * s->speed);
	s->play_mono = mono;
	replay_range(s->replay, &first, &last);
	if (to >= last) {
		to = last;
		stop_playing(s);
		screen_message(s, s->live ? "end of what is recorded: L for live" : "end of the session");
	}
	if (replay_play(s->replay, to, &error) < 0) {
		stop_playing(s);
		screen_message(s, error.text);
	}
	screen_touch(s);
}

static void start_playing(struct screen *s)
{
	s->playing = true;
	s->play_mono = clock_mono_ms();
	uv_timer_start(&s->play, on_play, PLAY_MS, PLAY_MS);
}

/* In a live session: look at the recording instead of the present. */
static bool freeze(struct screen *s)
{
	struct error error;

	if (showing_recording(s))
		return true;
	if (!live_db(s->live)) {
		screen_message(s, "nothing is recorded (--no-db, or the file cannot be written): the screen cannot be paused");
		return false;
	}
	live_flush(s->live);
	if (replay_open_own(&s->replay, live_db(s->live), 0, &error) < 0 ||
		replay_seek(s->replay, live_now(s->live), &error) < 0) {
		replay_close(s->replay);
		s->replay = NULL;
		screen_message(s, error.text);
		return false;
	}
	return true;
}

static void back_to_live(struct screen *s)
{
	if (!s->live || !showing_recording(s))
		return;
	stop_playing(s);
	replay_close(s->replay);
	s->replay = NULL;
	s->scrubbed = false;
	screen_message(s, "live");
}

static void seek(struct screen *s, int64_t t)
{
	struct error error;

	if (!freeze(s))
		return;
	s->scrubbed = true;
	if (replay_seek(s->replay, t, &error) < 0)
		screen_message(s, error.text);
}

static void go_to(struct screen *s, const char *text)
{
	int64_t first, last, t;

	if (!freeze(s))
		return;
	replay_range(s->replay, &first, &last);
	if (human_time(span_of(text), s->live ? live_now(s->live) : last, &t))
		seek(s, t);
	else
		screen_message(s, "not a time: try 10:05, 10:05:30, 3m ago, -90s or 2026-12-01 10:05");
}

static void toggle_pause(struct screen *s)
{
	if (!showing_recording(s))
		freeze(s);
	else if (s->live && !s->scrubbed)
		back_to_live(s);
	else if (s->playing)
		stop_playing(s);
	else
		start_playing(s);
}

static void faster(struct screen *s, int64_t n)
{
	char text[40];

	s->speed = n > 0 ? s->speed * 2 : s->speed / 2;
	if (s->speed > 1024)
		s->speed = 1024;
	if (s->speed < 0.125)
		s->speed = 0.125;
	snprintf(text, sizeof text, "speed x%g", s->speed);
	screen_message(s, text);
}

/* --- what the keys ask --- */

static void ask_stacks(struct screen *s)
{
	if (!s->live) {
		screen_message(s, "a recording: stacks cannot be taken now");
		return;
	}
	back_to_live(s);
	live_stacks(s->live, "key");
	screen_message(s, "taking the stacks of all ranks (py-spy, non-blocking)");
}

static void leave_note(struct screen *s, const struct request *r)
{
	if (!s->live) {
		screen_message(s, "a recording is read only: notes are taken live");
		return;
	}
	live_note(s->live, r->kind == REQUEST_MARK ? KIND_mark : KIND_note, r->text, shown_now(s));
	screen_message(s, r->kind == REQUEST_MARK ? "bookmark set" : "note taken");
}

/* One handle or child less; the last frees the screen. */
static void let_go(struct screen *s)
{
	if (--s->open_handles > 0)
		return;
	ui_free(s->ui);
	canvas_release(&s->canvas);
	kernels_release(&s->kernels);
	free(s);
}

/* The rank that stands out; where none does, the one that was looked at before, so that two can be compared. */
static const struct rank *whom(const struct core *core)
{
	const struct rank *suspect = ranks_suspect(core->ranks), *before = NULL;
	const struct observation *o = model_event(&core->model, KIND_snapshot, 0);
	int64_t pid;

	if (o && observation_get_int(o, SNAPSHOT_pid, &pid))
		before = ranks_by_pid(core->ranks, pid);
	if (!before || before->ended || (suspect && suspect->class >= 0 && core->ranks->class[suspect->class].odd))
		return suspect;
	return before;
}

/* Propose one of the rank that stands out, or take the one that was proposed (its pid in n). */
static void snapshot(struct screen *s, const struct request *r)
{
	const struct rank *rank;
	char text[160];

	if (!s->live) {
		screen_message(s, "a recording: its processes cannot be looked at now");
		return;
	}
	back_to_live(s);
	rank = r->n ? ranks_by_pid(live_core(s->live)->ranks, r->n) : whom(live_core(s->live));
	if (!rank) {
		screen_message(s, r->n ? "that process is no longer a rank of the server" : "no rank is known: nothing to take a snapshot of");
		return;
	}
	live_snapshot(s->live, rank, r->n != 0, *r->text ? r->text : NULL);
	snprintf(text, sizeof text, *r->text ? "SIGQUIT to the debug agent of rank %.32s" : r->n ? "stacks first, then the debugger: rank %.32s" : "checking whether a snapshot of rank %.32s may be taken", rank->name);
	screen_message(s, text);
}

static void on_evidence(void *context, const struct child_result *result)
{
	struct screen *s = context;
	struct span path = span_trim(result->out);
	char text[200];

	s->evidence = NULL;
	if (result->exit == 0 || result->exit == EXIT_PARTIAL || (result->exit == EXIT_UNKNOWN && path.len))
		snprintf(text, sizeof text, "evidence%s: %.*s", result->exit == 0 ? "" : ", something is missing (SUMMARY.txt says what)",
			(int)(path.len < 120 ? path.len : 120), path.at);
	else
		snprintf(text, sizeof text, "no evidence written: %.*s", (int)(result->err.len < 120 ? result->err.len : 120), result->err.at);
	if (!s->closing)
		screen_message(s, text);
	if (s->live && !s->closing)
		live_note(s->live, KIND_note, text, 0);
	let_go(s);
}

static void write_evidence(struct screen *s)
{
	const char *argv[EVIDENCE_ARGS];
	char *self;
	int n = 0;

	if (!s->live || s->evidence) {
		screen_message(s, s->live ? "evidence is being written already" : "a recording: there is nothing to look at now");
		return;
	}
	back_to_live(s);
	self = path_self();
	argv[n++] = self;
	argv[n++] = "evidence";
	n += options_words(s->options, CMD_EVIDENCE, argv + n, EVIDENCE_ARGS - n - 3);
	argv[n++] = "--node";
	argv[n++] = live_core(s->live)->node;
	argv[n] = NULL;
	s->open_handles++;
	s->evidence = child_run(s->loop, &(struct child_options){ .argv = argv, .deadline_ms = EVIDENCE_MS, .done = on_evidence, .context = s });
	free(self);
	screen_message(s, "writing all that can be read without touching anything: up to 20 s");
}

static void watch_pid(struct screen *s, const char *text)
{
	int64_t pid;

	if (!s->live)
		screen_message(s, "a recording: no other process can be watched");
	else if (!span_int(span_of(text), &pid) || pid <= 0)
		screen_message(s, "not a pid");
	else
		live_pid(s->live, pid);
}

static void obey(struct screen *s, const struct request *r)
{
	switch (r->kind) {
	case REQUEST_NONE:
		break;
	case REQUEST_QUIT:
		s->quit(s->context, 0);
		break;
	case REQUEST_STACKS:
		ask_stacks(s);
		break;
	case REQUEST_PAUSE:
		toggle_pause(s);
		break;
	case REQUEST_LIVE:
		back_to_live(s);
		break;
	case REQUEST_STEP:
		if (freeze(s)) {
			stop_playing(s);
			s->scrubbed = true;
			if (!replay_step(s->replay, (int)r->n))
				screen_message(s, r->n > 0 ? "no later sample" : "no earlier sample");
		}
		break;
	case REQUEST_SEEK:
		seek(s, shown_now(s) + r->n);
		break;
	case REQUEST_GOTO:
		go_to(s, r->text);
		break;
	case REQUEST_EVENT:
		if (freeze(s)) {
			s->scrubbed = true;
			if (!replay_event(s->replay, (int)r->n))
				screen_message(s, r->n > 0 ? "no later event" : "no earlier event");
		}
		break;
	case REQUEST_FASTER:
		faster(s, r->n);
		break;
	case REQUEST_MARK:
	case REQUEST_NOTE:
		leave_note(s, r);
		break;
	case REQUEST_SUSPEND:
		term_suspend();
		break;
	case REQUEST_SNAPSHOT:
		snapshot(s, r);
		break;
	case REQUEST_ACKNOWLEDGE:
		if (s->live)
			live_acknowledge(s->live, r->text);
		break;
	case REQUEST_EVIDENCE:
		write_evidence(s);
		break;
	case REQUEST_PID:
		watch_pid(s, r->text);
		break;
	}
}

static void on_keys(uv_poll_t *poll, int status, int events)
{
	struct screen *s = poll->data;
	int key, n = 0;

	(void)events;
	if (status < 0) {
		s->quit(s->context, SIGHUP);
		return;
	}
	while (n++ < KEYS_A_TURN && !s->closing && (key = term_key()) != 0) {
		struct request request = { .kind = REQUEST_NONE };
		struct view view;
		bool again;

		fill_view(s, &view);
		if (key == UI_KEY_MOUSE) {
			int x, y, button;
			bool twice;

			term_mouse(&x, &y, &button, &twice);
			again = ui_mouse(s->ui, x, y, button, twice, &view, &request);
		} else {
			again = ui_key(s->ui, key, &view, &request);
		}
		if (again || request.kind != REQUEST_NONE)
			s->dirty = true;
		obey(s, &request);
	}
	if (!s->closing && n == 1)
		return;
	if (!s->closing && s->dirty)
		paint(s);
}

/* --- open and close --- */

static void on_resize(uv_signal_t *handle, int number)
{
	struct screen *s = handle->data;

	(void)number;
	term_resized();
	screen_touch(s);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct screen *s = handle->data;

	s->quit(s->context, number);
}

static void watch_signal(struct screen *s, uv_signal_t *handle, int number, uv_signal_cb callback)
{
	uv_signal_init(s->loop, handle);
	handle->data = s;
	uv_signal_start(handle, callback, number);
	s->open_handles++;
}

int screen_open(struct screen **out, uv_loop_t *loop, const struct app_options *options, struct error *error)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	struct term_options term = { .palette = options->palette, .ascii = options->ascii || !utf8, .mouse = !options->no_mouse };
	struct ui_options ui = { .ascii = term.ascii, .mouse = term.mouse };
	struct screen *s = mem_alloc(sizeof *s);

	if (options->color && strcmp(options->color, "always") == 0)
		term.color = TERM_COLOR_ALWAYS;
	else if (options->color && strcmp(options->color, "never") == 0)
		term.color = TERM_COLOR_NEVER;
	kernel_data_load(&s->kernels, options->source.profile_dir);     /* complains on standard error: not once the screen is up */
	if (term_open(&term, error) < 0) {
		kernels_release(&s->kernels);
		free(s);
		return -1;
	}
	s->loop = loop;
	s->options = options;
	s->speed = options->speed > 0 ? options->speed : 1;
	s->ui = ui_new(&ui);
	canvas_init(&s->canvas);
	uv_timer_init(loop, &s->paint);
	uv_timer_init(loop, &s->play);
	uv_poll_init(loop, &s->keys, STDIN_FILENO);
	s->paint.data = s->play.data = s->keys.data = s;
	s->open_handles = 3;
	uv_poll_start(&s->keys, UV_READABLE, on_keys);
	watch_signal(s, &s->resized, SIGWINCH, on_resize);
	watch_signal(s, &s->term, SIGTERM, on_signal);
	watch_signal(s, &s->hup, SIGHUP, on_signal);
	watch_signal(s, &s->intr, SIGINT, on_signal);
	*out = s;
	return 0;
}

void screen_live(struct screen *s, struct live *live)
{
	s->live = live;
	paint(s);
	screen_touch(s);
}

void screen_replay(struct screen *s, struct replay *replay)
{
	s->replay = replay;
	if (!s->options->paused)
		start_playing(s);
	paint(s);
	screen_touch(s);
}

void screen_on_quit(struct screen *s, void (*quit)(void *, int), void *context)
{
	s->quit = quit;
	s->context = context;
}

static void on_closed(uv_handle_t *handle)
{
	let_go(handle->data);
}

void screen_close(struct screen *s)
{
	s->closing = true;
	if (s->evidence)
		child_cancel(s->evidence);
	term_close();
	if (s->replay && s->live)
		replay_close(s->replay);
	uv_close((uv_handle_t *)&s->keys, on_closed);
	uv_close((uv_handle_t *)&s->paint, on_closed);
	uv_close((uv_handle_t *)&s->play, on_closed);
	uv_close((uv_handle_t *)&s->resized, on_closed);
	uv_close((uv_handle_t *)&s->term, on_closed);
	uv_close((uv_handle_t *)&s->hup, on_closed);
	uv_close((uv_handle_t *)&s->intr, on_closed);
}
