/* disassemble.c - from the URI of a code object and a pc to instructions and what they mean. */
#include "config.h"

#include "app/disassemble.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "app/code_file.h"
#include "app/disassemble_words.h"
#include "base/mem.h"
#include "base/text.h"
#include "transport/child.h"

#define OUTPUT_CAP (64u << 20)
#define DEADLINE_MS 20000
#define AROUND 0x40000          /* bytes before and after the pc at most; a whole number of instruction words */
#define NEWEST 23
#define OLDEST 14

struct work {
	struct code_file file;
	struct code_elf elf;
	uint64_t at, low, high;         /* pc in the code object, and what is disassembled */
	const struct disassemble_options *options;
	struct disassembly text;
	char *tool;
};

/* --- the tool --- */

struct answer {
	struct disassembly *text;
	struct buf err;
	int exit;
	bool timed_out, cut, not_started;
};

static void on_done(void *context, const struct child_result *r)
{
	struct answer *a = context;

	disassembly_lines(a->text, r->out);
	buf_span(&a->err, span_sub(r->err, 0, 4096));
	a->exit = r->exit;
	a->timed_out = r->timed_out;
	a->not_started = r->not_started;
	a->cut = r->cut;
}

static void run(const struct work *w, struct answer *a)
{
	char start[48], stop[48];
	const char *const argv[] = { w->tool, "-d", "-C", "-z", start, stop, w->file.path, NULL };
	const struct child_options options = { .argv = argv, .cap = OUTPUT_CAP, .done = on_done, .context = a,
		.deadline_ms = w->options->deadline_ms ? w->options->deadline_ms : DEADLINE_MS };
	uv_loop_t *loop = mem_alloc(sizeof *loop);

	snprintf(start, sizeof start, "--start-address=0x%" PRIx64, w->low);
	snprintf(stop, sizeof stop, "--stop-address=0x%" PRIx64, w->high);
	uv_loop_init(loop);
	child_run(loop, &options);
	uv_run(loop, UV_RUN_DEFAULT);
	/* A tool that cannot be killed still belongs to the loop: then both are left. */
	if (uv_loop_close(loop) == 0)
		free(loop);
}

static const char *gpu_name(const struct work *w, char *unknown, size_t size)
{
	snprintf(unknown, size, "GPU 0x%02x", w->elf.mach);
	return w->elf.gpu ? w->elf.gpu : unknown;
}

/* What went wrong, as an error; 0 when there are instructions. */
static int judge(const struct work *w, const struct answer *a, struct error *error)
{
	static const char install[] = "install ROCm's (/opt/rocm/llvm/bin), or a newer llvm package of the distribution, or name one: HANGTOP_OBJDUMP=PATH";
	struct span err = buf_as_span(&a->err), line = span_trim(err);
	char unknown[32];
	const char *gpu = gpu_name(w, unknown, sizeof unknown);

	if (a->timed_out) {
		error_set(error, "%s did not end within its time and was stopped", w->tool);
		return error_fix(error, "is the disk of %.200s slow?", w->file.source);
	}
	if (a->not_started)
		return error_set(error, "%s", buf_string(&a->err));
	if (span_contains(err, "unable to get target for 'amdgcn")) {
		error_set(error, "%s was built without the AMDGPU target", w->tool);
		return error_fix(error, "%s", install);
	}
	if (a->exit < 0 || span_contains(err, "unable to get target") || span_contains(err, "is not a recognized processor")) {
		error_set(error, "%s does not know the code of %s%s", w->tool, gpu, a->exit < 0 ? " (it crashed)" : "");
		return error_fix(error, "%s", install);
	}
	if (w->text.count)
		return 0;
	for (struct span rest = err, next; span_line(&rest, &next);)
		if (span_trim(next).len)
			line = span_trim(next);
	error_set(error, "%s printed no instructions of %.150s%s%.*s", w->tool, w->file.source, line.len ? ": " : "",
		(int)(line.len < 150 ? line.len : 150), line.len ? line.at : "");
	return error_fix(error, "is this LLVM's objdump, and is the file whole? %s", install);
}

/* Candidate number i, on the heap: NULL when it is not there; *end past the last one. */
static char *candidate(int i, bool *end)
{
	int version = NEWEST - (i - 2) / 3;
	char name[64];

	*end = version < OLDEST;
	if (i == 0)
		return child_find("/opt/rocm/llvm/bin/llvm-objdump");
	if (i == 1)
		return child_find("llvm-objdump");
	if ((i - 2) % 3 == 0)
		snprintf(name, sizeof name, "llvm-objdump-%d", version);
	else
		snprintf(name, sizeof name, (i - 2) % 3 == 1 ? "/usr/lib/llvm%d/bin/llvm-objdump" : "/usr/lib/llvm-%d/bin/llvm-objdump", version);
	return *end ? NULL : child_find(name);
}

static int try_tool(struct work *w, struct error *error)
{
	struct answer a = { .text = &w->text };
	int status;

	buf_init(&a.err, 8192);
	disassembly_init(&w->text, w->at, w->low, w->high);
	run(w, &a);
	status = judge(w, &a, error);
	buf_release(&a.err);
	if (status < 0)
		disassembly_release(&w->text);
	return status;
}

/* The first tool that can read it; the error is that of the first that could not. */
static int run_tools(struct work *w, struct error *error)
{
	const char *named = getenv("HANGTOP_OBJDUMP");
	struct error later;
	int tried = 0;
	bool end = false;

	if (named && *named) {
		w->tool = child_find(named);
		if (w->tool)
			return try_tool(w, error);
		error_set(error, "HANGTOP_OBJDUMP names %.200s, which cannot be run", named);
		return error_fix(error, "name an llvm-objdump, or unset HANGTOP_OBJDUMP");
	}
	for (int i = 0; !end; i++) {
		free(w->tool);
		w->tool = candidate(i, &end);
		if (w->tool && try_tool(w, tried++ ? &later : error) == 0)
			return 0;
	}
	if (tried)
		return -1;
	error_set(error, "there is no llvm-objdump on this machine to disassemble %.250s", w->file.source);
	return error_fix(error, "install the package llvm (Debian, Ubuntu, Fedora, Arch, Alpine), or name one: HANGTOP_OBJDUMP=/opt/rocm/llvm/bin/llvm-objdump");
}

/* --- the file --- */

static int check(struct work *w, uint64_t load_base, uint64_t pc, struct error *error)
{
	struct code_elf_reader reader = code_file_reader(&w->file);

	if (pc < load_base) {
		error_set(error, "pc 0x%" PRIx64 " lies below the code object, which is loaded at 0x%" PRIx64, pc, load_base);
		return error_fix(error, "take the \"loaded at\" range of the block that shows this pc");
	}
	w->at = pc - load_base;
	code_elf_read(&w->elf, &reader, w->at);
	switch (w->elf.kind) {
	case CODE_ELF_AMDGPU:
		break;
	case CODE_ELF_BUNDLE:
		error_set(error, "%.250s is a bundle of code objects, and the URI does not say which part", w->file.source);
		return error_fix(error, "clang-offload-bundler --list --type=o --input=FILE shows its parts; unbundle the one of this GPU");
	case CODE_ELF_OTHER:
		error_set(error, "%.250s is no AMD GPU code (ELF machine %u)", w->file.source, w->elf.machine);
		return error_fix(error, "the code object is a part of it, or this is another version of the library than the one that ran");
	case CODE_ELF_NONE:
		error_set(error, "%.250s is no code object", w->file.source);
		return error_fix(error, "it was cut or overwritten: save it again");
	}
	if (!w->elf.segment_high) {
		error_set(error, "pc 0x%" PRIx64 " (0x%" PRIx64 " in the code object) lies in none of its code", pc, w->at);
		return error_fix(error, "a jump into nowhere, or another run's file or load address: compare pid, offset and \"loaded at\"");
	}
	return 0;
}

/* The function, or all the code when it is not known; not too much of it. */
static void choose_range(struct work *w)
{
	bool known = w->elf.high > 0;

	w->low = known ? w->elf.low : w->elf.segment_low;
	w->high = known ? w->elf.high : w->elf.segment_high;
	if (w->at - w->low > AROUND)
		w->low += (w->at - w->low - AROUND) & ~UINT64_C(3);
	if (w->high - w->at > AROUND)
		w->high = w->at + AROUND;
}

static void describe(const struct work *w, uint64_t load_base, struct buf *out)
{
	char unknown[32];
	struct disassemble_words words = { .text = &w->text, .load_base = load_base, .pc = w->at + load_base,
		.gpu = gpu_name(w, unknown, sizeof unknown), .source = w->file.source, .others = w->file.others,
		.tool = w->tool, .low = w->low, .high = w->high, .function_at = w->elf.low,
		.offset = w->file.copied ? w->file.offset : -1, .size = w->file.size };
	struct buf foreign;

	disassembly_find(&w->text, w->options->before ? w->options->before : 12, w->options->after ? w->options->after : 8, &words.found);
	buf_init(&foreign, 4 << 20);
	disassemble_say(&words, &foreign);
	for (struct span rest = buf_as_span(&foreign), line; span_line(&rest, &line); buf_char(out, '\n'))
		text_scrub(out, line);
	buf_release(&foreign);
}

int disassemble(const char *folder, struct span uri, uint64_t load_base, uint64_t pc, const struct disassemble_options *options,
	struct buf *out, struct error *error)
{
	static const struct disassemble_options usual;
	struct work w = { .options = options ? options : &usual };
	struct code_object object;
	int status = -1;

	if (!code_object_parse(uri, &object)) {
		error_set(error, "\"%.*s\" is no URI of a code object", (int)(uri.len < 200 ? uri.len : 200), uri.len ? uri.at : "");
		return error_fix(error, "it looks like memory://PID#offset=0x...&size=N or file:///PATH#offset=N&size=N");
	}
	if (code_file_open(&w.file, folder, &object, error) < 0)
		return -1;
	if (check(&w, load_base, pc, error) == 0) {
		choose_range(&w);
		status = run_tools(&w, error);
	}
	if (status == 0) {
		describe(&w, load_base, out);
		disassembly_release(&w.text);
	}
	free(w.tool);
	code_file_close(&w.file);
	return status;
}
