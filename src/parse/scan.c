/* scan.c - cutting lines, and showing each to those it may concern. */
#include "config.h"

#include "parse/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/line_cut.h"
#include "base/mem.h"
#include "parse/engine_log.h"
#include "parse/fault.h"
#include "parse/http_text.h"
#include "parse/json_doc.h"
#include "parse/kernel_log.h"
#include "parse/line.h"
#include "parse/literals.h"
#include "parse/rocgdb.h"
#include "parse/smi_text.h"
#include "parse/stack_text.h"
#include "parse/watchdog.h"
#include "parse/wave.h"

enum parser { P_WAVE, P_FAULT, P_WATCHDOG, P_KERNEL, P_ROCGDB, P_SMI, P_STACK, P_HTTP, P_ENGINE, P_NOTE };

/* The words without which a parser has nothing to see in a line outside its own blocks; as patterns, so \ before ( [ . * ^. */
static const struct {
	enum parser parser;
	const char *word;
} triggers[] = {
	{ P_WAVE, "wave_" }, { P_WAVE, " registers:" }, { P_WAVE, "isassembly" }, { P_WAVE, "memory content" }, { P_WAVE, "Global memory" },
	{ P_WAVE, "wavefront\\(s\\)" },
	{ P_FAULT, "emory access fault" }, { P_FAULT, "Memory critical" }, { P_FAULT, "Memory Fault Error" }, { P_FAULT, "HW Exception by" },
	{ P_FAULT, "borting with" }, { P_FAULT, "Queue error" }, { P_FAULT, "System event \\(" }, { P_FAULT, "Kernel Name:" },
	{ P_FAULT, "VGPU=" }, { P_FAULT, " hang analysis:" }, { P_FAULT, "GPU Memory Error" }, { P_FAULT, "error in queue 0x" },
	{ P_FAULT, "Callback: Queue" }, { P_FAULT, "ShaderName" }, { P_FAULT, "LoadKernel:" },
	{ P_WATCHDOG, "Watchdog caught" }, { P_WATCHDOG, "CollectiveFingerPrint" }, { P_WATCHDOG, "watchdog_timeout=" },
	{ P_WATCHDOG, "died unexpectedly" },
	{ P_KERNEL, "amdgpu" }, { P_KERNEL, "NVRM" }, { P_KERNEL, "amdkfd" }, { P_KERNEL, "kfd kfd" }, { P_KERNEL, "fault \\(src_id:" },
	{ P_KERNEL, "in page starting at" },
	{ P_ROCGDB, "AMDGPU " }, { P_ROCGDB, "ptrace" }, { P_ROCGDB, "traced by process" }, { P_ROCGDB, "zombie" }, { P_ROCGDB, "Could not attach" },
	{ P_ROCGDB, "amd-dbgapi" }, { P_ROCGDB, "GPU debugging" }, { P_ROCGDB, "agent is busy" }, { P_ROCGDB, "New LWP" }, { P_ROCGDB, "libthread_db" },
	{ P_ROCGDB, "Attaching to" }, { P_ROCGDB, "sourced command" }, { P_ROCGDB, "Undefined " }, { P_ROCGDB, "No stack" },
	{ P_ROCGDB, "not being run" }, { P_ROCGDB, "without a process" }, { P_ROCGDB, "_get_info failed" }, { P_ROCGDB, "No symbol table" },
	{ P_ROCGDB, "os_queue_id" }, { P_ROCGDB, "suspend_queues" }, { P_ROCGDB, "control stack" }, { P_ROCGDB, "\\[Inferior" },
	{ P_ROCGDB, "Detaching from" }, { P_ROCGDB, "currently active" }, { P_ROCGDB, "\\(gdb\\)" }, { P_ROCGDB, "=== info" },
	{ P_ROCGDB, "Target Id" }, { P_ROCGDB, "received signal" }, { P_ROCGDB, "\\^done," }, { P_ROCGDB, "\\^error" }, { P_ROCGDB, "\\*stopped," }, { P_ROCGDB, "thread-group" },
	{ P_ROCGDB, "Thread 0x" }, { P_ROCGDB, "Couldn't get reg" }, { P_ROCGDB, "Couldn't write reg" }, { P_ROCGDB, "Cannot access memory" },
	{ P_ROCGDB, "No registers" }, { P_ROCGDB, "No frame selected" }, { P_ROCGDB, "No thread selected" }, { P_ROCGDB, "Selected thread is" },
	{ P_ROCGDB, "Invalid thread ID" }, { P_ROCGDB, "Cannot execute this command" }, { P_ROCGDB, "r_debug::r_version" },
	{ P_SMI, "VRAM%" }, { P_SMI, "PROCESS NAME" }, { P_SMI, "VRAM_" }, { P_SMI, "GFX" "_UTIL" }, { P_SMI, "GFX%" }, { P_SMI, "utilization\\.gpu" },
	{ P_SMI, "SCLK" }, { P_SMI, "Mem-Uti" }, { P_SMI, "Persistence-M" }, { P_SMI, "^device," }, { P_SMI, "^gpu," },
	{ P_SMI, "timestamp,gpu," }, { P_SMI, "process_name" }, { P_SMI, "ROCm System" }, { P_SMI, "ROCm SMI" }, { P_SMI, "GPU\\[" }, { P_SMI, "GPU: " }, { P_SMI, "POWER" },
	{ P_STACK, "Process " }, { P_STACK, "Thread " }, { P_STACK, "Stack dump for" }, { P_STACK, "yspy dump" }, { P_STACK, "most recent call" },
	{ P_STACK, "Fatal Python" }, { P_STACK, "Timeout \\(" }, { P_STACK, "ank " }, { P_STACK, "ank=" }, { P_STACK, "== TP" }, { P_STACK, "== DP" }, { P_STACK, "# TP" },
	{ P_HTTP, "HTTP/" }, { P_HTTP, "curl: \\(" },
	{ P_ENGINE, "/v1/models" }, { P_ENGINE, "all slots are idle" }, { P_ENGINE, "Avg prompt throughput: " }, { P_ENGINE, "shards" },
};

#define TRIGGERS ((int)(sizeof triggers / sizeof *triggers))
#define OF_ENGINE 256           /* numbers from here on are patterns of the engine's log */

struct scan {
	struct reading_sink sink;
	bool gpu_only;
	struct span *note;
	int notes;
	struct literals *words; /* triggers, notes, and the patterns of the engine as it was known at `changes` */
	bool engine_joined;
	unsigned changes;
	struct wave_scan wave;
	struct fault_scan fault;
	struct watchdog_scan watchdog;
	struct kernel_log kernel;
	struct rocgdb_scan rocgdb;
	struct smi_scan smi;
	struct stack_scan stack;
	struct json_doc json;
	struct http_scan http;
	struct engine_log engine;
	struct scan_counts count;
	uint64_t offset;        /* of the next byte, in this file */
	struct buf carry;       /* a line without its end */
	uint64_t carry_offset;
	struct buf scratch, joined;
};

/* A plain word as the pattern that literals_add() wants. */
static void add_note(struct scan *s, struct span word, int number)
{
	struct buf pattern;

	buf_init(&pattern, 2000);
	for (size_t i = 0; i < word.len; i++) {
		if (word.at[i] && strchr("\\^$.[|()?*+{", word.at[i]))
			buf_char(&pattern, '\\');
		buf_char(&pattern, word.at[i]);
	}
	literals_add(s->words, buf_as_span(&pattern), number);
	buf_release(&pattern);
}

/* One set of all words that anybody waits for, so that a line is looked through once. */
static void join_words(struct scan *s)
{
	literals_free(s->words);
	s->words = literals_new();
	for (int i = 0; i < TRIGGERS; i++)
		literals_add(s->words, span_of(triggers[i].word), i);
	for (int i = 0; i < s->notes; i++)
		add_note(s, s->note[i], TRIGGERS + i);
	s->engine_joined = !s->gpu_only && log_classifier_words(engine_log_classifier(&s->engine), s->words, OF_ENGINE);
	s->changes = s->engine.changes;
	literals_ready(s->words);
}

struct scan *scan_new(const struct scan_options *options)
{
	struct scan *s = mem_alloc(sizeof *s);

	s->sink = options->sink;
	s->gpu_only = options->gpu_only;
	s->notes = options->notes < OF_ENGINE - TRIGGERS ? options->notes : OF_ENGINE - TRIGGERS;
	s->note = mem_array(NULL, (size_t)s->notes + 1, sizeof *s->note);
	for (int i = 0; i < s->notes; i++)
		s->note[i] = options->note[i];
	wave_init(&s->wave, &s->sink);
	fault_init(&s->fault, &s->sink);
	watchdog_init(&s->watchdog, &s->sink);
	kernel_log_init(&s->kernel, &s->sink);
	rocgdb_init(&s->rocgdb, &s->sink);
	smi_text_init(&s->smi, &s->sink);
	stack_text_init(&s->stack, &s->sink);
	json_doc_init(&s->json, &s->sink, &s->stack);
	http_text_init(&s->http, &s->sink, &s->json);
	engine_log_init(&s->engine, &s->sink, options->profiles);
	join_words(s);
	buf_init(&s->carry, LINE_KEPT_MAX);
	buf_init(&s->scratch, LINE_KEPT_MAX);
	buf_init(&s->joined, LINE_KEPT_MAX);
	return s;
}

void scan_free(struct scan *s)
{
	if (!s)
		return;
	literals_free(s->words);
	free(s->note);
	wave_release(&s->wave);
	fault_release(&s->fault);
	kernel_log_release(&s->kernel);
	rocgdb_release(&s->rocgdb);
	smi_text_release(&s->smi);
	stack_text_release(&s->stack);
	json_doc_release(&s->json);
	http_text_release(&s->http);
	engine_log_release(&s->engine);
	buf_release(&s->carry);
	buf_release(&s->scratch);
	buf_release(&s->joined);
	free(s);
}

void scan_count(const struct scan *s, struct scan_counts *out)
{
	*out = s->count;
	out->waves = s->wave.waves;
	out->faults = s->fault.faults;
}

/* --- one line --- */

/* Which parsers have a word in this line; `bits` gets all that was found. */
static unsigned wanted(const struct scan *s, struct span text, uint64_t bits[LITERALS_PATTERNS / 64])
{
	unsigned parsers = 0;

	memset(bits, 0, LITERALS_PATTERNS / 64 * sizeof *bits);
	if (!literals_scan(s->words, text, bits))
		return 0;
	for (int i = 0; i < OF_ENGINE / 64; i++)
		for (uint64_t left = bits[i]; left; left &= left - 1) {
			int number = i * 64 + __builtin_ctzll(left);

			parsers |= 1u << (number < TRIGGERS ? triggers[number].parser : P_NOTE);
		}
	return parsers;
}

/* Blocks that are open see every line. */
static unsigned waiting(const struct scan *s)
{
	unsigned parsers = 0;

	if (wave_waits(&s->wave))
		parsers |= 1u << P_WAVE;
	if (fault_waits(&s->fault))
		parsers |= 1u << P_FAULT;
	if (kernel_log_waits(&s->kernel))
		parsers |= 1u << P_KERNEL;
	if (rocgdb_waits(&s->rocgdb))
		parsers |= 1u << P_ROCGDB;
	if (smi_text_open(&s->smi))
		parsers |= 1u << P_SMI;
	if (stack_text_open(&s->stack))
		parsers |= 1u << P_STACK;
	if (http_text_open(&s->http))
		parsers |= 1u << P_HTTP;
	return parsers;
}

static void after_document(struct scan *s)
{
	if (s->json.open || !s->json.models)
		return;
	if (*s->json.owned_by)
		engine_log_owner(&s->engine, s->json.owned_by);
	if (s->http.status == 200 || s->http.models_ok)
		engine_log_models(&s->engine, true);
	s->json.models = false;
}

static bool structured(struct scan *s, const struct line *l, unsigned want)
{
	if (want >> P_HTTP & 1 && http_text_line(&s->http, l)) {
		after_document(s);
		return true;
	}
	if (json_doc_line(&s->json, l->text, l->offset)) {
		after_document(s);
		return true;
	}
	if (want >> P_ROCGDB & 1 && rocgdb_line(&s->rocgdb, l))
		return true;
	if (want >> P_SMI & 1 && smi_text_line(&s->smi, l))
		return true;
	return want >> P_STACK & 1 && stack_text_line(&s->stack, l);
}

/* Only these lines can concern anyone: those with a word, and frames and documents, which have none. */
static bool frame_like(struct span t)
{
	return t.len > 6 && (t.at[0] == ' ' || t.at[0] == '\t') && t.at[t.len - 1] == ')' && stack_text_is_frame(t);
}

static void dispatch(struct scan *s, const struct line *l)
{
	struct span t = l->text;
	uint64_t bits[LITERALS_PATTERNS / 64];
	unsigned want;
	bool known = false, told = false;
	struct engine_words words;

	if (s->engine.changes != s->changes)
		join_words(s);
	want = wanted(s, t, bits) | waiting(s);
	words = (struct engine_words){ .own = want >> P_ENGINE & 1, .found = s->engine_joined ? bits + OF_ENGINE / 64 : NULL };

	if (frame_like(t))
		want |= 1u << P_STACK;
	if (t.len && *t.at == '#')
		want |= 1u << P_STACK | 1u << P_ROCGDB;
	if (t.len > 2 && (*t.at == '~' || *t.at == '&') && t.at[1] == '"')
		want |= 1u << P_ROCGDB;
	if (want >> P_WAVE & 1)
		known = wave_line(&s->wave, l);
	if (want >> P_FAULT & 1 && fault_line(&s->fault, l))
		known = true;
	if (s->gpu_only)
		return;
	if (want >> P_WATCHDOG & 1 && watchdog_line(&s->watchdog, l))
		known = true;
	if (want >> P_KERNEL & 1 && kernel_log_line(&s->kernel, l))
		known = true;
	if (!known && structured(s, l, want)) {
		if (!s->engine.engine && want >> P_STACK & 1)
			engine_log_line(&s->engine, l, &words); /* titles tell the engine */
		return;
	}
	if (!t.len)
		return;
	if (*t.at != ' ' || !s->wave.opens)
		told = engine_log_line(&s->engine, l, &words);
	if (want >> P_NOTE & 1 && !told)
		engine_log_note(&s->engine, l);
	if (!known)
		s->count.ordinary++;
}

static void read_line(struct scan *s, struct span raw, uint64_t offset)
{
	struct line l;

	line_read(&l, raw, offset, &s->scratch);
	if (l.partial) {
		buf_span(&s->joined, l.text);
		return;
	}
	if (s->joined.len) {
		buf_span(&s->joined, l.text);
		l.text = buf_as_span(&s->joined);
		dispatch(s, &l);
		buf_clear(&s->joined);
		return;
	}
	dispatch(s, &l);
}

/* Bars rewrite their line with CR: each state is a line, the last one counts. */
static void take_line(struct scan *s, const char *at, size_t len, uint64_t offset)
{
	struct span rest = span_make(at, len);
	const char *cr;

	if (len && at[len - 1] == '\r')
		rest.len--;
	while (rest.len && (cr = memchr(rest.at, '\r', rest.len))) {
		size_t n = (size_t)(cr - rest.at);

		if (n)
			read_line(s, span_make(rest.at, n), offset + (uint64_t)(rest.at - at));
		rest = span_sub(rest, n + 1, rest.len);
	}
	if (rest.len || !len || waiting(s))
		read_line(s, rest, offset + (uint64_t)(rest.at - at));
}

/* A block other than a wave dump is open: it must see every line. */
static bool waiting_but_wave(const struct scan *s)
{
	return s->json.open || s->joined.len || (waiting(s) & ~(1u << P_WAVE));
}

static inline void whole_line(struct scan *s, const char *at, size_t len, uint64_t offset)
{
	s->count.lines++;
	if (len > LINE_KEPT_MAX) /* as much of it as would be kept had it come in pieces */
		len = LINE_KEPT_MAX;
	if (len == 0) {
		if (waiting(s) || s->json.open)
			take_line(s, at, 0, offset);
		return;
	}
	if (*at == ' ' && s->wave.in_rows && wave_row(&s->wave, at, len)) {
		s->count.rows++;
		return;
	}
	if (wave_may_own(*at) && !waiting_but_wave(s) && wave_own_line(&s->wave, at, len, offset))
		return;
	take_line(s, at, len, offset);
}

/* --- bytes --- */

static size_t finish_carry(struct scan *s, const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);
	size_t take = end ? (size_t)(end - bytes) : n;

	buf_add(&s->carry, bytes, take);
	if (!end)
		return n;
	whole_line(s, s->carry.at, s->carry.len, s->carry_offset);
	buf_clear(&s->carry);
	return take + 1;
}

void scan_feed(struct scan *s, const char *bytes, size_t n)
{
	const char *p = bytes, *end = bytes + n, *lf;
	struct line_cut cut;

	if (s->carry.len && n)
		p += finish_carry(s, bytes, n);
	line_cut_init(&cut, p, end);
	while ((lf = line_cut_next(&cut))) {
		whole_line(s, p, (size_t)(lf - p), s->offset + (uint64_t)(p - bytes));
		p = lf + 1;
	}
	if (p < end) {
		s->carry_offset = s->offset + (uint64_t)(p - bytes);
		buf_add(&s->carry, p, (size_t)(end - p));
	}
	s->offset += n;
	s->count.bytes += n;
}

void scan_line(struct scan *s, struct span line, uint64_t offset)
{
	s->count.bytes += line.len + 1;
	whole_line(s, line.at, line.len, offset);
}

void scan_flush(struct scan *s, bool end)
{
	if (end && s->carry.len) {
		whole_line(s, s->carry.at, s->carry.len, s->carry_offset);
		buf_clear(&s->carry);
	}
	wave_flush(&s->wave);
	fault_flush(&s->fault);
	kernel_log_flush(&s->kernel);
	rocgdb_flush(&s->rocgdb);
	smi_text_flush(&s->smi);
	http_text_flush(&s->http);
	after_document(s);
	json_doc_flush(&s->json);
	stack_text_flush(&s->stack);
	if (end && !s->gpu_only)
		engine_log_flush(&s->engine, s->count.lines);
}

void scan_next_file(struct scan *s)
{
	if (s->carry.len) {
		whole_line(s, s->carry.at, s->carry.len, s->carry_offset);
		buf_clear(&s->carry);
	}
	scan_flush(s, false);
	s->offset = 0;
}
