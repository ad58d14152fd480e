/* store_kill.h - a small recorder that is killed at any instant, and what its file then holds. For a test and a bench.
 *
 * The child tells on a pipe what it has queued, and which verdicts it knows to be committed. What must hold after kill -9:
 * the file opens; no verdict known to be committed is missing; nothing queued longer ago than `late` is missing.
 */
#ifndef HANGTOP_TESTS_STORE_KILL_H
#define HANGTOP_TESTS_STORE_KILL_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/reader.h"
#include "store/writer.h"

struct ack {
	int64_t t; /* ms, wall; the row's t and the time it was queued */
	int64_t number;
	enum { QUEUED_SAMPLE, QUEUED_VERDICT, COMMITTED } what;
};

struct kill_result {
	int opened;
	int samples, verdicts; /* acknowledged */
	int64_t sample_age, verdict_age; /* ms before the kill of the oldest that was lost; -1 none */
	int committed_lost;
};

static inline int64_t kill_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

static inline void kill_tell(int fd, int64_t t, int64_t number, int what)
{
	struct ack ack = {t, number, what};

	if (write(fd, &ack, sizeof ack) != sizeof ack)
		_exit(3);
}

/* Numbers start at `first`, so that several runs can share a file. Never returns. */
static inline void kill_child(const char *path, int fd, int64_t first)
{
	struct writer_options options = {.path = path};
	struct observation o;
	struct writer *w;
	int64_t last = 0;

	if (writer_open(&w, &options, NULL) < 0)
		_exit(2);
	for (int64_t i = first;; i++) {
		int64_t t = kill_now();

		if (t <= last) {
			i--;
			continue;
		}
		last = t;
		observation_init(&o, KIND_process_sample, "n", t);
		observation_int(&o, PROCESS_SAMPLE_pid, 1);
		observation_int(&o, PROCESS_SAMPLE_rss, i);
		writer_add(w, &o);
		kill_tell(fd, t, i, QUEUED_SAMPLE);
		if (i % 10 == 0) {
			observation_init(&o, KIND_verdict, "n", t);
			observation_int(&o, VERDICT_since, i);
			writer_add(w, &o);
			kill_tell(fd, t, i, QUEUED_VERDICT);
			if (i % 20 == 0) {
				writer_wait(w, 0);
				kill_tell(fd, t, i, COMMITTED);
			}
		}
		usleep(4000);
	}
}

struct kill_seen {
	int64_t first;
	unsigned char sample[4096], verdict[4096];
};

static inline void kill_look(void *context, const struct observation *o)
{
	struct kill_seen *seen = context;
	int64_t n;

	if (o->kind == KIND_process_sample && observation_get_int(o, PROCESS_SAMPLE_rss, &n) && n >= seen->first &&
		n - seen->first < 4096)
		seen->sample[n - seen->first] = 1;
	if (o->kind == KIND_verdict && observation_get_int(o, VERDICT_since, &n) && n >= seen->first &&
		n - seen->first < 4096)
		seen->verdict[n - seen->first] = 1;
}

static inline void kill_compare(
	const char *path, const struct ack *ack, int n, int64_t first, int64_t killed, struct kill_result *out)
{
	struct kill_seen seen = {.first = first};
	struct reader *r;

	if (reader_open(&r, path, NULL) < 0)
		return;
	out->opened = reader_between(r, ack[0].t - 1, INT64_MAX, kill_look, &seen, NULL) == 0;
	reader_close(r);
	for (int i = 0; i < n; i++) {
		int64_t at = ack[i].number - first, age = killed - ack[i].t;

		if (ack[i].what == QUEUED_SAMPLE) {
			out->samples++;
			if (!seen.sample[at] && age > out->sample_age)
				out->sample_age = age;
		} else if (ack[i].what == QUEUED_VERDICT) {
			out->verdicts++;
			if (!seen.verdict[at] && age > out->verdict_age)
				out->verdict_age = age;
		} else {
			out->committed_lost += !seen.verdict[at];
		}
	}
}

/* Record into path for `ms`, kill, look. -1 when the child did not get going. */
static inline int kill_once(const char *path, int ms, int64_t first, struct kill_result *out)
{
	static struct ack ack[4096];
	int channel[2], n = 0, status;
	int64_t killed;
	pid_t child;

	memset(out, 0, sizeof *out);
	out->sample_age = out->verdict_age = -1;
	if (pipe(channel) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(channel[0]);
		kill_child(path, channel[1], first);
	}
	close(channel[1]);
	/* It has begun. */
	if (read(channel[0], &ack[n++], sizeof ack[0]) != sizeof ack[0])
		n = 0;
	usleep((useconds_t)ms * 1000);
	killed = kill_now();
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	while (n > 0 && n < 4096 && read(channel[0], &ack[n], sizeof ack[0]) == sizeof ack[0])
		n++;
	close(channel[0]);
	if (n == 0)
		return -1;
	kill_compare(path, ack, n, first, killed, out);
	return 0;
}

#endif
