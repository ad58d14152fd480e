/* json_write.h - streaming JSON into a buffer: what hangtop prints. Reading is jansson's.
 *
 * The prefix is jw_, because json_ is jansson's. Commas are placed by the writer. Text is UTF-8; invalid bytes are written as U+FFFD so that the output is
 * always valid JSON. NaN and infinities become null.
 */
#ifndef HANGTOP_BASE_JSON_WRITE_H
#define HANGTOP_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json_write {
	struct buf *out;
	bool first[32];         /* per depth: no comma yet */
	int depth;
};

void jw_start(struct json_write *w, struct buf *out);
void jw_object(struct json_write *w, const char *key);   /* { ; key NULL inside arrays and at the top */
void jw_array(struct json_write *w, const char *key);    /* [ */
void jw_end_object(struct json_write *w);
void jw_end_array(struct json_write *w);
void jw_text(struct json_write *w, const char *key, struct span text);
void jw_string(struct json_write *w, const char *key, const char *text); /* NULL gives null */
void jw_int(struct json_write *w, const char *key, int64_t value);
void jw_real(struct json_write *w, const char *key, double value);       /* shortest form that reads back the same */
void jw_bool(struct json_write *w, const char *key, bool value);
void jw_null(struct json_write *w, const char *key);
void jw_raw(struct json_write *w, const char *key, struct span json);    /* already valid JSON */

#endif
