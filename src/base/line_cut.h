/* line_cut.h - the ends of lines in a block of bytes, one after the other.
 *
 * Who: scan.c, on gigabytes of short lines, where one call of memchr() per line is most of the time. Looks at 64 bytes at once with
 * what every x86-64 has; elsewhere it is memchr(). Reads nothing outside the block; borrows it.
 */
#ifndef HANGTOP_BASE_LINE_CUT_H
#define HANGTOP_BASE_LINE_CUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE_CUT_BLOCK 64
#define LINE_CUT_SOON 2048 /* a mapped file is read straight from memory: ask for the bytes to come. Never faults. */

struct line_cut {
	const char *at, *end;  /* not yet looked at */
	const char *block;     /* what `left` speaks of */
	uint64_t left;         /* a bit per end of line in the block that was not yet given */
};

static inline void line_cut_init(struct line_cut *c, const char *from, const char *end)
{
	*c = (struct line_cut){ .at = from, .end = end };
}

#ifdef __SSE2__
static inline uint64_t line_cut_sixteen(const char *at)
{
	__m128i some = _mm_loadu_si128((const __m128i *)(const void *)at);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(some, _mm_set1_epi8('\n')));
}

static inline uint64_t line_cut_bits(const char *at)
{
	return line_cut_sixteen(at) | line_cut_sixteen(at + 16) << 16 | line_cut_sixteen(at + 32) << 32 | line_cut_sixteen(at + 48) << 48;
}
#endif

/* The next '\n', or NULL. */
static inline const char *line_cut_next(struct line_cut *c)
{
	const char *found;

#ifdef __SSE2__
	while (!c->left && c->end - c->at >= LINE_CUT_BLOCK) {
		__builtin_prefetch(c->at + LINE_CUT_SOON, 0, 2);
		c->left = line_cut_bits(c->at);
		c->block = c->at;
		c->at += LINE_CUT_BLOCK;
	}
	if (c->left) {
		found = c->block + __builtin_ctzll(c->left);
		c->left &= c->left - 1;
		return found;
	}
#endif
	found = c->at < c->end ? memchr(c->at, '\n', (size_t)(c->end - c->at)) : NULL;
	c->at = found ? found + 1 : c->end;
	return found;
}

#endif
