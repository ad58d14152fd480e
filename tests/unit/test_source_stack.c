/* test_source_stack.c - rounds of stacks with tools that answer in every way, on a real process that sleeps. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gpu_tree.h"
#include "source/source.h"

extern const struct source_class source_stack;

#define DUMP "[{\"pid\":1,\"thread_id\":8,\"thread_name\":\"MainThread\",\"os_thread_id\":1,\"active\":true,\"owns_gil\":true,\"frames\":" \
	"[{\"name\":\"f\",\"filename\":\"a.py\",\"short_filename\":\"a.py\",\"line\":3}]}]"

static const struct {
	const char *what, *script;     /* NULL: there is no py-spy */
	const char *how, *error;       /* of the stack row; error a part of it, NULL none */
	bool remedy;
	int runs;                      /* of the tool */
} row[] = {
	{ "JSON", "echo '" DUMP "'", "py-spy", NULL, false, 1 },
	{ "a tool without --json", "case \"$*\" in *--json*) echo \"error: Found argument '--json' which wasn't expected\" >&2; exit 2;; esac; "
		"printf 'Thread 1 (idle): \"MainThread\"\\n    f (a.py:3)\\n'", "py-spy-text", NULL, false, 2 },
	{ "denied", "echo 'Error: Permission Denied: Try running again' >&2; exit 1", "proc", "may not read", true, 1 },
	{ "torn once", "if [ -e $0.1 ]; then echo '" DUMP "'; else touch $0.1; echo 'Error: Failed to copy PyThreadState' >&2; exit 1; fi",
		"py-spy", NULL, false, 2 },
	{ "torn twice", "echo 'Error: Failed to copy PyThreadState' >&2; exit 1", "proc", "moved", false, 2 },
	{ "no dump, twice", "echo hello", "proc", "no dump", true, 2 },
	{ "words of its own", "echo 'Error: \033[31mnew trouble' >&2; exit 9", "proc", "status 9: ^[[31mnew trouble", true, 1 },
	{ "killed", "kill -9 $$", "proc", "signal 9", true, 1 },
	{ "none", NULL, "proc", "not found", true, 0 },
};

struct seen {
	uv_loop_t loop;
	uv_timer_t timer;
	struct source *source;
	struct source_env env;
	struct record *stack, *action, *health;
	int64_t deadline;
	bool closed;
};

static void keep(struct record **slot, const struct observation *o)
{
	record_free(*slot);
	*slot = record_new(o);
}

static void on_emit(void *context, const struct observation *o)
{
	struct seen *s = context;

	if (o->kind == KIND_stack)
		keep(&s->stack, o);
	else if (o->kind == KIND_action)
		keep(&s->action, o);
	else if (o->kind == KIND_source)
		keep(&s->health, o);
}

static void on_closed(void *context)
{
	((struct seen *)context)->closed = true;
}

static void on_timer(uv_timer_t *timer)
{
	struct seen *s = timer->data;

	if (!s->action && clock_mono_ms() < s->deadline)
		return;
	uv_close((uv_handle_t *)timer, NULL);
	source_stack.stop(s->source, on_closed, s);
}

static void run_round(struct seen *s, struct source_options *options, struct target *target)
{
	memset(s, 0, sizeof *s);
	uv_loop_init(&s->loop);
	s->deadline = clock_mono_ms() + 30000;
	s->env = (struct source_env){ &s->loop, options, "n", target, on_emit, s };
	s->source = source_stack.start(&s->env);
	uv_timer_init(&s->loop, &s->timer);
	s->timer.data = s;
	uv_timer_start(&s->timer, on_timer, 10, 10);
	source_stack.request(s->source, span_of("{\"do\":\"stacks\",\"why\":\"key\"}"));
	uv_run(&s->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&s->loop), 0);
	assert_true(s->closed);
	assert_non_null(s->action);
	assert_non_null(s->stack);
}

static void forget(struct seen *s)
{
	record_free(s->stack);
	record_free(s->action);
	record_free(s->health);
}

static int runs_of(const char *root)
{
	FILE *f = fopen(tree_path(root, "runs"), "r");
	int n = 0, c;

	while (f && (c = fgetc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static void rounds(void **state)
{
	struct target *target = mem_alloc(sizeof *target);
	struct profile_set profiles = { 0 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	target_init(target, &profiles);
	target->processes = 1;
	target->process[0].pid = pid;
	snprintf(target->process[0].role, sizeof target->process[0].role, "worker");
	snprintf(target->process[0].rank, sizeof target->process[0].rank, "TP3");
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct source_options options = { .proc_root = "/proc" };
		char root[64], tool[100], script[2000];
		struct span error = { "", 0 };
		struct seen s;
		const struct observation *o;

		tree_new(root);
		snprintf(tool, sizeof tool, "%s/py-spy", root);
		snprintf(script, sizeof script, "echo run >>%s/runs\n%s", root, row[i].script ? row[i].script : "");
		if (row[i].script)
			tree_tool(root, "py-spy", script);
		options.py_spy = tool;
		run_round(&s, &options, target);
		o = &s.stack->o;
		observation_get_text(o, STACK_error, &error);
		if (!observation_text_is(o, STACK_how, row[i].how) || (row[i].error ? !span_contains(error, row[i].error) : error.len > 0) ||
			observation_is_null(o, STACK_remedy) == row[i].remedy || runs_of(root) != row[i].runs)
			fail_msg("%s: error '%.*s', %d runs", row[i].what, (int)error.len, error.at, runs_of(root));
		assert_true(observation_text_is(o, STACK_rank, "TP3"));
		assert_false(observation_is_null(o, STACK_threads)); /* Python's, or the kernel's */
		assert_true(observation_text_is(&s.action->o, ACTION_who, "key"));
		assert_true(observation_text_is(&s.health->o, SOURCE_state, row[i].error ? "failed" : "ok"));
		forget(&s);
		tree_free(root);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	target_release(target);
	free(target);
}

/* The test of the loudest alarm: a tool that leaves the process stopped. */
static void a_process_left_stopped_is_said(void **state)
{
	struct source_options options = { .proc_root = "/proc" };
	struct target *target = mem_alloc(sizeof *target);
	struct profile_set profiles = { 0 };
	char root[64], tool[100], script[600];
	struct span detail, remedy;
	struct seen s;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	target_init(target, &profiles);
	target->processes = 1;
	target->process[0].pid = pid;
	snprintf(target->process[0].role, sizeof target->process[0].role, "worker");
	tree_new(root);
	snprintf(tool, sizeof tool, "%s/py-spy", root);
	/* It ends only when the process is seen to have stopped. */
	snprintf(script, sizeof script, "kill -STOP %d; until grep -q '^State:.T' /proc/%d/status; do sleep 0.01; done; echo '" DUMP "'",
		(int)pid, (int)pid);
	tree_tool(root, "py-spy", script);
	options.py_spy = tool;
	run_round(&s, &options, target);
	assert_true(observation_text_is(&s.health->o, SOURCE_state, "failed"));
	assert_true(observation_get_text(&s.health->o, SOURCE_detail, &detail) && span_contains(detail, "STOPPED"));
	assert_true(observation_get_text(&s.health->o, SOURCE_remedy, &remedy) && span_starts(remedy, "kill -CONT "));
	forget(&s);
	tree_free(root);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	target_release(target);
	free(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
		cmocka_unit_test(a_process_left_stopped_is_said),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("source_stack", tests, NULL, NULL);
}
