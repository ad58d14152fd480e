/* disassemble_words.h - the instructions around a pc as text, and in words what they mean. Who: disassemble.c. */
#ifndef HANGTOP_APP_DISASSEMBLE_WORDS_H
#define HANGTOP_APP_DISASSEMBLE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/disassembly_text.h"

struct disassemble_words {
	const struct disassembly *text;
	struct disassembly_found found;
	uint64_t load_base, pc;         /* of the wave */
	const char *gpu, *source;
	int others;                     /* older files of the same code object */
	const char *tool;
	uint64_t low, high;             /* range that was disassembled */
	uint64_t function_at;           /* in the code object; 0 unknown: then the nearest symbol has to do */
	int64_t offset, size;           /* of a part of the source; offset -1: all of it */
};

/* Append; foreign text is not scrubbed yet. */
void disassemble_say(const struct disassemble_words *w, struct buf *out);

#endif
