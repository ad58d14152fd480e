/* test_evidence.c - hashes, masks, readers that hang or cannot be killed, bundles that are full, and a search that hangs. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/evidence_find.h"
#include "app/evidence_hash.h"
#include "app/evidence_mask.h"
#include "app/evidence_read.h"
#include "base/mem.h"
#include "parse/proc_files.h"
#include "source/proc_tree.h"

/* --- hashes --- */

static void test_hash(void **state)
{
	/* FIPS 180-4's examples, and the lengths around the padding, by coreutils. */
	static const struct { char letter; size_t n; const char *hex; } row[] = {
		{ 'a', 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ 'a', 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
		{ 'a', 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
		{ 'a', 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
		{ 'a', 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
	};
	char hex[65];

	(void)state;
	evidence_hash("abc", 3, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		char *bytes = malloc(row[i].n ? row[i].n : 1);

		memset(bytes, row[i].letter, row[i].n);
		evidence_hash(bytes, row[i].n, hex);
		assert_string_equal(hex, row[i].hex);
		free(bytes);
	}
}

/* --- masks --- */

static void check_mask(void (*mask)(struct buf *, struct span), const char *in, size_t n, const char *want)
{
	char *copy = malloc(n ? n : 1);
	struct buf out;

	memcpy(copy, in, n);
	buf_init(&out, 0);
	mask(&out, span_make(copy, n));
	assert_string_equal(buf_string(&out), want);
	buf_release(&out);
	free(copy);
}

static void mask_environ(struct buf *out, struct span raw)
{
	evidence_mask_environ(out, raw, NULL);
}

static void test_mask_environ(void **state)
{
	static const struct { const char *in, *want; } row[] = {
		{ "PATH=/usr/bin:/bin", "PATH=/usr/bin:/bin\n" },
		{ "PWD=/root", "PWD=/root\n" },
		{ "HF_TOKEN=hf_abcdef", "HF_TOKEN=***\n" },
		{ "DB_PASS=x", "DB_PASS=***\n" },
		{ "MYSQL_PWD=x", "MYSQL_PWD=***\n" },
		{ "SENTRY_DSN=https://k@s/1", "SENTRY_DSN=***\n" },
		{ "ANY=0123456789abcdef01234", "ANY=***\n" },
		{ "HIP_VISIBLE_DEVICES=GPU-0123456789abcdef0123456789", "HIP_VISIBLE_DEVICES=GPU-0123456789abcdef0123456789\n" },
		{ "HTTP_PROXY=http://me:pw@proxy:80/", "HTTP_PROXY=http://***@proxy:80/\n" },
		{ "ARGS=--api-key abc --port 80", "ARGS=--api-key *** --port 80\n" },
		{ "NCCL_DEBUG=INFO", "NCCL_DEBUG=INFO\n" },
		{ "A=\033[2J", "A=^[[2J\n" },
		{ "no equals sign", "no equals sign\n" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		check_mask(mask_environ, row[i].in, strlen(row[i].in), row[i].want);
	check_mask(mask_environ, "A=1\0KEY=2\0B=3\0", 14, "A=1\nKEY=***\nB=3\n");
}

static void test_mask_text(void **state)
{
	static const struct { const char *in, *want; } row[] = {
		{ "Process 7: python -m s --api-key abc --port 80\nPython v3\n", "Process 7: python -m s --api-key *** --port 80\nPython v3\n" },
		{ "argv ['--hf-token', 'abc', '--tokenizer', 'b']", "argv ['--hf-token', *** '--tokenizer', 'b']" },
		{ "api_key=abcd\nnext\n", "api_key=***\nnext\n" },
		{ "--max-num-batched-tokens 8192", "--max-num-batched-tokens 8192" },
		{ "--api-key --port 80", "--api-key --port 80" },
		{ "GET http://h:80/v1 and http://u:p@h/", "GET http://h:80/v1 and http://***@h/" },
		{ "\n\nlast", "\n\nlast" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		check_mask(evidence_mask_text, row[i].in, strlen(row[i].in), row[i].want);
}

static void test_secrets_are_found_again(void **state)
{
	struct secrets s = { .count = 0 };
	struct buf out;

	(void)state;
	buf_init(&out, 0);
	/* A word, a path and what is short could be anything: only the last is worth looking for. */
	evidence_mask_environ(&out, span_make("TOKEN=enabled\0KEY=/etc/key1\0PASS=x1\0PASS=hunter2hunter\0PASS=hunter2hunter\0", 73), &s);
	assert_int_equal(s.count, 1);
	buf_clear(&out);
	secrets_mask(&s, &out, span_of("hunter2hunter at hunter2hunte hunter2hunterhunter2hunter"));
	assert_string_equal(buf_string(&out), "*** at hunter2hunte ******");
	buf_release(&out);
	secrets_release(&s);
}

/* --- readers --- */

static void say_hello(struct reading *r, const struct item *item)
{
	(void)item;
	reading_say(r, "hello", 5);
}

static void say_then_hang(struct reading *r, const struct item *item)
{
	(void)item;
	reading_say(r, "half", 4);
	for (;;)
		pause();
}

/* As if it were in state D: what holds the pipe does not go with the child. The test ends it by the pid it says. */
static void cannot_be_killed(struct reading *r, const struct item *item)
{
	pid_t pid = fork();

	(void)item;
	if (pid == 0)
		for (;;)
			pause();
	reading_printf(r, "%d", (int)pid);
	for (;;)
		pause();
}

static void die(struct reading *r, const struct item *item)
{
	(void)r;
	(void)item;
	_exit(0);
}

struct got {
	enum evidence_state state[4];
	bool lost[4];
	char text[4][64], why[4][200];
	int items, done, closed;
	struct part *part;
};

static void on_item(struct part *part, struct item *item)
{
	struct got *g = part->context;

	assert_true(g->items < 4);
	g->state[g->items] = item->state;
	g->lost[g->items] = item->lost;
	snprintf(g->text[g->items], sizeof g->text[0], "%s", buf_string(&item->text));
	snprintf(g->why[g->items++], sizeof g->why[0], "%s", item->why);
}

static void on_done(struct part *part)
{
	((struct got *)part->context)->done++;
}

static void on_closed(struct part *part)
{
	((struct got *)part->context)->closed++;
}

/* hello, the reader given, hello: until the loop is empty. */
static struct got run_part(void (*read)(struct reading *, const struct item *), const char *dir, int64_t ticks)
{
	struct item item[3] = { { .path = "a/first", .from = "status", .read = say_hello }, { .path = "a/second", .from = "status", .read = read },
		{ .path = "a/third", .from = "status", .read = say_hello } };
	struct got got = { .items = 0 };
	struct part part = { .item = item, .items = 3, .deadline_ms = 300, .item_done = on_item, .done = on_done, .closed = on_closed,
		.context = &got, .start_ticks = ticks };
	uv_loop_t loop;

	snprintf(part.dir, sizeof part.dir, "%s", dir);
	uv_loop_init(&loop);
	part_start(&part, &loop);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	assert_int_equal(got.done, 1);
	assert_int_equal(got.closed, 1);
	assert_int_equal(got.items, 3);
	assert_int_equal(got.state[0], EVIDENCE_OK);
	assert_string_equal(got.text[0], "hello");
	return got;
}

static void test_reader_hangs(void **state)
{
	struct got g = run_part(say_then_hang, "", 0);

	(void)state;
	assert_int_equal(g.state[1], EVIDENCE_CUT);
	assert_true(g.lost[1]);
	assert_string_equal(g.text[1], "half");
	assert_non_null(strstr(g.why[1], "reading it did not end within 0.3 s (reader in state S"));
	assert_int_equal(g.state[2], EVIDENCE_MISSING);
	assert_string_equal(g.why[2], "not asked: second before it was not had");
}

static void test_reader_cannot_be_killed(void **state)
{
	struct got g = run_part(cannot_be_killed, "", 0);
	int pid = (int)strtol(g.text[1], NULL, 10);

	(void)state;
	assert_int_equal(g.state[1], EVIDENCE_CUT);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

static void test_reader_dies(void **state)
{
	struct got g = run_part(die, "", 0);

	(void)state;
	assert_int_equal(g.state[1], EVIDENCE_MISSING);
	assert_string_equal(g.why[1], "its reader ended early");
	assert_int_equal(g.state[2], EVIDENCE_MISSING);
}

static int64_t start_of(pid_t pid)
{
	struct proc_stat stat;
	struct buf text;

	buf_init(&text, 4096);
	assert_true(proc_read("/proc", pid, "stat", &text, 4095) && proc_stat_parse(buf_as_span(&text), &stat));
	buf_release(&text);
	return stat.start;
}

static void test_process_has_ended(void **state)
{
	char dir[40];
	pid_t pid = fork();
	struct got g;

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	snprintf(dir, sizeof dir, "/proc/%d", (int)pid);
	g = run_part(read_plain, dir, start_of(pid));
	assert_int_equal(g.state[1], EVIDENCE_OK);
	g = run_part(read_plain, dir, start_of(pid) + 1); /* another process has its number */
	assert_int_equal(g.state[1], EVIDENCE_MISSING);
	assert_string_equal(g.why[1], "the process has ended");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	g = run_part(read_plain, dir, 1);
	assert_string_equal(g.why[1], "the process has ended");
}

static void test_never_opens_a_fifo(void **state)
{
	char dir[] = "/tmp/hangtop-test-XXXXXX", path[80];
	struct got g;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/status", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	g = run_part(read_log, dir, 0);
	assert_int_equal(g.state[1], EVIDENCE_MISSING);
	assert_string_equal(g.why[1], "not a regular file");
	unlink(path);
	rmdir(dir);
}

/* --- the bundle --- */

static struct evidence_piece piece(const char *path, struct span text)
{
	return (struct evidence_piece){ .path = path, .from = "x", .at = 1000, .why = "", .text = text };
}

static void test_bundle_is_bounded(void **state)
{
	char dir[] = "/tmp/hangtop-test-XXXXXX", path[80], *zeros = calloc(1, EVIDENCE_BYTES_MAX / 4);
	struct evidence_piece big = piece("node/a", span_make(zeros, EVIDENCE_BYTES_MAX / 4)), small = piece("node/z", span_of("z"));
	struct error error;
	struct bundle b, other;
	struct buf lost;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/x.tar", dir);
	assert_int_equal(bundle_open(&b, path, "n", 0, &error), 0);
	for (int i = 0; i < 5; i++)
		bundle_add(&b, &big);
	bundle_add(&b, &small);
	assert_int_equal(b.lost, 2); /* the fifth, and then there is no room for one byte */
	buf_init(&lost, 0);
	bundle_pieces_end(&b);
	bundle_lost(&b, &lost);
	assert_non_null(strstr(buf_string(&lost), "the bundle is full (64 MB): node/a node/z"));
	assert_int_equal(bundle_close(&b, &error), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < (off_t)EVIDENCE_BYTES_MAX + 65536);
	assert_int_equal(bundle_open(&other, path, "n", 0, &error), -1); /* never over what is there */
	bundle_release(&other);
	buf_release(&lost);
	bundle_release(&b);
	unlink(path);
	rmdir(dir);
	free(zeros);
}

static void test_two_in_one_second(void **state)
{
	char dir[] = "/tmp/hangtop-test-XXXXXX", command[100];
	struct error error;
	struct bundle a, b;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(bundle_open(&a, dir, "no/de", 0, &error), 0);
	assert_int_equal(bundle_open(&b, dir, "no/de", 0, &error), 0);
	assert_non_null(strstr(a.path, "/evidence-no_de-19700101T000000Z"));
	assert_non_null(strstr(b.path, "/evidence-no_de-19700101T000000Z-2"));
	assert_int_equal(stat(a.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	bundle_release(&a);
	bundle_release(&b);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* --- a search that hangs --- */

static void test_family(void **state)
{
	struct app_options options = { .source = { .proc_root = "/proc" } };
	struct profile_set profiles = { 0 };
	struct find *f = mem_alloc(sizeof *f);
	pid_t pid = fork();
	bool found = false;

	(void)state;
	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(find_init(f, &options, &profiles), 0);
	f->tree->at = pid; /* the search is at this one and does not come back */
	find_family(f);
	for (int i = 0; i < f->count; i++)
		found = found || f->process[i].pid == pid;
	assert_true(found);
	f->count = 0;
	options.source.pid = pid; /* named: it and what is below it */
	find_family(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->api_pid, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	find_release(f);
	free(f);
}

static void test_folder_of_process(void **state)
{
	struct evidence_process p = { .pid = 7, .role = "worker", .rank = "DP1/../TP0" };
	char folder[100];

	(void)state;
	evidence_process_folder(&p, folder, sizeof folder);
	assert_string_equal(folder, "process/7-worker-DP1_.._TP0");
	p = (struct evidence_process){ .pid = 8 };
	evidence_process_folder(&p, folder, sizeof folder);
	assert_string_equal(folder, "process/8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_mask_environ),
		cmocka_unit_test(test_mask_text),
		cmocka_unit_test(test_secrets_are_found_again),
		cmocka_unit_test(test_reader_hangs),
		cmocka_unit_test(test_reader_cannot_be_killed),
		cmocka_unit_test(test_reader_dies),
		cmocka_unit_test(test_process_has_ended),
		cmocka_unit_test(test_never_opens_a_fifo),
		cmocka_unit_test(test_bundle_is_bounded),
		cmocka_unit_test(test_two_in_one_second),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_folder_of_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
