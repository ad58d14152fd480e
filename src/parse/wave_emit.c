/* wave_emit.c - what a wave dump says, as readings. */
#include "config.h"

#include "parse/wave_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

static void reasons_json(const char *reasons, struct buf *out)
{
	struct span rest = span_of(reasons ? reasons : ""), word;
	struct json_write j;

	jw_start(&j, out);
	jw_array(&j, NULL);
	while (reasons && span_cut(&rest, '|', &word))
		if (span_trim(word).len)
			jw_text(&j, NULL, span_trim(word));
	jw_end_array(&j);
}

/* "memory://PID#offset=0x..&size=N", "file://PATH#offset=N&size=N" */
static void code_json(const struct wave_code *c, struct buf *out)
{
	struct span uri = span_of(c->uri), rest = uri, number;
	bool memory = span_starts(uri, "memory://");
	struct json_write j;
	uint64_t value;
	long at;
	char range[60];

	jw_start(&j, out);
	jw_object(&j, NULL);
	jw_string(&j, "scheme", memory ? "memory" : "file");
	rest = span_sub(uri, memory ? 9 : 7, uri.len);
	if (memory && span_take_uint(&rest, &value))
		jw_int(&j, "pid", (int64_t)value);
	else
		jw_null(&j, "pid");
	for (int k = 0; k < 2; k++) {
		const char *word = k ? "size=" : "offset=";

		at = span_find(uri, word);
		number = at < 0 ? span_make("", 0) : span_sub(uri, (size_t)at + strlen(word), uri.len);
		if (span_starts(number, "0x") ? span_take_hex(&number, &value) : span_take_uint(&number, &value))
			jw_int(&j, k ? "size" : "offset", (int64_t)value);
		else
			jw_null(&j, k ? "size" : "offset");
	}
	jw_text(&j, "uri", uri);
	if (c->high) {
		snprintf(range, sizeof range, "0x%llx-0x%llx", (unsigned long long)c->low, (unsigned long long)c->high);
		jw_string(&j, "loaded", range);
	}
	jw_end_object(&j);
}

static void arrow_json(const struct wave_code *c, struct buf *out)
{
	struct json_write j;

	jw_start(&j, out);
	jw_object(&j, NULL);
	jw_string(&j, "pc", c->arrow_address);
	if (c->arrow_known)
		jw_int(&j, "offset", c->arrow_offset);
	else
		jw_null(&j, "offset");
	jw_string(&j, "insn", c->insn);
	jw_end_object(&j);
}

static void put_code(struct reading *r, const struct wave_code *c, struct buf *code, struct buf *arrow)
{
	if (c->uri) {
		code_json(c, code);
		reading_text(r, "code_object", buf_as_span(code));
	}
	if (c->has_arrow) {
		arrow_json(c, arrow);
		reading_text(r, "arrow", buf_as_span(arrow));
	}
}

/* Eight bytes a step: names of kernels are long. */
static uint64_t hash_of(uint64_t hash, const char *at, size_t len)
{
	uint64_t word;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	for (; len; at++, len--)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return hash;
}

/* NULL when there are too many. */
struct wave_group *wave_group_by(struct wave_scan *w, uint64_t pc, struct span reasons, struct span kernel)
{
	uint64_t key = hash_of(hash_of(pc * 31 + 1, reasons.at, reasons.len) + 1, kernel.at, kernel.len) | 1;

	for (size_t i = key % WAVE_GROUP_SLOTS;; i = (i + 1) % WAVE_GROUP_SLOTS) {
		struct wave_group *g = &w->group[i];

		if (g->key == key)
			return g;
		if (!g->key) {
			if (w->groups == WAVE_GROUPS_MAX)
				return NULL;
			w->groups++;
			g->key = key;
			return g;
		}
	}
}

static struct wave_group *group_of(struct wave_scan *w, const struct wave_block *b, const char *kernel)
{
	return wave_group_by(w, b->pc, span_of(b->reasons), span_of(kernel));
}

static void emit_block(struct wave_scan *w, struct wave_block *b)
{
	const char *kernel = b->kernel ? b->kernel : b->code.used ? b->code.title : NULL;
	struct wave_group *g = group_of(w, b, kernel);
	struct buf reasons, code, arrow;
	struct reading r;

	if (g)
		g->count += b->count > 0 ? (uint64_t)b->count : 1;
	if (w->rows >= WAVES_ROWS && (!g || g->emitted))
		return;
	w->rows++;
	if (g)
		g->emitted++;
	buf_init(&reasons, 4096);
	buf_init(&code, 4 * NAME_MAX_BYTES);
	buf_init(&arrow, 4 * NAME_MAX_BYTES);
	reading_start(&r, "wave", b->offset);
	reading_word(&r, "via", b->old ? "old-agent" : "agent");
	if (b->id >= 0)
		reading_int(&r, "wave", b->id);
	reading_word(&r, "state", b->running ? "running" : "stopped");
	reasons_json(b->reasons, &reasons);
	reading_text(&r, "reasons", buf_as_span(&reasons));
	reading_word(&r, "pc", b->pc_text);
	reading_word(&r, "kernel", kernel);
	reading_word(&r, "kernel_code_entry", b->entry);
	reading_int(&r, "complete", b->registers != 0 && b->code.used && b->code.ended);
	if (b->count > 0)
		reading_int(&r, "count", b->count);
	if (b->code.used)
		put_code(&r, &b->code, &code, &arrow);
	reading_word(&r, "rank", b->rank);
	reading_text(&r, "registers", buf_as_span(&b->rows));
	if (b->code.used && g && g->emitted == 1)
		reading_text(&r, "disassembly", buf_as_span(&b->code.text));
	reading_emit(&r, w->sink);
	buf_release(&reasons);
	buf_release(&code);
	buf_release(&arrow);
}

void wave_emit_orphan(struct wave_scan *w, struct wave_code *c)
{
	struct buf code, arrow;
	struct reading r;

	if (!c->title && !c->uri && !c->has_arrow)
		return;
	buf_init(&code, 4 * NAME_MAX_BYTES);
	buf_init(&arrow, 4 * NAME_MAX_BYTES);
	reading_start(&r, "disassembly", c->offset);
	reading_word(&r, "kernel", c->title);
	put_code(&r, c, &code, &arrow);
	reading_emit(&r, w->sink);
	buf_release(&code);
	buf_release(&arrow);
}

void wave_emit_oldest(struct wave_scan *w)
{
	struct wave_block *b = wave_block_at(w, 0);

	emit_block(w, b);
	wave_block_release(b);
	w->first = (w->first + 1) % WAVES_PENDING;
	w->count--;
}
