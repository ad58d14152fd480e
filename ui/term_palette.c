#include "config.h"

#include "ui/term_palette.h"

#include <string.h>

#define B LOOK_BOLD
#define D LOOK_DIM
#define U LOOK_UNDERLINE
#define R LOOK_REVERSE

/* Attributes alone. Every style that matters differs by more than bold, which console fonts may lack. */
const struct look palette_mono[STYLE_COUNT] = {
	[STYLE_NORMAL] = { -1, -1, 0 },
	[STYLE_DIM] = { -1, -1, D },
	[STYLE_BOLD] = { -1, -1, B },
	[STYLE_TITLE] = { -1, -1, B },
	[STYLE_HEAD] = { -1, -1, D },
	[STYLE_OK] = { -1, -1, 0 },
	[STYLE_INFO] = { -1, -1, 0 },
	[STYLE_WARN] = { -1, -1, B | U },
	[STYLE_BAD] = { -1, -1, B | R },
	[STYLE_STALE] = { -1, -1, D | U },
	[STYLE_KEY] = { -1, -1, B },
	[STYLE_MATCH] = { -1, -1, R | U },
	[STYLE_LINE] = { -1, -1, D },
	[STYLE_GRAPH] = { -1, -1, 0 },
	[STYLE_CURRENT] = { -1, -1, R },
	[STYLE_BAR] = { -1, -1, R },
	[STYLE_BADGE_OK] = { -1, -1, R | B },
	[STYLE_BADGE_INFO] = { -1, -1, R | B },
	[STYLE_BADGE_WARN] = { -1, -1, R | B | U },
	[STYLE_BADGE_BAD] = { -1, -1, R | B | U },
	[STYLE_BADGE_NONE] = { -1, -1, R },
};

/* Blue is well, orange is ill: told apart with red-green blindness too. Contrast at least 4.5:1 on black. */
static const struct look dark_rich[STYLE_COUNT] = {
	[STYLE_NORMAL] = { -1, -1, 0 },
	[STYLE_DIM] = { 245, -1, 0 },
	[STYLE_BOLD] = { -1, -1, B },
	[STYLE_TITLE] = { 117, -1, B },
	[STYLE_HEAD] = { 245, -1, 0 },
	[STYLE_OK] = { 75, -1, 0 },
	[STYLE_INFO] = { 152, -1, 0 },
	[STYLE_WARN] = { 220, -1, 0 },
	[STYLE_BAD] = { 208, -1, B },
	[STYLE_STALE] = { 245, -1, U },
	[STYLE_KEY] = { 117, -1, B },
	[STYLE_MATCH] = { 16, 220, 0 },
	[STYLE_LINE] = { 240, -1, 0 },
	[STYLE_GRAPH] = { 75, -1, 0 },
	[STYLE_CURRENT] = { 16, 117, 0 },
	[STYLE_BAR] = { 252, 236, 0 },
	[STYLE_BADGE_OK] = { 16, 75, B },
	[STYLE_BADGE_INFO] = { 16, 152, B },
	[STYLE_BADGE_WARN] = { 16, 220, B },
	[STYLE_BADGE_BAD] = { 16, 208, B },
	[STYLE_BADGE_NONE] = { 16, 250, 0 },
};

static const struct look dark_basic[STYLE_COUNT] = {
	[STYLE_NORMAL] = { -1, -1, 0 },
	[STYLE_DIM] = { -1, -1, D },
	[STYLE_BOLD] = { -1, -1, B },
	[STYLE_TITLE] = { 6, -1, B },
	[STYLE_HEAD] = { -1, -1, D },
	[STYLE_OK] = { 6, -1, 0 },
	[STYLE_INFO] = { 6, -1, 0 },
	[STYLE_WARN] = { 3, -1, 0 },
	[STYLE_BAD] = { 3, -1, B | U },
	[STYLE_STALE] = { -1, -1, D | U },
	[STYLE_KEY] = { 6, -1, B },
	[STYLE_MATCH] = { 0, 3, 0 },
	[STYLE_LINE] = { -1, -1, D },
	[STYLE_GRAPH] = { 6, -1, 0 },
	[STYLE_CURRENT] = { 0, 6, 0 },
	[STYLE_BAR] = { -1, -1, R },
	[STYLE_BADGE_OK] = { 0, 6, 0 },
	[STYLE_BADGE_INFO] = { 0, 6, 0 },
	[STYLE_BADGE_WARN] = { 0, 3, 0 },
	[STYLE_BADGE_BAD] = { 0, 3, B | U },
	[STYLE_BADGE_NONE] = { 0, 7, 0 },
};

/* On a light background: dark blue and dark orange. */
static const struct look light_rich[STYLE_COUNT] = {
	[STYLE_NORMAL] = { 16, -1, 0 },
	[STYLE_DIM] = { 240, -1, 0 },
	[STYLE_BOLD] = { 16, -1, B },
	[STYLE_TITLE] = { 25, -1, B },
	[STYLE_HEAD] = { 240, -1, 0 },
	[STYLE_OK] = { 25, -1, 0 },
	[STYLE_INFO] = { 24, -1, 0 },
	[STYLE_WARN] = { 94, -1, B },
	[STYLE_BAD] = { 130, -1, B },
	[STYLE_STALE] = { 240, -1, U },
	[STYLE_KEY] = { 25, -1, B },
	[STYLE_MATCH] = { 16, 220, 0 },
	[STYLE_LINE] = { 248, -1, 0 },
	[STYLE_GRAPH] = { 25, -1, 0 },
	[STYLE_CURRENT] = { 231, 25, 0 },
	[STYLE_BAR] = { 16, 253, 0 },
	[STYLE_BADGE_OK] = { 231, 25, B },
	[STYLE_BADGE_INFO] = { 231, 24, B },
	[STYLE_BADGE_WARN] = { 16, 220, B },
	[STYLE_BADGE_BAD] = { 231, 130, B },
	[STYLE_BADGE_NONE] = { 231, 240, 0 },
};

static const struct look light_basic[STYLE_COUNT] = {
	[STYLE_NORMAL] = { 0, -1, 0 },
	[STYLE_DIM] = { 0, -1, D },
	[STYLE_BOLD] = { 0, -1, B },
	[STYLE_TITLE] = { 4, -1, B },
	[STYLE_HEAD] = { 0, -1, D },
	[STYLE_OK] = { 4, -1, 0 },
	[STYLE_INFO] = { 4, -1, 0 },
	[STYLE_WARN] = { 1, -1, 0 },
	[STYLE_BAD] = { 1, -1, B | U },
	[STYLE_STALE] = { 0, -1, D | U },
	[STYLE_KEY] = { 4, -1, B },
	[STYLE_MATCH] = { 0, 3, 0 },
	[STYLE_LINE] = { 0, -1, D },
	[STYLE_GRAPH] = { 4, -1, 0 },
	[STYLE_CURRENT] = { 7, 4, 0 },
	[STYLE_BAR] = { 0, 7, 0 },
	[STYLE_BADGE_OK] = { 7, 4, B },
	[STYLE_BADGE_INFO] = { 7, 4, 0 },
	[STYLE_BADGE_WARN] = { 0, 3, 0 },
	[STYLE_BADGE_BAD] = { 7, 1, B },
	[STYLE_BADGE_NONE] = { 7, 0, 0 },
};

/* Nothing dim; white on black whatever the terminal's own colours are. */
static const struct look contrast_rich[STYLE_COUNT] = {
	[STYLE_NORMAL] = { 231, 16, 0 },
	[STYLE_DIM] = { 231, 16, 0 },
	[STYLE_BOLD] = { 231, 16, B },
	[STYLE_TITLE] = { 51, 16, B },
	[STYLE_HEAD] = { 51, 16, 0 },
	[STYLE_OK] = { 51, 16, 0 },
	[STYLE_INFO] = { 51, 16, 0 },
	[STYLE_WARN] = { 226, 16, B },
	[STYLE_BAD] = { 214, 16, B | U },
	[STYLE_STALE] = { 231, 16, U },
	[STYLE_KEY] = { 226, 16, B },
	[STYLE_MATCH] = { 16, 226, 0 },
	[STYLE_LINE] = { 231, 16, 0 },
	[STYLE_GRAPH] = { 51, 16, 0 },
	[STYLE_CURRENT] = { 16, 231, 0 },
	[STYLE_BAR] = { 16, 231, 0 },
	[STYLE_BADGE_OK] = { 16, 51, B },
	[STYLE_BADGE_INFO] = { 16, 51, B },
	[STYLE_BADGE_WARN] = { 16, 226, B },
	[STYLE_BADGE_BAD] = { 16, 214, B },
	[STYLE_BADGE_NONE] = { 16, 231, 0 },
};

static const struct look contrast_basic[STYLE_COUNT] = {
	[STYLE_NORMAL] = { 7, 0, 0 },
	[STYLE_DIM] = { 7, 0, 0 },
	[STYLE_BOLD] = { 7, 0, B },
	[STYLE_TITLE] = { 6, 0, B },
	[STYLE_HEAD] = { 6, 0, 0 },
	[STYLE_OK] = { 6, 0, B },
	[STYLE_INFO] = { 6, 0, B },
	[STYLE_WARN] = { 3, 0, B },
	[STYLE_BAD] = { 3, 0, B | U },
	[STYLE_STALE] = { 7, 0, U },
	[STYLE_KEY] = { 3, 0, B },
	[STYLE_MATCH] = { 0, 3, 0 },
	[STYLE_LINE] = { 7, 0, 0 },
	[STYLE_GRAPH] = { 6, 0, B },
	[STYLE_CURRENT] = { 0, 7, 0 },
	[STYLE_BAR] = { 0, 7, 0 },
	[STYLE_BADGE_OK] = { 0, 6, 0 },
	[STYLE_BADGE_INFO] = { 0, 6, 0 },
	[STYLE_BADGE_WARN] = { 0, 3, 0 },
	[STYLE_BADGE_BAD] = { 0, 3, B | U },
	[STYLE_BADGE_NONE] = { 0, 7, 0 },
};

static const struct palette palettes[] = {
	{ "default", dark_rich, dark_basic },
	{ "mono", NULL, NULL },
	{ "high-contrast", contrast_rich, contrast_basic },
	{ "light", light_rich, light_basic },
	{ "16", NULL, dark_basic },
};

const struct palette *palette_find(const char *name)
{
	if (!name || !*name)
		return &palettes[0];
	for (size_t i = 0; i < sizeof palettes / sizeof *palettes; i++)
		if (!strcmp(palettes[i].name, name))
			return &palettes[i];
	return NULL;
}
