/* log_class.c - compiling a profile's patterns, and what a line means by them. */
#include "config.h"

#include "parse/log_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"
#include "parse/literals.h"

#define MATCH_LIMIT 100000
#define JIT_STACK_MAX (256 * 1024)
#define RANKS_MAX 64

struct line_pattern {
	pcre2_code *code;
	enum log_class class;
	int n, done, pending, running, waiting, new, engine;   /* numbers of the groups; 0 when there is none */
};

struct log_classifier {
	struct line_pattern pattern[LITERALS_PATTERNS];     /* in order of rank of their class */
	int patterns;
	struct literals *words;
	pcre2_code *loose;      /* the patterns without words, as one alternation; NULL when there are none */
	uint64_t loose_bits[LITERALS_PATTERNS / 64];
	pcre2_code *rank[RANKS_MAX];
	int ranks;
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	struct buf clean;
	bool tried;             /* whether PCRE2 can make machine code */
	char slow[160];
};

static const enum log_class class_order[] = {
	LOG_IGNORE, LOG_REQUEST, LOG_FAULT, LOG_FATAL, LOG_START, LOG_READY, LOG_PROGRESS, LOG_FINISH, LOG_LOADING,
	LOG_WARNING, LOG_STATS,
};
#define CLASSES (sizeof class_order / sizeof class_order[0])

/* What does not depend on the engine. */
static const struct { enum log_class class; const char *pattern; } common[] = {
	{ LOG_IGNORE, "\"GET /(?:v1/models|health|metrics)[ ?/\"]" },
	{ LOG_IGNORE, "\"HEAD /(?:v1/models|health|metrics)[ ?/\"]" },
	/* ROCr, its debug agent, CLR, libomptarget */
	{ LOG_FAULT, "[Mm]emory access fault by GPU" },
	{ LOG_FAULT, "Memory Fault Error \\[" },
	{ LOG_FAULT, "Memory critical error by agent" },
	{ LOG_FAULT, "HW Exception by GPU" },
	{ LOG_FAULT, "HSA_STATUS_ERROR" },
	{ LOG_FAULT, "Queue 0x[0-9a-f]+ aborting with error|Device::callbackQueue aborting with" },
	{ LOG_FAULT, "stopped, reason: " },
	{ LOG_FAULT, "GPU core dump |GPU coredump: " },
	{ LOG_FAULT, "HIP error: (?!out of memory)" },
	{ LOG_FAULT, "hipErrorIllegalAddress|hipErrorLaunchFailure|HIP failure 7(?:00|19)|Triton Error \\[HIP\\]: +Code: 7(?:00|19)" },
	{ LOG_FAULT, "CUDA error: (?!out of memory)" },
	{ LOG_FAULT, "ROCm error: (?!out of memory)" },
	{ LOG_FAULT, "NVRM: Xid " },
	/* memory, collectives, the process itself */
	{ LOG_FATAL, "OutOfMemoryError|HIP out of memory|CUDA out of memory|error: out of memory|hipErrorOutOfMemory" },
	{ LOG_FATAL, "Watchdog caught collective operation timeout" },
	{ LOG_FATAL, "NCCL error|nccl(?:System|Internal|UnhandledCuda|Remote|InvalidUsage)Error" },
	{ LOG_FATAL, "Segmentation fault" },
	{ LOG_FATAL, "Fatal Python error" },
	{ LOG_FATAL, "terminate called after throwing" },
	{ LOG_FATAL, "ChildFailedError|Root Cause \\(first observed failure\\)" },
	/* the shell's word, alone or behind a script's line, and the kernel's */
	{ LOG_FATAL, "^Killed *$|: line \\d+: +\\d+ (?:Killed|Aborted)\\b|^Aborted \\(core dumped\\)" },
	{ LOG_FATAL, "Killed process \\d+ \\((?:python|pt_main|VLLM|ATOM|sglang|ray|ollama|llama)" },
	{ LOG_WARNING, "ProcessGroupNCCL.*[Ww]atchdog got stuck|watchdog thread terminated with exception" },
};

/* Group 1 is the rank. */
static const char *const common_rank[] = {
	"\\[(?:PG [^\\]]{0,80})?[Rr]ank[ _]?(\\d+)\\]",
	"\\((?:Vllm)?Worker(?:Proc)?[_ ]((?:(?:[A-Z]{2,4}\\d+)_?)+)(?: pid=\\d+)?\\)",
	"\\(\\w*Worker rank=(\\d+) pid=\\d+\\)",
	"\\[\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d((?: [A-Z]{2,4}\\d+)+)\\]",
	"Model ?Runner(\\d+)/\\d+",
	"ModelRunner rank=(\\d+)",
	"\\[((?:[dpte]p\\d+_?)+)\\]",
	"\\[default(\\d+)\\]:",
	"VllmWorker-(\\d+)",
};

static int compile_error(struct error *error, const char *what, const char *pattern, int number, PCRE2_SIZE at)
{
	PCRE2_UCHAR words[128] = "";

	pcre2_get_error_message(number, words, sizeof words);
	return error_set(error, "%s: pattern '%.100s' does not compile: %s at column %zu", what, pattern, (const char *)words,
		(size_t)at + 1);
}

/* Machine code is made when a pattern is first tried: most of a profile's never are. The first one is a test, so that a machine that
 * forbids it is known at once. */
static void speed_up(struct log_classifier *c, pcre2_code *code)
{
	PCRE2_UCHAR words[100] = "";
	size_t size;
	int status;

	if (c->slow[0] || pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &size) < 0 || size)
		return;
	status = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	if (status == 0)
		return;
	pcre2_get_error_message(status, words, sizeof words);
	snprintf(c->slow, sizeof c->slow, "PCRE2 has no JIT here (%s): log patterns run about ten times slower", (const char *)words);
}

static pcre2_code *compile(struct log_classifier *c, const char *pattern, size_t len, uint32_t flags, const char *what,
	struct error *error)
{
	PCRE2_SIZE at;
	int number;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, len, flags, &number, &at, NULL);

	if (!code) {
		compile_error(error, what, pattern, number, at);
		return NULL;
	}
	if (!c->tried) {
		c->tried = true;
		speed_up(c, code);
	}
	return code;
}

static int group_number(const pcre2_code *code, const char *name)
{
	int number = pcre2_substring_number_from_name(code, (PCRE2_SPTR)name);

	return number > 0 ? number : 0;
}

/* The count: group "n", else "done", else a first group without a name. */
static int count_group(const pcre2_code *code)
{
	int n = group_number(code, "n");
	uint32_t groups = 0, names = 0;

	if (n == 0)
		n = group_number(code, "done");
	pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
	pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &names);
	return n == 0 && names == 0 && groups > 0 ? 1 : n;
}

static int add_pattern(struct log_classifier *c, enum log_class class, const char *text, const char *what, struct buf *loose,
	struct error *error)
{
	struct line_pattern *p = &c->pattern[c->patterns];
	size_t len = strlen(text);

	if (c->patterns == LITERALS_PATTERNS)
		return error_set(error, "%s: more than %d patterns of log lines", what, LITERALS_PATTERNS);
	p->code = compile(c, text, len, 0, what, error);
	if (!p->code)
		return -1;
	p->class = class;
	p->n = count_group(p->code);
	p->done = group_number(p->code, "done");
	p->pending = group_number(p->code, "pending");
	p->running = group_number(p->code, "running");
	p->waiting = group_number(p->code, "waiting");
	p->new = group_number(p->code, "new");
	p->engine = group_number(p->code, "engine");
	if (!literals_add(c->words, span_make(text, len), c->patterns)) {
		buf_printf(loose, "%s(?:%s)", loose->len ? "|" : "", text);
		c->loose_bits[c->patterns / 64] |= UINT64_C(1) << (c->patterns % 64);
	}
	c->patterns++;
	return 0;
}

static int add_class(struct log_classifier *c, enum log_class class, const struct profile *profile, struct buf *loose,
	struct error *error)
{
	for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
		if (common[i].class == class && add_pattern(c, class, common[i].pattern, "common", loose, error) < 0)
			return -1;
	for (int i = 0; profile && i < profile->line[class].count; i++)
		if (add_pattern(c, class, profile->line[class].item[i], profile->name, loose, error) < 0)
			return -1;
	return 0;
}

static int add_rank(struct log_classifier *c, const char *pattern, const char *what, struct error *error)
{
	if (c->ranks == RANKS_MAX)
		return error_set(error, "%s: more than %d patterns of ranks", what, RANKS_MAX);
	c->rank[c->ranks] = compile(c, pattern, strlen(pattern), 0, what, error);
	return c->rank[c->ranks++] ? 0 : -1;
}

static int add_all(struct log_classifier *c, const struct profile *profile, struct buf *loose, struct error *error)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (add_class(c, class_order[i], profile, loose, error) < 0)
			return -1;
	for (int i = 0; profile && i < profile->rank.count; i++)
		if (add_rank(c, profile->rank.item[i], profile->name, error) < 0)
			return -1;
	for (size_t i = 0; i < sizeof common_rank / sizeof common_rank[0]; i++)
		if (add_rank(c, common_rank[i], "common", error) < 0)
			return -1;
	literals_ready(c->words);
	if (loose->len == 0)
		return 0;
	/* Group numbers shift and names repeat in the alternation: it only answers yes or no. A pattern that cannot
	 * stand there (a verb at its start, say) leaves it out, and each is tried on every line. */
	c->loose = compile(c, buf_string(loose), loose->len, PCRE2_DUPNAMES, "all", NULL);
	return 0;
}

struct log_classifier *log_classifier_new(const struct profile *profile, struct error *error)
{
	struct log_classifier *c = mem_alloc(sizeof *c);
	struct buf loose;
	int status;

	buf_init(&loose, 0);
	buf_init(&c->clean, LOG_LINE_MAX);
	c->words = literals_new();
	c->match = pcre2_match_data_create(32, NULL);
	c->context = pcre2_match_context_create(NULL);
	if (!c->match || !c->context)
		mem_fatal("PCRE2 match data");
	pcre2_set_match_limit(c->context, MATCH_LIMIT);
	c->stack = pcre2_jit_stack_create(32 * 1024, JIT_STACK_MAX, NULL);
	if (c->stack)
		pcre2_jit_stack_assign(c->context, NULL, c->stack);
	status = add_all(c, profile, &loose, error);
	buf_release(&loose);
	if (status < 0) {
		log_classifier_free(c);
		return NULL;
	}
	return c;
}

void log_classifier_free(struct log_classifier *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->patterns; i++)
		pcre2_code_free(c->pattern[i].code);
	for (int i = 0; i < c->ranks; i++)
		pcre2_code_free(c->rank[i]);
	pcre2_code_free(c->loose);
	pcre2_match_data_free(c->match);
	pcre2_match_context_free(c->context);
	pcre2_jit_stack_free(c->stack);
	literals_free(c->words);
	buf_release(&c->clean);
	free(c);
}

const char *log_classifier_slow(const struct log_classifier *c)
{
	return c->slow[0] ? c->slow : NULL;
}

static bool matches(struct log_classifier *c, pcre2_code *code, struct span line)
{
	speed_up(c, code);
	/* A limit that is hit is no match: input cannot hold us up. */
	return pcre2_match(code, (PCRE2_SPTR)line.at, line.len, 0, 0, c->match, c->context) >= 0;
}

static struct span captured(struct log_classifier *c, int group, struct span line)
{
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(c->match);

	if (group <= 0 || (uint32_t)group >= pcre2_get_ovector_count(c->match) || at[2 * group] == PCRE2_UNSET ||
		at[2 * group + 1] < at[2 * group])
		return span_make(NULL, 0);
	return span_sub(line, at[2 * group], at[2 * group + 1] - at[2 * group]);
}

static int64_t captured_number(struct log_classifier *c, int group, struct span line, int64_t otherwise)
{
	struct span text = captured(c, group, line);
	uint64_t number;

	if (!text.at || !span_take_uint(&text, &number) || number > INT64_C(1000000000000))
		return otherwise;
	return (int64_t)number;
}

static void take_stats(struct log_classifier *c, const struct line_pattern *p, struct span line, struct log_match *out)
{
	int64_t running = captured_number(c, p->running, line, -1);

	if (running >= 0)
		out->running = running + captured_number(c, p->new, line, 0);
	out->waiting = captured_number(c, p->waiting, line, out->waiting);
	out->engine = captured_number(c, p->engine, line, 0);
}

static void take_counts(struct log_classifier *c, const struct line_pattern *p, struct span line, struct log_match *out)
{
	out->class = p->class;
	out->n = captured_number(c, p->n, line, 1);
	out->done = captured_number(c, p->done, line, 0);
	if (p->class == LOG_FINISH)
		out->done = out->n;
	out->pending = captured_number(c, p->pending, line, -1);
}

bool log_classifier_words(const struct log_classifier *c, struct literals *words, int from)
{
	if (c->patterns > LITERALS_PATTERNS - from)
		return false;
	literals_join(words, c->words, from);
	return true;
}

/* Which patterns may match: of those whose words are there, and of all that have none. */
static bool may_match(struct log_classifier *c, struct span line, const uint64_t *found, uint64_t *bits)
{
	bool any = false;

	if (!found)
		any = literals_scan(c->words, line, bits);
	for (int i = 0; found && i < (c->patterns + 63) / 64; i++) {
		bits[i] = found[i];
		any |= bits[i] != 0;
	}
	if (c->loose && !matches(c, c->loose, line))
		return any;
	for (int i = 0; i < LITERALS_PATTERNS / 64; i++) {
		bits[i] |= c->loose_bits[i];
		any |= c->loose_bits[i] != 0;
	}
	return any;
}

/* False when no other pattern needs to be tried. */
static bool try_pattern(struct log_classifier *c, const struct line_pattern *p, struct span line, struct log_match *out)
{
	if ((out->class != LOG_NONE && p->class != LOG_STATS) || !matches(c, p->code, line))
		return true;
	if (out->class == LOG_NONE)
		take_counts(c, p, line, out);
	if (out->class == LOG_IGNORE)
		return false;
	if (p->class == LOG_STATS)
		take_stats(c, p, line, out);
	return true;
}

enum log_class log_classify(struct log_classifier *c, struct span line, struct log_match *out)
{
	return log_classify_found(c, line, NULL, out);
}

enum log_class log_classify_found(struct log_classifier *c, struct span line, const uint64_t *found, struct log_match *out)
{
	uint64_t bits[LITERALS_PATTERNS / 64] = { 0 };

	*out = (struct log_match){ .class = LOG_NONE, .n = 1, .pending = -1, .running = -1, .waiting = -1 };
	line = span_sub(line, 0, LOG_LINE_MAX);
	if (line.len && memchr(line.at, 27, line.len)) {
		buf_clear(&c->clean);
		log_strip_colours(line, &c->clean);
		line = buf_as_span(&c->clean);
		found = NULL;
	}
	out->text = line;
	if (line.len == 0 || !may_match(c, line, found, bits))
		return LOG_NONE;
	for (int i = 0; i < LITERALS_PATTERNS / 64; i++)
		for (uint64_t left = bits[i]; left; left &= left - 1)
			if (!try_pattern(c, &c->pattern[i * 64 + __builtin_ctzll(left)], line, out))
				return out->class;
	return out->class;
}

void log_rank_normal(struct span text, char rank[LOG_RANK_MAX])
{
	size_t n = 0;
	bool digit = false, gap = false;

	for (size_t i = 0; i < text.len && n + 2 < LOG_RANK_MAX; i++) {
		char b = text.at[i];

		if (b >= 'a' && b <= 'z')
			b = (char)(b - 'a' + 'A');
		if (b >= 'A' && b <= 'Z') {
			if (n && (gap || digit))
				rank[n++] = '_';
			digit = gap = false;
		} else if (b >= '0' && b <= '9') {
			if (n && gap)
				rank[n++] = '_';
			digit = true;
			gap = false;
		} else {
			gap = true;
			continue;
		}
		rank[n++] = b;
	}
	rank[n] = 0;
}

bool log_rank(struct log_classifier *c, struct span line, char rank[LOG_RANK_MAX])
{
	rank[0] = 0;
	line = span_sub(line, 0, 1024);
	if (line.len == 0)
		return false;
	for (int i = 0; i < c->ranks && !rank[0]; i++)
		if (matches(c, c->rank[i], line))
			log_rank_normal(captured(c, 1, line), rank);
	return rank[0] != 0;
}

/* The length of "[1;36m" at the start of s, or of "[2K", "[?25h" when an ESC stood before it; 0 when it is none. */
static size_t colour_length(struct span s, bool escaped)
{
	size_t i = 1;

	if (s.len < 2 || s.at[0] != '[')
		return 0;
	while (i < s.len && i < 24 && ((s.at[i] >= '0' && s.at[i] <= '9') || s.at[i] == ';' || (escaped && s.at[i] == '?')))
		i++;
	if (i == s.len || i == 24)
		return 0;
	if (s.at[i] == 'm')
		return i > 1 || escaped ? i + 1 : 0;
	return escaped && s.at[i] >= '@' && s.at[i] <= '~' ? i + 1 : 0;
}

void log_strip_colours(struct span line, struct buf *out)
{
	static const char *const escapes[] = { "\x1b", "^[", "\\u001b", "\\x1b", "\\033" };
	size_t plain = 0, i = 0;

	while (i < line.len) {
		size_t before = 0, len;

		if (!memchr("\x1b^\\[", line.at[i], 4)) {
			i++;
			continue;
		}
		for (size_t k = 0; k < sizeof escapes / sizeof escapes[0] && !before; k++)
			if (span_starts(span_sub(line, i, 8), escapes[k]))
				before = strlen(escapes[k]);
		len = colour_length(span_sub(line, i + before, line.len), before != 0);
		/* "^[3m": the bracket belongs to the caret */
		if (!len && before == 2)
			len = colour_length(span_sub(line, i + 1, line.len), false), before = len ? 1 : 0;
		if (!len) {
			i++;
			continue;
		}
		buf_add(out, line.at + plain, i - plain);
		i += before + len;
		plain = i;
	}
	buf_add(out, line.at + plain, line.len - plain);
}
