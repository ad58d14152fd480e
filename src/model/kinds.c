/* kinds.c - kinds.def as tables. */
#include "config.h"

#include "model/observation.h"

#define SAMPLE STORAGE_SAMPLE
#define STATE STORAGE_STATE
#define EVENT STORAGE_EVENT
#define INT FIELD_INT
#define REAL FIELD_REAL
#define TEXT FIELD_TEXT
#define JSON FIELD_JSON

/* The fields of each kind ... */
#define KIND(name, storage, subjects, words) static const struct field fields_of_##name[] = {
#define FIELD(KIND, name, type, words) { #name, type, words },
#define END_KIND };
#include "model/kinds.def"
#undef KIND
#undef FIELD
#undef END_KIND

/* ... and the kinds themselves. */
const struct kind_info kind_table[KIND_COUNT] = {
#define KIND(name, storage, subjects, words) \
	{ #name, storage, subjects, words, fields_of_##name, sizeof fields_of_##name / sizeof fields_of_##name[0] },
#define FIELD(KIND, name, type, words)
#define END_KIND
#include "model/kinds.def"
#undef KIND
#undef FIELD
#undef END_KIND
};

/* No kind may have more fields than an observation holds. */
#define KIND(name, storage, subjects, words) \
	_Static_assert(sizeof fields_of_##name / sizeof(struct field) <= OBSERVATION_FIELDS_MAX, "too many fields");
#define FIELD(KIND, name, type, words)
#define END_KIND
#include "model/kinds.def"
#undef KIND
#undef FIELD
#undef END_KIND

enum kind kind_by_name(struct span name)
{
	for (int i = 0; i < KIND_COUNT; i++)
		if (span_is(name, kind_table[i].name))
			return (enum kind)i;
	return KIND_COUNT;
}

int field_by_name(enum kind kind, struct span name)
{
	for (int i = 0; i < kind_table[kind].fields; i++)
		if (span_is(name, kind_table[kind].field[i].name))
			return i;
	return -1;
}
