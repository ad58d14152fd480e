/* test_doctor.c - doctor on made-up nodes: fake tools in PATH, fake /proc, /sys and /opt below a folder. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/doctor.h"

static char top[] = "/tmp/hangtop-doctor-XXXXXX";

static const char *below(const char *path)
{
	static char out[4][600];
	static int n;

	n = (n + 1) % 4;
	snprintf(out[n], sizeof out[n], "%s%s", top, path);
	return out[n];
}

static void make_folders(const char *path)
{
	char part[600];

	for (const char *slash = strchr(path + strlen(top) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
		mkdir(part, 0700);
	}
}

static void put(const char *path, const char *text, mode_t mode)
{
	FILE *file;

	make_folders(below(path));
	file = fopen(below(path), "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(below(path), mode);
}

static void tool(const char *name, const char *script)
{
	char path[200], text[500];

	snprintf(path, sizeof path, "/bin/%s", name);
	snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
	put(path, text, 0700);
}

static void remove_all(void)
{
	char command[200];

	snprintf(command, sizeof command, "/bin/rm -rf '%s'", top);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", top);
}

/* Nothing but an empty PATH and a writable state folder; every test adds what it is about. */
static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(top, '-'), "-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	mkdir(below("/bin"), 0700);
	mkdir(below("/state"), 0700);
	setenv("PATH", below("/bin"), 1);
	setenv("XDG_STATE_HOME", below("/state"), 1);
	setenv("XDG_CONFIG_HOME", below("/config"), 1);
	setenv("HANGTOP_DATA", below("/data"), 1);
	setenv("TERM", "xterm-256color", 1);
	unsetenv("HANGTOP_PY_SPY");
	put("/data/profiles/one.conf", "[profile]\nname = one\n", 0600);
	put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n", 0600);
	put("/proc/1/stat", "1 (init) S\n", 0600);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	setenv("PATH", "/usr/bin:/bin", 1);
	remove_all();
	return 0;
}

static json_t *run(int *code)
{
	struct doctor_options options = { .root = top, .json = true, .deadline_ms = 300 };
	struct buf out;
	json_t *answer;

	buf_init(&out, 0);
	*code = doctor_run(&options, &out);
	answer = json_loadb(out.at, out.len, 0, NULL);
	assert_non_null(answer);
	buf_release(&out);
	return answer;
}

static const json_t *find(const json_t *answer, const char *name)
{
	for (size_t i = 0; i < json_array_size(answer); i++)
		if (strcmp(json_string_value(json_object_get(json_array_get(answer, i), "check")), name) == 0)
			return json_array_get(answer, i);
	fail_msg("no check %s", name);
	return NULL;
}

static const char *member(const json_t *answer, const char *name, const char *key)
{
	const char *text = json_string_value(json_object_get(find(answer, name), key));

	return text ? text : "";
}

static void expect(const json_t *answer, const char *name, const char *state, const char *text, const char *mend)
{
	if (strcmp(member(answer, name, "state"), state) != 0 || !strstr(member(answer, name, "found"), text) ||
		!strstr(member(answer, name, "remedy"), mend))
		fail_msg("%s: %s, \"%s\", mend \"%s\"; expected %s, \"%s\", \"%s\"", name, member(answer, name, "state"),
			member(answer, name, "found"), member(answer, name, "remedy"), state, text, mend);
}

static void test_bare_node(void **state)
{
	static const char *const tools[] = { "py-spy", "rocgdb", "gdb", "rocm-smi", "amd-smi", "llvm-objdump", "ssh", "srun", "clush", "setpriv" };
	int code;
	json_t *answer = run(&code);

	(void)state;
	assert_int_equal(code, 69);
	for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
		expect(answer, tools[i], "missing", "not found", "");
		assert_string_not_equal(member(answer, tools[i], "remedy"), "");
		assert_string_not_equal(member(answer, tools[i], "lost"), "");
	}
	expect(answer, "py-spy", "missing", "", "pip install py-spy");
	expect(answer, "GPU driver", "missing", "", "modprobe");
	expect(answer, "/dev/kfd", "missing", "", "");
	expect(answer, "profiles", "ok", "one", "");
	json_decref(answer);
}

static void test_install_commands(void **state)
{
	int code;
	json_t *answer;

	(void)state;
	tool("dnf", "exit 0");
	put("/usr/lib/python3.11/EXTERNALLY-MANAGED", "", 0600);
	answer = run(&code);
	expect(answer, "gdb", "missing", "", "dnf install gdb");
	expect(answer, "ssh", "missing", "", "dnf install openssh-clients");
	expect(answer, "py-spy", "missing", "", "python3 -m venv");
	json_decref(answer);
}

static void test_versions(void **state)
{
	static const struct { const char *name, *script, *state, *text; } row[] = {
		{ "py-spy", "echo py-spy 0.4.3", "ok", "0.4.3 (" },
		{ "rocgdb", "echo 'GNU gdb (rocm-rel-7.1-38) 16.3'", "ok", "16.3 (" },
		{ "ssh", "echo 'OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.15' >&2", "ok", "9.2p1 (" },
		{ "amd-smi", "echo 'AMDSMI Tool: 24.6.2+2b02a07 | ROCm version: 6.2.0'", "ok", "24.6.2+2b02a07 (" },
		{ "clush", "echo nothing", "ok", "(/" },
		{ "rocm-smi", "echo 'unrecognized \033[1marguments' >&2; exit 2", "failed", "exit status 2 (" },
		{ "gdb", "echo 'usage: gdb [-h]' >&2; exit 2", "ok", "does not tell" },
		{ "srun", "exit 127", "failed", "exit status 127" },
		{ "llvm-objdump", "trap '' INT; while :; do :; done", "failed", "does not answer" },
	};
	int code;
	json_t *answer;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		tool(row[i].name, row[i].script);
	answer = run(&code);
	assert_int_equal(code, 0);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		expect(answer, row[i].name, row[i].state, row[i].text, "");
	assert_null(strchr(member(answer, "rocm-smi", "found"), '\033'));
	json_decref(answer);
}

static void test_places(void **state)
{
	int code;
	json_t *answer;

	(void)state;
	tool("sh", "exit 0");
	put("/opt/rocm-7.1.0/bin/rocgdb", "#!/bin/sh\necho 'GNU gdb (rocm-rel-7.1-38) 16.3'\n", 0700);
	put("/opt/rocm-7.1.0/lib/llvm/bin/llvm-objdump", "#!/bin/sh\necho '  LLVM version 20.0.0git'\n", 0700);
	tool("llvm-objdump", "echo 'LLVM version 14.0.6'");
	put("/opt/rocm-7.1.0/lib/librocm-debug-agent.so.2", "", 0600);
	put("/elsewhere/py-spy", "#!/bin/sh\necho py-spy 0.4.1\n", 0700);
	setenv("HANGTOP_PY_SPY", below("/elsewhere/py-spy"), 1);
	answer = run(&code);
	assert_int_equal(code, 0);
	expect(answer, "rocgdb", "ok", "/opt/rocm-7.1.0/bin/rocgdb", "");
	expect(answer, "llvm-objdump", "ok", "20.0.0git", "");
	expect(answer, "debug agent", "ok", "librocm-debug-agent.so.2", "");
	expect(answer, "py-spy", "ok", "0.4.1", "");
	json_decref(answer);
}

static void test_permissions(void **state)
{
	static const struct { const char *scope, *caps, *state, *mend; } row[] = {
		{ "0", "0000000000000000", "ok", "" },
		{ "1", "0000000000000000", "failed", "ptrace_scope=0" },
		{ "1", "0000000000080000", "ok", "" },
		{ "2", "000001ffffffffff", "ok", "" },
		{ "3", "000001ffffffffff", "failed", "boot again" },
	};
	char status[100];
	int code;

	(void)state;
	tool("py-spy", "echo py-spy 0.4.3");
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		json_t *answer;

		snprintf(status, sizeof status, "Name:\tx\nCapEff:\t%s\nThreads:\t1\n", row[i].caps);
		put("/proc/self/status", status, 0600);
		put("/proc/sys/kernel/yama/ptrace_scope", row[i].scope, 0600);
		answer = run(&code);
		assert_int_equal(code, 0);
		expect(answer, "yama", row[i].state, row[i].scope, row[i].mend);
		expect(answer, "CAP_SYS_PTRACE", strchr(row[i].caps, '8') || strchr(row[i].caps, 'f') ? "ok" : "poor", "", "");
		json_decref(answer);
	}
}

static void test_needed(void **state)
{
	int code;
	json_t *answer;

	(void)state;
	tool("py-spy", "echo py-spy 0.4.3");
	unlink(below("/data/profiles/one.conf"));
	answer = run(&code);
	assert_int_equal(code, 69);
	expect(answer, "profiles", "missing", "no engine profiles", "HANGTOP_DATA");
	json_decref(answer);

	put("/data/profiles/one.conf", "[profile]\nname = one\n", 0600);
	put("/data/profiles/two.conf", "[profile]\nnmae = two\n", 0600);
	answer = run(&code);
	assert_int_equal(code, 0);
	expect(answer, "profiles", "poor", "two.conf:2", "");
	json_decref(answer);

	unlink(below("/proc/self/status"));
	answer = run(&code);
	assert_int_equal(code, 77);
	json_decref(answer);
}

static void test_state_folder(void **state)
{
	int code;
	json_t *answer;

	(void)state;
	tool("py-spy", "echo py-spy 0.4.3");
	setenv("XDG_STATE_HOME", "/proc/none", 1); /* not writable, not even by root */
	answer = run(&code);
	assert_int_equal(code, 73);
	expect(answer, "session files", "failed", "/proc", "--db=FILE");
	json_decref(answer);
}

static void test_text(void **state)
{
	struct doctor_options options = { .root = top };
	struct buf out;

	(void)state;
	tool("py-spy", "echo py-spy 0.4.3");
	buf_init(&out, 0);
	assert_int_equal(doctor_run(&options, &out), 0);
	assert_non_null(strstr(buf_string(&out), "ok       py-spy 0.4.3 ("));
	assert_non_null(strstr(buf_string(&out), "missing  rocgdb not found; lost: no GPU waves and queues  install: "));
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bare_node, setup, teardown),
		cmocka_unit_test_setup_teardown(test_install_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_permissions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_state_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
	};

	setlocale(LC_ALL, "");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
