/* wave_private.h - between wave.c, wave_header.c, wave_code.c and wave_emit.c. */
#ifndef HANGTOP_PARSE_WAVE_PRIVATE_H
#define HANGTOP_PARSE_WAVE_PRIVATE_H

#include "parse/wave.h"

#define NAME_MAX_BYTES 16384

struct wave_header {
	uint64_t id, pc;
	bool running;
	struct span pc_text, reasons, entry, kernel;
};
/* wave.c */
char *wave_text_of(struct span s);      /* the caller's */
void wave_code_release(struct wave_code *c);
void wave_block_release(struct wave_block *b);
struct wave_block *wave_block_at(struct wave_scan *w, int i);   /* 0 the oldest */
struct wave_block *wave_newest(struct wave_scan *w);            /* NULL: none waits */
struct wave_block *wave_newest_of(struct wave_scan *w, uint64_t tag);

/* wave_header.c: `s` starts behind "wave_". False when it is no header, or not to its end. */
bool wave_read_header(struct span s, struct wave_header *h);
bool wave_header_is_cut(struct span s); /* its end stands in a line below */

/* wave_emit.c */
struct wave_group *wave_group_by(struct wave_scan *w, uint64_t pc, struct span reasons, struct span kernel); /* NULL: too many */
void wave_emit_orphan(struct wave_scan *w, struct wave_code *c);
void wave_emit_oldest(struct wave_scan *w);

/* wave_code.c: the lines of a disassembly; true when the line was one. */
void wave_title_line(struct wave_scan *w, const struct line *l, struct span rest);
bool wave_title_goes_on(struct wave_scan *w, const struct line *l, struct span bare);
void wave_code_line(struct wave_scan *w, struct span uri, uint64_t tag);
bool wave_uri_goes_on(struct wave_scan *w, struct span rest, uint64_t tag);
void wave_loaded_line(struct wave_scan *w, struct span range, uint64_t tag);
bool wave_arrow_line(struct wave_scan *w, struct span s, uint64_t offset, uint64_t tag);
void wave_keep_code(struct wave_scan *w, struct span text);
bool wave_end_line(struct wave_scan *w, uint64_t tag);
void wave_close_code(struct wave_scan *w, int i, bool ended);

#endif
