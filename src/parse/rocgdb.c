/* rocgdb.c - messages, and the session that they and the tables make. */
#include "config.h"

#include "parse/rocgdb_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/gdb_mi.h"

#define ROW_MAX 16384

void rocgdb_init(struct rocgdb_scan *g, const struct reading_sink *sink)
{
	memset(g, 0, sizeof *g);
	g->sink = sink;
	g->signal_thread = -1;
	buf_init(&g->row, ROW_MAX);
	buf_init(&g->mi_text, 1 << 20);
}

static void clear(struct rocgdb_scan *g)
{
	for (int i = 0; i < g->dispatches; i++)
		free(g->dispatch[i].kernel);
	for (int i = 0; i < g->waves; i++)
		free(g->wave[i].function);
	g->dispatches = g->waves = 0;
	g->seen = g->detached = g->failed = g->rows = g->process = g->signal_before = g->signal_of_gpu = false;
	g->signal_thread = -1;
	g->attach = ATTACH_UNKNOWN;
	g->why[0] = g->signal[0] = 0;
}

void rocgdb_release(struct rocgdb_scan *g)
{
	clear(g);
	free(g->wave);
	buf_release(&g->row);
	buf_release(&g->mi_text);
}

void rocgdb_copy(char *out, size_t size, struct span s)
{
	snprintf(out, size, "%.*s", (int)(s.len < size ? s.len : size - 1), s.at);
}

void rocgdb_see(struct rocgdb_scan *g, uint64_t offset, bool rows)
{
	if (!g->seen)
		g->offset = offset;
	g->seen = true;
	g->rows = g->rows || rows;
	g->process = g->process || rows;
}

/* --- the end of a session --- */

/* The kernel of the dispatch that a wave's target begins with. */
static const char *kernel_of(const struct rocgdb_scan *g, const char *target)
{
	for (int i = g->dispatches - 1; i >= 0; i--) {
		size_t n = strlen(g->dispatch[i].target);

		if (n && strncmp(g->dispatch[i].target, target, n) == 0 && target[n] == ':')
			return g->dispatch[i].kernel;
	}
	return NULL;
}

static void emit_wave(struct rocgdb_scan *g, const struct rocgdb_wave *w)
{
	const char *kernel = kernel_of(g, w->target);
	struct reading r;

	reading_start(&r, "wave", w->offset);
	reading_word(&r, "via", "rocgdb");
	reading_word(&r, "pc", w->pc);
	reading_word(&r, "kernel", kernel ? kernel : w->function);
	if (w->thread >= 0)
		reading_int(&r, "thread", w->thread);
	reading_word(&r, "target", w->target);
	if (kernel)
		reading_word(&r, "func", w->function);
	reading_emit(&r, g->sink);
}

static const char *attach_word(const struct rocgdb_scan *g)
{
	switch (g->attach) {
	case ATTACH_REFUSED:
		return "refused";
	case ATTACH_TRACED:
		return "already_traced";
	case ATTACH_CPU_ONLY:
		return "cpu_only";
	case ATTACH_OK:
		return "ok";
	case ATTACH_UNKNOWN:
		break;
	}
	return g->process ? "ok" : "unknown";
}

static void end_session(struct rocgdb_scan *g)
{
	struct reading r;

	rocgdb_row_end(g);
	gdb_mi_end(g);
	if (!g->seen)
		return;
	for (int i = 0; i < g->waves; i++) {
		emit_wave(g, &g->wave[i]);
		if (g->wave[i].thread >= 0 && g->wave[i].thread == g->signal_thread)
			g->signal_of_gpu = true;
	}
	reading_start(&r, "debugger", g->offset);
	reading_word(&r, "attach", attach_word(g));
	reading_int(&r, "detached", g->detached);
	reading_int(&r, "complete", g->detached && !g->failed);
	reading_word(&r, "why", g->why);
	reading_word(&r, "signal", g->signal_of_gpu ? g->signal : "");
	reading_emit(&r, g->sink);
	clear(g);
}

void rocgdb_flush(struct rocgdb_scan *g)
{
	end_session(g);
}

bool rocgdb_waits(const struct rocgdb_scan *g)
{
	return g->row.len > 0 || g->signal_before || g->mi_text.len > 0;
}

/* The agent's thread among the host's tells why the GPU side is refused. */
static bool agent_row_of_host(struct rocgdb_scan *g, struct span s)
{
	if (!span_contains(s, "RocrDebugAgent"))
		return false;
	snprintf(g->why, sizeof g->why, "thread RocrDebugAgent: the debug agent is loaded and holds the debugger's place");
	return true;
}

/* --- messages --- */

static void say_why(struct rocgdb_scan *g, struct span s)
{
	if (!g->why[0])
		rocgdb_copy(g->why, sizeof g->why, span_trim(s));
}

void rocgdb_failed(struct rocgdb_scan *g, uint64_t offset, struct span why)
{
	rocgdb_see(g, offset, false);
	g->failed = true;
	say_why(g, why);
}

static const struct {
	const char *part;
	enum rocgdb_attach attach;
} attach_lines[] = {
	{ "is already traced by process", ATTACH_TRACED },
	{ "ptrace: ", ATTACH_REFUSED },
	{ "Could not attach to process", ATTACH_REFUSED },
	{ "is a zombie - the process has already terminated", ATTACH_REFUSED },
	{ "unable to enable GPU debugging", ATTACH_CPU_ONLY },
	{ "GPU debugging will not be available", ATTACH_CPU_ONLY },
	{ "At least one agent is busy", ATTACH_CPU_ONLY },
	{ "amd-dbgapi library version mismatch", ATTACH_CPU_ONLY },
	{ "amd-dbgapi: fatal error:", ATTACH_CPU_ONLY },
	{ "AMD GPU driver's version", ATTACH_CPU_ONLY },
	{ "r_debug::r_version", ATTACH_CPU_ONLY },
	{ "[New LWP ", ATTACH_OK },
	{ "[Thread debugging using libthread_db enabled]", ATTACH_OK },
	{ "Using host libthread_db library", ATTACH_OK },
	{ "Attaching to process ", ATTACH_UNKNOWN },
	{ "Attaching to program", ATTACH_UNKNOWN },
};

/* A command failed, or the file of commands did. */
static const char *const failures[] = { "Error in sourced command file", "Undefined info command", "Undefined command", "No stack.",
	"The program is not being run.", "You can't do that without a process to debug.", "_get_info failed", "No symbol table is loaded",
	"failed to suspend os_queue_id", "suspend_queues failed", "corrupted control stack" };
#define OF_ANY_SESSION 6        /* so many of them are said before a process too */

/* The same, as whole messages: inside another one they are a remark. */
static const char *const failed_commands[] = { "Couldn't get registers", "Couldn't write registers", "Cannot access memory at address", "No registers",
	"No frame selected", "No thread selected", "Selected thread is running", "Invalid thread ID", "Cannot execute this command" };

static bool attach_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = l->text;
	bool broke;

	for (size_t i = 0; i < sizeof attach_lines / sizeof *attach_lines; i++) {
		enum rocgdb_attach a = attach_lines[i].attach;

		if (!span_contains(s, attach_lines[i].part))
			continue;
		/* dbgapi's "could not attach ..., GPU debugging will not be available" is of the GPU side only; "(rc=-2)" is its old form. */
		if (a == ATTACH_REFUSED && (span_contains(s, "amd-dbgapi") || span_contains(s, "(rc=")))
			a = ATTACH_CPU_ONLY;
		if (span_starts(s, "ptrace: ") && g->attach == ATTACH_TRACED)
			return true;
		if (g->seen && (g->detached || (a == ATTACH_UNKNOWN && g->rows)))
			end_session(g);
		rocgdb_see(g, l->offset, false);
		broke = span_contains(s, "fatal error:");
		g->failed = g->failed || broke;
		if (a != ATTACH_UNKNOWN && a != ATTACH_OK) {
			/* What broke down after it has shown rows was attached. */
			if (!broke || !g->rows)
				g->attach = a;
			say_why(g, s);
		} else if (a == ATTACH_OK && g->attach == ATTACH_UNKNOWN) {
			g->attach = a;
		}
		return true;
	}
	return false;
}

void rocgdb_signal(struct rocgdb_scan *g, uint64_t offset, struct span name, int64_t thread, bool of_gpu)
{
	static const char *const harmless[] = { "SIGINT", "SIGSTOP", "SIGTRAP", "0" };

	if (g->signal_of_gpu)
		return;
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (span_is(name, harmless[i]))
			return;
	rocgdb_copy(g->signal, sizeof g->signal, name);
	g->signal_thread = thread;
	g->signal_of_gpu = of_gpu;
	rocgdb_see(g, offset, false);
}

/* "Thread 6 "crux" received signal SIGSEGV, ...": whose it is, the next line or the table of threads tells. */
static bool signal_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span rest, word, number = span_after(l->text, "hread ");
	uint64_t thread;

	if (g->signal_before) {
		g->signal_before = false;
		if (*g->signal && span_starts(l->text, "[Switching to ") && span_contains(l->text, "AMDGPU "))
			return g->signal_of_gpu = true;
	}
	rest = span_after(l->text, " received signal ");
	if (!rest.len || !number.len)
		return false;
	if (!span_word(&rest, &word))
		return true;
	if (span_ends(word, ","))
		word.len--;
	rocgdb_signal(g, l->offset, word, span_take_uint(&number, &thread) ? (int64_t)thread : -1, span_contains(l->text, "AMDGPU "));
	g->signal_before = true;
	return true;
}

/* "#0  0x.. in f () from lib": there is a process to debug, whatever the tables say. */
static bool is_frame(struct span s)
{
	uint64_t n;

	return span_skip(&s, "#") && span_take_uint(&s, &n) && span_starts(s, " ") && span_starts(span_trim(s), "0x") && span_contains(s, " in ");
}

static bool message(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = span_trim(l->text);

	if (g->seen && is_frame(l->text)) {
		g->process = true;
		return false; /* the stack is read by others */
	}

	if (signal_line(g, l) || attach_line(g, l))
		return true;
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
		if (!span_contains(s, failures[i]))
			continue;
		if (!g->seen && (span_is(s, "No stack.") || i >= OF_ANY_SESSION))
			return false;
		/* "Error in sourced command file" only says where; the line behind it says what. */
		if (span_contains(span_of(g->why), "Error in sourced command file"))
			g->why[0] = 0;
		rocgdb_failed(g, l->offset, s);
		return true;
	}
	for (size_t i = 0; g->seen && i < sizeof failed_commands / sizeof *failed_commands; i++)
		if (span_starts(s, failed_commands[i])) {
			rocgdb_failed(g, l->offset, s);
			return true;
		}
	if (span_starts(s, "[Inferior ") && span_ends(s, "detached]")) {
		rocgdb_see(g, l->offset, false);
		g->detached = true;
		return true;
	}
	if (span_starts(s, "Detaching from program")) {
		rocgdb_see(g, l->offset, false);
		g->detached = true;
		return true;
	}
	if (span_ends(s, " are currently active.") && (span_starts(s, "No agents") || span_starts(s, "No queues") || span_starts(s, "No dispatches"))) {
		rocgdb_see(g, l->offset, false);
		return true;
	}
	if (span_starts(s, "(gdb)") || span_starts(s, "=== info ") || (span_starts(s, "Id ") && span_contains(s, "Target Id"))) {
		rocgdb_see(g, l->offset, false);
		return true;
	}
	return false;
}

bool rocgdb_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = l->text;

	if (g->mi_text.len)
		return gdb_mi_line(g, l);
	if (g->detached && rocgdb_is_row(s))
		end_session(g);
	if (rocgdb_row_line(g, l) || gdb_mi_line(g, l))
		return true;
	if (rocgdb_host_row(s)) {
		rocgdb_see(g, l->offset, false);
		g->process = true;
		agent_row_of_host(g, s);
		return true;
	}
	return message(g, l);
}
