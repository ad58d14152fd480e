/* test_settings.c - the configuration file: what it sets, what wins over it, and that nothing in it stops a start. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/options.h"
#include "base/mem.h"
#include "ui/keys.h"

static char path[] = "/tmp/hangtop-settings-XXXXXX";
static char complaints[4000];

/* Parse these words (a blank between) with this file; standard error goes to `complaints`. */
static int parse(const char *file, struct app_options *out, enum command command, const char *words)
{
	static char kept[200];
	char *argv[10], *rest = kept;
	int argc = 0;
	FILE *f = fopen(path, "w"), *said = tmpfile();
	int keep = dup(STDERR_FILENO), status;
	size_t n;

	fputs(file, f);
	fclose(f);
	snprintf(kept, sizeof kept, "%s", words);
	while (argc < 9 && (argv[argc] = strsep(&rest, " ")))
		argc++;
	argv[argc] = NULL;
	setenv("HANGTOP_CONFIG", path, 1);
	dup2(fileno(said), STDERR_FILENO);
	status = options_parse(out, command, "run", argc, argv);
	fflush(stderr);
	dup2(keep, STDERR_FILENO);
	close(keep);
	rewind(said);
	n = fread(complaints, 1, sizeof complaints - 1, said);
	complaints[n] = 0;
	fclose(said);
	return status;
}

static void file_then_command_line(void **state)
{
	struct app_options o;

	(void)state;
	assert_int_equal(parse("[options]\nstall = 40\ninterval = 2.5\nascii = yes\nquiet = no\nurl = http://127.0.0.1:1\nspeed = 8\n"
		"palette = mono\n", &o, CMD_RUN, "run --stall 60"), 0);
	assert_string_equal(complaints, "");
	assert_true(o.stall_s == 60); /* the command line wins */
	assert_true(o.interval_s == 2.5);
	assert_int_equal(o.source.interval_ms, 2500);
	assert_true(o.ascii);
	assert_false(o.quiet);
	assert_string_equal(o.source.url, "http://127.0.0.1:1");
	assert_string_equal(o.palette, "mono");
	assert_true(o.speed == 1); /* an option of replay */
}

static void wrong_lines_are_left_out(void **state)
{
	static const struct {
		const char *file, *says;
	} row[] = {
		{ "[options]\nno-such = 1\n", "[options] no-such: no option has this name; left out" },
		{ "[options]\nstall = soon\n", "not a number" },
		{ "[options]\nascii = perhaps\n", "say yes or no" },
		{ "[options]\npalette = pink\n", "not one of the words" },
		{ "[colours]\nx = 1\n", "not a section hangtop knows" },
		{ "[keys]\nstacks = Hyper-K\n", "\"Hyper-K\" is not the name of a key" },
		{ "[keys]\njump = k\n", "--list-keys" },
		{ "[options]\nthis is no setting\n", "line 2 is neither" },
	};
	struct app_options o;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char file[300];

		snprintf(file, sizeof file, "%s[options]\ninterval = 3\n", row[i].file);
		assert_int_equal(parse(file, &o, CMD_RUN, "run"), 0);
		if (!strstr(complaints, row[i].says))
			fail_msg("%s gave \"%s\"", row[i].file, complaints);
		assert_true(o.interval_s == 3);
		assert_true(o.stall_s == 30);
	}
}

static void no_config(void **state)
{
	struct app_options o;

	(void)state;
	assert_int_equal(parse("[options]\nstall = 40\nnonsense = 1\n", &o, CMD_RUN, "run --no-config"), 0);
	assert_true(o.stall_s == 30);
	assert_string_equal(complaints, "");
	assert_int_equal(parse("[options]\nstall = 40\n", &o, CMD_AGENT, "agent"), 0);
	assert_true(o.stall_s == 30); /* an agent is told by its front */
}

static void keys_from_the_file(void **state)
{
	struct app_options o;

	(void)state;
	assert_int_equal(parse("[keys]\nzoom = F7\n", &o, CMD_RUN, "run"), 0);
	assert_string_equal(complaints, "");
	assert_int_equal(keys_find(UI_KEY_F7, PANEL_LOG)->action, ACTION_ZOOM);
	assert_null(keys_find('z', PANEL_LOG));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_then_command_line),
		cmocka_unit_test(wrong_lines_are_left_out),
		cmocka_unit_test(no_config),
		cmocka_unit_test(keys_from_the_file),
	};
	int fd = mkstemp(path), failed;

	close(fd);
	failed = cmocka_run_group_tests_name("settings", tests, NULL, NULL);
	unlink(path);
	return failed;
}
