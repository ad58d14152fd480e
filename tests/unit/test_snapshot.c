/* A snapshot of real processes by debuggers that behave, and by those that do not: whatever they do, the target runs again (or we
 * say loudly that it does not), and every attempt is on record. Scripts stand in for debuggers that go wrong; gdb is real. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "snapshot/debugger.h"
#include "snapshot/side_file.h"
#include "snapshot/snapshot.h"
#include "snapshot/verify.h"
#include "transport/child.h"

#define WAIT_MS 20000

static char dir[256], folder[300], sys_root[300];

/* --- what was told --- */

static struct {
	char state[16], verified[16], ended[16], offer[16], detail[240], verify_detail[240];
	int rows, guards, actions;
	double stopped_ms;
} told;

static void take_text(const struct observation *o, int field, char *out, size_t size)
{
	struct span text = { "", 0 };

	observation_get_text(o, field, &text);
	snprintf(out, size, "%.*s", (int)text.len, text.at);
}

static void on_told(void *context, const struct observation *o)
{
	(void)context;
	told.guards += o->kind == KIND_guard;
	if (o->kind == KIND_guard && observation_text_is(o, GUARD_check, "agent-dump"))
		take_text(o, GUARD_state, told.offer, sizeof told.offer);
	told.actions += o->kind == KIND_action;
	if (o->kind != KIND_snapshot)
		return;
	told.rows++;
	take_text(o, SNAPSHOT_state, told.state, sizeof told.state);
	take_text(o, SNAPSHOT_verified, told.verified, sizeof told.verified);
	take_text(o, SNAPSHOT_ended, told.ended, sizeof told.ended);
	take_text(o, SNAPSHOT_detail, told.detail, sizeof told.detail);
	take_text(o, SNAPSHOT_verify_detail, told.verify_detail, sizeof told.verify_detail);
	observation_get_real(o, SNAPSHOT_stopped_ms, &told.stopped_ms);
}

/* --- targets --- */

static void *sleeper(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* It sleeps in all its threads, and has queues in the driver's list, as a worker has. */
static void settle(pid_t pid, int threads)
{
	char *queue;

	for (int64_t end = clock_mono_ms() + WAIT_MS; clock_mono_ms() < end;) {
		struct verify_state s;

		verify_look("/proc", pid, &s);
		if (s.threads == threads && s.state == 'S')
			break;
	}
	/* A worker has queues in the driver's list. */
	assert_true(asprintf(&queue, "mkdir -p %s/class/kfd/kfd/proc/%d/queues/0", sys_root, (int)pid) > 0);
	assert_int_equal(system(queue), 0);
	free(queue);
}

static pid_t start_target(int threads)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_attr_t small;
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		for (int i = 1; i < threads; i++)
			pthread_create(&thread, &small, sleeper, NULL);
		sleeper(NULL);
	}
	settle(pid, threads);
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool runs(pid_t pid)
{
	struct verify_state s;

	verify_look("/proc", pid, &s);
	return s.exists && s.tracer == 0 && s.stopped == 0 && s.state == 'S';
}

/* --- debuggers --- */

static const char *plain_script(const char *body)
{
	static char path[400];
	FILE *f;

	snprintf(path, sizeof path, "%s/rocgdb", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", body);
	fclose(f);
	chmod(path, 0755);
	return path;
}

/* A script; $pid is the process it was told to attach to. Returns its path. */
static const char *script(const char *body)
{
	char text[1000];

	snprintf(text, sizeof text, "while [ \"$1\" != -p ]; do shift; done; pid=$2; %s", body);
	return plain_script(text);
}

static struct snapshot_options options_for(pid_t pid, const char *debugger)
{
	struct verify_state s;

	verify_look("/proc", pid, &s);
	return (struct snapshot_options){ .guard = { .proc_root = "/proc", .sys_root = sys_root, .pid = pid, .start_ticks = s.start_ticks,
		.role = "worker", .engine = "atom", .debugger = debugger, .allow_plain_gdb = true },
		.folder = folder, .node = "n", .rank = "3", .who = "test", .start_ms = 1000, .deadline_ms = 15000, .grace_ms = 15000, .emit = on_told };
}

static void take(struct snapshot_options options, struct snapshot *s)
{
	struct error error;

	memset(&told, 0, sizeof told);
	if (snapshot_take(&options, s, &error) < 0)
		fail_msg("%s", error.text);
}

#define END "echo '" DEBUGGER_END "'"

static void a_regular_end(void **state)
{
	pid_t pid = start_target(3);
	struct snapshot s;
	char path[SIDE_PATH_MAX];
	struct stat st;

	(void)state;
	take(options_for(pid, script("echo hello; " END)), &s);
	assert_int_equal(s.result, SNAPSHOT_DONE);
	assert_false(s.hurt);
	assert_string_equal(told.state, "done");
	assert_string_equal(told.verified, "ok");
	assert_string_equal(told.ended, "by itself");
	assert_int_equal(told.rows, 2);
	assert_int_equal(told.actions, 1);
	side_path(path, folder, s.id, ".jsonl");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	side_path(path, folder, s.id, ".run");
	assert_int_equal(access(path, F_OK), -1);
	end_target(pid);
}

static void it_ends_at_once(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot s;

	(void)state;
	take(options_for(pid, script("exit 3")), &s);
	assert_int_equal(s.result, SNAPSHOT_FAILED);
	assert_string_equal(told.state, "failed");
	assert_non_null(strstr(told.detail, "exit 3"));
	assert_string_equal(told.verified, "ok");
	end_target(pid);
}

static void it_never_answers(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot_options options = options_for(pid, script("exec sleep 1000"));
	struct snapshot s;

	(void)state;
	options.deadline_ms = 200;
	options.grace_ms = 300;
	take(options, &s);
	assert_string_equal(told.state, "failed");
	assert_string_equal(told.ended, "SIGKILL");
	assert_non_null(strstr(told.detail, "killed"));
	assert_true(runs(pid));
	end_target(pid);
}

static void it_floods(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot_options options = options_for(pid, script("exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	struct snapshot s;
	struct stat st;

	(void)state;
	options.cap = 100000;
	take(options, &s);
	assert_string_equal(told.state, "failed");
	assert_non_null(strstr(told.detail, "cap"));
	assert_int_equal(stat(s.output, &st), 0);
	assert_true(st.st_size <= 400000);
	end_target(pid);
}

static void a_stop_of_ours_is_repaired(void **state)
{
	pid_t pid = start_target(5);
	struct snapshot s;

	(void)state;
	take(options_for(pid, script("kill -STOP $pid; kill -TERM $$; sleep 1000")), &s);
	assert_string_equal(told.verified, "repaired");
	assert_false(s.hurt);
	assert_true(runs(pid));
	end_target(pid);
}

static void a_stop_of_others_is_left_alone_and_said(void **state)
{
	pid_t pid = start_target(5);
	struct snapshot s;
	struct verify_state now;

	(void)state;
	take(options_for(pid, script("kill -STOP $pid; " END)), &s);
	assert_string_equal(told.state, "done");
	assert_string_equal(told.verified, "stopped");
	assert_true(s.hurt);
	verify_look("/proc", pid, &now);
	assert_int_equal(now.state, 'T');
	end_target(pid);
}

static void a_target_that_dies_is_said_to_be_dead(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot s;

	(void)state;
	take(options_for(pid, script("kill -KILL $pid; " END)), &s);
	assert_string_equal(told.verified, "dead");
	assert_true(s.hurt);
	waitpid(pid, NULL, 0);
}

static void what_cannot_be_recorded_is_not_done(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot_options options = options_for(pid, script("touch $(dirname $0)/ran; " END));
	char ran[400], file[400];
	struct snapshot s;
	struct error error;
	int fd;

	(void)state;
	snprintf(file, sizeof file, "%s/file", dir);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	options.folder = file; /* a file where the folder should be: even root cannot write into it */
	assert_int_equal(snapshot_take(&options, &s, &error), -1);
	assert_true(*error.text);
	snprintf(ran, sizeof ran, "%s/ran", dir);
	assert_int_equal(access(ran, F_OK), -1);
	end_target(pid);
}

static void a_second_one_at_the_same_time_is_refused(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot s;
	struct error error;
	int lock;

	(void)state;
	assert_int_equal(side_folder(folder, &error), 0);
	lock = side_lock(folder, pid, &error);
	assert_true(lock >= 0);
	take(options_for(pid, script(END)), &s);
	assert_int_equal(s.result, SNAPSHOT_REFUSED);
	close(lock);
	take(options_for(pid, script(END)), &s);
	assert_int_equal(s.result, SNAPSHOT_DONE);
	end_target(pid);
}

static void a_preview_does_nothing(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot_options options = options_for(pid, script("touch $(dirname $0)/ran"));
	char ran[400];
	struct snapshot s;

	(void)state;
	memset(&told, 0, sizeof told);
	snapshot_preview(&options, &s);
	assert_string_equal(told.state, "preview");
	assert_true(told.guards > 0);
	snprintf(ran, sizeof ran, "%s/ran", dir);
	assert_int_equal(access(ran, F_OK), -1);
	end_target(pid);
}

/* --- real gdb --- */

static char *gdb(void)
{
	char *path = child_find("gdb");

	if (!path)
		skip();
	return path;
}

static void real_gdb_looks_and_lets_go(void **state)
{
	char *path = gdb();
	pid_t pid = start_target(20);
	struct snapshot s;
	char text[65536] = "";
	int fd;
	ssize_t n;

	(void)state;
	take(options_for(pid, path), &s);
	assert_string_equal(told.state, "done");
	assert_string_equal(told.verified, "ok");
	assert_true(told.stopped_ms > 0);
	fd = open(s.output, O_RDONLY);
	n = read(fd, text, sizeof text - 1);
	close(fd);
	assert_true(n > 0);
	assert_non_null(strstr(text, "pause"));
	assert_true(runs(pid));
	end_target(pid);
	free(path);
}

static void real_gdb_is_interrupted_at_the_deadline(void **state)
{
	char *path = gdb(), body[600];
	pid_t pid = start_target(3);
	struct snapshot_options options;
	struct snapshot s;

	(void)state;
	snprintf(body, sizeof body, "exec %s \"$@\" -ex 'python import time; time.sleep(1000)'", path);
	options = options_for(pid, plain_script(body));
	options.deadline_ms = 1500;
	take(options, &s);
	assert_string_equal(told.state, "failed");
	assert_string_equal(told.ended, "SIGINT");
	assert_string_equal(told.verified, "ok");
	end_target(pid);
	free(path);
}

/* SIGTERM while gdb attaches would leave the target stopped, SIGINT would kill it: neither comes through. */
static void real_gdb_that_gets_signals_hurts_nobody(void **state)
{
	static const char *const number[] = { "TERM", "INT", "HUP", "QUIT", "KILL" };
	char *path = gdb(), body[600];
	pid_t pid = start_target(200);
	struct snapshot s;

	(void)state;
	for (int i = 0; i < 10; i++) {
		snprintf(body, sizeof body, "%s \"$@\" & d=$!; sleep 0.%d; kill -%s $d; wait $d", path, i / 5 * 3 + 1, number[i % 5]);
		take(options_for(pid, plain_script(body)), &s);
		if (s.hurt)
			fail_msg("%s in try %d: %s", number[i % 5], i, told.verify_detail);
		assert_true(runs(pid));
	}
	end_target(pid);
	free(path);
}

/* --- the debug agent is loaded --- */

static volatile sig_atomic_t quits;

static void on_quit(int number)
{
	(void)number;
	quits++;
	dprintf(STDERR_FILENO, "# wave dump\n");
}

/* A target with the agent's library mapped; `catches`: and a handler for SIGQUIT. The handler ends a wait of ours by its exit 7. */
static pid_t start_with_agent(bool catches)
{
	char path[400];
	pid_t pid;
	int fd;

	snprintf(path, sizeof path, "%s/librocm-debug-agent.so.2", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, 4096), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		if (catches)
			signal(SIGQUIT, on_quit);
		while (!quits)
			pause();
		snprintf(path, sizeof path, "%s/asked", dir);
		open(path, O_CREAT | O_WRONLY, 0600);
		sleeper(NULL);
	}
	close(fd);
	settle(pid, 1);
	return pid;
}

static bool was_asked(void)
{
	char path[400];

	snprintf(path, sizeof path, "%s/asked", dir);
	for (int64_t end = clock_mono_ms() + WAIT_MS; clock_mono_ms() < end;)
		if (access(path, F_OK) == 0)
			return true;
	return false;
}

static void the_agent_is_asked_where_that_is_offered(void **state)
{
	pid_t pid = start_with_agent(true);
	struct snapshot_options options = options_for(pid, script(END));
	struct snapshot s;
	struct error error;

	(void)state;
	take(options, &s);
	assert_int_equal(s.result, SNAPSHOT_REFUSED);
	assert_string_equal(told.offer, "ok");
	memset(&told, 0, sizeof told);
	assert_int_equal(snapshot_ask_agent(&options, &s, &error), 0);
	assert_int_equal(s.result, SNAPSHOT_DONE);
	assert_string_equal(told.state, "done");
	assert_string_equal(told.verified, "ok");
	assert_true(was_asked());
	end_target(pid);
}

static void the_agent_is_not_asked_where_it_could_hurt(void **state)
{
	static const struct { const char *what; bool catches; const char *engine, *role; } table[] = {
		{ "a process that does not catch SIGQUIT", false, "atom", "worker" },
		{ "SGLang", true, "sglang", "worker" },
		{ "an unknown engine", true, "", "worker" },
		{ "not a worker", true, "atom", "api" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		pid_t pid = start_with_agent(table[i].catches);
		struct snapshot_options options = options_for(pid, script(END));
		struct snapshot s;
		struct error error;
		char path[400];

		options.guard.engine = table[i].engine;
		options.guard.role = table[i].role;
		memset(&told, 0, sizeof told);
		assert_int_equal(snapshot_ask_agent(&options, &s, &error), 0);
		if (s.result != SNAPSHOT_REFUSED || strcmp(told.offer, "refused") != 0)
			fail_msg("%s is asked", table[i].what);
		snprintf(path, sizeof path, "%s/asked", dir);
		assert_int_equal(access(path, F_OK), -1);
		assert_true(runs(pid));
		end_target(pid);
	}
}

/* --- whoever takes it dies --- */

static void on_nothing(void *context, const struct observation *o)
{
	(void)context;
	(void)o;
}

static void import_all(void)
{
	struct snapshot_options options = { .guard = { .proc_root = "/proc" }, .folder = folder, .node = "n", .deadline_ms = 15000, .grace_ms = 15000,
		.emit = on_told };

	memset(&told, 0, sizeof told);
	snapshot_import(&options, NULL);
}

static void its_owner_is_killed(void **state)
{
	pid_t pid = start_target(3), owner;
	struct snapshot_options options = options_for(pid, script("kill -STOP $pid; touch $(dirname $0)/there; sleep 0.3; exit 1"));
	char there[400];
	struct snapshot s;
	struct error error;

	(void)state;
	options.emit = on_nothing;
	owner = fork();
	if (owner == 0) {
		snapshot_take(&options, &s, &error);
		_exit(0);
	}
	snprintf(there, sizeof there, "%s/there", dir);
	for (int64_t end = clock_mono_ms() + WAIT_MS; access(there, F_OK) < 0 && clock_mono_ms() < end;)
		usleep(1000);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	import_all();
	assert_int_equal(told.rows, 2);
	assert_string_equal(told.state, "failed");
	assert_string_equal(told.verified, "repaired");
	assert_true(runs(pid));
	import_all();
	assert_int_equal(told.rows, 0);
	end_target(pid);
}

static void what_was_taken_over_is_not_imported(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot s;

	(void)state;
	take(options_for(pid, script(END)), &s);
	import_all();
	assert_int_equal(told.rows, 2);
	take(options_for(pid, script(END)), &s);
	snapshot_taken_over(folder, s.id);
	import_all();
	assert_int_equal(told.rows, 0);
	end_target(pid);
}

static void stopped_time_counts_against_the_budget(void **state)
{
	pid_t pid = start_target(1);
	struct snapshot_options options = options_for(pid, script("kill -STOP $pid; sleep 0.3; kill -CONT $pid; " END));
	struct snapshot s;

	(void)state;
	take(options, &s);
	assert_string_equal(told.verified, "ok");
	assert_true(told.stopped_ms >= 100);
	assert_true(side_used_ms(folder, pid, options.start_ms, clock_wall_ms()) >= 100);
	assert_int_equal(side_used_ms(folder, pid, options.start_ms + 1, clock_wall_ms()), 0);
	assert_int_equal(side_used_ms(folder, pid, options.start_ms, clock_wall_ms() + 3700000), 0);
	end_target(pid);
}

/* --- frame --- */

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof dir, "%s/hangtop-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof folder, "%s/a/snapshots", dir);
	snprintf(sys_root, sizeof sys_root, "%s/sys", dir);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_regular_end), TEST(it_ends_at_once), TEST(it_never_answers), TEST(it_floods),
		TEST(a_stop_of_ours_is_repaired), TEST(a_stop_of_others_is_left_alone_and_said), TEST(a_target_that_dies_is_said_to_be_dead),
		TEST(what_cannot_be_recorded_is_not_done), TEST(a_second_one_at_the_same_time_is_refused), TEST(a_preview_does_nothing),
		TEST(real_gdb_looks_and_lets_go), TEST(real_gdb_is_interrupted_at_the_deadline), TEST(real_gdb_that_gets_signals_hurts_nobody), TEST(the_agent_is_asked_where_that_is_offered),
		TEST(the_agent_is_not_asked_where_it_could_hurt), TEST(its_owner_is_killed),
		TEST(what_was_taken_over_is_not_imported), TEST(stopped_time_counts_against_the_budget),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
