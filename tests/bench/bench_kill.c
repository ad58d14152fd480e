/* bench_kill.c - kill -9 a recorder 200 times at random instants: what is lost. One line a figure. */
#include "config.h"

#include <stdio.h>
#include <sys/types.h>

#include "../unit/store_kill.h"

#define KILLS 200

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char dir[300], path[400];
	int64_t sample_age = -1, verdict_age = -1;
	int opened = 0, lost = 0, samples = 0, verdicts = 0;
	unsigned seed = 1;

	snprintf(dir, sizeof dir, "%s/hangtop-bench-XXXXXX", argc > 1 ? argv[1] : tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		fprintf(stderr, "bench_kill: cannot make %s\n", dir);
		return 1;
	}
	snprintf(path, sizeof path, "%s/kill.db", dir);
	for (int i = 0; i < KILLS; i++) {
		struct kill_result result;

		seed = seed * 1103515245u + 12345u;
		if (kill_once(path, (int)(seed >> 16) % 600, i * INT64_C(100000), &result) < 0) {
			fprintf(stderr, "bench_kill: the recorder did not start\n");
			return 1;
		}
		opened += result.opened;
		samples += result.samples;
		verdicts += result.verdicts;
		lost += result.committed_lost;
		sample_age = result.sample_age > sample_age ? result.sample_age : sample_age;
		verdict_age = result.verdict_age > verdict_age ? result.verdict_age : verdict_age;
	}
	printf("kills                                        %8d\n", KILLS);
	printf("samples and verdicts queued                  %8d %d\n", samples, verdicts);
	printf("files that opened                            %8d  bar %d\n", opened, KILLS);
	printf("oldest sample lost, ms before the kill       %8lld  bar < 1000\n", (long long)sample_age);
	printf("oldest verdict lost, ms before the kill      %8lld  bar: a commit in flight\n", (long long)verdict_age);
	printf("verdicts lost that were known to be committed%8d  bar 0\n", lost);
	for (int i = 0; i < 4; i++) {
		static const char *const suffix[] = {"", "-wal", "-shm", ".ballast"};

		snprintf(path, sizeof path, "%s/kill.db%s", dir, suffix[i]);
		unlink(path);
	}
	rmdir(dir);
	return opened == KILLS && lost == 0 && sample_age < 1000 ? 0 : 1;
}
