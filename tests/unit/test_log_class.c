/* test_log_class.c - what lines of server logs mean, and that the fast first look loses none. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "parse/literals.h"
#include "parse/log_class.h"
#include "tests/unit/log_lines.h"
#include "tests/unit/profile_file.h"

static struct log_classifier *classifier_of(const char *text)
{
	struct error error = { .text = "" };
	struct profile *p = profile_parse(span_of(text), "x", &error);
	struct log_classifier *c = p ? log_classifier_new(p, &error) : NULL;

	if (!c)
		print_error("%s\n", error.text);
	profile_free(p);
	return c;
}

static void check_line(struct log_classifier *c, const struct log_line *l)
{
	struct span exact = exact_copy(span_of(l->line));
	char rank[LOG_RANK_MAX];
	struct log_match m;

	if (log_classify(c, exact, &m) != l->class)
		fail_msg("%s: '%s' is %s", l->profile, l->line, m.class ? log_class_word(m.class) : "nothing");
	assert_int_equal(m.class, l->class);
	assert_int_equal(m.n, l->n);
	assert_int_equal(m.done, l->done);
	assert_int_equal(m.pending, l->pending);
	assert_int_equal(m.running, l->running);
	assert_int_equal(m.waiting, l->waiting);
	assert_int_equal(m.engine, l->engine);
	assert_false(m.text.len && memchr(m.text.at, 27, m.text.len));
	assert_int_equal(log_rank(c, m.text, rank), l->rank[0] != 0);
	assert_string_equal(rank, l->rank);
	free((char *)exact.at);
}

static void test_lines(void **state)
{
	int classes[LOG_CLASSES] = { 0 };

	(void)state;
	for (size_t i = 0; i < SHIPPED; i++) {
		struct profile *p = shipped_profile(shipped[i]);
		struct error error = { .text = "" };
		struct log_classifier *c = log_classifier_new(p, &error);

		assert_string_equal(error.text, "");
		assert_non_null(c);
		for (size_t k = 0; k < LOG_LINES; k++)
			if (strcmp(log_lines[k].profile, shipped[i]) == 0) {
				check_line(c, &log_lines[k]);
				classes[log_lines[k].class]++;
			}
		log_classifier_free(c);
		profile_free(p);
	}
	for (int i = 0; i < LOG_CLASSES; i++)
		assert_true(classes[i] > 0);
}

/* Without a profile faults and ends are known, nothing else. */
static void test_without_profile(void **state)
{
	struct log_classifier *c = log_classifier_new(NULL, NULL);
	struct log_match m;

	(void)state;
	assert_int_equal(log_classify(c, span_of("Memory access fault by GPU node-1"), &m), LOG_FAULT);
	assert_int_equal(log_classify(c, span_of("Fatal Python error: Aborted"), &m), LOG_FATAL);
	assert_int_equal(log_classify(c, span_of("x \"GET /v1/models HTTP/1.1\" 200"), &m), LOG_IGNORE);
	assert_int_equal(log_classify(c, span_of("Engine Core: output send 3 reqs"), &m), LOG_NONE);
	log_classifier_free(c);
}

static void test_order_of_classes(void **state)
{
	struct log_classifier *c = classifier_of("[profile]\nname=x\n[log]\nprogress = work\nwarning = careful\nfatal = broken\n"
		"ignore = never mind\nstats = running=(?<running>\\d+)\nready = ready\nstart = begin\nrequest = (?i)ASK\nfinish = over(\\d+)\n");
	static const struct { const char *line; enum log_class class; } row[] = {
		{ "work careful", LOG_PROGRESS }, { "careful work broken", LOG_FATAL }, { "broken HW Exception by GPU", LOG_FAULT },
		{ "broken HW Exception by GPU never mind", LOG_IGNORE }, { "ready begin", LOG_START }, { "careful", LOG_WARNING },
		{ "running=7 careful", LOG_WARNING }, { "running=7", LOG_STATS }, { "ask", LOG_REQUEST }, { "Ask work", LOG_REQUEST },
		{ "over3", LOG_FINISH }, { "nothing of it", LOG_NONE },
	};
	struct log_match m;

	(void)state;
	assert_non_null(c);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		assert_int_equal(log_classify(c, span_of(row[i].line), &m), row[i].class);
	log_classify(c, span_of("running=7 careful"), &m);
	assert_int_equal(m.running, 7);
	assert_int_equal(m.waiting, -1);
	log_classify(c, span_of("over12"), &m);
	assert_int_equal(m.done, 12);
	log_classifier_free(c);
}

static void test_odd_bytes(void **state)
{
	static const char nul[] = "\xff\xfe\0\0Engine Core: output send 2 reqs\x07\xc3(";
	struct profile *p = shipped_profile("atom");
	struct log_classifier *c = log_classifier_new(p, NULL);
	struct span exact = exact_copy(span_make(nul, sizeof nul - 1)), huge;
	struct log_match m;
	struct buf text;

	(void)state;
	assert_int_equal(log_classify(c, exact, &m), LOG_PROGRESS);
	assert_int_equal(m.n, 2);
	free((char *)exact.at);
	/* a number that is none of ours, and a line over the limit */
	log_classify(c, span_of("Request 1 arrived, x, pending requests: 99999999999999999999999"), &m);
	assert_int_equal(m.class, LOG_REQUEST);
	assert_int_equal(m.pending, -1);
	buf_init(&text, 0);
	for (int i = 0; i < LOG_LINE_MAX; i++)
		buf_char(&text, 'x');
	buf_text(&text, "Engine Core: output send 2 reqs");
	huge = exact_copy(buf_as_span(&text));
	assert_int_equal(log_classify(c, huge, &m), LOG_NONE);
	free((char *)huge.at);
	huge = exact_copy(span_sub(buf_as_span(&text), 100, text.len));
	assert_int_equal(log_classify(c, huge, &m), LOG_PROGRESS);
	free((char *)huge.at);
	buf_release(&text);
	log_classifier_free(c);
	profile_free(p);
}

/* A pattern that would run for ever is given up, not waited for. */
static void test_runaway_pattern(void **state)
{
	struct log_classifier *c = classifier_of("[profile]\nname=x\n[log]\nwarning = ^(?:a+)+$\nprogress = done\n");
	struct log_match m;
	char line[64];

	(void)state;
	memset(line, 'a', sizeof line);
	memcpy(line + 58, "b done", 6);
	assert_int_equal(log_classify(c, span_make(line, sizeof line), &m), LOG_PROGRESS);
	log_classifier_free(c);
}

static void test_colours(void **state)
{
	static const struct { const char *line, *plain; } row[] = {
		{ "\x1b[1;36m(EngineCore_DP0 pid=7)\x1b[0;0m INFO", "(EngineCore_DP0 pid=7) INFO" },
		{ "[1;36m(EngineCore_0 pid=260) [0;0m INFO", "(EngineCore_0 pid=260)  INFO" },
		{ "^[[1;36m(APIServer pid=1)^[[0;0m x", "(APIServer pid=1) x" },
		{ "^[3mitalic", "italic" },
		{ "{\"log\":\"\\u001b[36m(W)\\u001b[0m Memory\"}", "{\"log\":\"(W) Memory\"}" },
		{ "\x1b[2J\x1b[?25hx\x1b[Ky\x1b[m", "xy" },
		{ "[00:15<01:49, 1.30it/s] [m] [12] [1;2] ^[ \\u001b", "[00:15<01:49, 1.30it/s] [m] [12] [1;2] ^[ \\u001b" },
		{ "", "" }, { "\x1b", "\x1b" }, { "x\x1b[", "x\x1b[" }, { "[1;36", "[1;36" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct span exact = exact_copy(span_of(row[i].line));
		struct buf out;

		buf_init(&out, 0);
		log_strip_colours(exact, &out);
		assert_string_equal(buf_string(&out), row[i].plain);
		buf_release(&out);
		free((char *)exact.at);
	}
}

static void test_rank_normal(void **state)
{
	static const struct { const char *text, *rank; } row[] = {
		{ "TP3", "TP3" }, { "dp1_tp3", "DP1_TP3" }, { " DP1 TP3", "DP1_TP3" }, { "DP1TP3", "DP1_TP3" }, { "3", "3" }, { "", "" },
		{ "DP0_PP1_TP7_", "DP0_PP1_TP7" }, { "1 2", "1_2" },
		{ "DP10_PP11_TP12_EP13_CP14_XP15_YP16", "DP10_PP11_TP12_EP13_CP14_XP15_" },
	};
	char rank[LOG_RANK_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		log_rank_normal(span_of(row[i].text), rank);
		assert_memory_equal(rank, row[i].rank, strlen(row[i].rank) < LOG_RANK_MAX - 2 ? strlen(row[i].rank) + 1 : LOG_RANK_MAX - 3);
	}
}

static void test_words_of_patterns(void **state)
{
	static const struct { const char *pattern; bool has; const char *needs, *lacks; } row[] = {
		{ "pending requests: (\\d+)", true, "pending requests: ", "pending request" },
		{ "(?:a|b) error: x", true, "zz error: x", "zz error:x" },
		{ "colou?r is good", true, "r is good", "ris good" },
		{ "abcde+fgh", true, "abcde", "abcd" },
		{ "abcdef*", true, "abcde", "abcd" },
		{ "abcdex{0,2}y", true, "abcde", "abcd" },
		{ "abcd{x}", true, "abcd{x}", "abcd{" },
		{ "first one|second", true, "second", "secon" },
		{ "\\[rank\\] died", true, "[rank] died", "[rank]" },
		{ "[[:alpha:]|]wxyz", true, "wxyz", "wxy" },
		{ "[]|]wxyz", true, "wxyz", "wxy" },
		{ "[^]|]wxyz", true, "wxyz", "wxy" },
		{ "a(?=b|c(d|e))wxyz", true, "wxyz", "wxy" },
		{ "(?<n>\\d+|\\))wxyz", true, "wxyz", "wxy" },
		{ "abc", false, "", "" },
		{ "first one|two", false, "", "" },
		{ "first one|", false, "", "" },
		{ "(?i)first one", false, "", "" },
		{ "(*UTF)first one", false, "", "" },
		{ "\\Qfirst|one\\E", false, "", "" },
		{ "first \\x41", false, "", "" },
		{ "(?:first|second)", false, "", "" },
		{ "a(?#comment|)bcdef", false, "", "" },
		{ "", false, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct literals *l = literals_new();
		struct span pattern = exact_copy(span_of(row[i].pattern));
		uint64_t bits[LITERALS_PATTERNS / 64] = { 0 };

		if (literals_add(l, pattern, 100) != row[i].has)
			fail_msg("%s", row[i].pattern);
		literals_ready(l);
		free((char *)pattern.at);
		if (row[i].has) {
			assert_true(literals_scan(l, span_of(row[i].needs), bits));
			assert_true(bits[100 / 64] >> (100 % 64) & 1);
			assert_false(literals_scan(l, span_of(row[i].lacks), bits));
		} else {
			assert_false(literals_scan(l, span_of(row[i].pattern), bits));
		}
		literals_free(l);
	}
}

/* For every pattern of every profile and every line: what the pattern matches, the first look finds. */
static void test_first_look_is_sound(void **state)
{
	int matched = 0, without = 0;

	(void)state;
	for (size_t s = 0; s < SHIPPED; s++) {
		struct profile *p = shipped_profile(shipped[s]);

		for (int class = 0; class < LOG_CLASSES; class++)
			for (int i = 0; i < p->line[class].count; i++) {
				const char *text = p->line[class].item[i];
				struct literals *l = literals_new();
				bool has = literals_add(l, span_of(text), 0);
				PCRE2_SIZE at;
				int number;
				pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, strlen(text), 0, &number, &at, NULL);
				pcre2_match_data *data = pcre2_match_data_create(1, NULL);

				literals_ready(l);
				without += !has && s < 3;
				for (size_t k = 0; has && k < LOG_LINES; k++) {
					uint64_t bits[LITERALS_PATTERNS / 64] = { 0 };
					struct span line = span_of(log_lines[k].line);

					if (pcre2_match(code, (PCRE2_SPTR)line.at, line.len, 0, 0, data, NULL) == PCRE2_ERROR_NOMATCH)
						continue;
					matched++;
					assert_true(literals_scan(l, line, bits));
				}
				pcre2_match_data_free(data);
				pcre2_code_free(code);
				literals_free(l);
			}
		profile_free(p);
	}
	assert_true(matched > 60);
	assert_int_equal(without, 0); /* the shipped profiles of servers take the fast way */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_without_profile),
		cmocka_unit_test(test_order_of_classes),
		cmocka_unit_test(test_odd_bytes),
		cmocka_unit_test(test_runaway_pattern),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_rank_normal),
		cmocka_unit_test(test_words_of_patterns),
		cmocka_unit_test(test_first_look_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
