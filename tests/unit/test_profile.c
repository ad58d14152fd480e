/* test_profile.c - the grammar of profiles, its complaints, and the shipped files. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/profile_file.h"

static struct profile *parse(const char *text, struct error *error)
{
	struct span exact = exact_copy(span_of(text));
	struct profile *p = profile_parse(exact, "x.conf", error);

	free((char *)exact.at);
	return p;
}

static void test_everything_is_read(void **state)
{
	struct error error;
	struct profile *p = parse("\xef\xbb\xbf# comment\r\n; another\r\n\r\n[profile]\r\nname = x\r\nwords =  X Server \nport = 8123\n"
		"log = /a b/c.log\nlog = /d\nowned_by = x\n[process]\napi = ^python -m x\nengine = E\nworker = W(\\d+)\nhelper = H\n"
		"spawn_worker = S\nport_option = --port\nport_option = -p\n  [log]  \nprogress = a = b ; # not a comment\n"
		"progress = (?<done>\\d+)\nstats = s\nrank = r\nignore = i\nstart=st\n[metrics]\npath = /m\nprogress = c1\nprogress = c2\n"
		"running = r\nwaiting = w\n[quirk]\nCPU use = says nothing = at all", &error);

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->name, "x");
	assert_string_equal(p->words, "X Server");
	assert_int_equal(p->port, 8123);
	assert_int_equal(p->log_path.count, 2);
	assert_string_equal(p->log_path.item[0], "/a b/c.log");
	assert_string_equal(p->log_path.item[1], "/d");
	assert_string_equal(p->owned_by.item[0], "x");
	assert_string_equal(p->api.item[0], "^python -m x");
	assert_string_equal(p->engine.item[0], "E");
	assert_string_equal(p->worker.item[0], "W(\\d+)");
	assert_string_equal(p->helper.item[0], "H");
	assert_string_equal(p->spawn_worker.item[0], "S");
	assert_int_equal(p->port_option.count, 2);
	assert_string_equal(p->port_option.item[1], "-p");
	assert_int_equal(p->line[LOG_PROGRESS].count, 2);
	assert_string_equal(p->line[LOG_PROGRESS].item[0], "a = b ; # not a comment");
	assert_string_equal(p->line[LOG_STATS].item[0], "s");
	assert_string_equal(p->line[LOG_IGNORE].item[0], "i");
	assert_string_equal(p->line[LOG_START].item[0], "st");
	assert_int_equal(p->line[LOG_FATAL].count, 0);
	assert_string_equal(p->rank.item[0], "r");
	assert_string_equal(p->metrics_path, "/m");
	assert_int_equal(p->metrics_progress.count, 2);
	assert_string_equal(p->metrics_running, "r");
	assert_string_equal(p->metrics_waiting, "w");
	assert_string_equal(p->quirk.item[0], "CPU use: says nothing = at all");
	profile_free(p);
}

static void test_name_in_the_section(void **state)
{
	struct error error;
	struct profile *p = parse("[profile \"mine\"]\n", &error);

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->name, "mine");
	assert_string_equal(p->words, "mine");
	assert_int_equal(p->port, 0);
	profile_free(p);
}

static void test_complaints(void **state)
{
	static const struct { const char *text, *error, *fix; } row[] = {
		{ "", "x.conf: no 'name' in [profile]", "" },
		{ "name = x\n", "x.conf:1: a key before the first [section]", "" },
		{ "[profile]\nnmae = x\n", "x.conf:2: unknown key 'nmae' in [profile]", "did you mean 'name'?" },
		{ "[log]\n\nprogres = x\n", "x.conf:3: unknown key 'progres' in [log]", "did you mean 'progress'?" },
		{ "[profile]\nready = x\n", "x.conf:2: unknown key 'ready' in [profile]", "'ready' belongs in [log]" },
		{ "[porfile]\n", "x.conf:1: unknown section [porfile]", "did you mean [profile]?" },
		{ "[profile\n", "x.conf:1: a section must end with ']'", "" },
		{ "[log \"x\"]\n", "x.conf:1: only [profile \"name\"] takes a name, in double quotes", "" },
		{ "[profile]\nname\n", "x.conf:2: expected 'key = value'", "" },
		{ "[profile]\nname =\n", "x.conf:2: expected 'key = value', one of them is empty", "" },
		{ "[profile]\nname = a\nname = b\n", "x.conf:3: 'name' is given twice", "" },
		{ "[profile]\nport = 80x\n", "x.conf:2: 'port' must be a number from 1 to 65535, not '80x'", "" },
		{ "[profile]\nport = 65536\n", "x.conf:2: 'port' must be a number from 1 to 65535, not '65536'", "" },
		{ "[log]\nfatal = ok\nfatal = a(b\n",
			"x.conf:3: pattern of 'fatal' does not compile: missing closing parenthesis at column 4 of the pattern", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct error error = { .text = "" };

		assert_null(parse(row[i].text, &error));
		assert_string_equal(error.text, row[i].error);
		assert_string_equal(error.fix, row[i].fix);
	}
}

static void test_bounds(void **state)
{
	struct error error;
	struct buf text;
	struct profile *p;

	(void)state;
	buf_init(&text, 0);
	buf_text(&text, "[profile]\nname = x\nwords = ");
	for (int i = 0; i < 65000; i++)
		buf_char(&text, 'w');
	p = parse(buf_string(&text), &error);
	assert_non_null(p);
	assert_int_equal(strlen(p->words), 65000);
	profile_free(p);
	for (int i = 0; i < 1000; i++)
		buf_char(&text, 'w');
	assert_null(parse(buf_string(&text), &error));
	assert_string_equal(error.text, "x.conf:3: line is longer than 65536 bytes");
	buf_clear(&text);
	buf_add(&text, "[profile]\nname = a\0b\n", 21);
	assert_null(profile_parse(buf_as_span(&text), "x.conf", &error));
	assert_string_equal(error.text, "x.conf:2: a NUL byte: this is no text file");
	buf_release(&text);
}

static void test_set(void **state)
{
	struct profile_set set = { NULL, 0 };
	struct error error;

	(void)state;
	profile_set_add(&set, parse("[profile]\nname = a\nport = 1\n", &error));
	profile_set_add(&set, parse("[profile]\nname = b\nport = 2\n", &error));
	profile_set_add(&set, parse("[profile]\nname = a\nport = 3\n", &error));
	assert_int_equal(set.count, 2);
	assert_int_equal(profile_find(&set, "a")->port, 3);
	assert_int_equal(profile_find(&set, "b")->port, 2);
	assert_null(profile_find(&set, "c"));
	assert_null(profile_find(&set, NULL));
	profile_set_release(&set);
	assert_int_equal(set.count, 0);
}

static void test_shipped(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHIPPED; i++) {
		struct profile *p = shipped_profile(shipped[i]);

		assert_non_null(p);
		assert_string_equal(p->name, shipped[i]);
		assert_true(p->api.count > 0);
		assert_true(p->line[LOG_PROGRESS].count > 0);
		assert_true(p->line[LOG_FATAL].count > 0);
		if (strcmp(shipped[i], "torchrun") != 0) {
			assert_true(p->port > 0);
			assert_true(p->worker.count > 0 && p->line[LOG_READY].count > 0 && p->owned_by.count > 0);
			assert_true(p->metrics_path && p->metrics_running && p->metrics_waiting && p->metrics_progress.count > 0);
		}
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_read),
		cmocka_unit_test(test_name_in_the_section),
		cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
