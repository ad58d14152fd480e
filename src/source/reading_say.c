/* reading_say.c - names to numbers of fields. */
#include "config.h"

#include "source/reading_say.h"

#include "base/debug.h"

static void put(struct observation *o, const struct reading_field *f)
{
	int field = field_by_name(o->kind, span_of(f->name));

	if (field < 0) {
		debug_log("reading", "kind %s has no field %s", kind_table[o->kind].name, f->name);
		return;
	}
	if (f->type == READING_INT)
		observation_int(o, field, f->number);
	else if (f->type == READING_REAL)
		observation_real(o, field, f->real);
	else
		observation_span(o, field, f->text);
}

bool reading_observation(const struct reading *r, const char *node, int64_t t, const char *file, struct observation *out)
{
	enum kind kind = kind_by_name(span_of(r->kind));
	int field;

	if (kind == KIND_COUNT)
		return false;
	observation_init(out, kind, node, t);
	for (int i = 0; i < r->fields; i++)
		put(out, &r->field[i]);
	if (file && (field = field_by_name(kind, span_of("file"))) >= 0)
		observation_text(out, field, file);
	if ((field = field_by_name(kind, span_of("offset"))) >= 0 && observation_is_null(out, field))
		observation_int(out, field, (int64_t)r->offset);
	return true;
}
