/* reading.c - filling and handing on. */
#include "config.h"

#include "parse/reading.h"

#include <math.h>

void reading_start(struct reading *r, const char *kind, uint64_t offset)
{
	r->kind = kind;
	r->offset = offset;
	r->fields = 0;
}

static struct reading_field *add(struct reading *r, const char *name, enum reading_type type)
{
	static struct reading_field spare;
	struct reading_field *f = r->fields < READING_FIELDS_MAX ? &r->field[r->fields++] : &spare;

	f->name = name;
	f->type = type;
	return f;
}

void reading_int(struct reading *r, const char *name, int64_t value)
{
	add(r, name, READING_INT)->number = value;
}

void reading_real(struct reading *r, const char *name, double value)
{
	if (!isnan(value))
		add(r, name, READING_REAL)->real = value;
}

void reading_blank(struct reading *r, const char *name, struct span text)
{
	add(r, name, READING_TEXT)->text = text.at ? text : span_make("", 0);
}

void reading_text(struct reading *r, const char *name, struct span text)
{
	if (text.len)
		reading_blank(r, name, text);
}

void reading_word(struct reading *r, const char *name, const char *text)
{
	if (text && *text)
		reading_blank(r, name, span_of(text));
}

void reading_emit(const struct reading *r, const struct reading_sink *sink)
{
	if (sink->emit)
		sink->emit(sink->context, r);
}
