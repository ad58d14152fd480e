/* test_proc.c - /proc texts, py-spy dumps and errors, and the server's tree on made-up /proc folders. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu_tree.h"
#include "parse/proc_files.h"
#include "parse/pyspy.h"
#include "source/proc_tree.h"

/* --- texts --- */

static void stat_lines(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_true(proc_stat_parse(span_of("7 (a b) c) R 3 7 7 0 -1 4194304 1 0 0 0 11 22 0 0 20 0 5 0 987 1000 42 184\n"), &s));
	assert_int_equal(s.pid, 7);
	assert_string_equal(s.comm, "a b) c");
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.ppid, 3);
	assert_int_equal(s.utime + s.stime, 33);
	assert_int_equal(s.threads, 5);
	assert_int_equal(s.start, 987);
	assert_int_equal(s.rss_pages, 42);
	assert_false(proc_stat_parse(span_of(""), &s));
	assert_false(proc_stat_parse(span_of("7 (x R 3"), &s));
	assert_false(proc_stat_parse(span_of("7 (x) R 3 4"), &s));
}

static void command_lines(void **state)
{
	static const struct { const char *raw; size_t n; const char *words; } row[] = {
		{ "python\0-m\0atom\0", 15, "python -m atom" },
		{ "ATOM::TP0\0\0\0\0\0", 14, "ATOM::TP0" },
		{ "", 0, "" },
		{ "a\0\0b\0", 5, "a b" },
		{ "ATOM::TP0\0\0old\0", 15, "ATOM::TP0" },
		{ "x\0--api-key\0s3cret\0--port\0" "1\0", 28, "x --api-key *** --port 1" },
		{ "x\0--hf-token=abc\0-q\0", 20, "x --hf-token=*** -q" },
		{ "x\0--tokenizer\0t\0sk-0123456789abcdef\0", 37, "x --tokenizer t ***" },
	};
	struct span value;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct buf out;

		buf_init(&out, 0);
		proc_cmdline(span_make(row[i].raw, row[i].n), &out);
		assert_string_equal(buf_string(&out), row[i].words);
		buf_release(&out);
	}
	assert_true(proc_cmdline_option(span_make("x\0--port\0" "8001\0", 14), "--port", &value) && span_is(value, "8001"));
	assert_true(proc_cmdline_option(span_make("x\0--port=8002\0", 14), "--port", &value) && span_is(value, "8002"));
	assert_false(proc_cmdline_option(span_make("x\0--porter=1\0", 13), "--port", &value));
	assert_int_equal(proc_pipe_handle(span_of("spawn_main(tracker_fd=4, pipe_handle=17) --multiprocessing-fork")), 17);
	assert_int_equal(proc_pipe_handle(span_of("python")), -1);
}

static void environment_is_chosen_and_masked(void **state)
{
	static const char raw[] = "HOME=/root\0HIP_VISIBLE_DEVICES=0,1\0VLLM_API_KEY=abc\0NCCL_DEBUG=\x1b[31m\0RANK=3\0"
		"TORCH_X=a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6\0";
	struct buf out;

	(void)state;
	buf_init(&out, 0);
	proc_environ_chosen(span_make(raw, sizeof raw - 1), &out);
	assert_string_equal(buf_string(&out), "{\"HIP_VISIBLE_DEVICES\":\"0,1\",\"VLLM_API_KEY\":\"***\",\"NCCL_DEBUG\":\"^[[31m\",\"RANK\":\"3\","
		"\"TORCH_X\":\"***\"}");
	buf_release(&out);
}

static void kernel_frames(void **state)
{
	static const struct { enum proc_view view; const char *text, *frames; } row[] = {
		{ PROC_STACK, "[<0>] futex_wait_queue+0x6d/0xb0\n[<0>] do_futex+0x1/0x2 [mod]\n[<0>] 0xffffffffffffffff\n", "futex_wait_queue,do_futex," },
		{ PROC_WCHAN, "0", "" }, { PROC_WCHAN, "amdgpu_fence_wait", "amdgpu_fence_wait," },
		{ PROC_SYSCALL, "running\n", "" }, { PROC_SYSCALL, "202 0x1 0x2\n", "202," }, { PROC_SYSCALL, "-1 0x1 0x2\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct span rest = span_of(row[i].text), name;
		struct buf out;

		buf_init(&out, 0);
		while (proc_kernel_frame(row[i].view, &rest, &name)) {
			buf_span(&out, name);
			buf_char(&out, ',');
		}
		assert_string_equal(buf_string(&out), row[i].frames);
		buf_release(&out);
	}
}

/* However small the room: whole JSON, or nothing. */
static void a_dump_that_does_not_fit_stays_json(void **state)
{
	struct error error;
	struct buf text, out;

	(void)state;
	buf_init(&text, 0);
	buf_text(&text, "Thread 1 (idle): \"MainThread\"\n");
	for (int i = 0; i < 200; i++) {
		buf_text(&text, "    f");
		for (int k = 0; k < 300; k++)
			buf_char(&text, '\x01');
		buf_text(&text, " (a.py:1)\n");
	}
	buf_init(&out, 60000);
	assert_int_equal(pyspy_text(buf_as_span(&text), &out, &error), 1);
	assert_false(out.cut);
	assert_true(span_ends(buf_as_span(&out), "]}]"));
	buf_release(&text);
	buf_release(&out);
}

static void dumps(void **state)
{
	static const char text[] = "Process 41213: ATOM::TP3\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread 41213 (active+gil): \"MainThread\"\n"
		"    synchronize (torch/cuda/__init__.py:985)\n        Locals:\n            x: 5 (a)\n    forward (m.py:10)\n"
		"Thread 0x7F2A (idle)\nThread 5 (idle): \"odd (name): x\"\n    wait (threading.py:359)\n";
	static const char json[] = "[{\"pid\":1,\"thread_id\":9,\"thread_name\":\"T\",\"os_thread_id\":null,\"active\":false,\"owns_gil\":true,\"frames\":[]},"
		"{\"pid\":1,\"thread_id\":8,\"thread_name\":\"MainThread\",\"os_thread_id\":1,\"active\":true,\"owns_gil\":false,\"frames\":"
		"[{\"name\":\"f\",\"filename\":\"/x/a.py\",\"short_filename\":\"a.py\",\"line\":3},{\"name\":\"g\",\"filename\":\"b.py\",\"short_filename\":null,\"line\":0}]}]";
	struct error error;
	struct buf out;

	(void)state;
	buf_init(&out, 0);
	assert_int_equal(pyspy_text(span_of(text), &out, &error), 3);
	assert_string_equal(buf_string(&out), "[{\"tid\":41213,\"name\":\"MainThread\",\"state\":\"active+gil\",\"gil\":true,\"frames\":"
		"[\"synchronize (torch/cuda/__init__.py:985)\",\"forward (m.py:10)\"]},{\"tid\":32554,\"state\":\"idle\",\"gil\":false,\"frames\":[]},"
		"{\"tid\":5,\"name\":\"odd (name): x\",\"state\":\"idle\",\"gil\":false,\"frames\":[\"wait (threading.py:359)\"]}]");
	buf_clear(&out);
	assert_int_equal(pyspy_json(span_of(json), &out, &error), 2);
	assert_string_equal(buf_string(&out), "[{\"tid\":1,\"name\":\"MainThread\",\"state\":\"active\",\"gil\":false,\"frames\":[\"f (a.py:3)\",\"g (b.py)\"]},"
		"{\"tid\":9,\"name\":\"T\",\"state\":\"idle\",\"gil\":true,\"frames\":[]}]");
	buf_clear(&out);
	assert_int_equal(pyspy_text(span_of("Process 1: x\nPython v3\n"), &out, &error), -1);
	assert_int_equal(pyspy_json(span_of("[{"), &out, &error), -1);
	assert_int_equal(pyspy_json(span_of("{}"), &out, &error), -1);
	buf_release(&out);
}

static void errors(void **state)
{
	static const struct { const char *text; enum pyspy_trouble trouble; } row[] = {
		{ "Error: Permission Denied: Try running again with elevated permissions", PYSPY_DENIED },
		{ "Error: x\n\nCaused by:\n    Operation not permitted (os error 1)", PYSPY_DENIED },
		{ "Error: Failed to open process - check if it is running.\nReason: No such process (os error 3)", PYSPY_GONE },
		{ "Error: Failed to find python version from target process", PYSPY_NOT_PYTHON },
		{ "Error: Unsupported version of Python: 3.15.0", PYSPY_VERSION },
		{ "Error: Failed to copy PyThreadState head pointer", PYSPY_RACE },
		{ "error: Found argument '--json' which wasn't expected, or isn't valid in this context", PYSPY_USAGE },
		{ "py-spy: /lib/libc.so.6: version `GLIBC_2.99' not found", PYSPY_NOT_RUN },
		{ "something new", PYSPY_UNKNOWN },
	};
	const char *words, *remedy;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		assert_int_equal(pyspy_error(span_of(row[i].text), &words, &remedy), row[i].trouble);
		assert_true(*words && remedy);
	}
}

/* --- the tree --- */

static struct profile_set profiles;

static void add_profile(const char *text)
{
	struct error error;
	struct profile *p = profile_parse(span_of(text), "test", &error);

	assert_non_null(p);
	profile_set_add(&profiles, p);
}

static int load_profiles(void **state)
{
	(void)state;
	add_profile("[profile]\nname = atom\nwords = ATOM\n[process]\napi = atom\\.entrypoints\\.openai_server\nengine = ^ATOM::EngineCore\n"
		"worker = ^ATOM::((?:DP\\d+)?TP\\d+)\nspawn_worker = multiprocessing\\.spawn import spawn_main\nport_option = --server-port\n");
	add_profile("[profile]\nname = vllm\nwords = vLLM\n[process]\napi = vllm serve \nengine = ^VLLM::EngineCore\n"
		"worker = ^VLLM::Worker((?:_(?:DP|TP)\\d+)*)\nspawn_worker = multiprocessing\\.spawn import spawn_main\n");
	add_profile("[profile]\nname = torchrun\nwords = torchrun\n[process]\napi = (?:^|/)torchrun \n");
	return 0;
}

static int free_profiles(void **state)
{
	(void)state;
	profile_set_release(&profiles);
	return 0;
}

/* cmdline with '|' for NUL; environ likewise. */
static void process(const char *root, int pid, int ppid, int start, const char *cmdline, const char *environ)
{
	char text[600], path[PATH_MAX];
	FILE *f;

	snprintf(text, sizeof text, "%d (python3) S %d 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 %d 1 1\n", pid, ppid, start);
	tree_put(root, text, "%d/stat", pid);
	for (int i = 0; i < 2; i++) {
		const char *from = i ? environ : cmdline;

		snprintf(path, sizeof path, "%s/%d/%s", root, pid, i ? "environ" : "cmdline");
		f = fopen(path, "w");
		assert_non_null(f);
		for (; from && *from; from++)
			fputc(*from == '|' ? 0 : *from, f);
		fclose(f);
	}
}

static const struct node_process *find(const struct proc_tree *t, int pid)
{
	char key[16];

	snprintf(key, sizeof key, "%d", pid);
	return map_get(&t->process, key);
}

#define SPAWN(handle) "python|-c|from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=4, pipe_handle=" handle ")|--multiprocessing-fork|"

static void start(char root[64], struct proc_tree *tree)
{
	struct error error;

	tree_new(root);
	tree_put(root, "cpu 1\nbtime 1000\n", "stat");
	assert_int_equal(proc_tree_init(tree, root, &profiles, &error), 0);
}

static void finish(char root[64], struct proc_tree *tree)
{
	proc_tree_release(tree);
	tree_free(root);
}

static void atom_without_titles(void **state)
{
	struct proc_tree t;
	char root[64], path[PATH_MAX];

	(void)state;
	start(root, &t);
	process(root, 1, 0, 1, "init|", "");
	process(root, 9, 1, 5, "bash|-c|python -m atom.entrypoints.openai_server|", "");
	process(root, 10, 9, 10, "python|-m|atom.entrypoints.openai_server|--server-port|8123|", "");
	process(root, 11, 10, 11, "python|-c|from multiprocessing.resource_tracker import main;main(3)|", "");
	process(root, 12, 10, 12, SPAWN("5"), "");
	process(root, 22, 12, 20, SPAWN("9"), "");
	process(root, 21, 12, 21, SPAWN("7"), "");
	process(root, 23, 12, 22, SPAWN("11"), "");
	proc_tree_scan(&t, 0, NULL);
	assert_non_null(t.api);
	assert_int_equal(t.api->pid, 10);
	assert_int_equal(t.api->port, 8123);
	assert_string_equal(t.profile->name, "atom");
	assert_int_equal(find(&t, 11)->role, ROLE_HELPER);
	assert_int_equal(find(&t, 12)->role, ROLE_ENGINE);
	assert_int_equal(find(&t, 21)->role, ROLE_WORKER);
	assert_string_equal(find(&t, 21)->rank, "0");
	assert_string_equal(find(&t, 22)->rank, "1");
	assert_string_equal(find(&t, 23)->rank, "2");
	assert_string_equal(find(&t, 23)->how, "spawn-order");
	assert_int_equal(find(&t, 1)->role, ROLE_NONE);
	/* A rank keeps its number when one before it has ended. */
	snprintf(path, sizeof path, "%s", tree_path(root, "21"));
	tree_free(path);
	proc_tree_scan(&t, 0, NULL);
	assert_null(find(&t, 21));
	assert_string_equal(find(&t, 22)->rank, "1");
	assert_string_equal(find(&t, 23)->rank, "2");
	assert_int_equal(proc_tree_start_ms(&t, 10 * t.hertz), 1010000);
	finish(root, &t);
}

static void titles(void **state)
{
	struct proc_tree t;
	char root[64];

	(void)state;
	start(root, &t);
	process(root, 10, 1, 10, "python|/usr/bin/vllm serve |model|", "");
	process(root, 12, 10, 12, "VLLM::EngineCore||||", "||||");
	process(root, 20, 12, 20, "VLLM::Worker_DP1_TP0|||", "|||");
	process(root, 21, 12, 21, "VLLM::Worker_DP1_TP1|||", "|||");
	process(root, 22, 21, 22, "VLLM::Worker_DP1_TP1|||", "|||"); /* a forked child keeps the title */
	proc_tree_scan(&t, 0, NULL);
	assert_int_equal(find(&t, 12)->role, ROLE_ENGINE);
	assert_string_equal(find(&t, 20)->rank, "DP1_TP0");
	assert_string_equal(find(&t, 21)->rank, "DP1_TP1");
	assert_string_equal(find(&t, 21)->how, "title");
	assert_int_equal(find(&t, 22)->role, ROLE_HELPER);
	proc_tree_scan(&t, 0, "atom"); /* only that profile */
	assert_null(t.api);
	finish(root, &t);
}

static void torchrun_ranks_come_from_the_environment(void **state)
{
	struct proc_tree t;
	char root[64];

	(void)state;
	start(root, &t);
	process(root, 10, 1, 10, "/usr/bin/torchrun --nproc 2|train.py|", "A=1|");
	process(root, 20, 10, 20, "python|train.py|", "RANK=1|LOCAL_RANK=1|");
	process(root, 21, 10, 21, "python|train.py|", "RANK=0|LOCAL_RANK=0|");
	process(root, 30, 20, 30, "python|train.py|", "RANK=1|LOCAL_RANK=1|"); /* a data loader inherits it */
	proc_tree_scan(&t, 0, NULL);
	assert_int_equal(find(&t, 20)->role, ROLE_WORKER);
	assert_string_equal(find(&t, 20)->rank, "1");
	assert_string_equal(find(&t, 21)->rank, "0");
	assert_string_equal(find(&t, 21)->how, "environ");
	assert_int_equal(find(&t, 30)->role, ROLE_HELPER);
	finish(root, &t);
}

static void any_process_by_its_pid(void **state)
{
	struct proc_tree t;
	char root[64];

	(void)state;
	start(root, &t);
	process(root, 10, 1, 10, "python|myserver.py|", "");
	process(root, 21, 10, 21, "python|myserver.py|--worker|", "");
	process(root, 20, 10, 20, "python|myserver.py|--worker|", "");
	proc_tree_scan(&t, 10, NULL);
	assert_null(t.profile);
	assert_int_equal(t.api->role, ROLE_API);
	assert_string_equal(find(&t, 20)->rank, "0");
	assert_string_equal(find(&t, 21)->rank, "1");
	assert_string_equal(find(&t, 21)->how, "start-order");
	proc_tree_scan(&t, 99, NULL);
	assert_null(t.api);
	finish(root, &t);
}

static void processes_come_and_go(void **state)
{
	struct proc_tree t;
	char root[64], path[PATH_MAX];

	(void)state;
	start(root, &t);
	process(root, 10, 1, 10, "python|-m|atom.entrypoints.openai_server|", "");
	process(root, 77, 1, 10, "other|", "");
	proc_tree_scan(&t, 0, NULL);
	assert_int_equal(t.process.count, 2);
	snprintf(path, sizeof path, "%s", tree_path(root, "10"));
	tree_free(path);
	proc_tree_scan(&t, 0, NULL);
	assert_null(t.api);
	assert_int_equal(t.process.count, 1);
	finish(root, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_lines), cmocka_unit_test(command_lines), cmocka_unit_test(environment_is_chosen_and_masked),
		cmocka_unit_test(kernel_frames), cmocka_unit_test(a_dump_that_does_not_fit_stays_json), cmocka_unit_test(dumps), cmocka_unit_test(errors), cmocka_unit_test(atom_without_titles), cmocka_unit_test(titles),
		cmocka_unit_test(torchrun_ranks_come_from_the_environment), cmocka_unit_test(any_process_by_its_pid),
		cmocka_unit_test(processes_come_and_go),
	};

	return cmocka_run_group_tests_name("proc", tests, load_profiles, free_profiles);
}
