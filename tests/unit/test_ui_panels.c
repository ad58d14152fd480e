/* test_ui_panels.c - golden dumps of every panel: UPDATE=1 in the environment writes them anew. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui_scene.h"
#include "ui/keys.h"

static const struct {
	int w, h;
} sizes[] = { { 80, 24 }, { 60, 10 }, { 200, 60 }, { 40, 10 }, { 20, 5 }, { 19, 5 } };
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static const char *const panel_names[] = { "", "overview", "server", "gpus", "ranks", "stacks", "waves", "log", "events",
	"sources", "snapshot", "help" };

static char key_of(int panel)
{
	return panel == PANEL_HELP ? '?' : panel == PANEL_SNAPSHOT ? 'v' : (char)('0' + panel);
}

/* --- comparing --- */

static void read_file(const char *path, struct buf *out)
{
	char block[4096];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		return;
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		buf_add(out, block, n);
	fclose(file);
}

static void compare(const char *name, const struct buf *got)
{
	const char *srcdir = getenv("srcdir"), *update = getenv("UPDATE");
	struct span a, b, x = { "", 0 }, y = { "", 0 };
	struct buf want;
	char path[400];

	snprintf(path, sizeof path, "%s/tests/golden/ui/%s.txt", srcdir ? srcdir : ".", name);
	if (update && *update) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		fwrite(buf_string(got), 1, got->len, file);
		assert_int_equal(fclose(file), 0);
		return;
	}
	buf_init(&want, 0);
	read_file(path, &want);
	a = buf_as_span(&want);
	b = buf_as_span(got);
	for (;;) {
		bool more_a = span_line(&a, &x), more_b = span_line(&b, &y);

		if (!more_a && !more_b)
			break;
		if (more_a != more_b || !span_same(x, y))
			fail_msg("%s:\n want %.*s|\n got  %.*s|", path, more_a ? (int)x.len : 0, x.at,
				more_b ? (int)y.len : 0, y.at);
	}
	assert_int_equal(want.len, got->len);
	buf_release(&want);
}

static void draw(struct ui *ui, const struct view *view, int w, int h, struct buf *out)
{
	struct canvas c;

	canvas_init(&c);
	canvas_resize(&c, w, h);
	ui_draw(ui, &c, view);
	buf_printf(out, "=== %dx%d\n", w, h);
	canvas_dump(&c, out);
	canvas_release(&c);
}

static void press(struct ui *ui, const struct view *view, const char *keys)
{
	struct request request;

	for (; *keys; keys++)
		ui_key(ui, *keys == '\r' ? UI_KEY_ENTER : *keys, view, &request);
}

/* One panel in all sizes, then with `keys` pressed on 80x24. */
static void golden(struct scene *s, const char *scene, int panel, bool ascii, const char *keys, int count)
{
	struct ui_options options = { .ascii = ascii };
	struct ui *ui = ui_new(&options);
	char text[2] = { key_of(panel), 0 }, name[100];
	struct buf out;

	buf_init(&out, 0);
	press(ui, &s->view, text);
	for (int i = 0; i < count; i++)
		draw(ui, &s->view, sizes[i].w, sizes[i].h, &out);
	if (*keys) {
		struct buf none;

		buf_init(&none, 0);
		draw(ui, &s->view, 80, 24, &none);
		buf_release(&none);
		press(ui, &s->view, keys);
		buf_text(&out, "=== after keys\n");
		draw(ui, &s->view, 80, 24, &out);
	}
	snprintf(name, sizeof name, "%s-%s%s", scene, panel_names[panel], ascii ? "-ascii" : "");
	compare(name, &out);
	buf_release(&out);
	ui_free(ui);
}

/* --- tests --- */

static void hung_every_panel(void **state)
{
	static const char *const keys[] = { "", "jjjj", "jj\r", "jj\r", "jjj\r", "\r", "j\r", "/TP3\r", "k\r", "", "", "/zoom" };
	struct scene s;

	(void)state;
	scene_hung(&s);
	for (int p = PANEL_OVERVIEW; p <= PANEL_HELP; p++) {
		golden(&s, "hung", p, false, keys[p], SIZES);
		golden(&s, "hung", p, true, "", SIZES);
	}
	scene_release(&s);
}

static void other_scenes(void **state)
{
	struct scene s;

	(void)state;
	scene_healthy(&s);
	golden(&s, "healthy", PANEL_OVERVIEW, false, "", SIZES);
	golden(&s, "healthy", PANEL_STACKS, false, "", 1);
	scene_release(&s);

	scene_fault(&s);
	golden(&s, "fault", PANEL_WAVES, false, "/30 w\r\rz", SIZES);
	golden(&s, "fault", PANEL_WAVES, true, "/12 w\r\rz", SIZES);
	golden(&s, "fault", PANEL_EVENTS, false, "G\r", 1);
	scene_release(&s);

	scene_empty(&s);
	for (int p = PANEL_OVERVIEW; p <= PANEL_SOURCES; p++)
		golden(&s, "empty", p, false, "jG\r", 4);
	scene_release(&s);

	scene_replay(&s);
	golden(&s, "replay", PANEL_OVERVIEW, false, "z", 4);
	golden(&s, "replay", PANEL_GPUS, false, "", 1);
	golden(&s, "replay", PANEL_RANKS, true, "", 1);
	scene_release(&s);

	scene_many(&s);
	golden(&s, "many", PANEL_OVERVIEW, false, "", SIZES);
	golden(&s, "many", PANEL_GPUS, false, "\r", 3);
	golden(&s, "many", PANEL_STACKS, false, "\\denied\r", 1);
	golden(&s, "many", PANEL_RANKS, false, "G", 1);
	scene_release(&s);
}

static void snapshots(void **state)
{
	struct scene s;

	(void)state;
	scene_hung(&s);
	scene_guard(&s, "4103-1", "");
	scene_snapshot(&s, "4103-1", 4, "preview", "");
	golden(&s, "preview", PANEL_SNAPSHOT, false, "\r", 4);
	golden(&s, "preview-ry", PANEL_SNAPSHOT, true, "y", 1);
	scene_guard(&s, "4103-2", "debug-agent");
	scene_snapshot(&s, "4103-2", 3, "refused", "");
	golden(&s, "refused", PANEL_SNAPSHOT, false, "", 4);
	scene_release(&s);

	scene_hung(&s);
	scene_snapshot(&s, "4103-3", 3, "running", "");
	golden(&s, "running", PANEL_SNAPSHOT, false, "", 1);
	scene_release(&s);

	scene_hung(&s);
	scene_snapshot(&s, "4103-4", 20, "done", "ok");
	scene_seen(&s, "4103-4", 20, 8121);
	golden(&s, "first", PANEL_SNAPSHOT, false, "\r", 4);
	scene_snapshot(&s, "4103-5", 5, "done", "ok");
	scene_seen(&s, "4103-5", 5, 8121);
	golden(&s, "stuck", PANEL_SNAPSHOT, false, "", 4);
	golden(&s, "stuck", PANEL_SNAPSHOT, true, "", 4);
	scene_snapshot(&s, "4103-6", 1, "done", "ok");
	scene_seen(&s, "4103-6", 1, 8140);
	golden(&s, "moving", PANEL_SNAPSHOT, false, "", 1);
	scene_snapshot(&s, "4103-7", 0, "failed", "stopped");
	golden(&s, "alarm", PANEL_SNAPSHOT, false, "", 4);
	golden(&s, "alarm", PANEL_OVERVIEW, true, "z", 4);
	FEED(&s.model, "{'t':%lld,'node':'n1','kind':'action','what':'acknowledge','who':'key','argv':['4103-7']}", AT(0));
	golden(&s, "seen", PANEL_OVERVIEW, false, "", 1);
	s.view.read_only = true;
	golden(&s, "read-only", PANEL_HELP, false, "", 1);
	scene_release(&s);
}

/* Nothing foreign reaches a cell as a control, whatever the panel; ASCII screens are ASCII. */
static void foreign_text_is_inert(void **state)
{
	struct scene s;

	(void)state;
	scene_foreign(&s);
	golden(&s, "foreign", PANEL_OVERVIEW, false, "", 4);
	golden(&s, "foreign", PANEL_LOG, false, "g\r", 4);
	golden(&s, "foreign", PANEL_LOG, true, "", 2);
	golden(&s, "foreign", PANEL_EVENTS, false, "", 1);
	golden(&s, "foreign", PANEL_WAVES, false, "jj\r", 1);
	golden(&s, "foreign", PANEL_SOURCES, false, "j\r", 1);
	for (int ascii = 0; ascii < 2; ascii++) {
		struct ui_options options = { .ascii = ascii };
		struct ui *ui = ui_new(&options);
		struct canvas c;

		canvas_init(&c);
		for (int p = PANEL_OVERVIEW; p <= PANEL_HELP; p++) {
			for (int w = 1; w < 120; w += 7) {
				char key[2] = { key_of(p), 0 };

				press(ui, &s.view, key);
				canvas_resize(&c, w, 3 + w / 3);
				ui_draw(ui, &c, &s.view);
				press(ui, &s.view, "G\rj");
				ui_draw(ui, &c, &s.view);
				for (int i = 0; i < c.w * c.h; i++)
					for (int n = 0; n < c.cell[i].len; n++) {
						unsigned char byte = (unsigned char)c.cell[i].text[n];

						assert_true(byte >= 0x20 && byte != 0x7f);
						assert_true(!ascii || byte < 0x7f);
						assert_false(n == 1 && c.cell[i].len == 2 &&
							     (unsigned char)c.cell[i].text[0] == 0xc2 && byte < 0xa0);
					}
			}
			press(ui, &s.view, p == PANEL_HELP ? "q" : "");
		}
		canvas_release(&c);
		ui_free(ui);
	}
	scene_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hung_every_panel),
		cmocka_unit_test(other_scenes),
		cmocka_unit_test(snapshots),
		cmocka_unit_test(foreign_text_is_inert),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
