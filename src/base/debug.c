/* debug.c - the debug log. */
#include "config.h"

#include "base/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static int debug_fd = -1;

int debug_open(const char *path, struct error *error)
{
	debug_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (debug_fd < 0) {
		error_set_errno(error, errno, "cannot write the debug log %s", path);
		return error_fix(error, "choose another file with --debug-log");
	}
	return 0;
}

void debug_close(void)
{
	if (debug_fd >= 0)
		close(debug_fd);
	debug_fd = -1;
}

void debug_log(const char *component, const char *format, ...)
{
	char line[2048];
	int64_t now;
	va_list args;
	int n, m;

	if (debug_fd < 0)
		return;
	now = clock_wall_ms();
	n = snprintf(line, sizeof line - 1, "%lld.%03lld %d %s: ", (long long)(now / 1000), (long long)(now % 1000), (int)getpid(),
		component);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof line - 1 - (size_t)n, format, args);
	va_end(args);
	if (m > 0)
		n += m < (int)sizeof line - 1 - n ? m : (int)sizeof line - 2 - n;
	line[n++] = '\n';
	if (write(debug_fd, line, (size_t)n) < 0)
		debug_close(); /* a full disk: the log is a help, not a duty */
}
