/* Snapshot: each rocgdb snapshot, newest first: the guard before it, then kernels in flight, queues, waves and host stack, what it proves
 * together with the one before, and whether the process runs again. */
#include "config.h"

#include "ui/panel.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/snapshots.h"
#include "ui/waves_fold.h"

#define OUTPUT_LINES 200
#define LABEL_W 13 /* "in flight" and its like, indented */

static int64_t number(const struct observation *o, int field)
{
	int64_t value = -1;

	observation_get_int(o, field, &value);
	return value;
}

static uint64_t key_of(const struct snapshot_seen *s, int part)
{
	return rows_key("snapshot", (int64_t)map_hash(s->id.at, s->id.len) + part) | 1;
}

static void line(struct build *b, uint64_t key)
{
	rows_start(b->rows, key, ROW_DETAIL);
	rows_gap(b->rows, 2);
}

/* The name, and what it is in words: behind it where there is room, else below. */
static void kernel(struct build *b, uint64_t key, struct span name)
{
	const struct kernel_row *known = b->view->kernels && name.len ? kernels_words(b->view->kernels, name) : NULL;
	struct buf text, words;
	int left = b->w - LABEL_W;

	buf_init(&text, 1024);
	buf_init(&words, 1024);
	waves_kernel(&text, name, left, b->ascii ? "~" : "…");
	rows_span(b->rows, STYLE_BOLD, name.len ? buf_as_span(&text) : span_of("unknown kernel"));
	if (known) {
		buf_text(&words, "= ");
		kernel_say(known, name, &words);
		if (text_width(buf_as_span(&text)) + 1 + text_width(buf_as_span(&words)) <= left) {
			rows_gap(b->rows, 1);
			rows_span(b->rows, STYLE_INFO, buf_as_span(&words));
		} else {
			panel_wrap(b, key, LABEL_W, STYLE_INFO, buf_as_span(&words));
		}
	}
	buf_release(&words);
	buf_release(&text);
}

/* --- the line of each snapshot --- */

static enum style state_style(const struct snapshot_seen *s)
{
	struct span verified = panel_field(s->last, SNAPSHOT_verified);

	if (verified.len && !span_is(verified, "ok") && !span_is(verified, "repaired"))
		return STYLE_BAD;
	return snapshot_is(s, "done") ? STYLE_OK : snapshot_is(s, "running") ? STYLE_INFO : snapshot_is(s, "preview") ? STYLE_NORMAL : STYLE_WARN;
}

static void head(struct build *b, const struct snapshot_seen *s)
{
	struct span rank = panel_field(s->last, SNAPSHOT_rank);
	uint64_t key = key_of(s, 0);
	double stopped, took;
	char stamp[32], age[24];

	rows_start(b->rows, key, 0);
	panel_fold(b, key);
	rows_text(b->rows, STYLE_DIM, panel_time(stamp, sizeof stamp, s->last->t, false));
	rows_print(b->rows, STYLE_BOLD, " %s%.*s", rank.len ? "rank " : "", (int)(rank.len < 12 ? rank.len : 12), rank.at);
	rows_print(b->rows, STYLE_NORMAL, " pid %" PRId64 "  ", number(s->last, SNAPSHOT_pid));
	rows_span(b->rows, state_style(s), panel_field(s->last, SNAPSHOT_state));
	if (snapshot_is(s, "running"))
		rows_print(b->rows, STYLE_NORMAL, " for %s, interrupted after %" PRId64 " s", panel_age(age, sizeof age, b->view, number(s->last, SNAPSHOT_began)),
			number(s->last, SNAPSHOT_deadline_ms) / 1000);
	if (observation_get_real(s->last, SNAPSHOT_took_ms, &took) && observation_get_real(s->last, SNAPSHOT_stopped_ms, &stopped))
		rows_print(b->rows, STYLE_DIM, "  %.1f s, stood still %.1f s", took / 1000, stopped / 1000);
}

static void verified(struct build *b, const struct snapshot_seen *s)
{
	struct span word = panel_field(s->last, SNAPSHOT_verified), detail = panel_field(s->last, SNAPSHOT_verify_detail);
	bool fine = span_is(word, "ok") || span_is(word, "repaired");

	if (!word.len)
		return;
	line(b, key_of(s, 1));
	rows_text(b->rows, fine ? STYLE_OK : STYLE_BAD, fine ? "runs again, checked: " : "NOT AS BEFORE: ");
	rows_span(b->rows, fine ? STYLE_DIM : STYLE_BAD, detail);
}

static void proof(struct build *b, const struct snapshots *all, const struct snapshot_seen *s)
{
	static const struct { const char *words; enum style style; } say[] = {
		[PROOF_NOTHING] = { "with the one before it proves nothing: ", STYLE_DIM },
		[PROOF_MOVING] = { "moving since the one before: ", STYLE_OK },
		[PROOF_IDLE] = { "not a kernel: ", STYLE_WARN },
		[PROOF_STUCK] = { "proved stuck: ", STYLE_BAD },
	};
	const struct snapshot_seen *before = snapshot_before(all, s);
	enum snapshot_proof p;
	char words[240];

	if (!snapshot_is(s, "done"))
		return;
	line(b, key_of(s, 2));
	if (!before) {
		rows_text(b->rows, STYLE_DIM, "a second one, 2 s later or more, shows what moves and what does not");
		return;
	}
	p = snapshot_compare(before, s, words, sizeof words);
	rows_text(b->rows, say[p].style, say[p].words);
	rows_text(b->rows, say[p].style, words);
}

/* --- what was seen --- */

static void dispatches(struct build *b, const struct snapshot_seen *s)
{
	for (int i = 0; i < s->dispatch.count; i++) {
		line(b, key_of(s, 10) + (uint64_t)i);
		rows_text(b->rows, STYLE_DIM, i ? "           " : "in flight  ");
		kernel(b, key_of(s, 10) + (uint64_t)i, panel_field(s->dispatch.row[i], GDB_DISPATCH_kernel));
	}
	if (!s->dispatch.count && s->queue.count) {
		line(b, key_of(s, 10));
		rows_text(b->rows, STYLE_DIM, "in flight  no dispatch is seen");
	}
}

static const struct observation *queue_then(const struct snapshot_seen *before, const struct observation *q)
{
	for (int i = 0; before && i < before->queue.count; i++)
		if (number(before->queue.row[i], GDB_QUEUE_qid) == number(q, GDB_QUEUE_qid) &&
			span_same(panel_field(before->queue.row[i], GDB_QUEUE_address), panel_field(q, GDB_QUEUE_address)))
			return before->queue.row[i];
	return NULL;
}

static void queues(struct build *b, const struct snapshots *all, const struct snapshot_seen *s)
{
	const struct snapshot_seen *before = snapshot_before(all, s);
	int others = 0, shown = 0;

	for (int i = 0; i < s->queue.count; i++) {
		const struct observation *q = s->queue.row[i], *then = queue_then(before, q);
		int64_t read, write;

		if (!observation_get_int(q, GDB_QUEUE_read, &read) || !observation_get_int(q, GDB_QUEUE_write, &write)) {
			others++;
			continue;
		}
		line(b, key_of(s, 100) + (uint64_t)i);
		rows_text(b->rows, STYLE_DIM, shown++ ? "           " : "queues     ");
		rows_cell(b->rows, 6, STYLE_NORMAL, panel_field(q, GDB_QUEUE_target));
		rows_print(b->rows, STYLE_NORMAL, " read %" PRId64 ", write %" PRId64 ": ", read, write);
		rows_print(b->rows, write > read ? STYLE_WARN : STYLE_DIM, write > read ? "%" PRId64 " pending" : "idle", write - read);
		if (then && number(then, GDB_QUEUE_read) >= 0)
			rows_print(b->rows, STYLE_DIM, number(then, GDB_QUEUE_read) == read ? ", not moved" : ", moved %+" PRId64, read - number(then, GDB_QUEUE_read));
	}
	if (others) {
		line(b, key_of(s, 199));
		rows_print(b->rows, STYLE_DIM, "%s%d without pointers (DMA)", shown ? "           " : "queues     ", others);
	}
}

/* "=> 0x7f.. <long name+88>:  s_sleep 1" -> "=> +88  s_sleep 1". */
static void instruction(struct build *b, struct span code)
{
	bool arrow = span_skip(&code, "=>");
	long open = span_find_char(code, '<'), end = span_find(code, ">:");
	struct span name = open >= 0 && end > open ? span_sub(code, (size_t)open + 1, (size_t)(end - open) - 1) : (struct span){ "", 0 };
	long plus = span_find_last(name, '+');

	rows_text(b->rows, arrow ? STYLE_BOLD : STYLE_DIM, arrow ? "=> " : "   ");
	if (plus > 0) {
		rows_cell(b->rows, 8, STYLE_DIM, span_sub(name, (size_t)plus, name.len));
		code = span_trim(span_sub(code, (size_t)end + 2, code.len));
	}
	rows_span(b->rows, arrow ? STYLE_BOLD : STYLE_DIM, span_trim(code));
}

/* "kernel(args) + 88" -> "+88"; a pc when that is all there is. */
static void place(struct buf *out, const struct observation *w)
{
	struct span text = panel_field(w, WAVE_place), pc = panel_field(w, WAVE_pc);
	long plus = span_find_last(text, '+');
	int64_t offset;

	if (plus > 0 && span_int(span_sub(text, (size_t)plus + 1, text.len), &offset))
		buf_printf(out, " @ +%" PRId64, offset);
	else if (pc.len)
		buf_printf(out, " @ %.*s", (int)(pc.len < 20 ? pc.len : 20), pc.at);
}

/* "kernel @ +88: 640 waves, lanes 0-7 only": where there is little room the kernel's name gives way. */
static void wave_group(struct build *b, const struct observation *w)
{
	int64_t count = number(w, WAVE_count);
	struct span lanes = panel_field(w, WAVE_lanes);
	bool all = span_is(lanes, "0-63") || span_is(lanes, "0-31");
	struct buf name, rest;
	int left;

	buf_init(&name, 1024);
	buf_init(&rest, 1024);
	place(&rest, w);
	buf_printf(&rest, ": %" PRId64 " wave%s", count, count == 1 ? "" : "s");
	if (lanes.len)
		buf_printf(&rest, ", lanes %.*s%s", (int)(lanes.len < 80 ? lanes.len : 80), lanes.at, all ? "" : " only");
	left = b->w - LABEL_W - text_width(buf_as_span(&rest));
	waves_kernel(&name, panel_field(w, WAVE_kernel), left > 46 ? 46 : left > 12 ? left : 12, b->ascii ? "~" : "…");
	rows_span(b->rows, STYLE_BOLD, buf_as_span(&name));
	rows_span(b->rows, STYLE_NORMAL, buf_as_span(&rest));
	buf_release(&rest);
	buf_release(&name);
}

static void waves(struct build *b, const struct snapshot_seen *s)
{
	for (int i = 0; i < s->wave.count; i++) {
		struct span rest = panel_field(s->wave.row[i], WAVE_disassembly), code;

		line(b, key_of(s, 200) + (uint64_t)i);
		rows_text(b->rows, STYLE_DIM, i ? "           " : "waves      ");
		wave_group(b, s->wave.row[i]);
		while (list_is_open(b->list, key_of(s, 0)) && span_line(&rest, &code)) {
			line(b, key_of(s, 300) + (uint64_t)i);
			rows_gap(b->rows, 11);
			instruction(b, code);
		}
	}
}

/* The blocking call and its caller, and what that means: behind it where there is room, else below. */
static void host_call(struct build *b, uint64_t key, const struct host_call *h)
{
	int width = text_width(span_of(h->call)) + (*h->caller ? text_width(span_of(h->caller)) + 4 : 0);

	rows_text(b->rows, STYLE_BOLD, h->call);
	if (*h->caller) {
		rows_text(b->rows, STYLE_DIM, b->ascii ? " <- " : " ← ");
		rows_text(b->rows, STYLE_NORMAL, h->caller);
	}
	if (width + 2 + text_width(span_of(h->words)) > b->w - LABEL_W) {
		panel_wrap(b, key, LABEL_W, STYLE_INFO, span_of(h->words));
		return;
	}
	rows_text(b->rows, STYLE_DIM, ": ");
	rows_text(b->rows, STYLE_INFO, h->words);
}

static void host(struct build *b, const struct snapshot_seen *s)
{
	for (int i = 0; i < s->stack.count; i++) {
		struct span text = panel_field(s->stack.row[i], GDB_STACK_frames);
		struct host_call call;
		json_t *frames = json_loadb(text.at, text.len, 0, NULL), *frame;
		size_t n;

		line(b, key_of(s, 400) + (uint64_t)i);
		rows_text(b->rows, STYLE_DIM, i ? "           " : "host       ");
		if (snapshot_host_call(text, &call)) {
			host_call(b, key_of(s, 400) + (uint64_t)i, &call);
		} else {
			const char *top = json_string_value(json_array_get(frames, 0));

			rows_text(b->rows, STYLE_NORMAL, top ? top : "no frames");
		}
		for (n = 0; list_is_open(b->list, key_of(s, 0)) && n < json_array_size(frames); n++) {
			frame = json_array_get(frames, n);
			line(b, key_of(s, 500) + (uint64_t)i);
			rows_gap(b->rows, 13);
			rows_text(b->rows, STYLE_DIM, json_string_value(frame) ? json_string_value(frame) : "?");
		}
		json_decref(frames);
	}
}

/* --- before it --- */

static void checks(struct build *b, const struct snapshot_seen *s)
{
	static const char *const order[] = { "refused", "unknown", "ok" };
	bool all = list_is_open(b->list, key_of(s, 0));
	int fine = 0;

	for (int k = 0; k < 3; k++)
		for (int i = 0; i < s->guard.count; i++) {
			const struct observation *g = s->guard.row[i];

			if (!observation_text_is(g, GUARD_state, order[k]))
				continue;
			fine += k == 2;
			if (k == 2 && !all)
				continue;
			line(b, key_of(s, 600) + (uint64_t)i);
			rows_cell(b->rows, 8, k == 0 ? STYLE_BAD : k == 1 ? STYLE_WARN : STYLE_OK, panel_field(g, GUARD_state));
			rows_cell(b->rows, 14, STYLE_NORMAL, panel_field(g, GUARD_check));
			rows_gap(b->rows, 1);
			rows_span(b->rows, STYLE_NORMAL, panel_field(g, GUARD_detail));
			if (k == 2 || !panel_field(g, GUARD_remedy).len)
				continue;
			line(b, key_of(s, 700) + (uint64_t)i);
			rows_gap(b->rows, 23);
			rows_span(b->rows, STYLE_INFO, panel_field(g, GUARD_remedy));
		}
	if (fine && !all) {
		line(b, key_of(s, 699));
		rows_print(b->rows, STYLE_OK, "%d checks ok", fine);
		rows_text(b->rows, STYLE_DIM, " (Enter shows them, and the command)");
	}
}

static void command(struct build *b, const struct snapshot_seen *s)
{
	struct span argv = panel_field(s->last, SNAPSHOT_argv);
	json_t *words = json_loadb(argv.at, argv.len, 0, NULL), *word;
	struct buf text;
	size_t i;

	buf_init(&text, 64 * 1024);
	json_array_foreach(words, i, word) {
		struct span rest = span_of(json_string_value(word)), first = { "", 0 };
		bool quote;

		span_line(&rest, &first); /* of the script its first line */
		quote = span_find_char(first, ' ') >= 0;
		buf_text(&text, i ? quote ? " '" : " " : "");
		buf_span(&text, first);
		buf_text(&text, rest.len ? " ...'" : quote ? "'" : "");
	}
	if (text.len)
		panel_wrap(b, key_of(s, 800), 2, STYLE_DIM, buf_as_span(&text));
	buf_release(&text);
	json_decref(words);
}

static void output(struct build *b, const struct snapshot_seen *s)
{
	struct span rest = panel_field(s->last, SNAPSHOT_output), text;
	int n = 0;

	if (!rest.len)
		return;
	line(b, key_of(s, 900));
	rows_text(b->rows, STYLE_TITLE, "output");
	rows_text(b->rows, STYLE_DIM, "  all of it: ");
	rows_span(b->rows, STYLE_DIM, panel_field(s->last, SNAPSHOT_file));
	while (n++ < OUTPUT_LINES && span_line(&rest, &text)) {
		line(b, key_of(s, 901));
		rows_span(b->rows, STYLE_DIM, text);
	}
}

static void one(struct build *b, const struct snapshots *all, const struct snapshot_seen *s)
{
	bool open = list_is_open(b->list, key_of(s, 0)), before = snapshot_is(s, "preview") || snapshot_is(s, "refused");
	struct span detail = panel_field(s->last, SNAPSHOT_detail), attach = s->debugger ? panel_field(s->debugger, DEBUGGER_attach) : (struct span){ "", 0 };

	head(b, s);
	verified(b, s);
	if (detail.len && (before || open || snapshot_is(s, "failed")))
		panel_wrap(b, key_of(s, 3), 2, snapshot_is(s, "refused") || snapshot_is(s, "failed") ? STYLE_WARN : STYLE_NORMAL, detail);
	if (snapshot_is(s, "preview") && s == all->seen) {
		line(b, key_of(s, 4));
		rows_text(b->rows, STYLE_KEY, "y");
		rows_text(b->rows, STYLE_BOLD, " twice takes it");
	}
	proof(b, all, s);
	if (attach.len && !span_is(attach, "ok")) {
		line(b, key_of(s, 5));
		rows_text(b->rows, STYLE_WARN, "attach: ");
		rows_span(b->rows, STYLE_WARN, attach);
		rows_text(b->rows, STYLE_NORMAL, " ");
		rows_span(b->rows, STYLE_NORMAL, panel_field(s->debugger, DEBUGGER_why));
	}
	dispatches(b, s);
	queues(b, all, s);
	waves(b, s);
	host(b, s);
	if (before || open)
		checks(b, s);
	if (open || snapshot_is(s, "preview"))
		command(b, s);
	if (open)
		output(b, s);
}

void panel_snapshot(struct build *b)
{
	static struct snapshots all;

	snapshots_gather(&all, b->view->model);
	if (!all.count) {
		panel_empty(b, b->view->read_only ? "No snapshot was taken, and none can be: this is read only." :
			"No snapshot yet. S proposes one of the rank that stands out: what it would do, what it costs, what allows or forbids it. "
			"It stops that worker for a moment, so it is taken only after y twice. Two of them, some seconds apart, prove what is stuck.");
		return;
	}
	for (int i = 0; i < all.count; i++) {
		if (i && (snapshot_is(&all.seen[i], "preview") || snapshot_is(&all.seen[i], "refused")))
			continue; /* what was only proposed is of no use once something else came */
		if (i)
			rows_start(b->rows, 0, ROW_HEAD);
		one(b, &all, &all.seen[i]);
	}
}
