/* measure.c - runs a program on one core and says what it took: seconds, most resident KiB and exit status as the last line
 * of stderr. Small itself, because the kernel counts the memory of whoever forks a program as that program's.
 *
 *   measure CORE PROGRAM [ARGUMENT...]
 */
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage used;
	cpu_set_t core;
	double from;
	int status;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: measure CORE PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	CPU_ZERO(&core);
	CPU_SET((int)strtol(argv[1], NULL, 10), &core);
	if (sched_setaffinity(0, sizeof core, &core))
		perror("measure: not on one core");
	from = now();
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		perror("measure");
		return 2;
	}
	from = now() - from;
	fprintf(stderr, "%.6f %ld %d\n", from, used.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
