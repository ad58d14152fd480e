/* error.h - the error of a fallible call, in words for the person at the screen.
 *
 * Who: every module. Fallible functions return 0, or -1 after filling a caller-owned
 * `struct error` (which may be NULL when the caller does not care).
 * An error says what failed and why (`text`) and how to mend it (`fix`, may be empty).
 */
#ifndef HANGTOP_BASE_ERROR_H
#define HANGTOP_BASE_ERROR_H

struct error {
	char text[400];         /* "what failed: why" */
	char fix[300];          /* what to do about it, an exact command where there is one */
};

/* Format the text (the fix is cleared). Returns -1, so that `return error_set(e, ...)` works. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, and append ": " and the words for the errno value `number`. */
int error_set_errno(struct error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Add the remedy to an error that is already set. Returns -1. */
int error_fix(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void error_clear(struct error *error);

#endif
