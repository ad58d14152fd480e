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

#include "base/buf.h"
#include "base/mem.h"
#include "parse/scan.h"
#include "source/reading_say.h"

#include "profile_file.h"

#define SMALL 1500              /* bytes: every cut is tried */
#define CUTS 40                 /* else so many */

struct heard {
	struct buf text;
	uint64_t readings, unknown;
};

/* Everything a reading says, as text. */
static void on_reading(void *context, const struct reading *r)
{
	struct heard *h = context;
	struct observation o;

	h->readings++;
	buf_printf(&h->text, "%s @%llu", r->kind, (unsigned long long)r->offset);
	for (int i = 0; i < r->fields; i++) {
		const struct reading_field *f = &r->field[i];

		if (f->type == READING_INT)
			buf_printf(&h->text, " %s=%lld", f->name, (long long)f->number);
		else if (f->type == READING_REAL)
			buf_printf(&h->text, " %s=%g", f->name, f->real);
		else
			buf_printf(&h->text, " %s=%.*s", f->name, (int)f->text.len, f->text.at);
		if (kind_by_name(span_of(r->kind)) == KIND_COUNT || field_by_name(kind_by_name(span_of(r->kind)), span_of(f->name)) < 0) {
			print_error("kinds.def has no %s of %s\n", f->name, r->kind);
			h->unknown++;
		}
	}
	buf_char(&h->text, '\n');
	assert_true(reading_observation(r, "n", 1, NULL, &o));
}

static struct profile_set profiles;

static struct scan *start(struct heard *h)
{
	struct scan_options options = { .sink = { on_reading, h }, .profiles = &profiles };

	memset(h, 0, sizeof *h);
	buf_init(&h->text, 64 << 20);
	return scan_new(&options);
}

/* In pieces of these sizes, over and over. */
static void hear(struct heard *h, const char *at, size_t len, size_t first, size_t then)
{
	struct scan *s = start(h);
	size_t done = 0, n = first < len ? first : len;

	while (done < len) {
		/* A block of its own, so that a look past its end is seen. */
		char *piece = malloc(n ? n : 1);

		memcpy(piece, at + done, n);
		scan_feed(s, piece, n);
		free(piece);
		done += n;
		n = then && then < len - done ? then : len - done;
	}
	scan_flush(s, true);
	scan_free(s);
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

static void same_as(const struct heard *want, const char *path, const char *text, size_t len, size_t first, size_t then)
{
	struct heard h;

	hear(&h, text, len, first, then);
	if (strcmp(buf_string(&h.text), buf_string(&want->text)) != 0)
		fail_msg("%s cut at %zu, then every %zu: other readings", path, first, then);
	buf_release(&h.text);
}

static void cuts_do_not_matter(void **state)
{
	const char *top = getenv("srcdir");
	uint64_t dice = 88172645463325252ULL, unknown = 0;
	char pattern[600];
	glob_t files;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/tests/data/explain/*/*/input.*", top ? top : ".");
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 50);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct heard whole;
		size_t len;
		char *text = read_all(files.gl_pathv[i], &len);

		hear(&whole, text, len, len, 0);
		unknown += whole.unknown;
		for (size_t cut = 0; cut <= len && len <= SMALL; cut++)
			same_as(&whole, files.gl_pathv[i], text, len, cut, 0);
		for (int k = 0; k < CUTS && len > SMALL; k++) {
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			same_as(&whole, files.gl_pathv[i], text, len, dice % len, 0);
		}
		same_as(&whole, files.gl_pathv[i], text, len, 1, 1);
		same_as(&whole, files.gl_pathv[i], text, len, 7, 61);
		buf_release(&whole.text);
		free(text);
	}
	globfree(&files);
	assert_int_equal(unknown, 0);
}

static void repeat(struct scan *s, const char *text, int n)
{
	for (int i = 0; i < n; i++)
		scan_feed(s, text, strlen(text));
}

/* Lines without end, and many of them: all is read, little is kept. */
static void bounds(void **state)
{
	static const struct { const char *what, *piece; int times; uint64_t lines; } row[] = {
		{ "a line of 6 MB", "0123456789abcdef", 400000, 1 },
		{ "empty lines", "\n", 200000, 200000 },
		{ "CR only", "\r", 200000, 1 },
		{ "open brackets", "[", 200000, 1 },
		{ "an open string of JSON", "{\"a\": \"", 200000, 1 },
		{ "headers of waves", "wave_1: pc=0x10 (kernel_code_entry=0x1 <k(int)>) (stopped, reason: TRAP)\n", 50000, 50000 },
		{ "titles of disassemblies", "Disassembly for function k(int):\n", 20000, 20000 },
		{ "rows of rocgdb", "  1    AMDGPU Wave 1:1:1:1 (0,0,0)/0 \"k\" 0x10 in k ()\n", 20000, 20000 },
		{ "frames", "    f (x.py:1)\n", 50000, 50000 },
		{ "threads", "Thread 1 (idle): \"T\"\n", 20000, 20000 },
		{ "colours", "\033[1;31m", 50000, 1 },
		{ "prefixes", "(W pid=1) ", 50000, 1 },
		{ "page faults", "amdgpu 0000:0b:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8)\n", 20000, 20000 },
		{ "records of MI", "^done,agents=[{id=\"1\",", 20000, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct scan_counts count;
		struct heard h;
		struct scan *s = start(&h);

		repeat(s, row[i].piece, row[i].times);
		scan_flush(s, true);
		scan_count(s, &count);
		if (count.lines != row[i].lines || count.bytes != strlen(row[i].piece) * (size_t)row[i].times)
			fail_msg("%s: %llu lines, %llu bytes", row[i].what, (unsigned long long)count.lines, (unsigned long long)count.bytes);
		scan_free(s);
		buf_release(&h.text);
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
		cmocka_unit_test(cuts_do_not_matter),
		cmocka_unit_test(bounds),
		cmocka_unit_test(waves_are_counted),
	};
	int failed;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		profile_set_add(&profiles, shipped_profile(names[i]));
	failed = cmocka_run_group_tests_name("scan", tests, NULL, NULL);
	profile_set_release(&profiles);
	return failed;
}
