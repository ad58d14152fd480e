/* bench_log.c - how fast lines of a server log are understood: in memory, and by the log source on a growing file.
 *
 * Rows for tests/bench/run.py: what, value, unit, bar.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parse/log_class.h"
#include "tests/unit/source_bed.h"

#define LINES 1000000

extern const struct source_class source_log;

static const char *const ordinary[] = {
	"[atom 09:12:22] Memory budget: total_gpu=191.98GB, free=101.22GB, utilization=0.9, budget=172.79GB, peak_torch=84.10GB",
	"INFO:     127.0.0.1:52614 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK",
	"(EngineCore_DP0 pid=77) INFO 05-13 22:01:10 [kv_cache_utils.py:849] GPU KV cache size: 122,880 tokens of this worker",
	"[2026-08-27 02:13:53 TP3] [aiter] shape is M:32, N:7168, K:2048 dtype='torch.bfloat16', not found tuned config in /tmp/x",
	"[atom 09:12:22] Engine Core Mgr: add rank0: 1 req / 1024 tok | in-flight reqs=[1, 0] prefill_tokens=[1024, 0]",
};
static const char *const busy[] = {
	"[atom 09:12:22] Request 6 arrived, input tokens: 1, pending requests: 4",
	"[atom 09:12:06] Scheduled prefill batch: 5 reqs, 5015 new tokens (cached: [0], new: [1]), req_ids: (1, 2)",
	"[atom 09:12:30] Engine Core: output send 1 reqs",
	"INFO:     127.0.0.1:52614 - \"GET /v1/models HTTP/1.1\" 200 OK",
};

static void fill(struct buf *text, const char *const *line, size_t lines)
{
	for (size_t i = 0; i < LINES; i++) {
		buf_text(text, line[i % lines]);
		buf_char(text, '\n');
	}
}

static void say(const char *what, double value, const char *unit, const char *bar)
{
	printf("%s  %.3f %s  bar %s\n", what, value, unit, bar);
}

static void bench_classes(const char *what, const char *name, const struct buf *text)
{
	struct profile *p = shipped_profile(name);
	struct log_classifier *c = log_classifier_new(p, NULL);
	struct span rest = buf_as_span(text), line;
	uint64_t from = uv_hrtime();
	struct log_match m;
	int matter = 0;
	char row[100];

	while (span_line(&rest, &line))
		matter += log_classify(c, line, &m) != LOG_NONE;
	snprintf(row, sizeof row, "log lines by class: %s, %s (%d matter)", what, name, matter);
	say(row, (double)text->len / (double)(uv_hrtime() - from), "GB/s", ">= 0.2");
	if (log_classifier_slow(c))
		fprintf(stderr, "%s\n", log_classifier_slow(c));
	log_classifier_free(c);
	profile_free(p);
}

/* Written in pieces while the source follows; the file's own writing is in the figure. */
static int bench_source(const struct buf *text, double wanted)
{
	char path[] = "/tmp/hangtop-bench-XXXXXX";
	int fd = mkstemp(path);
	size_t piece = 1 << 20;
	uint64_t from, longest = 0;
	struct bed b;
	bool all;

	bed_init(&b, &source_log);
	b.options.log = path;
	b.options.engine = "atom";
	b.options.log_from_start = true;
	bed_start(&b);
	from = uv_hrtime();
	for (size_t at = 0; at < text->len; at += piece) {
		size_t n = text->len - at < piece ? text->len - at : piece;
		uint64_t turn;

		if (write(fd, text->at + at, n) != (ssize_t)n)
			return 1;
		turn = uv_hrtime();
		uv_run(&b.loop, UV_RUN_NOWAIT);
		turn = uv_hrtime() - turn;
		longest = turn > longest ? turn : longest;
	}
	all = BED_UNTIL(&b, bed_number(&b, KIND_progress, PROGRESS_value) >= wanted);
	say("log source: lines of work of a growing file", (double)LINES * 1e9 / (double)(uv_hrtime() - from), "lines/s", ">= 200000");
	say("log source: lines of work lost", wanted - bed_number(&b, KIND_progress, PROGRESS_value), "lines", "<= 0");
	say("log source: longest turn of the loop", (double)longest / 1e6, "ms", "<= 10");
	bed_release(&b);
	close(fd);
	unlink(path);
	return all ? 0 : 1;
}

int main(void)
{
	struct buf text;
	int status;

	buf_init(&text, (size_t)1 << 30);
	fill(&text, ordinary, sizeof ordinary / sizeof ordinary[0]);
	for (size_t i = 0; i < SHIPPED; i++)
		bench_classes("ordinary lines", shipped[i], &text);
	buf_clear(&text);
	fill(&text, busy, sizeof busy / sizeof busy[0]);
	bench_classes("lines of work", "atom", &text);
	/* of four lines one schedules five and one sends one */
	status = bench_source(&text, LINES / 4 * 6);
	buf_release(&text);
	return status;
}
