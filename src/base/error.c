/* error.c - error texts. */
#include "config.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, const char *format, ...)
{
	va_list args;

	if (!error)
		return -1;
	error->fix[0] = 0;
	va_start(args, format);
	vsnprintf(error->text, sizeof error->text, format, args);
	va_end(args);
	return -1;
}

int error_set_errno(struct error *error, int number, const char *format, ...)
{
	va_list args;
	size_t n;

	if (!error)
		return -1;
	error->fix[0] = 0;
	va_start(args, format);
	vsnprintf(error->text, sizeof error->text, format, args);
	va_end(args);
	n = strlen(error->text);
	snprintf(error->text + n, sizeof error->text - n, ": %s", strerror(number));
	return -1;
}

int error_fix(struct error *error, const char *format, ...)
{
	va_list args;

	if (!error)
		return -1;
	va_start(args, format);
	vsnprintf(error->fix, sizeof error->fix, format, args);
	va_end(args);
	return -1;
}

void error_clear(struct error *error)
{
	if (error)
		error->text[0] = error->fix[0] = 0;
}
