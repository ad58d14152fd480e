/* cmd_stacks.c - `hangtop stacks`: the stacks of all ranks, once, folded into classes with the odd one first; the key `s` for scripts. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/live.h"
#include "app/report.h"
#include "base/clock.h"

#define LOOK_MS 20
#define TIMEOUT_MS 30000
#define NO_SERVER_MS 5000       /* so long without a worker: there is none */

struct asking {
	uv_loop_t loop;
	const struct app_options *options;
	struct live *live;
	uv_timer_t timer;
	uv_signal_t intr, term;
	int64_t began, asked;          /* mono; asked: wall, 0 not yet */
	int code;
	bool ending;
};

static void end(struct asking *a, int code)
{
	if (a->ending)
		return;
	a->ending = true;
	a->code = code;
	uv_close((uv_handle_t *)&a->timer, NULL);
	uv_close((uv_handle_t *)&a->intr, NULL);
	uv_close((uv_handle_t *)&a->term, NULL);
	live_stop(a->live, NULL, NULL);
}

static void on_signal(uv_signal_t *handle, int number)
{
	end(handle->data, number == SIGINT ? EXIT_INTERRUPTED : 0);
}

/* The round that was asked for is over when its audit row has come. */
static bool over(const struct asking *a, const struct model *m)
{
	const struct observation *o;

	for (int i = 0; (o = model_event(m, KIND_action, i)); i++)
		if (observation_text_is(o, ACTION_what, "stacks") && observation_text_is(o, ACTION_who, "key"))
			return true;
	return a->asked && clock_mono_ms() - a->began > TIMEOUT_MS;
}

static void print(struct asking *a)
{
	struct core *core = live_core(a->live);
	struct buf out;

	buf_init(&out, 0);
	if (a->options->json)
		report_json(core, core->grid, &out);
	else
		report_stacks(core, core->grid, &out);
	fwrite(buf_string(&out), 1, out.len, stdout);
	a->code = fflush(stdout) == 0 ? 0 : EXIT_CANNOT_WRITE;
	buf_release(&out);
}

static void on_look(uv_timer_t *timer)
{
	struct asking *a = timer->data;
	struct core *core = live_core(a->live);

	if (!a->asked && core->ranks->count) {
		a->asked = clock_wall_ms();
		live_stacks(a->live, "key");
	} else if (!a->asked && clock_mono_ms() - a->began > NO_SERVER_MS) {
		fprintf(stderr, "hangtop: no worker of a model server is found on this node\n         give the server with --pid PID\n");
		end(a, EXIT_UNKNOWN);
	} else if (a->asked && over(a, &core->model)) {
		print(a);
		end(a, a->code);
	}
}

int cmd_stacks(const struct app_options *options)
{
	struct asking a = { .options = options, .began = clock_mono_ms() };
	struct app_options quiet = *options;
	struct error error;

	quiet.no_db = true;
	quiet.source.stacks_every_ms = 0;
	quiet.stacks_s = 0;
	quiet.source.gpu = "off";
	uv_loop_init(&a.loop);
	a.live = live_start(&a.loop, &quiet, NULL, NULL, &error);
	if (!a.live)
		return complain(&error, EXIT_CANNOT_WRITE);
	uv_timer_init(&a.loop, &a.timer);
	uv_signal_init(&a.loop, &a.intr);
	uv_signal_init(&a.loop, &a.term);
	a.timer.data = a.intr.data = a.term.data = &a;
	uv_signal_start(&a.intr, on_signal, SIGINT);
	uv_signal_start(&a.term, on_signal, SIGTERM);
	uv_timer_start(&a.timer, on_look, LOOK_MS, LOOK_MS);
	uv_run(&a.loop, UV_RUN_DEFAULT);
	uv_loop_close(&a.loop);
	return a.code;
}
