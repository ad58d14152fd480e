/* wrapped.c - how pieces are joined. */
#include "config.h"

#include "parse/wrapped.h"

#include <string.h>

void wrapped_init(struct wrapped *w)
{
	memset(w, 0, sizeof *w);
	buf_init(&w->raw, WRAPPED_MAX);
	buf_init(&w->text, 2 * WRAPPED_MAX);
}

void wrapped_release(struct wrapped *w)
{
	buf_release(&w->raw);
	buf_release(&w->text);
}

void wrapped_start(struct wrapped *w, const struct line *l, struct span piece)
{
	buf_clear(&w->raw);
	w->pieces = 0;
	w->strangers = 0;
	w->open = true;
	w->tag = line_tag(l);
	w->offset = l->offset;
	w->timed = l->time[0] != 0;
	memcpy(w->rank, l->rank, sizeof w->rank);
	wrapped_add(w, l, piece);
}

bool wrapped_add(struct wrapped *w, const struct line *l, struct span piece)
{
	while (piece.len && piece.at[piece.len - 1] == '\r')
		piece.len--;
	if (w->pieces == WRAPPED_PIECES || piece.len > WRAPPED_MAX - w->raw.len)
		return false;
	buf_span(&w->raw, piece);
	w->end[w->pieces] = (unsigned short)w->raw.len;
	w->width[w->pieces] = (unsigned short)(l->raw.len < 65535 ? l->raw.len : 65535);
	w->pieces++;
	return true;
}

/* Does a blank stand between two pieces, as far as the bytes at the break tell? */
static bool blank_by_bytes(char before, struct span behind, bool colons)
{
	if (before == ',' || (before == ':' && !colons))
		return true;
	return before == ')' && (span_starts(behind, "(stopped, ") || span_starts(behind, "(running)"));
}

struct span wrapped_text(struct wrapped *w)
{
	unsigned short most = 0, least = 65535;
	const char *raw = w->raw.at;

	for (int i = 0; i + 1 < w->pieces; i++) {
		most = w->width[i] > most ? w->width[i] : most;
		least = w->width[i] < least ? w->width[i] : least;
	}
	buf_clear(&w->text);
	for (int i = 0; i < w->pieces; i++) {
		size_t from = i ? w->end[i - 1] : 0;
		struct span piece = span_make(raw + from, w->end[i] - from);
		char before = from ? raw[from - 1] : ' ';
		bool blank = false;

		if (i && piece.len && *piece.at != ' ' && before != ' ') {
			if (most - least > 1)
				blank = true;
			else if (w->width[i - 1] < most)
				blank = true;
			else
				blank = blank_by_bytes(before, piece, from > 1 && raw[from - 2] == ':');
		}
		if (blank)
			buf_char(&w->text, ' ');
		buf_span(&w->text, piece);
	}
	return buf_as_span(&w->text);
}

void wrapped_close(struct wrapped *w)
{
	w->open = false;
}
