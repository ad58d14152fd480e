/* test_scan.c - the scanner of any text: where the input is cut does not matter, what it emits is known to the model, bounds hold. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "parse/scan.h"
#include "parse/wave.h"
#include "source/reading_say.h"

#include "profile_file.h"

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0             /* under a sanitizer freed memory is not given back */
#endif

#define SMALL 4096              /* bytes: every cut is tried */
#define CUTS 300                /* else so many, and every end of a line */
#define BYTEWISE 20000          /* bytes: also one at a time */
#define TIMES 64                /* a scan serves so often: making one costs more than small texts */
#define GROWTH_MAX (32 << 10)   /* KiB that unbounded inputs may make this process grow by */

struct heard {
	struct buf text;        /* everything that was read */
	bool silent;            /* only counted */
	uint64_t readings;
};

static void on_reading(void *context, const struct reading *r)
{
	struct heard *h = context;
	enum kind kind = kind_by_name(span_of(r->kind));
	struct observation o;

	h->readings++;
	if (kind == KIND_COUNT)
		fail_msg("kinds.def has no %s", r->kind);
	assert_true(reading_observation(r, "n", 1, NULL, &o));
	if (!h->silent)
		buf_printf(&h->text, "%s @%llu", r->kind, (unsigned long long)r->offset);
	for (int i = 0; i < r->fields; i++) {
		const struct reading_field *f = &r->field[i];

		if (field_by_name(kind, span_of(f->name)) < 0)
			fail_msg("kinds.def has no %s of %s", f->name, r->kind);
		if (h->silent)
			continue;
		buf_printf(&h->text, " %s=", f->name);
		if (f->type == READING_INT)
			buf_printf(&h->text, "%lld", (long long)f->number);
		else if (f->type == READING_REAL)
			buf_printf(&h->text, "%a", f->real);
		else
			buf_span(&h->text, f->text);
	}
	if (!h->silent)
		buf_char(&h->text, '\n');
}

static struct profile_set profiles;

static struct scan *start(struct heard *h)
{
	struct scan_options options = { .sink = { on_reading, h }, .profiles = &profiles };

	memset(h, 0, sizeof *h);
	buf_init(&h->text, 64 << 20);
	return scan_new(&options);
}

/* A block of its own, so that a look past its end is seen. */
static void feed(struct scan *s, const char *at, size_t n)
{
	char *piece = malloc(n ? n : 1);

	memcpy(piece, at, n);
	scan_feed(s, piece, n);
	free(piece);
}

static uint64_t dice = UINT64_C(88172645463325252);

static size_t roll(size_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (size_t)(dice % below);
}

/* --- where the input is cut does not matter --- */

/* Two scans of the same text, over and over as one file after the other: one gets it whole, one in pieces. */
struct pair {
	const char *path, *text;
	size_t len;
	struct scan *whole, *cut;
	struct heard heard_whole, heard_cut;
	int times;
};

static void pair_end(struct pair *p)
{
	scan_flush(p->whole, true);
	scan_flush(p->cut, true);
	assert_string_equal(buf_string(&p->heard_whole.text), buf_string(&p->heard_cut.text));
	scan_free(p->whole);
	scan_free(p->cut);
	buf_release(&p->heard_whole.text);
	buf_release(&p->heard_cut.text);
	p->times = 0;
}

/* First a piece of `first` bytes, then of `then` (0: the rest; SIZE_MAX: of any size). */
static void feed_cut(struct pair *p, size_t first, size_t then)
{
	size_t done = first < p->len ? first : p->len;

	feed(p->cut, p->text, done);
	while (done < p->len) {
		size_t left = p->len - done, n = then == SIZE_MAX ? roll(200) : then ? then : left;

		n = n < left ? n : left;
		feed(p->cut, p->text + done, n);
		done += n;
	}
}

static void pair_try(struct pair *p, size_t first, size_t then)
{
	if (!p->times) {
		p->whole = start(&p->heard_whole);
		p->cut = start(&p->heard_cut);
	}
	buf_clear(&p->heard_whole.text);
	buf_clear(&p->heard_cut.text);
	feed(p->whole, p->text, p->len);
	feed_cut(p, first, then);
	scan_next_file(p->whole);
	scan_next_file(p->cut);
	if (strcmp(buf_string(&p->heard_whole.text), buf_string(&p->heard_cut.text)) != 0)
		fail_msg("%s cut at %zu, then %zu: other readings:\n%s\nnot\n%s", p->path, first, then, buf_string(&p->heard_cut.text),
			buf_string(&p->heard_whole.text));
	if (++p->times == TIMES)
		pair_end(p);
}

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*len = (size_t)ftell(f);
	rewind(f);
	text = malloc(*len + 1);
	assert_int_equal(fread(text, 1, *len, f), *len);
	fclose(f);
	return text;
}

static void try_cuts(const char *path, const char *text, size_t len)
{
	struct pair p = { .path = path, .text = text, .len = len };

	for (size_t cut = 0; cut <= len && len <= SMALL; cut++)
		pair_try(&p, cut, 0);
	for (size_t cut = 0; cut < len && len > SMALL; cut++)
		if (text[cut] == '\n') {
			pair_try(&p, cut, 0);
			pair_try(&p, cut + 1, 0);
		}
	for (int k = 0; k < CUTS && len > SMALL; k++)
		pair_try(&p, roll(len), 0);
	if (len <= BYTEWISE)
		pair_try(&p, 1, 1);
	for (int k = 0; k < 4; k++)
		pair_try(&p, 7, k ? SIZE_MAX : 61);
	if (p.times)
		pair_end(&p);
}

static void cuts_do_not_matter(void **state)
{
	const char *top = getenv("srcdir");
	char pattern[600];
	glob_t files;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/tests/data/explain/*/*/input.*", top ? top : ".");
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 80);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		size_t len;
		char *text = read_all(files.gl_pathv[i], &len);

		try_cuts(files.gl_pathv[i], text, len);
		free(text);
	}
	globfree(&files);
}

/* Nor what stands past the part of a line that is looked at. */
static void long_lines_are_cut_alike(void **state)
{
	static const char head[] = "wave_1: pc=0x10 (kernel_code_entry=0x1 <k(int)>) (stopped, reason: TRAP)";
	static const char fault[] = "Memory access fault by GPU node-3 (Agent handle: 0x5) on address 0x7f0. Reason: Unknown.";
	size_t len = 3 << 20;
	char *text = malloc(len);

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct pair p = { .path = "a line of 3 MB", .text = text, .len = len };

		memset(text, k & 1 ? ' ' : 'x', len);
		memcpy(text, head, k & 2 ? sizeof head - 1 : 0);
		memcpy(text + LINE_KEPT_MAX - 20, fault, sizeof fault - 1);
		memcpy(text + 2 * LINE_KEPT_MAX, fault, sizeof fault - 1);
		text[len - 300] = '\n';
		memcpy(text + len - 200, fault, sizeof fault - 1);
		pair_try(&p, 1000, 0);
		pair_try(&p, LINE_KEPT_MAX, 0);
		pair_try(&p, 2 << 20, 0);
		pair_try(&p, 100, 300000);
		pair_end(&p);
	}
	free(text);
}

/* Lines that are nearly rows, or nearly one line: what is counted whatever the cuts. */
static void near_rows_and_parts(void **state)
{
#define ROW "   s0: 00000000   s1: 00000000   s2: 00000000   s3: 00000000\n"
#define WAVE "wave_1: pc=0x10 (running)\nscalar registers:\n" ROW ROW ROW /* rows of running waves are skipped */
#define CRI "2025-06-11T11:46:37.000000000Z stderr "
	static const struct { const char *what, *text; uint64_t waves, faults, rows; const char *said; } row[] = {
		{ "rows", WAVE, 1, 0, 3, "state=running" },
		{ "a short row and a header, together as long as a row", WAVE " s4: 0              \nwave_2: pc=0x20 (stopped, reason: TRAP)\n", 2, 0, 4, "pc=0x20" },
		{ "a header as long as a row", WAVE "wave_2: pc=0x00000000000000000000020 (stopped, reason: TRAP)\n", 2, 0, 3, "reasons=[\"TRAP\"]" },
		{ "a fault among rows", WAVE "Memory access fault by GPU node-3 on address 0x1. Reason: Unknown.\n" ROW, 1, 1, 4, "address=0x1" },
		{ "rows without a title", ROW ROW, 0, 0, 0, "server_log" },
		{ "a message in three parts, and one behind it", CRI "P Memory access fault by\n" CRI "P  GPU node-3 on\n" CRI "F  address 0x1. Reason: Unknown.\n"
			CRI "F Memory access fault by GPU node-4 on address 0x2. Reason: Unknown.\n", 0, 2, 0, "kfd_node=4" },
		{ "states of a bar", "50%\rMemory access fault by GPU node-3 on address 0x1. Reason: Unknown.\r99%\r\n", 0, 1, 0, "reason=Unknown" },
		{ "CRLF", "wave_1: pc=0x10 (stopped, reason: TRAP)\r\n\r\nwave_2: pc=0x10 (running)\r\n", 2, 0, 0, "state=running" },
		{ "no end of line", "wave_1: pc=0x10 (stopped, reason: TRAP)\nwave_2: pc=0x10 (running)", 2, 0, 0, "state=running" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct scan_counts count;
		struct buf text;
		struct heard h;
		struct scan *s = start(&h);

		buf_init(&text, 0);
		buf_text(&text, row[i].text);
		feed(s, text.at, text.len);
		scan_flush(s, true);
		scan_count(s, &count);
		scan_free(s);
		if (count.waves != row[i].waves || count.faults != row[i].faults || count.rows != row[i].rows)
			fail_msg("%s: %llu waves, %llu faults, %llu rows", row[i].what, (unsigned long long)count.waves,
				(unsigned long long)count.faults, (unsigned long long)count.rows);
		if (!strstr(buf_string(&h.text), row[i].said))
			fail_msg("%s: no %s in\n%s", row[i].what, row[i].said, buf_string(&h.text));
		try_cuts(row[i].what, text.at, text.len);
		buf_release(&h.text);
		buf_release(&text);
	}
}

/* --- bounds --- */

#define PIECE (64 << 10)

/* `piece` over and over, handed over in blocks, the last one whatever is left. */
static void feed_many(struct scan *s, const char *piece, size_t n, size_t times)
{
	struct buf block;

	buf_init(&block, 2 * PIECE);
	for (size_t i = 0; i < times; i++) {
		buf_add(&block, piece, n);
		if (block.len >= PIECE) {
			scan_feed(s, block.at, block.len);
			buf_clear(&block);
		}
	}
	scan_feed(s, buf_string(&block), block.len);
	buf_release(&block);
}

static long memory_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Lines without end, and many of them: all is counted, little is kept. */
static void bounds(void **state)
{
#define TEXT(t) t, sizeof t - 1
	static const struct { const char *what, *piece; size_t n, times; uint64_t lines; uint64_t readings_max; } row[] = {
		{ "a line of 96 MB", TEXT("0123456789abcdef"), 6 << 20, 1, 2 },
		{ "empty lines", TEXT("\n"), 200000, 200000, 2 },
		{ "short lines", TEXT("a b\n"), 1000000, 1000000, 2 },
		{ "NULs", TEXT("\0"), 10 << 20, 1, 2 },
		{ "lines of NULs", TEXT("\0\0\0\n"), 100000, 100000, 2 },
		{ "CR only", TEXT("\r"), 3 << 20, 1, 2 },
		{ "states of a bar", TEXT("Loading safetensors checkpoint shards:  10% Completed | 1/8 [00:01<00:07]\r"), 200000, 1, 4 },
		{ "open brackets", TEXT("["), 10 << 20, 1, 2 },
		{ "open brackets in lines", TEXT("[[[[\n"), 1 << 20, 1 << 20, 2 },
		{ "an open string of JSON", TEXT("{\"a\": \"bbbbbbbb"), 6 << 20, 1, 2 },
		{ "an open document of JSON", TEXT("{\"card0\": {\n"), 6 << 20, 6 << 20, 2 },
		{ "headers of waves", TEXT("wave_1: pc=0x10 (kernel_code_entry=0x1 <k(int)>) (stopped, reason: TRAP)\n"), 100000, 100000, WAVES_ROWS + 100 },
		{ "titles of disassemblies", TEXT("Disassembly for function k(int):\n"), 20000, 20000, 20010 },
		{ "a disassembly without end", TEXT("Disassembly for function k(int):\n    0x10 <+4>:    s_nop 0\n"), 300000, 600000, 300010 },
		{ "rows of rocgdb", TEXT("  1    AMDGPU Wave 1:1:1:1 (0,0,0)/0 \"k\" 0x10 in k ()\n"), 100000, 100000, 100010 },
		{ "dispatches", TEXT("* 1    AMDGPU Dispatch 1:1:1 (PKID 0) [1,1,1] [1,1,1] B|Aa|Ra k(int)\n"), 20000, 20000, 20010 },
		{ "a stack", TEXT("    f (x.py:1)\n"), 2000000, 2000000, 20 },
		{ "threads", TEXT("Thread 1 (idle): \"T\"\n"), 2000000, 2000000, 20 },
		{ "processes", TEXT("Process 1: python3\nThread 1 (idle): \"T\"\n    f (x.py:1)\n"), 50000, 150000, 50010 },
		{ "colours", TEXT("\033[1;31m"), 2 << 20, 1, 2 },
		{ "prefixes", TEXT("(W pid=1) "), 2 << 20, 1, 2 },
		{ "messages in parts", TEXT("2025-06-11T11:46:37.000000000Z stderr P abcdefgh\n"), 1 << 20, 1 << 20, 2 },
		{ "page faults", TEXT("amdgpu 0000:0b:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8)\n"), 20000, 20000, 20010 },
		{ "records of MI", TEXT("^done,agents=[{id=\"1\","), 4 << 20, 1, 2 },
		{ "records of MI in lines", TEXT("^done,agents=[{id=\"1\",\n"), 100000, 100000, 100010 },
		{ "chunks", TEXT("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\n{\"a\":\n"), 200000, 1000000, 200010 },
		{ "a chunk without end", TEXT("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nfffffff\n{"), 1, 5, 4 },
		{ "headers without end", TEXT("HTTP/1.1 200 OK\nA: b\n"), 200000, 400000, 200010 },
		{ "errors of queues that are not whole", TEXT(":0:rocdevice.cpp :2984: Aborting with error : HSA_STATUS_\n"), 100000, 100000, 100010 },
	};
	long before = memory_kib();

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct scan_counts count;
		struct heard h;
		struct scan *s = start(&h);

		h.silent = true;
		feed_many(s, row[i].piece, row[i].n, row[i].times);
		scan_flush(s, true);
		scan_count(s, &count);
		scan_free(s);
		if (count.lines != row[i].lines || count.bytes != row[i].n * row[i].times)
			fail_msg("%s: %llu lines, %llu bytes", row[i].what, (unsigned long long)count.lines, (unsigned long long)count.bytes);
		if (h.readings > row[i].readings_max)
			fail_msg("%s: %llu readings", row[i].what, (unsigned long long)h.readings);
		if (!SANITIZED && memory_kib() - before > GROWTH_MAX)
			fail_msg("%s: %ld KiB more memory", row[i].what, memory_kib() - before);
	}
}

/* Past the rows that are kept all waves are counted, and each kernel, pc and reason is told at least once. */
static void waves_are_counted(void **state)
{
	struct scan_counts count;
	struct heard h;
	struct scan *s = start(&h);
	char line[200];

	(void)state;
	for (int i = 1; i <= 5000; i++) {
		snprintf(line, sizeof line, "wave_%d: pc=0x%x (kernel_code_entry=0x1 <k%d(int)>) (stopped, reason: TRAP)\n\nscalar registers:\n"
					    "            s0: ffffffff            s1: 00000000\n\n", i, i < 4990 ? 0x100 : 0x200 + i, i < 4990 ? 1 : i);
		scan_feed(s, line, strlen(line));
	}
	scan_flush(s, true);
	scan_count(s, &count);
	assert_int_equal(count.waves, 5000);
	assert_int_equal(count.lines, 25000);
	assert_true(h.readings < 1000);
	assert_non_null(strstr(buf_string(&h.text), "kernel=k4999(int)"));
	assert_non_null(strstr(buf_string(&h.text), "kernel=k4990(int)"));
	scan_free(s);
	buf_release(&h.text);
}

int main(void)
{
	static const char *const names[] = { "atom", "vllm", "sglang", "torchrun", "ollama", "llama.cpp" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds), /* first: it measures memory */
		cmocka_unit_test(cuts_do_not_matter),
		cmocka_unit_test(long_lines_are_cut_alike),
		cmocka_unit_test(near_rows_and_parts),
		cmocka_unit_test(waves_are_counted),
	};
	int failed;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		profile_set_add(&profiles, shipped_profile(names[i]));
	failed = cmocka_run_group_tests_name("scan", tests, NULL, NULL);
	profile_set_release(&profiles);
	return failed;
}
