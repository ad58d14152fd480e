/* test_transport.c - lines, tools and agents, with real processes. Every test ends with an empty loop. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "transport/child.h"
#include "transport/frame.h"
#include "transport/link.h"

/* --- lines --- */

static void add_line(void *context, struct span line)
{
	struct buf *out = context;

	buf_char(out, '<');
	buf_span(out, line);
	buf_char(out, '>');
}

static void any_split_gives_the_same_lines(void **state)
{
	static const char text[] = "one\r\ntwo\n\nthis line is longer than sixteen bytes\nfive\n0123456789abcdef\nrest";
	size_t n = sizeof text - 1;

	(void)state;
	for (size_t at = 0; at <= n; at++) {
		struct frame frame;
		struct buf out;

		buf_init(&out, 0);
		frame_init(&frame, 16);
		frame_feed(&frame, span_make(text, at), add_line, &out);
		frame_feed(&frame, span_make(text + at, n - at), add_line, &out);
		assert_string_equal(buf_string(&out), "<one><two><><five><0123456789abcdef>");
		assert_int_equal(frame.oversized, 1);
		frame_release(&frame);
		buf_release(&out);
	}
}

/* --- tools --- */

struct seen {
	int calls, exit;
	bool timed_out, cut, not_started, stuck;
	char out[64];
	size_t bytes;
	double took;
};

static void note(void *context, const struct child_result *r)
{
	struct seen *s = context;

	s->calls++;
	s->exit = r->exit;
	s->timed_out = r->timed_out;
	s->cut = r->cut;
	s->stuck = r->stuck;
	s->not_started = r->not_started;
	s->bytes = r->out.len;
	s->took = r->took_ms;
	memcpy(s->out, r->out.at, r->out.len < 63 ? r->out.len : 63);
}

static struct seen run(const char *script, int deadline, size_t cap)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct seen seen = { 0 };
	struct child_options options = { .argv = argv, .deadline_ms = deadline, .cap = cap, .done = note, .context = &seen };
	uv_loop_t loop;

	uv_loop_init(&loop);
	child_run(&loop, &options);
	assert_int_equal(seen.calls, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(seen.calls, 1);
	return seen;
}

static void tools(void **state)
{
	struct seen s;

	(void)state;
	s = run("echo hello; exit 3", 20000, 0);
	assert_int_equal(s.exit, 3);
	assert_string_equal(s.out, "hello\n");
	s = run("kill -9 $$", 20000, 0);
	assert_int_equal(s.exit, -9);
	s = run("printf \"$LC_ALL\"", 20000, 0);
	assert_string_equal(s.out, "C");
	s = run("head -c 3000000 /dev/zero", 20000, 1000);
	assert_true(s.cut && s.bytes == 1000 && s.exit == 0);
	s = run("cat; echo end", 20000, 0); /* standard input is empty, not ours */
	assert_string_equal(s.out, "end\n");
}

static void deadlines(void **state)
{
	struct seen s;

	(void)state;
	s = run("echo begun; exec sleep 100", 300, 0);
	assert_true(s.timed_out && !s.stuck && s.exit == -SIGINT);
	assert_string_equal(s.out, "begun\n");
	s = run("trap '' INT TERM; while :; do sleep 0.1; done", 200, 0);
	assert_true(s.timed_out && s.exit == -SIGKILL);
}

static void a_grandchild_does_not_hold_us(void **state)
{
	struct seen s;

	(void)state;
	s = run("sleep 30 & echo done", 20000, 0);
	assert_true(!s.timed_out && s.exit == 0);
	assert_string_equal(s.out, "done\n");
}

static void missing_program(void **state)
{
	const char *argv[] = { "/nonexistent/tool", NULL };
	struct seen seen = { 0 };
	struct child_options options = { .argv = argv, .done = note, .context = &seen };
	uv_loop_t loop;

	(void)state;
	uv_loop_init(&loop);
	child_run(&loop, &options);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_true(seen.calls == 1 && seen.not_started);
	assert_null(child_find("no-such-program-here"));
}

/* --- agents --- */

struct agent {
	uv_loop_t loop;
	uv_timer_t timer;
	struct link *link;
	int observations, late, failed, want;
	bool closed;
	int64_t deadline;
};

static void on_observe(void *context, const struct observation *o)
{
	struct agent *a = context;

	a->observations += o->kind == KIND_note;
}

static void on_health(void *context, const char *name, const char *state, const char *detail, const char *remedy)
{
	struct agent *a = context;

	(void)name;
	(void)detail;
	(void)remedy;
	a->late += strcmp(state, "late") == 0;
	a->failed += strcmp(state, "failed") == 0;
}

static void on_closed(void *context)
{
	((struct agent *)context)->closed = true;
}

/* Ends the test when it has seen enough, or at the deadline. */
static void on_timer(uv_timer_t *timer)
{
	struct agent *a = timer->data;

	if (a->observations < a->want && clock_mono_ms() < a->deadline)
		return;
	uv_close((uv_handle_t *)timer, NULL);
	link_stop(a->link, on_closed, a);
}

static void carried(void *context, const char *add[2])
{
	(void)context;
	add[0] = "carried";
}

static void watch(struct agent *a, const char *script, int want, const char *request)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct link_options options = { .name = "agent-test", .argv = argv, .observe = on_observe, .health = on_health,
		.again = carried, .context = a };

	memset(a, 0, sizeof *a);
	a->want = want;
	a->deadline = clock_mono_ms() + 15000;
	uv_loop_init(&a->loop);
	uv_timer_init(&a->loop, &a->timer);
	a->timer.data = a;
	uv_timer_start(&a->timer, on_timer, 20, 20);
	a->link = link_start(&a->loop, &options);
	if (request)
		link_send(a->link, request);
	uv_run(&a->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&a->loop), 0);
	assert_true(a->closed);
	assert_true(a->observations >= want);
}

#define NOTE "echo '{\"t\":1,\"node\":\"n\",\"kind\":\"note\",\"text\":\"x\"}'; "

static void agents(void **state)
{
	struct agent a;

	(void)state;
	watch(&a, NOTE "echo garbage; echo '{\"t\":'; " NOTE "cat >/dev/null", 2, NULL);
	assert_int_equal(a.late, 1); /* the first garbage is said, not each */
	assert_int_equal(a.failed, 0);
	watch(&a, "read line; case $line in *stacks*) " NOTE ";; esac; cat >/dev/null", 1, "{\"do\":\"stacks\"}");
}

static void an_agent_that_ends_is_started_again(void **state)
{
	struct agent a;

	(void)state;
	watch(&a, NOTE "exit 7", 2, NULL);
	assert_true(a.failed >= 1);
	/* ... with the words that let it carry on: $0 is the first one after the script. */
	watch(&a, "case $0 in carried) " NOTE "cat >/dev/null;; *) exit 3;; esac", 1, NULL);
}

static void a_stopped_agent_can_be_left(void **state)
{
	struct agent a;

	(void)state;
	watch(&a, NOTE "kill -STOP $$; sleep 100", 1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_split_gives_the_same_lines), cmocka_unit_test(tools), cmocka_unit_test(deadlines),
		cmocka_unit_test(a_grandchild_does_not_hold_us), cmocka_unit_test(missing_program), cmocka_unit_test(agents),
		cmocka_unit_test(an_agent_that_ends_is_started_again), cmocka_unit_test(a_stopped_agent_can_be_left),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
