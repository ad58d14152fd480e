/* term.h - the only file that knows curses: cells to the terminal, keys from it, and restoring it whatever happens.
 *
 * Who: src/app, one thread. term_show() sends only what changed since the last one; nothing when nothing did.
 * term_open() sets handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGQUIT that restore the terminal
 * before the action that was set before, mem_on_fatal() and atexit(). SIGTERM, SIGINT and SIGHUP are the
 * caller's: call term_close(). The locale is the caller's too. The app reads keys when stdin is readable
 * (uv_poll), until term_key() gives 0. Ctrl-C and Ctrl-Z come as keys; Ctrl-\ kills.
 */
#ifndef HANGTOP_UI_TERM_H
#define HANGTOP_UI_TERM_H

#include "base/error.h"
#include "ui/canvas.h"

enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

struct term_options {
	enum term_color color; /* AUTO obeys NO_COLOR and CLICOLOR=0 */
	const char *palette; /* default mono high-contrast light 16; NULL default */
	bool ascii; /* set by the caller from the locale or --ascii */
	bool mouse;
};

/* -1 with words when stdin or stdout is no terminal, TERM is unset, dumb or unknown, or the palette is. */
int term_open(const struct term_options *options, struct error *error);
void term_close(void); /* safe to call twice, and when never opened */
void term_suspend(void); /* Ctrl-Z: restore, stop ourselves; returns after SIGCONT with the screen back */
void term_size(int *width, int *height);
void term_resized(void); /* after SIGWINCH: ask for the new size */
void term_redraw(void); /* forget what is on the screen; term_key() does it on Ctrl-L */
/* The next key waiting (UI_KEY_* of ui/keys.h or a code point), or 0. A terminal that is gone gives Ctrl-C.
 * Mouse events come as UI_KEY_MOUSE; ask term_mouse(): button 1, 4 wheel up, 5 wheel down. */
int term_key(void);
void term_mouse(int *x, int *y, int *button, bool *twice);
void term_show(const struct canvas *canvas);
void term_title(const char *text); /* window title, scrubbed by the caller; the old one comes back at the end */
void term_bell(void);

#endif
