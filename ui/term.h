/* term.h - the only file that knows curses: cells to the terminal, keys from it, and restoring it whatever happens.
 *
 * Only what changed is sent (curses compares). term_open() sets handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT
 * that restore the terminal before the default action, and mem_on_fatal(). The app reads keys when stdin is readable (uv_poll).
 */
#ifndef HANGTOP_UI_TERM_H
#define HANGTOP_UI_TERM_H

#include "base/error.h"
#include "ui/canvas.h"

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

struct term_options {
	enum term_color color;         /* AUTO obeys NO_COLOR, CLICOLOR=0 and TERM=dumb */
	const char *palette;           /* default mono high-contrast light 16; NULL default */
	bool ascii;                    /* set by the caller from the locale or --ascii */
	bool mouse;
};

int term_open(const struct term_options *options, struct error *error);
void term_close(void);                 /* safe to call twice, and when never opened */
void term_suspend(void);               /* Ctrl-Z: restore, stop ourselves; returns after SIGCONT with the screen back */
void term_size(int *width, int *height);
void term_resized(void);               /* after SIGWINCH */
void term_redraw(void);                /* Ctrl-L: forget what is on the screen */
/* The next key waiting (KEY_* of ui/keys.h or a code point), or 0. Mouse events come as KEY_MOUSE_EVENT with term_mouse(). */
int term_key(void);
void term_mouse(int *x, int *y, int *button, bool *twice);
void term_show(const struct canvas *canvas);
void term_title(const char *text);     /* window title, scrubbed by the caller */
void term_bell(void);

#endif
