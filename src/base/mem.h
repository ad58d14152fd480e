/* mem.h - allocation that cannot fail.
 *
 * Out of memory ends the program in one place: mem_fatal(), which runs the hook set with
 * mem_on_fatal() (the terminal restores itself there) and aborts. Sizes that come from outside
 * are bounded by the buffers that hold them (buf.h), never by hope.
 */
#ifndef HANGTOP_BASE_MEM_H
#define HANGTOP_BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t size);                        /* zeroed; size 0 gives a valid pointer */
void *mem_realloc(void *at, size_t size);
void *mem_array(void *at, size_t count, size_t size); /* realloc(count * size), checked for overflow */
char *mem_text(const char *text);                    /* strdup; NULL gives NULL */
char *mem_text_n(const char *at, size_t len);        /* copy of len bytes, NUL added */
void mem_on_fatal(void (*hook)(void));
_Noreturn void mem_fatal(const char *what);

#endif
