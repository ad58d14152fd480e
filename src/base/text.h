/* text.h - UTF-8 text on a terminal: width, cutting, and making foreign text harmless.
 *
 * Width is wcwidth()'s (what ncurses uses); what it does not know counts as one replacement cell.
 * Scrubbing rules (ux rule 10): control bytes become ^X (ESC is ^[), DEL ^?, C1 controls and invalid
 * bytes <xx>, bidirectional and zero-width format characters are dropped, TAB becomes a blank.
 */
#ifndef HANGTOP_BASE_TEXT_H
#define HANGTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* Decode one code point off `rest`. False at the end. Invalid bytes give 0xDC00 + byte, one at a time. */
bool text_next(struct span *rest, uint32_t *code);
size_t text_put(char out[4], uint32_t code);           /* encode; returns bytes written */
int text_code_width(uint32_t code);                    /* columns: 0 combining, 1, 2; never negative */
int text_width(struct span s);                         /* columns of already scrubbed text */
struct span text_fit(struct span s, int columns);      /* longest head that fits */
void text_scrub(struct buf *out, struct span foreign);  /* appends harmless text */
/* Mask values of names that look like secrets (key, token, secret, password, credential, auth). */
bool text_looks_secret(struct span name);
/* Append a line with the values of secrets masked: api_key=..., "token": "...", Bearer ..., sk-..., hf_... */
void text_mask(struct buf *out, struct span line);

/* "2m13s", "1h04m", "3d02h", "850ms" from milliseconds; negative is clamped to 0. Returns out. */
const char *text_duration(char *out, size_t size, int64_t ms);
/* 1536 -> "1.5K", binary prefixes, at most 5 columns. Returns out. */
const char *text_bytes(char *out, size_t size, double bytes);

#endif
