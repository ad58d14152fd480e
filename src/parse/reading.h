/* reading.h - one thing that a text parser has read, on its way to becoming an observation.
 *
 * `kind` and the names of the fields are those of model/kinds.def (a test holds them to it), so that one function makes
 * observations of all of them. Text is borrowed from the parser until emit() returns. A field that is unknown is not added.
 * Who: the text parsers of this folder fill it; scan.h says who gets it.
 */
#ifndef HANGTOP_PARSE_READING_H
#define HANGTOP_PARSE_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

#define READING_FIELDS_MAX 24

enum reading_type { READING_INT, READING_REAL, READING_TEXT };

struct reading_field {
	const char *name;
	enum reading_type type;
	int64_t number;
	double real;
	struct span text;       /* JSON fields too */
};

struct reading {
	const char *kind;
	uint64_t offset;        /* of the line it begins at, in the input */
	int fields;
	struct reading_field field[READING_FIELDS_MAX];
};

struct reading_sink {
	void (*emit)(void *context, const struct reading *r);
	void *context;
};

void reading_start(struct reading *r, const char *kind, uint64_t offset); /* adds field "offset" when the kind has one */
void reading_int(struct reading *r, const char *name, int64_t value);
void reading_real(struct reading *r, const char *name, double value);   /* NAN is left out */
void reading_text(struct reading *r, const char *name, struct span text);       /* empty text is left out */
void reading_word(struct reading *r, const char *name, const char *text);       /* NULL and "" are left out */
void reading_blank(struct reading *r, const char *name, struct span text);      /* kept when empty: an empty cell is known */
void reading_emit(const struct reading *r, const struct reading_sink *sink);

#endif
