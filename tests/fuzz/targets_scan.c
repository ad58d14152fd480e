/* targets_scan.c - the scanner, what it emits as observations, and the answer of explain. */
#include "config.h"

#include "targets.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/explain_data.h"
#include "app/explain_report.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/explain.h"
#include "model/model.h"
#include "model/triage.h"
#include "parse/scan.h"
#include "source/reading_say.h"

#define RECORDS_MAX 5000

struct heard {
	struct record **record; /* NULL: not kept */
	size_t count;
	uint64_t hash, readings;
};

static uint64_t mix(uint64_t hash, const void *at, size_t n)
{
	const unsigned char *p = at;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * UINT64_C(1099511628211);
	return hash;
}

static void add_to_hash(struct heard *h, const struct reading *r)
{
	h->hash = mix(h->hash, r->kind, strlen(r->kind) + 1);
	h->hash = mix(h->hash, &r->offset, sizeof r->offset);
	for (int i = 0; i < r->fields; i++) {
		const struct reading_field *f = &r->field[i];

		h->hash = mix(h->hash, f->name, strlen(f->name) + 1);
		if (f->type == READING_TEXT)
			h->hash = mix(h->hash, f->text.at, f->text.len);
		else if (f->type == READING_INT)
			h->hash = mix(h->hash, &f->number, sizeof f->number);
		else
			h->hash = mix(h->hash, &f->real, sizeof f->real);
	}
}

static void decode(const struct buf *line, struct observation *o, struct buf *arena)
{
	struct error error;

	if (observation_decode(buf_as_span(line), o, arena, &error) == 0)
		return;
	fprintf(stderr, "does not hold: %s: %s\n", error.text, buf_string(line));
	abort();
}

/* Encoded and decoded it is the same, and one whole line. JSON inside it may be spelt otherwise the first time. */
static void round_trip(const struct observation *o)
{
	struct observation back, again;
	struct buf line[3], arena;

	buf_init(&arena, 64 << 20);
	for (int i = 0; i < 3; i++)
		buf_init(&line[i], 64 << 20);
	observation_encode(o, &line[0]);
	FUZZ_EXPECT(!memchr(buf_string(&line[0]), '\n', line[0].len));
	decode(&line[0], &back, &arena);
	FUZZ_EXPECT(back.kind == o->kind && back.t == o->t);
	observation_encode(&back, &line[1]);
	decode(&line[1], &again, &arena);
	observation_encode(&again, &line[2]);
	if (!span_same(buf_as_span(&line[1]), buf_as_span(&line[2]))) {
		fprintf(stderr, "does not hold: round trip:\n%s\n%s\n", buf_string(&line[1]), buf_string(&line[2]));
		abort();
	}
	for (int i = 0; i < 3; i++)
		buf_release(&line[i]);
	buf_release(&arena);
}

static void on_reading(void *context, const struct reading *r)
{
	struct heard *h = context;
	enum kind kind = kind_by_name(span_of(r->kind));
	struct observation o;

	h->readings++;
	add_to_hash(h, r);
	FUZZ_EXPECT(kind != KIND_COUNT);
	FUZZ_EXPECT(r->fields >= 0 && r->fields <= READING_FIELDS_MAX);
	for (int i = 0; i < r->fields; i++)
		FUZZ_EXPECT(field_by_name(kind, span_of(r->field[i].name)) >= 0);
	FUZZ_EXPECT(reading_observation(r, "n", 1, "f", &o));
	if (!h->record)
		round_trip(&o);
	else if (h->count < RECORDS_MAX)
		h->record[h->count++] = record_new(&o);
}

/* One profile mostly, because patterns cost more to compile than small texts to read; all of them now and then. */
static struct scan *start(struct heard *h, struct span text, struct profile_set *some)
{
	static struct profile *one;
	struct scan_options options = { .sink = { on_reading, h }, .profiles = some };
	unsigned pick = fuzz_dice(text) % 64;

	*some = fuzz_profiles;
	if (pick && fuzz_profiles.count) {
		one = fuzz_profiles.profile[pick % (unsigned)fuzz_profiles.count];
		*some = (struct profile_set){ &one, 1 };
	}
	return scan_new(&options);
}

static void feed_pieces(struct scan *s, struct span text, size_t piece)
{
	struct span rest = text;

	while (rest.len) {
		size_t n = piece < rest.len ? piece : rest.len;
		char *copy = malloc(n);

		memcpy(copy, rest.at, n);
		scan_feed(s, copy, n);
		free(copy);
		rest = span_sub(rest, n, rest.len);
	}
	scan_flush(s, true);
}

static void counts_hold(const struct scan *s, struct span text)
{
	struct scan_counts c;
	uint64_t lines = 0;

	for (size_t i = 0; i < text.len; i++)
		lines += text.at[i] == '\n';
	lines += text.len && text.at[text.len - 1] != '\n';
	scan_count(s, &c);
	FUZZ_EXPECT(c.bytes == text.len);
	FUZZ_EXPECT(c.lines == lines);
	FUZZ_EXPECT(c.rows <= c.lines);
}

void target_scan(struct span text)
{
	struct heard h = { .hash = 1 };
	struct profile_set some;
	struct scan *s = start(&h, text, &some);

	scan_feed(s, text.at, text.len);
	scan_flush(s, true);
	counts_hold(s, text);
	scan_free(s);
}

/* Where the input is cut does not matter. */
void target_split(struct span text)
{
	struct heard whole = { .hash = 1 }, cut = { .hash = 1 };
	struct profile_set some;
	struct scan *s = start(&whole, text, &some);
	unsigned dice = fuzz_dice(text);

	scan_feed(s, text.at, text.len);
	scan_flush(s, true);
	scan_free(s);
	s = start(&cut, text, &some);
	feed_pieces(s, text, dice & 1 ? 1 : 1 + (dice >> 1) % 97);
	counts_hold(s, text);
	scan_free(s);
	FUZZ_EXPECT(cut.readings == whole.readings && cut.hash == whole.hash);
}

/* As source/log uses it: line by line, only what GPUs print, quiet in between; and a second file. */
void target_lines(struct span text)
{
	struct heard h = { .hash = 1 };
	struct span note[] = { span_of("Error"), span_of("a.b(c") };
	struct scan_options options = { .sink = { on_reading, &h }, .gpu_only = fuzz_dice(text) & 1, .note = note, .notes = 2 };
	struct scan *s = scan_new(&options);
	struct span rest = text, line;
	uint64_t n = 0;

	while (span_cut(&rest, '\n', &line)) {
		scan_line(s, line, (uint64_t)(line.at - text.at));
		if (++n % 16 == 0)
			scan_flush(s, false);
	}
	scan_next_file(s);
	scan_feed(s, text.at, text.len / 2);
	scan_flush(s, true);
	scan_free(s);
}

/* --- explain --- */

static struct explain_data *data(void)
{
	static struct explain_data *loaded;

	if (!loaded) {
		loaded = mem_alloc(sizeof *loaded);
		explain_data_load(loaded, NULL);
		FUZZ_EXPECT(loaded->signatures.count > 0 && loaded->kernels.count > 0);
	}
	return loaded;
}

static void whole_json(struct span text)
{
	json_error_t error;
	json_t *root = json_loadb(text.at, text.len, JSON_ALLOW_NUL, &error);

	if (!root) {
		fprintf(stderr, "does not hold: %s at %d: %.*s\n", error.text, error.position, 100,
			text.at + (error.position > 60 ? error.position - 60 : 0));
		abort();
	}
	FUZZ_EXPECT(json_is_object(root));
	json_decref(root);
}

/* Nothing that moves the cursor or changes colours gets to a terminal. */
static void harmless(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		FUZZ_EXPECT(text.at[i] == '\n' || (unsigned char)text.at[i] >= ' ');
	FUZZ_EXPECT(!memchr(text.at, 0x7f, text.len));
}

static void say(const struct explained *e)
{
	struct buf out;

	buf_init(&out, 64 << 20);
	explain_json(e, &out);
	whole_json(buf_as_span(&out));
	buf_clear(&out);
	explain_text(e, &out);
	FUZZ_EXPECT(out.len);
	harmless(buf_as_span(&out));
	buf_release(&out);
}

static void judge(const struct heard *h, const struct scan *s)
{
	const struct observation **list = mem_array(NULL, h->count + 1, sizeof *list);
	struct explain *answer = mem_alloc(sizeof *answer);
	struct signature_hit hits[EXPLAIN_HITS_MAX];
	struct explained e = { .list = list, .n = h->count, .answer = answer, .hit = hits, .kernels = &data()->kernels };

	for (size_t i = 0; i < h->count; i++)
		list[i] = &h->record[i]->o;
	explain(answer, list, h->count);
	e.hits = (int)signatures_match(&data()->signatures, list, h->count, hits, EXPLAIN_HITS_MAX);
	scan_count(s, &e.count);
	say(&e);
	free(answer);
	free(list);
}

void target_explain(struct span text)
{
	struct heard h = { .hash = 1, .record = mem_array(NULL, RECORDS_MAX, sizeof *h.record) };
	struct profile_set some;
	struct scan *s = start(&h, text, &some);

	scan_feed(s, text.at, text.len);
	scan_flush(s, true);
	judge(&h, s);
	scan_free(s);
	for (size_t i = 0; i < h.count; i++)
		record_free(h.record[i]);
	free(h.record);
}

/* --- observation lines --- */

void target_observation(struct span text)
{
	struct observation o;
	struct error error;
	struct buf arena;

	buf_init(&arena, 64 << 20);
	if (observation_decode(text, &o, &arena, &error) == 0)
		round_trip(&o);
	buf_release(&arena);
}

/* The lines of a recording: into the model, judged. */
void target_session(struct span text)
{
	struct model *m = mem_alloc(sizeof *m);
	struct ranks *ranks = mem_alloc(sizeof *ranks);
	struct triage_options options = { .stall_ms = 30000 };
	struct span rest = text, line;
	struct verdict verdict;
	struct buf dump;

	options.clockless = fuzz_dice(text) & 1;
	model_init(m);
	buf_init(&dump, 64 << 20);
	while (span_line(&rest, &line)) {
		struct observation o;
		struct error error;
		struct buf arena;

		buf_init(&arena, 64 << 20);
		if (observation_decode(line, &o, &arena, &error) == 0)
			model_observe(m, &o);
		buf_release(&arena);
	}
	triage(&verdict, m, ranks, &options, m->last_t + 1000);
	FUZZ_EXPECT(state_word(verdict.state));
	FUZZ_EXPECT(verdict.evidence_count >= 0 && verdict.evidence_count <= EVIDENCE_MAX);
	model_dump(m, &dump);
	buf_release(&dump);
	model_release(m);
	free(ranks);
	free(m);
}
