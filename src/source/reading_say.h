/* reading_say.h - from what a text parser read to an observation. Who: source/log.c, app/cmd_explain.c.
 *
 * The names of a reading's kind and fields are those of kinds.def; a field "file" or "offset" is filled in when the kind has it.
 * Text stays borrowed from the reading. False for a kind that is not in kinds.def (a defect; a test looks for it).
 */
#ifndef HANGTOP_SOURCE_READING_SAY_H
#define HANGTOP_SOURCE_READING_SAY_H

#include "model/observation.h"
#include "parse/reading.h"

bool reading_observation(const struct reading *r, const char *node, int64_t t, const char *file, struct observation *out);

#endif
