#include "config.h"

#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/keys.h"
#include "ui/term_palette.h"

#define ESC_DELAY_MS 25
#define DOUBLE_CLICK_MS 400
#define ROW_MAX 2000

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT };
#define FATALS ((int)(sizeof fatal_signals / sizeof *fatal_signals))

static struct {
	SCREEN *screen;
	bool open;
	bool titles; /* the terminal has a title to set */
	attr_t attributes[STYLE_COUNT];
	short pair[STYLE_COUNT];
	struct cell *last; /* what is on the screen */
	int last_w, last_h;
	int mouse_x, mouse_y, mouse_button;
	int64_t click_t;
	bool mouse_twice;
} term;

/* What the fatal path needs, ready beforehand: it may only call what is async-signal-safe. */
static struct {
	volatile sig_atomic_t armed;
	char reset[256];
	size_t len;
	struct termios modes;
	struct sigaction before[FATALS];
	char stack[64 << 10];
} rescue;

/* --- restoring --- */

static void write_all(const char *at, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		at += n;
		len -= (size_t)n;
	}
}

static void rescue_now(void)
{
	if (!rescue.armed)
		return;
	rescue.armed = 0;
	write_all(rescue.reset, rescue.len);
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
	(void)context;
	rescue_now();
	for (int i = 0; i < FATALS; i++)
		if (fatal_signals[i] == number)
			sigaction(number, &rescue.before[i], NULL);
	/* A fault of our own happens again when we return; what was sent must be sent again. */
	if (info->si_code <= 0 || number == SIGABRT || number == SIGQUIT)
		raise(number);
}

/* A terminfo string without its $<padding>. */
static void rescue_add(const char *text)
{
	if (!text || text == (const char *)-1)
		return;
	while (*text && rescue.len < sizeof rescue.reset) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end)
			text = end + 1;
		else
			rescue.reset[rescue.len++] = *text++;
	}
}

static void rescue_prepare(bool mouse)
{
	rescue.len = 0;
	if (mouse)
		rescue_add("\033[?1006l\033[?1000l");
	rescue_add(tigetstr("sgr0"));
	rescue_add(tigetstr("op"));
	rescue_add(tigetstr("rmkx"));
	rescue_add(tigetstr("cnorm"));
	if (term.titles)
		rescue_add("\033[23;2t");
	rescue_add(tigetstr("rmcup"));
	rescue_add("\r\n");
}

static void rescue_arm(void)
{
	stack_t stack = { .ss_sp = rescue.stack, .ss_size = sizeof rescue.stack };
	struct sigaction action = { .sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < FATALS; i++)
		sigaction(fatal_signals[i], &action, &rescue.before[i]);
	rescue.armed = 1;
	mem_on_fatal(rescue_now);
}

static void rescue_disarm(void)
{
	if (!rescue.armed)
		return;
	rescue.armed = 0;
	for (int i = 0; i < FATALS; i++)
		sigaction(fatal_signals[i], &rescue.before[i], NULL);
	mem_on_fatal(NULL);
}

/* --- opening --- */

static bool wants_color(enum term_color color)
{
	const char *no = getenv("NO_COLOR"), *cli = getenv("CLICOLOR");

	if (color == TERM_COLOR_AUTO)
		return !(no && *no) && !(cli && !strcmp(cli, "0"));
	return color == TERM_COLOR_ALWAYS;
}

static attr_t attributes_of(unsigned look)
{
	return (look & LOOK_BOLD ? A_BOLD : 0) | (look & LOOK_DIM ? A_DIM : 0) |
	       (look & LOOK_UNDERLINE ? A_UNDERLINE : 0) | (look & LOOK_REVERSE ? A_REVERSE : 0);
}

static void set_styles(const struct palette *palette, enum term_color color)
{
	const struct look *look = palette_mono;

	if (wants_color(color) && palette->basic && has_colors() && start_color() == OK && COLORS >= 8) {
		use_default_colors();
		look = palette->rich && COLORS >= 256 ? palette->rich : palette->basic;
	}
	for (int i = 0; i < STYLE_COUNT; i++) {
		term.attributes[i] = attributes_of(look[i].attributes);
		term.pair[i] = 0;
		if (look[i].fg < 0 && look[i].bg < 0)
			continue;
		term.pair[i] = (short)(i + 1);
		init_pair(term.pair[i], look[i].fg, look[i].bg);
	}
}

/* Like raw(), but Ctrl-\ still ends a program that hangs. */
static void set_modes(void)
{
	struct termios modes;

	raw();
	noecho();
	nonl();
	if (tcgetattr(STDIN_FILENO, &modes) == 0) {
		modes.c_lflag |= ISIG;
		modes.c_cc[VINTR] = modes.c_cc[VSUSP] = _POSIX_VDISABLE;
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
		def_prog_mode();
	}
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	curs_set(0);
	leaveok(stdscr, TRUE);
	typeahead(-1); /* a frame is painted whole: keys are read by the loop, not looked for in the middle */
}

static int check(const struct palette *palette, const struct term_options *options, struct error *error)
{
	const char *name = getenv("TERM");

	if (!palette) {
		error_set(error, "no palette %s", options->palette);
		return error_fix(error, "--palette default, mono, high-contrast, light or 16");
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		error_set(error, "no terminal: %s is redirected", isatty(STDIN_FILENO) ? "output" : "input");
		return error_fix(error, "hangtop --once prints the state as text");
	}
	if (!name || !*name || !strcmp(name, "dumb")) {
		error_set(error, "TERM is %s: this terminal cannot show a screen", name && *name ? name : "not set");
		return error_fix(error, "hangtop --once prints the state as text; or TERM=xterm-256color hangtop");
	}
	return 0;
}

int term_open(const struct term_options *options, struct error *error)
{
	const struct palette *palette = palette_find(options->palette);
	static bool at_exit;

	if (term.open)
		return 0;
	if (check(palette, options, error) < 0)
		return -1;
	tcgetattr(STDIN_FILENO, &rescue.modes);
	use_tioctl(TRUE);
	set_escdelay(ESC_DELAY_MS);
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen) {
		error_set(error, "the terminal type %s is not known here", getenv("TERM"));
		return error_fix(error, "TERM=xterm-256color hangtop");
	}
	term.open = true;
	term.titles = tigetflag("XT") > 0;
	rescue_prepare(options->mouse);
	rescue_arm();
	if (!at_exit)
		atexit(term_close);
	at_exit = true;
	set_modes();
	set_styles(palette, options->color);
	if (options->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
	if (term.titles)
		write_all("\033[22;2t", 7);
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	mousemask(0, NULL);
	curs_set(1);
	endwin();
	if (term.titles)
		write_all("\033[23;2t", 7);
	rescue_disarm();
	delscreen(term.screen);
	term.screen = NULL;
	free(term.last);
	term.last = NULL;
	term.last_w = term.last_h = 0;
}

void term_suspend(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;

	if (!term.open)
		return;
	curs_set(1);
	endwin();
	sigaction(SIGTSTP, &plain, &before);
	kill(getpid(), SIGTSTP);
	sigaction(SIGTSTP, &before, NULL);
	term_resized();
	curs_set(0);
	term_redraw();
	refresh();
}

/* --- size --- */

void term_size(int *width, int *height)
{
	*width = term.open ? COLS : 0;
	*height = term.open ? LINES : 0;
}

void term_resized(void)
{
	struct winsize size;

	if (!term.open || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
		return;
	if (size.ws_col == COLS && size.ws_row == LINES)
		return;
	resizeterm(size.ws_row, size.ws_col);
	term_redraw();
}

void term_redraw(void)
{
	if (!term.open)
		return;
	clearok(curscr, TRUE);
	term.last_w = term.last_h = 0;
}

/* --- keys --- */

static int function_key(wint_t code)
{
	static const struct {
		wint_t curses;
		int key;
	} keys[] = {
		{ KEY_UP, UI_KEY_UP },
		{ KEY_DOWN, UI_KEY_DOWN },
		{ KEY_LEFT, UI_KEY_LEFT },
		{ KEY_RIGHT, UI_KEY_RIGHT },
		{ KEY_PPAGE, UI_KEY_PAGE_UP },
		{ KEY_NPAGE, UI_KEY_PAGE_DOWN },
		{ KEY_HOME, UI_KEY_HOME },
		{ KEY_END, UI_KEY_END },
		{ KEY_BACKSPACE, UI_KEY_BACKSPACE },
		{ KEY_DC, UI_KEY_DELETE },
		{ KEY_BTAB, UI_KEY_BACK_TAB },
		{ KEY_ENTER, UI_KEY_ENTER },
		{ KEY_RESIZE, UI_KEY_RESIZE },
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].curses == code)
			return keys[i].key;
	if (code >= KEY_F(1) && code <= KEY_F(10))
		return UI_KEY_F1 + (int)(code - KEY_F(1));
	return 0;
}

static bool take_mouse(void)
{
	int64_t now = clock_mono_ms();
	MEVENT event;

	if (getmouse(&event) != OK)
		return false;
	term.mouse_button = event.bstate & BUTTON1_PRESSED   ? 1
			    : event.bstate & BUTTON4_PRESSED ? 4
			    : event.bstate & BUTTON5_PRESSED ? 5
							     : 0;
	if (!term.mouse_button)
		return false;
	term.mouse_twice = term.mouse_button == 1 && now - term.click_t < DOUBLE_CLICK_MS && event.x == term.mouse_x &&
			   event.y == term.mouse_y;
	term.click_t = term.mouse_button == 1 && !term.mouse_twice ? now : 0;
	term.mouse_x = event.x;
	term.mouse_y = event.y;
	return true;
}

static bool terminal_gone(void)
{
	struct pollfd poll_one = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&poll_one, 1, 0) == 1 && (poll_one.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int term_key(void)
{
	wint_t code;

	while (term.open) {
		int result = get_wch(&code), key;

		if (result == ERR)
			return terminal_gone() ? KEY_CTRL('c') : 0;
		if (result == KEY_CODE_YES) {
			key = code == KEY_MOUSE ? take_mouse() ? UI_KEY_MOUSE : 0 : function_key(code);
			if (key)
				return key;
			continue; /* a key that means nothing to us */
		}
		if (code == '\r' || code == '\n')
			return UI_KEY_ENTER;
		if (code == 8 || code == 127)
			return UI_KEY_BACKSPACE;
		if (code == KEY_CTRL('l'))
			term_redraw();
		if (code)
			return (int)code;
	}
	return 0;
}

void term_mouse(int *x, int *y, int *button, bool *twice)
{
	*x = term.mouse_x;
	*y = term.mouse_y;
	*button = term.mouse_button;
	*twice = term.mouse_twice;
}

/* --- showing --- */

static void to_curses(const struct cell *cell, cchar_t *out)
{
	attr_t attributes = term.attributes[cell->style];
	wchar_t text[CCHARW_MAX + 1];
	struct span rest = span_make(cell->text, cell->len);
	uint32_t code;
	int n = 0;

	while (n < CCHARW_MAX && text_next(&rest, &code))
		text[n++] = (wchar_t)code;
	text[n] = 0;
	if (cell->selected)
		attributes ^= A_REVERSE;
	setcchar(out, text, attributes, term.pair[cell->style], NULL);
}

static void show_row(const struct cell *row, int y, int w)
{
	static cchar_t line[ROW_MAX + 1];
	int n = 0;

	for (int x = 0; x < w && n < ROW_MAX; x++)
		if (row[x].width)
			to_curses(&row[x], &line[n++]);
	mvadd_wchnstr(y, 0, line, n);
}

void term_show(const struct canvas *canvas)
{
	bool all, any = false;

	if (!term.open)
		return;
	all = term.last_w != canvas->w || term.last_h != canvas->h;
	if (all) {
		term.last = mem_array(term.last, (size_t)canvas->w * (size_t)canvas->h + 1, sizeof *term.last);
		term.last_w = canvas->w;
		term.last_h = canvas->h;
		erase();
	}
	for (int y = 0; y < canvas->h && y < LINES; y++) {
		size_t at = (size_t)y * (size_t)canvas->w, bytes = (size_t)canvas->w * sizeof *canvas->cell;

		if (!all && !memcmp(&term.last[at], &canvas->cell[at], bytes))
			continue;
		memcpy(&term.last[at], &canvas->cell[at], bytes);
		show_row(&canvas->cell[at], y, canvas->w < COLS ? canvas->w : COLS);
		any = true;
	}
	if (any)
		refresh();
}

void term_title(const char *text)
{
	char line[256];
	int n;

	if (!term.open || !term.titles)
		return;
	n = snprintf(line, sizeof line, "\033]2;%.200s\007", text);
	if (n > 0)
		write_all(line, (size_t)n);
}

void term_bell(void)
{
	if (term.open)
		beep();
}
