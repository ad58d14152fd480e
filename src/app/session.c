/* session.c - a live session from start to end, with a screen or without. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/live.h"
#include "app/report.h"
#include "app/screen.h"
#include "base/clock.h"
#include "base/debug.h"
#include "base/text.h"

#define WATCH_MS 100
#define BAD_SETTLE_MS 2000      /* HUNG, FAULT and DEAD settle when they have held this long */

struct session {
	uv_loop_t loop;
	const struct app_options *app;
	const struct session_options *options;
	struct live *live;
	struct screen *screen;
	uv_timer_t watch;
	uv_signal_t term, intr, hup;
	bool signals, ending;
	int code;
	int64_t started;               /* mono */
	enum state state;              /* last told */
	char where[16];
	bool told;
	bool lost;                     /* what was to be recorded could not be */
	struct error why_lost;
	bool unwritten;                /* standard output does not take what it must */
};

int complain(const struct error *error, int code)
{
	fprintf(stderr, "hangtop: %s\n", error->text);
	if (*error->fix)
		fprintf(stderr, "         %s\n", error->fix);
	return code;
}

static void close_signals(struct session *s)
{
	if (!s->signals)
		return;
	uv_close((uv_handle_t *)&s->term, NULL);
	uv_close((uv_handle_t *)&s->intr, NULL);
	uv_close((uv_handle_t *)&s->hup, NULL);
}

static void end(struct session *s, int code)
{
	if (s->ending)
		return;
	s->ending = true;
	s->code = code;
	if (s->screen)
		screen_close(s->screen);
	s->screen = NULL;
	close_signals(s);
	uv_close((uv_handle_t *)&s->watch, NULL);
	s->lost = live_lost(s->live, &s->why_lost);
	live_stop(s->live, NULL, NULL);
}

static void on_quit(void *context, int number)
{
	end(context, number == SIGINT ? EXIT_INTERRUPTED : 0);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct session *s = handle->data;

	end(s, number == SIGINT && s->options->once ? EXIT_INTERRUPTED : 0);
}

static void print_report(struct session *s)
{
	struct core *core = live_core(s->live);
	struct buf out;

	buf_init(&out, 0);
	if (s->app->json)
		report_json(core, core->grid, &out);
	else
		report_text(core, core->grid, &out);
	fwrite(buf_string(&out), 1, out.len, stdout);
	if (fflush(stdout) != 0)
		s->unwritten = true;
	buf_release(&out);
}

static bool settled(const struct session *s, const struct core *core)
{
	const struct verdict *v = &core->verdict;
	const struct observation *last = model_event(&core->model, KIND_verdict, 0);
	int64_t held = last ? core->grid - last->t : 0;

	switch (v->state) {
	case STATE_HUNG:
	case STATE_FAULT:
	case STATE_DEAD:
		return held >= BAD_SETTLE_MS;
	case STATE_HEALTHY:
	case STATE_IDLE:
	case STATE_LOADING:
	case STATE_SLOW:
		return held >= s->options->settle_ms;
	case STATE_SUSPECT:
	case STATE_UNKNOWN:
		break;
	}
	return false;
}

/* One line a change of the verdict: what record prints, and what a screen reader can follow. */
static void tell(struct session *s, const struct core *core)
{
	const struct verdict *v = &core->verdict;
	struct buf line;
	char stamp[32];

	if (s->told && s->state == v->state && strcmp(s->where, v->where) == 0)
		return;
	s->told = true;
	s->state = v->state;
	snprintf(s->where, sizeof s->where, "%s", v->where);
	buf_init(&line, 4096);
	buf_printf(&line, "%s %s%s%s grade %c: ", clock_stamp(stamp, sizeof stamp, core->grid), state_word(v->state),
		*v->where ? " " : "", v->where, v->grade);
	text_scrub(&line, span_of(v->reason));
	printf("%s\n", buf_string(&line));
	if (fflush(stdout) != 0)
		s->unwritten = true;
	buf_release(&line);
}

static void on_watch(uv_timer_t *timer)
{
	struct session *s = timer->data;
	struct core *core = live_core(s->live);
	int64_t lasted = clock_mono_ms() - s->started;
	bool late = s->options->timeout_ms && lasted >= s->options->timeout_ms;

	if (s->options->tell)
		tell(s, core);
	if (s->options->once && (late || settled(s, core))) {
		print_report(s);
		end(s, report_exit_code(&core->verdict));
	} else if (late) {
		end(s, 0);
	} else if (s->options->over && s->options->over(s->options->context)) {
		end(s, EXIT_UNKNOWN);
	}
}

static void on_moved(void *context)
{
	struct session *s = context;

	if (s->screen)
		screen_news(s->screen);
}

static void watch_signals(struct session *s)
{
	uv_signal_init(&s->loop, &s->term);
	uv_signal_init(&s->loop, &s->intr);
	uv_signal_init(&s->loop, &s->hup);
	s->term.data = s->intr.data = s->hup.data = s;
	uv_signal_start(&s->term, on_signal, SIGTERM);
	uv_signal_start(&s->intr, on_signal, SIGINT);
	uv_signal_start(&s->hup, on_signal, SIGHUP);
	s->signals = true;
}

int session_run(const struct app_options *app, const struct session_options *options)
{
	struct session s = { .app = app, .options = options, .started = clock_mono_ms() };
	struct error error;
	int status;

	uv_loop_init(&s.loop);
	if (options->screen) {
		if (screen_open(&s.screen, &s.loop, app, &error) < 0) {
			uv_loop_close(&s.loop);
			return complain(&error, EXIT_NO_TOOL);
		}
		screen_on_quit(s.screen, on_quit, &s);
	} else {
		watch_signals(&s);
	}
	uv_timer_init(&s.loop, &s.watch);
	s.watch.data = &s;
	s.live = live_start(&s.loop, app, on_moved, &s, &error);
	if (!s.live) {
		if (s.screen)
			screen_close(s.screen);
		else
			close_signals(&s);
		uv_close((uv_handle_t *)&s.watch, NULL);
		uv_run(&s.loop, UV_RUN_DEFAULT);
		uv_loop_close(&s.loop);
		return complain(&error, EXIT_CANNOT_WRITE);
	}
	if (s.screen)
		screen_live(s.screen, s.live);
	if (!options->screen && !options->once && live_lost(s.live, &error))
		end(&s, EXIT_CANNOT_WRITE);
	else
		uv_timer_start(&s.watch, on_watch, WATCH_MS, options->screen ? 5 * WATCH_MS : WATCH_MS);
	uv_run(&s.loop, UV_RUN_DEFAULT);
	status = uv_loop_close(&s.loop);
	debug_log("session", "end: loop %s", status == 0 ? "empty" : uv_strerror(status));
	if (s.lost && !options->screen && !options->once)
		return complain(&s.why_lost, EXIT_CANNOT_WRITE);
	if (s.unwritten)
		fprintf(stderr, "hangtop: cannot write to standard output\n");
	return s.unwritten ? EXIT_CANNOT_WRITE : s.code;
}
