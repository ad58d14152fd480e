/* observation.h - the one thing that sources make and everything else reads.
 *
 * An observation says what was seen, when and where. It is one JSON object on one line:
 *   {"t":1764573675123,"lag":0,"node":"n1","kind":"gpu","gpu":3,"busy_pct":100,...}
 * Members that are null may be left out. The kinds and their fields are listed in kinds.def.
 *
 * t    ms since the epoch. In an agent: the node's clock when the reading was taken. From core_observe() on, in
 *      the session file and in exports: the front's clock when it became known, so that t never steps back in a file.
 * lag  t minus the time of the reading on the front's clock, in ms (0 in an agent).
 *
 * Ownership: values of a `struct observation` are borrowed (text lives in the caller's buffer or JSON tree).
 * A `struct record` is an owned copy.
 * Errors: decoding foreign lines never fails hard; unknown kinds and members are skipped and reported.
 */
#ifndef HANGTOP_MODEL_OBSERVATION_H
#define HANGTOP_MODEL_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

#define OBSERVATION_PROTOCOL 1
#define OBSERVATION_LINE_MAX (4 << 20) /* bytes of one line; longer lines are dropped and counted */

enum kind {
#define KIND(name, storage, subjects, words) KIND_##name,
#define FIELD(KIND, name, type, words)
#define END_KIND
#include "model/kinds.def"
#undef KIND
#undef FIELD
#undef END_KIND
	KIND_COUNT
};

/* GPU_busy_pct, PROCESS_pid, ...: index of the field within its kind, and GPU_FIELDS the number of them. */
#define KIND(name, storage, subjects, words) enum {
#define FIELD(KIND, name, type, words) KIND##_##name,
#define END_KIND };
#include "model/kinds.def"
#undef KIND
#undef FIELD
#undef END_KIND

#define OBSERVATION_FIELDS_MAX 24
#define OBSERVATION_T_MAX INT64_C(253402300799000) /* the end of the year 9999: what is later is no time */

enum field_type { FIELD_INT, FIELD_REAL, FIELD_TEXT, FIELD_JSON };
enum storage { STORAGE_SAMPLE, STORAGE_STATE, STORAGE_EVENT };

struct field {
	const char *name;
	enum field_type type;
	const char *words;
};

struct kind_info {
	const char *name;
	enum storage storage;
	int subjects;           /* the first so many fields name the subject */
	const char *words;
	const struct field *field;
	int fields;
};

extern const struct kind_info kind_table[KIND_COUNT];
/* KIND_COUNT when there is no such kind. */
enum kind kind_by_name(struct span name);
int field_by_name(enum kind kind, struct span name); /* -1 when there is none */

enum value_type { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT };

struct value {
	enum value_type type;   /* JSON fields are VALUE_TEXT as well */
	union {
		int64_t number;
		double real;
		struct span text;
	};
};

struct observation {
	int64_t t;
	int64_t lag;
	const char *node;
	enum kind kind;
	struct value value[OBSERVATION_FIELDS_MAX];
};

/* All fields null. node is borrowed. */
void observation_init(struct observation *o, enum kind kind, const char *node, int64_t t);
void observation_int(struct observation *o, int field, int64_t value);
void observation_real(struct observation *o, int field, double value); /* NaN gives null */
void observation_text(struct observation *o, int field, const char *text); /* NULL gives null */
void observation_span(struct observation *o, int field, struct span text);

/* Reading; false (and *value untouched) when the field is null. INT and REAL convert into each other. */
bool observation_get_int(const struct observation *o, int field, int64_t *value);
bool observation_get_real(const struct observation *o, int field, double *value);
bool observation_get_text(const struct observation *o, int field, struct span *value);
bool observation_is_null(const struct observation *o, int field);
bool observation_text_is(const struct observation *o, int field, const char *text);

/* "node/kind/subject[/subject]": the same subject, the same key. */
void observation_key(const struct observation *o, struct buf *out);

/* One line without the LF. Null members are left out. */
void observation_encode(const struct observation *o, struct buf *out);

/* Decode one line (a leading "label: " before the brace is cut). Text points into `arena`, which is only appended to.
 * -1 when it is no observation (error says why). Unknown members are ignored. */
int observation_decode(struct span line, struct observation *o, struct buf *arena, struct error *error);

/* An owned copy. */
struct record {
	struct observation o;   /* all text and node point into this allocation */
};
struct record *record_new(const struct observation *o);
void record_free(void *record);

#endif
