/* term_palette.h - what each style looks like in each palette, for 256, 16 and no colours. Who: term.c only. */
#ifndef HANGTOP_UI_TERM_PALETTE_H
#define HANGTOP_UI_TERM_PALETTE_H

#include <stdbool.h>

#include "ui/canvas.h"

enum look_attribute { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

struct look {
	short fg, bg; /* -1 the terminal's own */
	unsigned attributes;
};

struct palette {
	const char *name;
	const struct look *rich; /* for 256 colours; NULL: use basic */
	const struct look *basic; /* for 8 and 16 colours; NULL: no colour at all */
};

/* NULL when there is no palette of this name. NULL or "" is the default. */
const struct palette *palette_find(const char *name);
extern const struct look palette_mono[STYLE_COUNT];

#endif
