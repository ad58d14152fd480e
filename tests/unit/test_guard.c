/* test_guard.c - the guard of a snapshot: each check on made-up nodes, and on real processes of this one. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard_bed.h"
#include "guard_environments.h"
#include "snapshot/guard.h"

/* Names of the rows in a state, a blank between them. */
static const char *rows_in(const struct guard_row *row, int count, enum guard_state state, char out[512])
{
	size_t at = 0;

	*out = 0;
	for (int i = 0; i < count; i++)
		if (row[i].state == state)
			at += (size_t)snprintf(out + at, 512 - at, "%s%s", at ? " " : "", row[i].id);
	return out;
}

static const struct guard_row *row_of(const struct guard_row *row, int count, const char *id)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(row[i].id, id))
			return &row[i];
	fail_msg("no row %s", id);
	abort(); /* for the compiler: fail_msg does not return */
}

static enum guard_state state_of(const struct guard_options *options, const char *id)
{
	struct guard_row row[GUARD_ROWS_MAX];
	struct guard_facts facts;

	guard_look(options, &facts);
	return row_of(row, guard_check(&facts, row), id)->state;
}

/* --- environments --- */

/* What the guard says of each environment, found once for the tests that ask. */
static struct verdict { struct guard_row row[GUARD_ROWS_MAX]; int count; } verdict[ENVIRONMENTS];

static void look_at(const struct environment *e, struct verdict *out)
{
	struct guard_facts facts;
	struct guard_bed bed;

	bed_new(&bed);
	for (size_t i = 0; i < sizeof e->edit / sizeof e->edit[0] && e->edit[i].path; i++)
		bed_edit(&bed, &e->edit[i]);
	if (e->options)
		e->options(&bed.options);
	guard_look(&bed.options, &facts);
	if (e->facts)
		e->facts(&facts);
	bed_free(&bed);
	out->count = guard_check(&facts, out->row);
}

static int look_at_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENVIRONMENTS; i++)
		look_at(&environment[i], &verdict[i]);
	return 0;
}

static void each_environment_is_judged_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENVIRONMENTS; i++) {
		const struct environment *e = &environment[i];
		const char *refused = e->refused ? e->refused : "", *unknown = e->unknown ? e->unknown : "kfd-version";
		const struct guard_row *row = verdict[i].row;
		int count = verdict[i].count;
		char text[512];

		if (strcmp(rows_in(row, count, GUARD_REFUSED, text), refused) != 0)
			fail_msg("%s: refused \"%s\", not \"%s\"", e->what, text, refused);
		if (strcmp(rows_in(row, count, GUARD_UNKNOWN, text), unknown) != 0)
			fail_msg("%s: unknown \"%s\", not \"%s\"", e->what, text, unknown);
		if (guard_allows(row, count) != !*refused)
			fail_msg("%s: allowed %d", e->what, guard_allows(row, count));
		if (e->row && !strstr(row_of(row, count, e->row)->detail, e->says) && !strstr(row_of(row, count, e->row)->remedy, e->says))
			fail_msg("%s: says \"%s\" / \"%s\", not \"%s\"", e->what, row_of(row, count, e->row)->detail,
				row_of(row, count, e->row)->remedy, e->says);
	}
}

/* Two rows inform and never refuse; of all others the table above has a case that refuses. Each has one that lets pass. */
static void every_row_is_seen_in_each_state_that_it_has(void **state)
{
	int seen[GUARD_ROWS_MAX][3] = { { 0 } };

	(void)state;
	assert_true(ENVIRONMENTS >= 45);
	for (size_t i = 0; i < ENVIRONMENTS; i++)
		for (int k = 0; k < verdict[i].count; k++)
			seen[k][verdict[i].row[k].state]++;
	for (int k = 0; k < verdict[0].count; k++) {
		const char *id = verdict[0].row[k].id;
		bool informs = !strcmp(id, "cost") || !strcmp(id, "dispatch-info");

		if (!seen[k][GUARD_OK] || (!seen[k][GUARD_REFUSED]) != informs || (informs && !seen[k][GUARD_UNKNOWN]))
			fail_msg("%s: ok %d refused %d unknown %d", id, seen[k][GUARD_OK], seen[k][GUARD_REFUSED], seen[k][GUARD_UNKNOWN]);
	}
}

/* Who reads a row must know what was found. */
static void every_row_has_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ENVIRONMENTS; i++) {
		const struct guard_row *row = verdict[i].row;

		for (int k = 0; k < verdict[i].count; k++) {
			if (strlen(row[k].detail) < 4 || strlen(row[k].detail) + 1 == sizeof row[k].detail ||
				strlen(row[k].remedy) + 1 == sizeof row[k].remedy)
				fail_msg("%s, %s: empty or cut: \"%s\" / \"%s\"", environment[i].what, row[k].id, row[k].detail, row[k].remedy);
			for (int j = 0; j < k; j++)
				assert_string_not_equal(row[j].id, row[k].id);
		}
	}
	assert_string_equal(guard_state_word(GUARD_OK), "ok");
	assert_string_equal(guard_state_word(GUARD_REFUSED), "refused");
	assert_string_equal(guard_state_word(GUARD_UNKNOWN), "unknown");
	assert_false(guard_allows(verdict[0].row, 0));
}

/* --- hostile and large inputs --- */

static void the_agent_is_found_anywhere_in_large_maps(void **state)
{
	static const char line[] = "7f20f0000000-7f20f0100000 rw-p 00000000 00:00 0 \n", agent[] = "/opt/rocm/lib/librocm-debug-agent.so.2\n";

	(void)state;
	for (size_t before = 65536 - 30; before < 65536 + 10; before += 3) { /* across the end of a block that is read */
		struct guard_bed bed;
		char *maps = malloc(200000);
		size_t n = 0;

		bed_new(&bed);
		while (n + sizeof line < before)
			n += (size_t)snprintf(maps + n, 200000 - n, "%s", line);
		n += (size_t)snprintf(maps + n, 200000 - n, "%*s%s", (int)(before - n), "", agent);
		while (n < 199000)
			n += (size_t)snprintf(maps + n, 200000 - n, "%s", line);
		bed_write(tree_path(bed.root, "proc/4711/maps"), maps);
		assert_int_equal(state_of(&bed.options, "debug-agent"), GUARD_REFUSED);
		free(maps);
		bed_free(&bed);
	}
}

static void foreign_text_is_harmless(void **state)
{
	char text[4096] = "HSA_TOOLS_LIB=\x1b[31m";
	struct guard_row row[GUARD_ROWS_MAX];
	struct guard_facts facts;
	struct guard_bed bed;
	int count;

	(void)state;
	memset(text + strlen(text), 'x', 3000);
	bed_new(&bed);
	bed_write(tree_path(bed.root, "proc/4711/environ"), text);
	bed_write(tree_path(bed.root, "proc/55/comm"), "a\x1b]0;b\n");
	bed_replace(tree_path(bed.root, STATUS), "TracerPid:\t0", "TracerPid:\t55");
	guard_look(&bed.options, &facts);
	count = guard_check(&facts, row);
	for (int i = 0; i < count; i++)
		assert_null(strchr(row[i].detail, '\x1b'));
	assert_non_null(strstr(row_of(row, count, "other-debugger")->detail, "a^[]0;b"));
	assert_non_null(strstr(row_of(row, count, "debug-agent")->detail, "^[[31mxxx"));
	assert_int_equal(row_of(row, count, "debug-agent")->state, GUARD_UNKNOWN);
	bed_free(&bed);
}

/* A loop of parents must not hold it up. */
static void parents_in_a_circle_are_nobody(void **state)
{
	struct guard_facts facts;
	struct guard_bed bed;

	(void)state;
	bed_new(&bed);
	bed_replace(tree_path(bed.root, "proc/4700/stat"), "S 1 ", "S 4711 ");
	guard_look(&bed.options, &facts);
	assert_int_equal(facts.ours, -1);
	bed_free(&bed);
}

/* --- SIGQUIT for the agent --- */

static void agent_off(struct guard_facts *f) { f->agent_mapped = f->agent_thread = 0; }
static void agent_named_only(struct guard_facts *f) { agent_off(f); strcpy(f->tools_lib, "librocm-debug-agent.so.2"); }
static void not_caught(struct guard_facts *f) { f->sigquit_caught = 0; }
static void caught_unknown(struct guard_facts *f) { f->sigquit_caught = -1; }
static void sglang(struct guard_facts *f) { strcpy(f->engine, "sglang"); }
static void engine_unknown(struct guard_facts *f) { f->engine[0] = 0; }
static void dispatcher(struct guard_facts *f) { strcpy(f->role, "engine"); }
static void stopped(struct guard_facts *f) { f->state = 'T'; }
static void traced(struct guard_facts *f) { f->tracer = 55; }
static void reused(struct guard_facts *f) { f->start_ticks++; }
static void gone(struct guard_facts *f) { f->exists = false; }
static void foreign(struct guard_facts *f) { f->uid = 1001; }
static void foreign_but_root(struct guard_facts *f) { f->uid = 1001; f->our_uid = 0; }
static void as_it_is(struct guard_facts *f) { (void)f; }

static void sigquit_is_offered_only_where_it_asks(void **state)
{
	static const struct { void (*change)(struct guard_facts *f); const char *says; bool offered; } row[] = {
		{ as_it_is, "stops all waves", true }, { foreign_but_root, "nothing resumes them", true }, { agent_off, "not loaded", false },
		{ agent_named_only, "not loaded", false }, { not_caught, "would kill it", false }, { caught_unknown, "cannot be read", false },
		{ sglang, "SGLang", false }, { engine_unknown, "not known", false }, { dispatcher, "worker", false },
		{ stopped, "not running freely", false }, { traced, "not running freely", false }, { gone, "not running freely", false },
		{ reused, "another process", false }, { foreign, "another user", false },
	};
	struct guard_bed bed;

	(void)state;
	bed_new(&bed);
	bed_replace(tree_path(bed.root, STATUS), "SigCgt:\t0000000180000002", "SigCgt:\t0000000180000004"); /* SIGQUIT is 3 */
	bed_write(tree_path(bed.root, "proc/4711/task/4712/comm"), "RocrDebugAgent\n");
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct guard_facts facts;
		const char *why = NULL;

		guard_look(&bed.options, &facts);
		assert_int_equal(facts.sigquit_caught, 1);
		row[i].change(&facts);
		assert_int_equal(guard_sigquit(&facts, &why), row[i].offered);
		if (!strstr(why, row[i].says))
			fail_msg("%zu: says \"%s\", not \"%s\"", i, why, row[i].says);
	}
	bed_free(&bed);
}

/* --- real processes of this node --- */

/* A child that says it is there and then does what `then` does, and sleeps. */
static pid_t child_start(void (*then)(void))
{
	int link[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(link), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
		if (then)
			then();
		if (write(link[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(link[1]);
	if (read(link[0], &c, 1) < 0)
		c = 0;
	close(link[0]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static struct guard_options real_options(struct guard_bed *bed, pid_t pid)
{
	struct guard_options o = bed->options;

	o.proc_root = "/proc";
	o.pid = pid;
	o.start_ticks = 0;
	return o;
}

static void a_real_child_may_be_attached(void **state)
{
	static const char *const ok[] = { "exists", "same-process", "alive", "stopped", "other-debugger", "role", "debug-agent", "core-dump",
		"pid-namespace", "user-namespace", "owner", "capabilities", "debugger", "cost" };
	struct guard_row row[GUARD_ROWS_MAX];
	struct guard_facts facts;
	struct guard_options o;
	struct guard_bed bed;
	pid_t pid = child_start(NULL);
	int count;

	(void)state;
	bed_new(&bed);
	o = real_options(&bed, pid);
	guard_look(&o, &facts);
	o.start_ticks = facts.start_ticks;
	guard_look(&o, &facts);
	count = guard_check(&facts, row);
	for (size_t i = 0; i < sizeof ok / sizeof ok[0]; i++)
		if (row_of(row, count, ok[i])->state != GUARD_OK)
			fail_msg("%s: %s", ok[i], row_of(row, count, ok[i])->detail);
	assert_int_equal(facts.ours, 1);
	assert_int_equal(facts.threads, 1);
	assert_int_equal(facts.kfd_open, 0);
	o.start_ticks++; /* the one that was chosen had another start */
	assert_int_equal(state_of(&o, "same-process"), GUARD_REFUSED);
	child_end(pid);
	assert_int_equal(state_of(&o, "exists"), GUARD_REFUSED);
	bed_free(&bed);
}

static void a_real_zombie_is_refused(void **state)
{
	struct guard_bed bed;
	struct guard_options o;
	siginfo_t info;
	pid_t pid = child_start(NULL);

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	bed_new(&bed);
	o = real_options(&bed, pid);
	assert_int_equal(state_of(&o, "exists"), GUARD_OK);
	assert_int_equal(state_of(&o, "alive"), GUARD_REFUSED);
	child_end(pid);
	bed_free(&bed);
}

static void a_real_stopped_child_is_refused_until_it_goes_on(void **state)
{
	struct guard_bed bed;
	struct guard_options o;
	siginfo_t info;
	pid_t pid = child_start(NULL);

	(void)state;
	bed_new(&bed);
	o = real_options(&bed, pid);
	kill(pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	assert_int_equal(state_of(&o, "stopped"), GUARD_REFUSED);
	kill(pid, SIGCONT);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WCONTINUED), 0);
	assert_int_equal(state_of(&o, "stopped"), GUARD_OK);
	child_end(pid);
	bed_free(&bed);
}

static void be_traced(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(7);
}

static void a_real_traced_child_is_refused(void **state)
{
	struct guard_row row[GUARD_ROWS_MAX];
	struct guard_facts facts;
	struct guard_options o;
	struct guard_bed bed;
	pid_t pid = child_start(be_traced);
	char us[32];
	int count;

	(void)state;
	bed_new(&bed);
	o = real_options(&bed, pid);
	guard_look(&o, &facts);
	count = guard_check(&facts, row);
	child_end(pid);
	bed_free(&bed);
	if (facts.state == 'Z')
		skip(); /* no ptrace in this sandbox */
	snprintf(us, sizeof us, "(pid %d)", (int)getpid());
	assert_int_equal(row_of(row, count, "other-debugger")->state, GUARD_REFUSED);
	assert_non_null(strstr(row_of(row, count, "other-debugger")->detail, us));
}

static void catch_quit(void)
{
	signal(SIGQUIT, _exit);
}

static void a_real_handler_of_sigquit_is_seen(void **state)
{
	struct guard_facts with, without;
	struct guard_options o;
	struct guard_bed bed;
	pid_t a = child_start(catch_quit), b = child_start(NULL);

	(void)state;
	bed_new(&bed);
	o = real_options(&bed, a);
	guard_look(&o, &with);
	o.pid = b;
	guard_look(&o, &without);
	child_end(a);
	child_end(b);
	bed_free(&bed);
	assert_int_equal(with.sigquit_caught, 1);
	assert_int_equal(without.sigquit_caught, 0);
}

/* As nobody, a process of root: the kernel refuses, and so do we. */
static void a_process_of_another_user_is_refused(void **state)
{
	struct guard_options o;
	struct guard_bed bed;
	pid_t pid, target;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	bed_new(&bed);
	target = child_start(NULL);
	o = real_options(&bed, target);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(3);
		_exit(state_of(&o, "owner") == GUARD_REFUSED ? ptrace(PTRACE_ATTACH, target, NULL, NULL) == -1 ? 0 : 4 : 5);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	child_end(target);
	bed_free(&bed);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_environment_is_judged_right),
		cmocka_unit_test(every_row_is_seen_in_each_state_that_it_has),
		cmocka_unit_test(every_row_has_words),
		cmocka_unit_test(the_agent_is_found_anywhere_in_large_maps),
		cmocka_unit_test(foreign_text_is_harmless),
		cmocka_unit_test(parents_in_a_circle_are_nobody),
		cmocka_unit_test(sigquit_is_offered_only_where_it_asks),
		cmocka_unit_test(a_real_child_may_be_attached),
		cmocka_unit_test(a_real_zombie_is_refused),
		cmocka_unit_test(a_real_stopped_child_is_refused_until_it_goes_on),
		cmocka_unit_test(a_real_traced_child_is_refused),
		cmocka_unit_test(a_real_handler_of_sigquit_is_seen),
		cmocka_unit_test(a_process_of_another_user_is_refused),
	};

	return cmocka_run_group_tests(tests, look_at_all, NULL);
}
