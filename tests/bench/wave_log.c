/* wave_log.c - writes a server's log of any size, the same bytes for the same seed: dumps of GPU waves as the ROCr
 * debug agent prints them (three generations of headers, 64 lanes, 16 to 512 vector registers, local memory, kernel
 * arguments, disassembly) between ordinary lines, or ordinary lines alone. For tests/bench/run.py.
 *
 *   wave_log [--seed N] [--bytes N] [--kind waves|ordinary|mixed] > FILE
 *
 * Ends with the first whole block or line at or after so many bytes. What it wrote goes to stderr as one JSON line:
 * {"bytes","lines","waves","faults","groups"}; a group is a kernel, a pc and what the waves there stopped for.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/wave_log.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LANES 64
#define ROWS 1024 /* made once, used again and again */
#define FAULT_EVERY (32 << 20) /* bytes of log from one memory fault to the next */
#define SCALARS 102
#define VECTORS 256

enum { KIND_WAVES, KIND_ORDINARY, KIND_MIXED };

static struct {
	char at[1 << 20];
	size_t len;
	uint64_t bytes, lines, waves, faults;
	bool seen[COUNT(wave_site)];
} out;
static uint64_t dice;
static char vector_row[ROWS][LANES * 14]; /* "[0] xxxxxxxx [1] ...", LF */
static size_t vector_row_len;
static char memory_row[ROWS][8 * 9 + 1]; /* " xxxxxxxx" eight times, LF */
static char scalar_label[SCALARS][17], vector_label[2][VECTORS][17]; /* as printed, 16 columns */
static char time_of_day[16] = "09:12:00";

/* --- randomness and output --- */

/* splitmix64 */
static uint64_t roll(void)
{
	uint64_t z = dice += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned below(size_t n)
{
	return (unsigned)((roll() >> 32) * n >> 32);
}

static void flush(void)
{
	for (const char *p = out.at; (p = memchr(p, '\n', (size_t)(out.at + out.len - p))); p++)
		out.lines++;
	out.bytes += out.len;
	for (size_t done = 0; done < out.len;) {
		ssize_t n = write(STDOUT_FILENO, out.at + done, out.len - done);

		if (n < 0 && errno != EINTR) {
			perror("wave_log: the log cannot be written");
			exit(1);
		}
		done += n > 0 ? (size_t)n : 0;
	}
	out.len = 0;
}

static uint64_t written(void)
{
	return out.bytes + out.len;
}

static void put(const char *text, size_t len)
{
	if (out.len + len > sizeof out.at)
		flush();
	memcpy(out.at + out.len, text, len);
	out.len += len;
}

static void say(const char *text)
{
	put(text, strlen(text));
}

static void hex(char *to, uint64_t value, int digits)
{
	for (int i = digits; i-- > 0; value >>= 4)
		to[i] = "0123456789abcdef"[value & 15];
}

static void say_hex(uint64_t value, int digits)
{
	char text[16];

	hex(text, value, digits);
	put(text, (size_t)digits);
}

static void say_number(uint64_t value)
{
	char text[24];

	put(text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

static void say_address(uint64_t value)
{
	say("0x");
	say_hex(value, 12);
}

/* --- ordinary lines --- */

static void say_pattern(const char *pattern)
{
	char line[512], *to = line;
	uint64_t random = roll();

	for (; *pattern && to < line + sizeof line - 10; pattern++) {
		if (*pattern == '@') {
			memcpy(to, time_of_day, 8);
			to += 8;
		} else if (*pattern == '~' || *pattern == '^') {
			*to++ = (char)(*pattern == '~' ? '1' + random % 9 : '0' + random % 8);
			random = random / 9 ^ random << 55;
		} else {
			*to++ = *pattern;
		}
	}
	*to++ = '\n';
	put(line, (size_t)(to - line));
}

/* A second passes every 40 lines or so. */
static void ordinary(void)
{
	static unsigned now = 9 * 3600 + 12 * 60;

	if (below(40) == 0) {
		now = (now + 1) % 86400;
		snprintf(time_of_day, sizeof time_of_day, "%02u:%02u:%02u", now / 3600, now / 60 % 60, now % 60);
	}
	say_pattern(ordinary_line[below(COUNT(ordinary_line))]);
}

/* --- a block --- */

static void make_label(char *to, const char *letter, unsigned number)
{
	char name[16];

	snprintf(name, sizeof name, "%s%u: ", letter, number);
	snprintf(to, 17, "%16s", name);
}

static void make_rows(void)
{
	for (unsigned i = 0; i < SCALARS; i++)
		make_label(scalar_label[i], "s", i);
	for (unsigned i = 0; i < VECTORS; i++) {
		make_label(vector_label[0][i], "v", i);
		make_label(vector_label[1][i], "a", i);
	}
	for (unsigned row = 0; row < ROWS; row++) {
		char *to = vector_row[row];
		uint64_t first = roll();
		unsigned shape = below(4); /* 0: all zero, 1: addresses of lanes, else anything */

		for (unsigned lane = 0; lane < LANES; lane++) {
			to += snprintf(to, 8, lane ? " [%u] " : "[%u] ", lane);
			hex(to, shape == 0 ? 0 : shape == 1 ? first + 4 * lane : roll(), 8);
			to += 8;
		}
		*to++ = '\n';
		vector_row_len = (size_t)(to - vector_row[row]);
		for (unsigned word = 0; word < 8; word++) {
			memory_row[row][9 * word] = ' ';
			hex(memory_row[row] + 9 * word + 1, shape ? roll() : 0, 8);
		}
		memory_row[row][72] = '\n';
	}
}

/* One register: its name in 16 columns and its value. */
static void cell(const char *name, uint64_t value, int digits)
{
	char text[32];

	put(text, (size_t)snprintf(text, sizeof text, "%14s: ", name));
	say_hex(value, digits);
}

static uint64_t site_pc(const struct wave_site *s)
{
	return code_object[s->object].from + s->entry + s->pc;
}

static void header(const struct wave_site *s, uint64_t wave, uint64_t arguments)
{
	say("--------------------------------------------------------\nwave_");
	say_number(wave);
	say(": pc=");
	say_address(site_pc(s));
	if (s->generation != OLD && s->kernel < 0) {
		say(" (kernel_code_entry=not available)");
	} else if (s->generation != OLD) {
		say(" (kernel_code_entry=");
		say_address(code_object[s->object].from + s->entry);
		say(" <");
		say(kernel_name[s->kernel]);
		say(">");
		if (s->generation == ARGUMENTS) {
			say(", kernargs=");
			say_address(arguments);
		}
		say(")");
	}
	say(s->why ? " (stopped, reason: " : " (running");
	say(s->why ? s->why : "");
	say(")\n");
}

static void scalar_registers(void)
{
	static const int many[] = {32, 48, 64, 96, SCALARS};
	int n = many[below(COUNT(many))];

	say("\nscalar registers:\n");
	for (int i = 0; i < n; i++) {
		put(scalar_label[i], 16);
		say_hex(roll(), 8);
		if (i % 4 == 3 || i == n - 1)
			say("\n");
	}
}

static void system_registers(void)
{
	static const char *const trap[] = {
		"ttmp4", "ttmp5", "ttmp6", "ttmp7", "ttmp8", "ttmp9", "ttmp10", "ttmp11", "ttmp13"};

	say("\nsystem registers:\n");
	cell("mode", 0x3f0, 8);
	cell("trapsts", roll(), 8);
	say("\n");
	cell("xnack_mask", 0, 16);
	cell("flat_scratch", roll(), 16);
	say("\n");
	cell("status", roll(), 8);
	say("\n\ntrap registers:\n");
	for (size_t i = 0; i < COUNT(trap); i++) {
		cell(trap[i], roll(), 8);
		if (i % 4 == 3 || i + 1 == COUNT(trap))
			say("\n");
	}
}

static void vector_registers(void)
{
	static const int many[] = {16, 24, 32, 48, 64, 64, 96, 96, 128, 128, 128, 160, 192, 192, 256, 512};
	int n = many[below(COUNT(many))];

	say("\nvector registers:\n");
	for (int i = 0; i < n; i++) {
		put(vector_label[i / VECTORS][i % VECTORS], 16);
		put(vector_row[below(ROWS)], vector_row_len);
	}
}

static void general_registers(const struct wave_site *s)
{
	say("\ngeneral registers:\n");
	cell("m0", 0x103c0, 8);
	say("\n");
	cell("pc", site_pc(s), 16);
	cell("exec", UINT64_MAX, 16);
	say("\n");
	cell("vcc", roll(), 16);
	say("\n");
}

static void memory_rows(uint64_t from, int digits, unsigned bytes)
{
	for (unsigned at = 0; at < bytes; at += 32) {
		say("    0x");
		say_hex(from + at, digits);
		say(":");
		put(memory_row[below(ROWS)], sizeof memory_row[0]);
	}
}

static void memory(const struct wave_site *s, uint64_t arguments)
{
	static const unsigned local[] = {0, 0, 0, 0, 64, 1024, 4096, 8192, 8192, 16384, 16384, 32768, 32768, 65536};
	unsigned bytes = local[below(COUNT(local))];

	if (bytes && s->generation == ARGUMENTS) {
		say("\nLocal memory content (");
		say_number(bytes);
		say(" bytes):\n");
	} else if (bytes) {
		say("\nLocal memory content:\n");
	}
	memory_rows(0, 4, bytes);
	if (s->generation == ARGUMENTS) {
		bytes = 32 * (1 + below(10));
		say("\nGlobal memory (kernarg segment, ");
		say_number(bytes);
		say(" bytes):\n");
		memory_rows(arguments, 12, bytes);
	}
}

static void instruction_line(const struct wave_site *s, unsigned at, const char *text)
{
	say(at ? "    " : " => ");
	say_address(site_pc(s) + at);
	if (s->kernel >= 0) {
		say(" <+");
		say_number(s->pc + at);
		say(">");
	}
	say(":    ");
	say(text);
}

static void disassembly(const struct wave_site *s)
{
	const struct code_object *o = &code_object[s->object];
	unsigned at = 0;

	say(s->kernel < 0 ? "\nDisassembly" : "\nDisassembly for function ");
	say(s->kernel < 0 ? "" : kernel_name[s->kernel]);
	say(":\n    code object: ");
	say(o->uri);
	say("\n    loaded at: [");
	say_address(o->from);
	say("-");
	say_address(o->to);
	say("]\n");
	for (; at < 20; at += 4 + 4 * below(2)) {
		instruction_line(s, at, instruction[(s->pc / 4 + at) % COUNT(instruction)]);
		say("\n");
	}
	instruction_line(s, at, "s_cbranch_execz 12  # ");
	say_address(site_pc(s) + at + 52);
	if (s->kernel >= 0) {
		say(" <");
		say(kernel_name[s->kernel]);
		say("+");
		say_number(s->pc + at + 52);
		say(">");
	}
	say("\n    ...\n\nEnd of disassembly.\n");
}

/* The agent gives up at bytes that are no instruction: no disassembly below such a wave. */
static void block(size_t site)
{
	static uint64_t wave = 27876;
	const struct wave_site *s = &wave_site[site];
	uint64_t arguments = 0x7e20e0c01000 + 0x1000 * (uint64_t)below(4096);

	wave += 1 + below(3);
	if (out.waves++)
		say("\n");
	out.seen[site] = true;
	header(s, wave, arguments);
	if (s->generation == OLD) {
		system_registers();
		scalar_registers();
	} else {
		scalar_registers();
		system_registers();
	}
	vector_registers();
	general_registers(s);
	memory(s, arguments);
	if (!s->why || !strstr(s->why, "ILLEGAL"))
		disassembly(s);
}

/* --- the file --- */

static size_t some_site(void)
{
	int die = (int)below(100);
	size_t site = 0;

	while (die >= wave_site[site].often)
		die -= wave_site[site++].often;
	return site;
}

static void fault(void)
{
	say_pattern(fault_line[out.faults++ % COUNT(fault_line)]);
	say(":0:rocdevice.cpp            :3587: 74339723890 us:  Callback: Queue 0x7f1e5fc00000 aborting with error : "
	    "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016\n");
}

/* A dump is some waves after each other; then the server goes on, with 1 % of the lines or half of the bytes. */
static void dumps(int kind, uint64_t bytes)
{
	while (written() < bytes) {
		uint64_t from = written(), used;

		for (unsigned n = 1 + below(30); n && written() < bytes; n--) {
			block(some_site());
			for (unsigned lines = below(14); lines; lines--)
				ordinary();
			if (written() / FAULT_EVERY >= out.faults)
				fault();
		}
		used = written() - from;
		for (from = written(); kind == KIND_MIXED && written() < bytes && written() - from < used;)
			ordinary();
	}
}

static void truth(void)
{
	unsigned groups = 0;

	for (size_t i = 0; i < COUNT(wave_site); i++)
		groups += out.seen[i];
	fprintf(stderr,
		"{\"bytes\":%" PRIu64 ",\"lines\":%" PRIu64 ",\"waves\":%" PRIu64 ",\"faults\":%" PRIu64
		",\"groups\":%u}\n",
		out.bytes, out.lines, out.waves, out.faults, groups);
}

static int usage(void)
{
	fputs("usage: wave_log [--seed N] [--bytes N] [--kind waves|ordinary|mixed] > FILE\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"waves", "ordinary", "mixed"};
	uint64_t bytes = 0;
	size_t kind = KIND_WAVES;

	for (int i = 1; i < argc; i += 2) {
		if (i + 1 == argc)
			return usage();
		if (!strcmp(argv[i], "--seed"))
			dice = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--bytes"))
			bytes = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--kind"))
			for (kind = 0; kind < COUNT(kinds) && strcmp(argv[i + 1], kinds[kind]); kind++)
				;
		else
			return usage();
		if (kind == COUNT(kinds))
			return usage();
	}
	if (!bytes)
		bytes = kind == KIND_ORDINARY ? 100000000 : 1000000000;
	make_rows();
	if (kind == KIND_ORDINARY)
		while (written() < bytes)
			ordinary();
	else
		dumps((int)kind, bytes);
	flush();
	truth();
	return 0;
}
