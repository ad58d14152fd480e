/* ui.h - the whole user interface behind five calls.
 *
 * Who: src/app. ui_key() never blocks and never touches the terminal; ui_draw() draws into a canvas (canvas.h) and
 * touches nothing else; term.h alone knows curses. Tests use ui_key() and ui_draw() without a terminal.
 */
#ifndef HANGTOP_UI_UI_H
#define HANGTOP_UI_UI_H

#include "ui/canvas.h"
#include "ui/view.h"

struct ui;

struct ui_options {
	bool ascii; /* no UTF-8: ASCII glyphs and lines */
	bool mouse;
};

struct ui *ui_new(const struct ui_options *options);
void ui_free(struct ui *ui);
/* One key (UI_KEY_* of ui/keys.h or a code point). Fills `request` (REQUEST_NONE when the app has nothing to do).
 * Returns true when the screen must be painted again. */
bool ui_key(struct ui *ui, int key, const struct view *view, struct request *request);
/* A mouse press or wheel (button 1, 4 up, 5 down) at a cell. */
bool ui_mouse(struct ui *ui, int x, int y, int button, bool twice, const struct view *view, struct request *request);
void ui_draw(struct ui *ui, struct canvas *canvas, const struct view *view);

#endif
