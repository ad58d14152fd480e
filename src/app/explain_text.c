/* explain_text.c - what explain says to people, on one screen where it can: verdict, suspect in words, evidence, ranks, what to do. */
#include "config.h"

#include "app/explain_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"
#include "model/stop_reason.h"
#include "parse/code_object.h"

#define LINE_WIDTH 140
#define ROWS_SHOWN 6
#define CODE_SHOWN 2
#define HITS_IN_FULL 2
#define ADVICE_SHOWN 3

static struct span text(const struct observation *o, int field)
{
	struct span s = { "", 0 };

	observation_get_text(o, field, &s);
	return s;
}

static int64_t number(const struct observation *o, int field, int64_t unknown)
{
	int64_t n = unknown;

	observation_get_int(o, field, &n);
	return n;
}

static void scrub(struct buf *out, struct span s, size_t max)
{
	text_scrub(out, span_sub(s, 0, max));
	if (s.len > max)
		buf_text(out, "...");
}

static void label(struct buf *out, const char *name)
{
	buf_printf(out, "%-10s ", name);
}

/* A name in the middle of which the telling part stands: both ends stay. */
static void kernel_name(struct buf *out, struct span name)
{
	if (name.len <= LINE_WIDTH - 20) {
		text_scrub(out, name);
		return;
	}
	text_scrub(out, span_sub(name, 0, 80));
	buf_text(out, " ... ");
	text_scrub(out, span_sub(name, name.len - 40, 40));
}

static void suspects(const struct explained *e, struct buf *out)
{
	const struct explain *a = e->answer;

	for (int i = 0; i < a->suspects && i < ROWS_SHOWN; i++) {
		const struct kernel_row *row = e->kernels ? kernels_words(e->kernels, a->suspect[i]) : NULL;

		label(out, i ? "" : "kernel");
		kernel_name(out, a->suspect[i]);
		buf_char(out, '\n');
		if (row) {
			label(out, "");
			buf_text(out, "= ");
			kernel_say(row, a->suspect[i], out);
			if (*row->note)
				buf_printf(out, "  (%s)", row->note);
			buf_char(out, '\n');
		}
	}
	if (a->suspects)
		buf_printf(out, "%-10s named by %s%s\n", "", a->suspect_from, a->suspects > ROWS_SHOWN ? "; there are more" : "");
}

/* --- waves, folded by kernel, pc and reasons --- */

static bool same_wave(const struct observation *a, const struct observation *b)
{
	return span_same(text(a, WAVE_kernel), text(b, WAVE_kernel)) && span_same(text(a, WAVE_pc), text(b, WAVE_pc)) &&
	       span_same(text(a, WAVE_reasons), text(b, WAVE_reasons));
}

/* Each reason of the array in words. */
static void reasons_say(struct span reasons, struct buf *out)
{
	struct span piece;
	const char *words;

	for (int i = 0; i < ROWS_SHOWN && span_cut(&reasons, '"', &piece); i++) {
		words = stop_reason_words(piece);
		if (words)
			buf_printf(out, "%-10s = %s\n", "", words);
	}
}

static void code_say(const struct observation *o, struct buf *out)
{
	json_t *code = json_loadb(text(o, WAVE_code_object).at, text(o, WAVE_code_object).len, 0, NULL);
	struct span uri = span_of(json_string_value(json_object_get(code, "uri")));
	struct span loaded = span_of(json_string_value(json_object_get(code, "loaded"))), pc = text(o, WAVE_pc);
	uint64_t base = 0, address = 0;
	struct buf command;

	buf_init(&command, 8192);
	if (!span_take_hex(&loaded, &base) || !span_take_hex(&pc, &address))
		base = 0;
	if (uri.len) {
		label(out, "");
		buf_text(out, "code object ");
		scrub(out, uri, 200);
		buf_char(out, '\n');
	}
	if (uri.len && code_object_command(uri, base, address, &command)) {
		buf_printf(out, "%-10s ", "");
		scrub(out, buf_as_span(&command), 600);
		buf_text(out, span_starts(uri, "memory:") ? "   (in DIR of --save-code-objects=DIR; or explain --code-objects DIR)\n" : "\n");
	}
	buf_release(&command);
	json_decref(code);
}

static void wave_row(const struct observation *o, int64_t n, bool with_code, struct buf *out)
{
	struct span pc = text(o, WAVE_pc), arrow = text(o, WAVE_arrow), reasons = text(o, WAVE_reasons), insn;

	label(out, "waves");
	buf_printf(out, "%lld at pc ", (long long)n);
	scrub(out, pc.len ? pc : span_of("unknown"), 40);
	insn = span_after(arrow, "\"insn\":\"");
	if (insn.len) {
		long quote = span_find_char(insn, '"');

		buf_text(out, ": ");
		scrub(out, span_sub(insn, 0, quote > 0 ? (size_t)quote : 0), 60);
	}
	if (reasons.len > 2) {
		buf_text(out, "  ");
		scrub(out, reasons, 100);
	} else if (observation_text_is(o, WAVE_state, "running")) {
		buf_text(out, "  running");
	}
	if (!observation_is_null(o, WAVE_rank)) {
		buf_text(out, "  rank ");
		scrub(out, text(o, WAVE_rank), 32);
	}
	buf_char(out, '\n');
	reasons_say(reasons, out);
	if (with_code)
		code_say(o, out);
}

static void waves(const struct explained *e, struct buf *out)
{
	int shown = 0, groups = 0;

	for (size_t i = 0; i < e->n; i++) {
		int64_t n = 0;
		bool first = true;

		if (e->list[i]->kind != KIND_wave)
			continue;
		for (size_t k = 0; k < i && first; k++)
			first = e->list[k]->kind != KIND_wave || !same_wave(e->list[k], e->list[i]);
		if (!first)
			continue;
		for (size_t k = i; k < e->n; k++)
			if (e->list[k]->kind == KIND_wave && same_wave(e->list[k], e->list[i]))
				n += number(e->list[k], WAVE_count, 1);
		groups++;
		if (shown++ < ROWS_SHOWN)
			wave_row(e->list[i], n, shown <= CODE_SHOWN, out);
	}
	if (groups > ROWS_SHOWN)
		buf_printf(out, "%-10s %d more groups; --json has them\n", "", groups - ROWS_SHOWN);
	if (e->count.waves > 0)
		buf_printf(out, "%-10s %llu waves in all\n", "", (unsigned long long)e->count.waves);
}

/* --- faults, queues, dispatches --- */

static int64_t gpu_of_node(const struct explained *e, int64_t node)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->list[i]->kind == KIND_gpu && number(e->list[i], GPU_kfd_node, -1) == node)
			return number(e->list[i], GPU_gpu, -1);
	return -1;
}

static void fault_row(const struct explained *e, const struct observation *o, struct buf *out)
{
	int64_t node = number(o, FAULT_kfd_node, -1), gpu = node >= 0 ? gpu_of_node(e, node) : -1;

	label(out, "fault");
	if (node >= 0)
		buf_printf(out, "KFD node %lld%s", (long long)node, gpu >= 0 ? "" : " (not the GPU index)");
	if (gpu >= 0)
		buf_printf(out, " = GPU %lld", (long long)gpu);
	buf_text(out, "  address ");
	scrub(out, text(o, FAULT_address), 40);
	buf_text(out, "  ");
	scrub(out, text(o, FAULT_reason), 80);
	buf_char(out, '\n');
}

static void dispatch_row(const struct observation *o, struct buf *out)
{
	label(out, "in flight");
	scrub(out, text(o, GDB_DISPATCH_target), 30);
	buf_text(out, "  ");
	kernel_name(out, text(o, GDB_DISPATCH_kernel).len ? text(o, GDB_DISPATCH_kernel) : span_of("(no name)"));
	buf_text(out, "  grid ");
	scrub(out, text(o, GDB_DISPATCH_grid), 60);
	buf_char(out, '\n');
}

static void queue_row(const struct observation *o, struct buf *out)
{
	int64_t pending = number(o, GDB_QUEUE_pending, 0);

	if (pending <= 0)
		return;
	label(out, "queue");
	scrub(out, text(o, GDB_QUEUE_target), 30);
	buf_printf(out, "  %lld packets pending (read %lld, write %lld)\n", (long long)pending, (long long)number(o, GDB_QUEUE_read, 0),
		(long long)number(o, GDB_QUEUE_write, 0));
}

static void log_row(const struct observation *o, struct buf *out)
{
	if (!observation_text_is(o, LOG_class, "fatal") && !observation_text_is(o, LOG_class, "fault"))
		return;
	label(out, "log");
	scrub(out, text(o, LOG_text), LINE_WIDTH - 12);
	buf_char(out, '\n');
}

static void rows(const struct explained *e, enum kind kind, struct buf *out)
{
	int shown = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct observation *o = e->list[i];
		size_t before = out->len;

		if (o->kind != kind || shown >= ROWS_SHOWN)
			continue;
		if (kind == KIND_fault)
			fault_row(e, o, out);
		else if (kind == KIND_gdb_dispatch)
			dispatch_row(o, out);
		else if (kind == KIND_gdb_queue)
			queue_row(o, out);
		else
			log_row(o, out);
		shown += out->len > before;
	}
}

/* --- server, GPUs, ranks --- */

static void server(const struct explained *e, struct buf *out)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct observation *o = e->list[i];
		int64_t running = number(o, SERVER_LOG_running, -1), arrived;

		if (o->kind != KIND_server_log || observation_is_null(o, SERVER_LOG_framework))
			continue;
		arrived = number(o, SERVER_LOG_requests_arrived, -1);
		label(out, "server");
		scrub(out, text(o, SERVER_LOG_framework), 30);
		if (!observation_is_null(o, SERVER_LOG_ready))
			buf_text(out, number(o, SERVER_LOG_ready, 0) ? ", was ready" : ", not ready");
		if (!observation_is_null(o, SERVER_LOG_load_percent) && !number(o, SERVER_LOG_ready, 0))
			buf_printf(out, ", weights %lld %%", (long long)number(o, SERVER_LOG_load_percent, 0));
		if (running >= 0)
			buf_printf(out, ", %lld running, %lld waiting", (long long)running, (long long)number(o, SERVER_LOG_waiting, 0));
		if (arrived >= 0)
			buf_printf(out, ", %lld requests arrived, %lld finished", (long long)arrived, (long long)number(o, SERVER_LOG_requests_finished, 0));
		if (!observation_is_null(o, SERVER_LOG_stalled_since)) {
			buf_text(out, ", no token since ");
			scrub(out, text(o, SERVER_LOG_stalled_since), 10);
		}
		buf_char(out, '\n');
	}
}

static void gpus(const struct explained *e, struct buf *out)
{
	int n = 0, busy = 0, dead = 0;
	double watts = 0, value;

	for (size_t i = 0; i < e->n; i++) {
		const struct observation *o = e->list[i];

		if (o->kind == KIND_gpu) {
			n++;
			busy += observation_get_real(o, GPU_busy_pct, &value) && value >= 90;
			if (observation_get_real(o, GPU_power_w, &value))
				watts += value;
		} else if (o->kind == KIND_gpu_process) {
			dead += observation_is_null(o, GPU_PROCESS_name);
		}
	}
	if (n)
		buf_printf(out, "%-10s %d, %d of them at 90 %% or more, %.0f W together\n", "GPUs", n, busy, watts);
	if (dead)
		buf_printf(out, "%-10s %d process%s without a name: gone, or of another namespace\n", "", dead, dead > 1 ? "es" : "");
}

static void groups(const struct explained *e, struct buf *out)
{
	const struct explain *a = e->answer;

	for (int g = 0; g < a->groups && g < 2 * ROWS_SHOWN; g++) {
		int shown = 0;

		label(out, a->group[g].odd ? "odd rank" : "ranks");
		for (int i = 0; i < a->ranks; i++)
			if (a->rank[i].group == g && shown++ < 16)
				buf_printf(out, "%s%s", shown > 1 ? " " : "", a->rank[i].name);
		if (shown > 16)
			buf_printf(out, " and %d more", shown - 16);
		buf_text(out, "  ");
		scrub(out, span_of(a->group[g].top), 100);
		buf_printf(out, "  (%s)\n", wait_kind_word(a->group[g].wait));
	}
}

/* --- what is known, and what to do --- */

/* Two in full; of the others the titles: --json has everything. */
static void hits(const struct explained *e, struct buf *out)
{
	for (int i = 0; i < e->hits; i++) {
		const struct signature *s = e->hit[i].signature;

		buf_printf(out, "%s%s  [%s, grade %s]\n", i <= HITS_IN_FULL ? "\n" : "", s->title, s->id, s->grade);
		if (i >= HITS_IN_FULL)
			continue;
		if (s->means.count)
			buf_printf(out, "  %s\n", s->means.item[0]);
		if (s->not_.count)
			buf_printf(out, "  not: %s\n", s->not_.item[0]);
		for (int k = 0; k < s->advice.count && k < ADVICE_SHOWN; k++)
			buf_printf(out, "  - %s\n", s->advice.item[k]);
	}
}

void explain_text(const struct explained *e, struct buf *out)
{
	const struct explain *a = e->answer;
	char bytes[32];

	buf_printf(out, "%s\n", a->word ? a->word : "cannot be told");
	scrub(out, span_of(a->reason), 400);
	buf_text(out, "\n\n");
	suspects(e, out);
	waves(e, out);
	rows(e, KIND_fault, out);
	rows(e, KIND_gdb_dispatch, out);
	rows(e, KIND_gdb_queue, out);
	server(e, out);
	gpus(e, out);
	groups(e, out);
	rows(e, KIND_log, out);
	if (e->disassembled.len) {
		buf_char(out, '\n');
		buf_span(out, e->disassembled);
	}
	hits(e, out);
	buf_printf(out, "\nnext: %s\n", a->next);
	buf_printf(out, "read %llu lines, %s; %llu lines say nothing hangtop knows%s\n", (unsigned long long)e->count.lines,
		text_bytes(bytes, sizeof bytes, (double)e->count.bytes), (unsigned long long)e->count.ordinary,
		e->left_out ? "; more was found than is kept" : "");
}
