/* targets.c - the table, and the readers of one format each. */
#include "config.h"

#include "targets.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/kernel_words.h"
#include "model/signature.h"
#include "parse/amd_smi.h"
#include "parse/gpu_files.h"
#include "parse/gpu_metrics.h"
#include "parse/line.h"
#include "parse/log_class.h"
#include "parse/metrics.h"
#include "parse/models.h"
#include "parse/nvidia_smi.h"
#include "parse/proc_files.h"
#include "parse/pyspy.h"
#include "parse/rocm_smi.h"
#include "parse/wave_groups.h"
#include "transport/frame.h"

#include "../unit/profile_file.h"

struct profile_set fuzz_profiles;
static struct log_classifier *classifier[16];

void fuzz_start(void)
{
	static const char *const names[] = { "atom", "vllm", "sglang", "torchrun", "ollama", "llama.cpp" };
	struct error error;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct profile *p = shipped_profile(names[i]);

		FUZZ_EXPECT(p);
		profile_set_add(&fuzz_profiles, p);
		classifier[i] = log_classifier_new(p, &error);
		FUZZ_EXPECT(classifier[i]);
	}
}

void fuzz_broken(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

unsigned fuzz_dice(struct span text)
{
	unsigned h = 2166136261U;

	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.at[i]) * 16777619U;
	return h ^ h >> 15;
}

static void is_json(struct span text)
{
	json_error_t error;
	json_t *root = json_loadb(text.at, text.len, JSON_ALLOW_NUL, &error);

	FUZZ_EXPECT(root);
	json_decref(root);
}

/* --- stacks --- */

static void pyspy(struct span text, int (*parse)(struct span, struct buf *, struct error *), size_t max)
{
	struct error error;
	struct buf out;
	int threads;

	buf_init(&out, max);
	threads = parse(text, &out, &error);
	FUZZ_EXPECT(threads >= -1 && threads <= PYSPY_THREADS_MAX);
	if (threads < 0)
		FUZZ_EXPECT(out.len == 0);
	else
		is_json(buf_as_span(&out));
	buf_release(&out);
}

static void target_pyspy_json(struct span text)
{
	pyspy(text, pyspy_json, 1 << 20);
	pyspy(text, pyspy_json, 200);
}

static void target_pyspy_text(struct span text)
{
	const char *words = NULL, *remedy = NULL;

	pyspy(text, pyspy_text, 1 << 20);
	pyspy(text, pyspy_text, 200);
	pyspy_error(text, &words, &remedy);
	FUZZ_EXPECT(pyspy_error_line(text).len <= text.len);
}

/* --- GPU tools --- */

static void gpus(struct span text, int (*parse)(struct span, struct gpu_list *, struct error *))
{
	struct gpu_list list;
	struct error error;

	gpu_list_init(&list);
	parse(text, &list, &error);
	FUZZ_EXPECT(list.gpus <= GPU_READINGS_MAX && list.processes <= GPU_PROCESSES_MAX);
	for (size_t i = 0; i < list.gpus; i++) {
		const struct gpu_reading *r = &list.gpu[i];

		FUZZ_EXPECT(!i || list.gpu[i - 1].gpu < r->gpu);
		FUZZ_EXPECT(!(r->busy_pct < 0) && !(r->busy_pct > 100));
		FUZZ_EXPECT(memchr(r->name, 0, sizeof r->name) && memchr(r->bdf, 0, sizeof r->bdf) && memchr(r->uuid, 0, sizeof r->uuid));
	}
	gpu_list_release(&list);
}

static void target_rocm_smi(struct span text) { gpus(text, rocm_smi_parse); }
static void target_amd_smi(struct span text) { gpus(text, amd_smi_parse); }
static void target_nvidia_smi(struct span text) { gpus(text, nvidia_smi_parse); }

static void target_gpu_files(struct span text)
{
	struct gpu_reading r;
	struct kfd_properties p;
	struct error error;
	char word[16], bdf[24];

	gpu_reading_init(&r, 0);
	gpu_metrics_fill(text, &r, &error);
	gpu_file_number(text);
	gpu_file_dpm_mhz(text);
	gpu_file_partition(text, word, sizeof word);
	gpu_file_properties(text, &p);
	kfd_bdf(&p, bdf, sizeof bdf);
	kfd_gfx_name(p.gfx_target_version, word, sizeof word);
	gpu_file_slot_name(text, bdf, sizeof bdf);
}

/* --- servers --- */

static void target_models(struct span text)
{
	struct models m;
	struct error error;
	struct buf out;

	buf_init(&out, 1 << 20);
	if (models_parse(text, &m, &error) == 0) {
		FUZZ_EXPECT(m.count >= 0 && m.count <= MODELS_MAX && m.count <= m.total);
		models_json(&m, &out);
		is_json(buf_as_span(&out));
	}
	models_release(&m);
	buf_clear(&out);
	models_error_words(text, &out);
	FUZZ_EXPECT(out.len <= 200);
	FUZZ_EXPECT(models_status_class(503, text));
	buf_release(&out);
}

static void target_metrics(struct span text)
{
	double sum;

	if (metrics_sum(text, "vllm:num_requests_running", &sum))
		FUZZ_EXPECT(!isnan(sum));
	metrics_sum(text, "a", &sum);
}

static void target_log_class(struct span text)
{
	char rank[LOG_RANK_MAX];
	struct log_match m;
	struct buf out;

	for (int i = 0; i < fuzz_profiles.count; i++) {
		FUZZ_EXPECT(log_classify(classifier[i], text, &m) < LOG_CLASSES);
		FUZZ_EXPECT(log_rank(classifier[i], text, rank) == (*rank != 0));
	}
	log_rank_normal(text, rank);
	buf_init(&out, 1 << 20);
	log_strip_colours(text, &out);
	FUZZ_EXPECT(out.len <= text.len);
	buf_release(&out);
}

static void target_line(struct span text)
{
	char rank[LINE_RANK_MAX];
	struct span rest = text, raw;
	struct buf scratch;
	struct line l;

	buf_init(&scratch, 1 << 20);
	while (span_line(&rest, &raw)) {
		line_read(&l, raw, 0, &scratch);
		FUZZ_EXPECT(l.text.len <= raw.len);
		FUZZ_EXPECT(memchr(l.rank, 0, sizeof l.rank) && memchr(l.label, 0, sizeof l.label) && memchr(l.file, 0, sizeof l.file));
		line_rank_of_title(raw, rank);
	}
	buf_release(&scratch);
}

/* --- files of users --- */

static void target_profile(struct span text)
{
	struct error error;
	struct profile *p = profile_parse(text, "f", &error);

	if (p)
		log_classifier_free(log_classifier_new(p, &error));
	profile_free(p);
}

static void target_signature(struct span text)
{
	struct error error;
	struct signature *s = signature_parse(text, "f", &error);
	struct signature_hit hit;
	struct observation o[2];
	const struct observation *list[] = { &o[0], &o[1] };
	struct signature_set set = { 0 };

	if (!s) {
		FUZZ_EXPECT(*error.text);
		return;
	}
	signature_set_add(&set, s);
	observation_init(&o[0], KIND_wave, "n", 1);
	observation_text(&o[0], field_by_name(KIND_wave, span_of("pc")), "0x10");
	observation_init(&o[1], KIND_fault, "n", 1);
	observation_int(&o[1], FAULT_kfd_node, 3);
	observation_text(&o[1], FAULT_reason, "Page not present");
	FUZZ_EXPECT(signatures_match(&set, list, 2, &hit, 1) <= 1);
	signature_set_release(&set);
}

static void target_kernels(struct span text)
{
	static const char name[] = "void at::native::index_elementwise_kernel<128, 4, OpaqueType<4> >(long)";
	struct kernel_set set = { 0 };
	struct error error;
	struct buf out;

	buf_init(&out, 1 << 20);
	if (kernels_load(&set, text, "f", &error) == 0) {
		const struct kernel_row *row = kernels_words(&set, span_make(name, sizeof name - 1));

		if (row)
			kernel_say(row, text, &out);
	}
	kernel_element_bytes(text);
	kernels_release(&set);
	buf_release(&out);
}

/* --- the system's texts, and the wire --- */

static void target_proc(struct span text)
{
	struct proc_stat stat;
	struct proc_status status;
	struct span value, rest;
	struct buf out;

	buf_init(&out, 1 << 20);
	proc_stat_parse(text, &stat);
	proc_status_parse(text, &status);
	proc_cmdline(text, &out);
	proc_cmdline_option(text, "--port", &value);
	proc_pipe_handle(text);
	proc_environ_get(text, "RANK", &value);
	buf_clear(&out);
	proc_environ_chosen(text, &out);
	is_json(buf_as_span(&out));
	buf_release(&out);
	for (int view = PROC_STACK; view <= PROC_SYSCALL; view++)
		for (rest = text; proc_kernel_frame((enum proc_view)view, &rest, &value);)
			FUZZ_EXPECT(value.len <= text.len);
}

static void target_text(struct span text)
{
	struct buf out, again;
	struct span rest;
	uint32_t code;

	buf_init(&out, 8 << 20);
	buf_init(&again, 8 << 20);
	text_mask(&out, text);
	buf_clear(&out);
	text_scrub(&out, text);
	for (rest = buf_as_span(&out); text_next(&rest, &code);)
		FUZZ_EXPECT(code >= ' ' && code != 0x7f && !(code >= 0x80 && code < 0xa0) && !(code >= 0xd800 && code < 0xe000));
	text_scrub(&again, buf_as_span(&out));
	FUZZ_EXPECT(span_same(buf_as_span(&out), buf_as_span(&again)));
	FUZZ_EXPECT(text_width(text_fit(buf_as_span(&out), 20)) <= 20);
	buf_release(&out);
	buf_release(&again);
}

static void target_wave_groups(struct span text)
{
	struct wave_group group;
	struct span rest = text;
	int n = 0;

	while (wave_group_next(&rest, &group)) {
		FUZZ_EXPECT(group.active <= group.lanes_known);
		FUZZ_EXPECT(!group.code.len || (group.code.at >= text.at && group.code.at + group.code.len <= text.at + text.len));
		FUZZ_EXPECT(n++ < (1 << 22));
	}
}

static void on_frame(void *context, struct span line)
{
	size_t *sum = context;

	FUZZ_EXPECT(line.len <= 100 && !memchr(line.at, '\n', line.len));
	*sum = *sum * 31 + line.len + 1;
}

static void target_frame(struct span text)
{
	size_t whole = 0, cut = 0, at = fuzz_dice(text) % (text.len + 1);
	struct frame f;

	frame_init(&f, 100);
	frame_feed(&f, text, on_frame, &whole);
	frame_release(&f);
	frame_init(&f, 100);
	frame_feed(&f, span_sub(text, 0, at), on_frame, &cut);
	frame_feed(&f, span_sub(text, at, text.len), on_frame, &cut);
	frame_release(&f);
	FUZZ_EXPECT(whole == cut);
}

const struct fuzz_target fuzz_targets[] = {
	{ "scan", target_scan },
	{ "split", target_split },
	{ "lines", target_lines },
	{ "explain", target_explain },
	{ "session", target_session },
	{ "observation", target_observation },
	{ "code_elf", target_code_elf },
	{ "code_object", target_code_object },
	{ "disassembly", target_disassembly },
	{ "pyspy_json", target_pyspy_json },
	{ "pyspy_text", target_pyspy_text },
	{ "rocm_smi", target_rocm_smi },
	{ "amd_smi", target_amd_smi },
	{ "nvidia_smi", target_nvidia_smi },
	{ "gpu_files", target_gpu_files },
	{ "models", target_models },
	{ "metrics", target_metrics },
	{ "log_class", target_log_class },
	{ "line", target_line },
	{ "profile", target_profile },
	{ "signature", target_signature },
	{ "kernels", target_kernels },
	{ "proc", target_proc },
	{ "text", target_text },
	{ "frame", target_frame },
	{ "wave_groups", target_wave_groups },
};
const size_t fuzz_target_count = sizeof fuzz_targets / sizeof *fuzz_targets;
