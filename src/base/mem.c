/* mem.c - allocation that cannot fail. */
#include "config.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*fatal_hook)(void);

void mem_on_fatal(void (*hook)(void))
{
	fatal_hook = hook;
}

_Noreturn void mem_fatal(const char *what)
{
	static const char head[] = "hangtop: out of memory: ";
	ssize_t ignored;

	if (fatal_hook)
		fatal_hook();
	ignored = write(STDERR_FILENO, head, sizeof head - 1);
	ignored = write(STDERR_FILENO, what, strlen(what));
	ignored = write(STDERR_FILENO, "\n", 1);
	(void)ignored;
	abort();
}

void *mem_alloc(size_t size)
{
	void *at = calloc(1, size ? size : 1);

	if (!at)
		mem_fatal("allocation");
	return at;
}

void *mem_realloc(void *at, size_t size)
{
	at = realloc(at, size ? size : 1);
	if (!at)
		mem_fatal("growing a buffer");
	return at;
}

void *mem_array(void *at, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		mem_fatal("array too large");
	return mem_realloc(at, count * size);
}

char *mem_text(const char *text)
{
	return text ? mem_text_n(text, strlen(text)) : NULL;
}

char *mem_text_n(const char *at, size_t len)
{
	char *copy = mem_realloc(NULL, len + 1);

	if (len)
		memcpy(copy, at, len);
	copy[len] = 0;
	return copy;
}
