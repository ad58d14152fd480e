/* proc_files.c - the texts of /proc/PID. */
#include "config.h"

#include "parse/proc_files.h"

#include <ctype.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"

#define ENV_NAME_MAX 200
#define ENV_VALUE_MAX 400
#define ENV_COUNT_MAX 200
#define ENV_ROOM 8192            /* no variable takes more as JSON */

bool proc_stat_parse(struct span text, struct proc_stat *out)
{
	long open = span_find_char(text, '('), close = span_find_last(text, ')');
	struct span rest, comm;
	int64_t field[52] = { 0 };
	int n = 0;

	memset(out, 0, sizeof *out);
	if (open <= 0 || close <= open || !span_int(span_sub(text, 0, (size_t)open), &out->pid))
		return false;
	comm = span_sub(text, (size_t)open + 1, (size_t)(close - open - 1));
	memcpy(out->comm, comm.at, comm.len < sizeof out->comm - 1 ? comm.len : sizeof out->comm - 1);
	rest = span_trim(span_sub(text, (size_t)close + 1, text.len));
	if (rest.len < 3)
		return false;
	out->state = rest.at[0];
	rest = span_sub(rest, 1, rest.len);
	while (n < 52) {
		struct span word;

		if (!span_word(&rest, &word) || !span_take_int(&word, &field[n]))
			break;
		n++;
	}
	if (n < 21) /* up to rss: field 24 of proc(5) is number 21 after the state, counted from 1 */
		return false;
	out->ppid = field[0];
	out->utime = field[10];
	out->stime = field[11];
	out->threads = field[16];
	out->start = field[18];
	out->rss_pages = field[20];
	return true;
}

void proc_status_parse(struct span text, struct proc_status *out)
{
	static const struct { const char *name; size_t at; int64_t scale; } line_of[] = {
		{ "Uid:", offsetof(struct proc_status, uid), 1 },
		{ "TracerPid:", offsetof(struct proc_status, tracer), 1 },
		{ "Threads:", offsetof(struct proc_status, threads), 1 },
		{ "voluntary_ctxt_switches:", offsetof(struct proc_status, vol_switches), 1 },
		{ "nonvoluntary_ctxt_switches:", offsetof(struct proc_status, invol_switches), 1 },
		{ "VmRSS:", offsetof(struct proc_status, rss), 1024 },
	};
	struct span line;

	out->uid = out->tracer = out->threads = out->vol_switches = out->invol_switches = out->rss = -1;
	while (span_line(&text, &line)) {
		for (size_t i = 0; i < sizeof line_of / sizeof line_of[0]; i++) {
			struct span rest = line, word;
			int64_t value;

			if (span_skip(&rest, line_of[i].name) && span_word(&rest, &word) && span_int(word, &value) &&
				!__builtin_mul_overflow(value, line_of[i].scale, &value))
				*(int64_t *)((char *)out + line_of[i].at) = value;
		}
	}
}

/* --- the command line --- */

static bool is_secret_option(struct span word)
{
	/* By the last part of the name: --api-key and --hf-token, not --tokenizer and --max-num-batched-tokens. */
	static const char *const end[] = { "key", "token", "secret", "password", "passwd", "credential", "credentials", "cookie" };
	char name[64];
	struct span lower;

	if (!span_skip(&word, "-") || word.len >= sizeof name)
		return false;
	for (size_t i = 0; i < word.len; i++)
		name[i] = (char)tolower((unsigned char)word.at[i]);
	lower = span_make(name, word.len);
	for (size_t i = 0; i < sizeof end / sizeof end[0]; i++)
		if (span_ends(lower, end[i]))
			return true;
	return false;
}

static bool is_known_token(struct span word)
{
	return word.len >= 16 && (span_starts(word, "sk-") || span_starts(word, "hf_") || span_starts(word, "ghp_"));
}

/* One argument; `secret` says that the option before wants a value that nobody may see. */
static void put_word(struct buf *out, struct span word, bool *secret)
{
	long equals = span_find_char(word, '=');
	struct span name = equals > 0 ? span_sub(word, 0, (size_t)equals) : word;

	if (span_starts(word, "-"))
		*secret = false;
	if (*secret || is_known_token(word)) {
		buf_text(out, "***");
	} else if (is_secret_option(name)) {
		buf_span(out, name);
		if (equals > 0)
			buf_text(out, "=***");
		else
			*secret = true;
	} else {
		buf_span(out, word);
	}
}

void proc_cmdline(struct span text, struct buf *out)
{
	bool secret = false, first = true;
	struct span word;

	while (span_cut(&text, 0, &word)) {
		if (!word.len)
			continue;
		if (!first)
			buf_char(out, ' ');
		put_word(out, word, &secret);
		/* setproctitle: "ATOM::TP0", then NULs; behind them an old command line may show through. */
		if (first && span_find(word, "::") > 0 && text.len && !text.at[0])
			break;
		first = false;
	}
}

bool proc_cmdline_option(struct span text, const char *option, struct span *value)
{
	struct span word;

	while (span_cut(&text, 0, &word)) {
		struct span rest = word;

		if (span_is(word, option))
			return span_cut(&text, 0, value) && value->len > 0;
		if (span_skip(&rest, option) && span_skip(&rest, "=")) {
			*value = rest;
			return true;
		}
	}
	return false;
}

int64_t proc_pipe_handle(struct span text)
{
	static const char name[] = "pipe_handle=";
	long at = span_find(text, name);
	uint64_t value;

	if (at < 0)
		return -1;
	text = span_sub(text, (size_t)at + sizeof name - 1, text.len);
	return span_take_uint(&text, &value) && value < INT64_MAX ? (int64_t)value : -1;
}

bool proc_environ_get(struct span text, const char *name, struct span *value)
{
	struct span word;

	while (span_cut(&text, 0, &word))
		if (span_skip(&word, name) && span_skip(&word, "=")) {
			*value = word;
			return true;
		}
	return false;
}

static bool wanted(struct span name)
{
	static const char *const prefix[] = { "HSA_", "HIP_", "ROCM_", "ROCR_", "AMD_", "NCCL_", "RCCL_", "ATOM_", "VLLM_", "SGLANG_",
		"AITER_", "TORCH_", "TORCHELASTIC_", "PYTORCH_", "CUDA_", "TRITON_", "GPU_", "OMPI_COMM_WORLD_" };
	static const char *const whole[] = { "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
		"SLURM_PROCID", "SLURM_LOCALID", "SLURM_JOB_ID" };

	for (size_t i = 0; i < sizeof prefix / sizeof prefix[0]; i++)
		if (span_starts(name, prefix[i]))
			return true;
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		if (span_is(name, whole[i]))
			return true;
	return false;
}

/* A long run of letters and digits without a path or a list in it: a key, whatever its name. GPUs have such names too. */
static bool looks_like_token(struct span name, struct span value)
{
	size_t run = 0, digits = 0;

	if (is_known_token(value))
		return true;
	if (span_ends(name, "VISIBLE_DEVICES"))
		return false;
	for (size_t i = 0; i < value.len; i++) {
		char c = value.at[i];

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '=' || c == '_' || c == '-')
			run++;
		else
			return false;
		digits += c >= '0' && c <= '9';
	}
	return run >= 32 && digits >= 4;
}

void proc_environ_chosen(struct span text, struct buf *out)
{
	struct json_write w;
	struct span word;
	int count = 0;

	jw_start(&w, out);
	jw_object(&w, NULL);
	while (span_cut(&text, 0, &word) && count < ENV_COUNT_MAX && out->max - out->len > ENV_ROOM) {
		long equals = span_find_char(word, '=');
		struct span name, value;
		struct buf key, clean;

		if (equals <= 0)
			continue;
		name = span_sub(word, 0, (size_t)equals);
		value = span_sub(word, (size_t)equals + 1, ENV_VALUE_MAX);
		if (name.len > ENV_NAME_MAX || !wanted(name))
			continue;
		count++;
		buf_init(&key, ENV_NAME_MAX * 4);
		buf_init(&clean, ENV_VALUE_MAX * 4);
		text_scrub(&key, name);
		text_scrub(&clean, value);
		if (text_looks_secret(name) || looks_like_token(name, value))
			jw_string(&w, buf_string(&key), "***");
		else
			jw_text(&w, buf_string(&key), buf_as_span(&clean));
		buf_release(&key);
		buf_release(&clean);
	}
	jw_end_object(&w);
}

/* --- the kernel's view --- */

static bool name_of_line(enum proc_view view, struct span line, struct span *name)
{
	long close = span_find(line, "] ");
	size_t n = 0;

	if (view == PROC_STACK && span_starts(line, "[<") && close > 0) /* the address, hidden or not */
		line = span_sub(line, (size_t)close + 2, line.len);
	line = span_trim(line);
	while (n < line.len && line.at[n] != '+' && line.at[n] != ' ')
		n++;
	*name = span_sub(line, 0, n);
	if (view == PROC_SYSCALL)
		return n && !span_is(*name, "running") && !span_is(*name, "-1");
	return n && !span_is(*name, "0") && !span_starts(*name, "0x"); /* 0xffffffffffffffff ends old kernels' stacks */
}

bool proc_kernel_frame(enum proc_view view, struct span *rest, struct span *name)
{
	struct span line;

	while (span_line(rest, &line))
		if (name_of_line(view, line, name))
			return true;
	return false;
}
