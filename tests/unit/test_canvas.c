/* test_canvas.c - clipping, wide and combining characters, ASCII, dumps. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <locale.h>
#include <string.h>
#include <cmocka.h>

#include "ui/canvas.h"
#include "ui/rows.h"
#include "ui/spark.h"

#include <math.h>

static void check_dump(const struct canvas *c, const char *want)
{
	struct buf out;

	buf_init(&out, 0);
	canvas_dump(c, &out);
	assert_string_equal(buf_string(&out), want);
	buf_release(&out);
}

static int text(struct canvas *c, int x, int y, int w, enum style style, const char *s)
{
	return canvas_text(c, x, y, w, style, span_of(s));
}

static void draws_and_clips(void **state)
{
	struct canvas c;
	struct rect before;

	(void)state;
	canvas_init(&c);
	canvas_resize(&c, 8, 3);
	assert_int_equal(text(&c, 0, 0, -1, STYLE_BOLD, "hello world"), 11);
	assert_int_equal(text(&c, -2, 1, -1, STYLE_NORMAL, "abcd"), 4);
	assert_int_equal(text(&c, 3, 1, 2, STYLE_NORMAL, "xyz"), 2);
	assert_int_equal(text(&c, 0, 3, -1, STYLE_NORMAL, "below"), 0);
	assert_int_equal(text(&c, 0, -1, -1, STYLE_NORMAL, "above"), 0);
	text(&c, 100, 1, -1, STYLE_NORMAL, "right of it");
	before = canvas_clip(&c, (struct rect){ 2, 2, 3, 10 });
	text(&c, 0, 2, -1, STYLE_OK, "abcdefgh");
	text(&c, 2, 1, -1, STYLE_OK, "not here");
	canvas_clip(&c, before);
	check_dump(&c, "hello wo\n~BBBBBBBB\ncd xy\n  cde\n~  ooo\n");
	canvas_select(&c, 1, 2, 2);
	canvas_style(&c, 6, 0, 20, STYLE_MATCH);
	check_dump(&c, "hello wo\n~BBBBBBmm\ncd xy\n  cde\n~ RRoo\n");
	canvas_fill(&c, (struct rect){ 0, 0, 4, 1 }, STYLE_BAR);
	canvas_hline(&c, 5, 2, 50, STYLE_LINE);
	check_dump(&c, "    o wo\n~====BBmm\ncd xy\n  cde───\n~ RRoo---\n");
	canvas_resize(&c, 3, 1);
	check_dump(&c, "\n");
	canvas_resize(&c, 0, 0);
	text(&c, 0, 0, -1, STYLE_NORMAL, "x");
	check_dump(&c, "");
	canvas_resize(&c, -5, 1 << 30);
	assert_int_equal(c.w, 0);
	canvas_release(&c);
}

static void wide_and_combining(void **state)
{
	struct canvas c;

	(void)state;
	canvas_init(&c);
	canvas_resize(&c, 6, 4);
	assert_int_equal(text(&c, 0, 0, -1, STYLE_OK, "日本e\xcc\x81x"), 6);
	assert_int_equal(text(&c, 0, 1, 3, STYLE_OK, "日本"), 2); /* the second does not fit into 3 */
	assert_int_equal(text(&c, 5, 2, -1, STYLE_OK, "日"), 2); /* half of it is outside */
	text(&c, 0, 3, -1, STYLE_OK, "日本語");
	text(&c, 1, 3, -1, STYLE_BAD, "x"); /* breaks the first */
	text(&c, 4, 3, -1, STYLE_BAD, "y"); /* and the last */
	check_dump(&c, "日本e\xcc\x81x\n~oooooo\n日\n~oo\n\n~     o\n x本y\n~ boob\n");
	assert_int_equal(c.cell[0].width, 2);
	assert_int_equal(c.cell[1].width, 0);
	assert_int_equal(c.cell[4].len, 3);
	/* A mark without a base is dropped; a heap of marks stays within its cell. */
	canvas_clear(&c);
	assert_int_equal(text(&c, 0, 0, -1, STYLE_NORMAL,
				 "\xcc\x81"
				 "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"
				 "b"),
		2);
	assert_true(c.cell[0].len <= CELL_TEXT_MAX);
	assert_memory_equal(c.cell[1].text, "b", 1);
	canvas_release(&c);
}

/* What should not get here at all comes out harmless. */
static void last_line_of_defence(void **state)
{
	struct canvas c;

	(void)state;
	canvas_init(&c);
	canvas_resize(&c, 8, 1);
	text(&c, 0, 0, -1, STYLE_NORMAL, "a\033\x01\x7f\xc2\x9b\xff\xc3z");
	check_dump(&c, "a??????z\n");
	canvas_release(&c);
}

static void ascii_only(void **state)
{
	struct canvas c;

	(void)state;
	canvas_init(&c);
	canvas_resize(&c, 12, 2);
	c.ascii = true;
	text(&c, 0, 0, -1, STYLE_NORMAL, "–…←▁▄█日é●a\xcc\x81");
	canvas_hline(&c, 0, 1, 3, STYLE_NORMAL);
	check_dump(&c, "-~<.=#???*a\n---\n");
	canvas_release(&c);
}

static void sparks(void **state)
{
	float points[6] = { 0, 50, 100, NAN, 100, 0 };
	char out[64];

	(void)state;
	assert_string_equal(spark_text(out, sizeof out, points, 6, 6, 100), "▁▅█ █▁");
	assert_string_equal(spark_text(out, sizeof out, points, 6, 3, 100), "▅██");
	assert_string_equal(spark_text(out, sizeof out, points, 6, 100, 100), "▁▅█ █▁");
	assert_string_equal(spark_text(out, sizeof out, points, 6, 0, 100), "");
	assert_string_equal(spark_text(out, 7, points, 6, 6, 100), "▁▅");
	assert_string_equal(spark_text(out, sizeof out, points, 2, 2, 0), "▁▁");
	points[1] = 1e9f;
	assert_string_equal(spark_text(out, sizeof out, points, 2, 2, 100), "▁█");
}

static void rows_pad_cut_and_find(void **state)
{
	struct canvas c;
	struct rows r;

	(void)state;
	rows_init(&r);
	rows_start(&r, 1, 0);
	rows_cell(&r, 6, STYLE_BOLD, span_of("日本語の"));
	rows_cell(&r, 4, STYLE_NORMAL, span_of("ab"));
	rows_right(&r, 5, STYLE_OK, "%d", 42);
	rows_to(&r, 10);
	rows_text(&r, STYLE_NORMAL, "e\033[1m");
	assert_true(span_is(rows_line(&r, 0), "日本… ab     42 e^[[1m"));
	assert_int_equal(r.column, 22);
	canvas_init(&c);
	canvas_resize(&c, 10, 1);
	rows_draw(&r, 0, &c, 0, 0, 10, 0, span_of("AB"));
	check_dump(&c, "日本… ab …\n~BBBBB mm d\n");
	canvas_clear(&c);
	rows_draw(&r, 0, &c, 0, 0, 10, 11, span_of(""));
	check_dump(&c, "… 42 e^[[…\n~d oo     d\n");
	canvas_release(&c);
	assert_int_equal(rows_match(span_of("Hello"), span_of("LLO")), 2);
	assert_int_equal(rows_match(span_of("Hello"), span_of("")), -1);
	assert_int_equal(rows_match(span_of("He"), span_of("Hello")), -1);
	rows_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_and_clips),
		cmocka_unit_test(wide_and_combining),
		cmocka_unit_test(last_line_of_defence),
		cmocka_unit_test(ascii_only),
		cmocka_unit_test(sparks),
		cmocka_unit_test(rows_pad_cut_and_find),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
