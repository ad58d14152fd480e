/* cmd_explain.c - `hangtop explain FILE...`: files through the scanner, observations to the rules, the answer out. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/agent.h"
#include "app/commands.h"
#include "app/explain_code.h"
#include "app/explain_data.h"
#include "app/explain_report.h"
#include "app/file_blocks.h"
#include "app/profiles.h"
#include "base/clock.h"
#include "base/mem.h"
#include "source/reading_say.h"
#include "store/writer.h"

#define KEPT_MAX 20000          /* observations; the counts go on */
#define KEPT_BYTES (64 << 20)
#define SIGNATURE_WAVES 200

struct explaining {
	const struct app_options *options;
	const char *file;
	char *node;
	int64_t t;
	struct record **record;
	const struct observation **list;
	size_t count, cap;
	size_t bytes;
	uint64_t left_out;
};

/* Text of all fields: what a record costs. */
static size_t cost(const struct observation *o)
{
	size_t n = sizeof *o;

	for (int i = 0; i < kind_table[o->kind].fields; i++)
		if (o->value[i].type == VALUE_TEXT)
			n += o->value[i].text.len;
	return n;
}

static void on_reading(void *context, const struct reading *r)
{
	struct explaining *x = context;
	struct observation o;

	if (!reading_observation(r, x->node, x->t, x->file, &o))
		return;
	/* The answer needs the last word on the server whatever else there is. */
	if ((x->count >= KEPT_MAX || x->bytes > KEPT_BYTES) && o.kind != KIND_server_log) {
		x->left_out++;
		return;
	}
	if (x->count == x->cap) {
		x->cap = x->cap ? x->cap * 2 : 64;
		x->record = mem_array(x->record, x->cap, sizeof *x->record);
	}
	x->bytes += cost(&o);
	x->record[x->count++] = record_new(&o);
}

static void on_block(void *context, const char *bytes, size_t n)
{
	scan_feed(context, bytes, n);
}

static int read_file(struct explaining *x, struct scan *scan, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct error error;
	int status;

	if (fd < 0) {
		fprintf(stderr, "hangtop: cannot open %s: %s\n", path, strerror(errno));
		return -1;
	}
	x->file = standard ? NULL : path;
	status = file_blocks(fd, standard ? "standard input" : path, on_block, scan, &error);
	if (status < 0)
		fprintf(stderr, "hangtop: %s\n", error.text);
	scan_next_file(scan);
	if (!standard)
		close(fd);
	return status;
}

static int read_all(struct explaining *x, struct scan *scan)
{
	int failed = 0;

	for (int i = 0; i < x->options->files; i++)
		failed += read_file(x, scan, x->options->file_list[i]) < 0;
	scan_flush(scan, true);
	return failed;
}

/* What was found as a session, to be looked at with `hangtop replay`. */
static int keep_session(struct explaining *x)
{
	struct writer_options options = { .path = x->options->db };
	struct writer *writer;
	struct error error;
	char text[32];

	if (writer_open(&writer, &options, &error) < 0)
		return complain(&error, EXIT_CANNOT_WRITE);
	writer_meta(writer, "node", x->node);
	writer_meta(writer, "hangtop", PACKAGE_VERSION);
	writer_meta(writer, "clockless", "1");
	snprintf(text, sizeof text, "%lld", (long long)x->t);
	writer_meta(writer, "created", text);
	for (size_t i = 0; i < x->count; i++) {
		writer_add(writer, x->list[i]);
		if (i % 5000 == 4999)
			writer_wait(writer, 1000);
	}
	writer_close(writer);
	return 0;
}

static int exit_code(const struct explain *answer)
{
	static const struct { const char *word; int code; } codes[] = { { "fault", EXIT_HUNG }, { "crashed", EXIT_HUNG }, { "silent livelock", EXIT_HUNG },
		{ "CPU-side deadlock", EXIT_HUNG } };

	if (!answer->word)
		return EXIT_UNKNOWN;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(answer->word, codes[i].word) == 0)
			return codes[i].code;
	return EXIT_HEALTHY;
}

/* Some waves of many tell as much as all. */
static int match_signatures(const struct explaining *x, const struct explain_data *data, struct signature_hit *hits)
{
	const struct observation **list = mem_array(NULL, x->count + 1, sizeof *list);
	size_t n = 0, waves = 0, found;

	for (size_t i = 0; i < x->count; i++)
		if (x->list[i]->kind != KIND_wave || waves++ < SIGNATURE_WAVES)
			list[n++] = x->list[i];
	found = signatures_match(&data->signatures, list, n, hits, EXPLAIN_HITS_MAX);
	free(list);
	return (int)found;
}

static int answer(struct explaining *x, const struct scan *scan, const struct explain_data *data)
{
	struct explain *said = mem_alloc(sizeof *said);
	struct signature_hit hits[EXPLAIN_HITS_MAX];
	struct explained e = { .list = x->list, .n = x->count, .answer = said, .left_out = x->left_out, .hit = hits };
	struct buf out, code;
	int status;

	buf_init(&out, 256 << 20);
	buf_init(&code, 1 << 20);
	scan_count(scan, &e.count);
	explain(said, x->list, x->count);
	e.kernels = &data->kernels;
	e.hits = match_signatures(x, data, hits);
	if (x->options->code_objects) {
		explain_code(x->list, x->count, x->options->code_objects, &code);
		e.disassembled = buf_as_span(&code);
	}
	if (x->options->json)
		explain_json(&e, &out);
	else
		explain_text(&e, &out);
	fwrite(buf_string(&out), 1, out.len, stdout);
	status = fflush(stdout) == 0 ? exit_code(said) : EXIT_CANNOT_WRITE;
	if (status == EXIT_CANNOT_WRITE)
		fprintf(stderr, "hangtop: cannot write to standard output: %s\n", strerror(errno));
	buf_release(&out);
	buf_release(&code);
	free(said);
	return status;
}

int cmd_explain(const struct app_options *options)
{
	struct explaining x = { .options = options, .t = clock_wall_ms() };
	struct profile_set profiles = { 0 };
	struct scan_options scan_options = { .sink = { on_reading, &x }, .profiles = &profiles };
	struct signature_words words;
	struct explain_data data;
	struct scan *scan;
	struct buf trouble;
	int failed, status = 0;

	if (!options->files) {
		fprintf(stderr, "hangtop: explain wants files, or - for standard input; see hangtop explain --help\n");
		return EXIT_USAGE;
	}
	x.node = node_name(options);
	buf_init(&trouble, 65536);
	profiles_load(&profiles, options->source.profile_dir, &trouble);
	if (trouble.len)
		fprintf(stderr, "hangtop: %s", buf_string(&trouble));
	explain_data_load(&data, options->source.profile_dir);
	signatures_log_words(&data.signatures, &words);
	scan_options.note = words.word;
	scan_options.notes = (int)words.count;
	scan = scan_new(&scan_options);
	failed = read_all(&x, scan);
	x.list = mem_array(NULL, x.count + 1, sizeof *x.list);
	for (size_t i = 0; i < x.count; i++)
		x.list[i] = &x.record[i]->o;
	if (options->db)
		status = keep_session(&x);
	if (status == 0)
		status = answer(&x, scan, &data);
	if (failed && failed == options->files)
		status = EXIT_NO_INPUT;
	scan_free(scan);
	for (size_t i = 0; i < x.count; i++)
		record_free(x.record[i]);
	free(x.record);
	free(x.list);
	free(x.node);
	free(words.word);
	explain_data_release(&data);
	profile_set_release(&profiles);
	buf_release(&trouble);
	return status;
}
