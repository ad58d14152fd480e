/* test_signatures.c - the shipped signatures on inputs that must and must not hold, conditions one by one, errors of files. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>

#include "base/mem.h"
#include "data_file.h"
#include "model/signature.h"

#define OBSERVATIONS 64
#define HITS 128

static struct signature_set shipped;

struct input {
	struct record *record[OBSERVATIONS];
	const struct observation *list[OBSERVATIONS];
	size_t n;
};

/* Lines of files: a misspelt member would be ignored otherwise. */
static void check_members(struct span line, const struct observation *o)
{
	struct buf again;
	size_t members = 0, kept = 0;

	buf_init(&again, 0);
	observation_encode(o, &again);
	for (size_t i = 0; i + 1 < line.len; i++)
		members += line.at[i] == '"' && line.at[i + 1] == ':';
	for (size_t i = 0; i + 1 < again.len; i++)
		kept += again.at[i] == '"' && again.at[i + 1] == ':';
	if (members != kept)
		fail_msg("a member is lost: %.*s became %s", (int)line.len, line.at, buf_string(&again));
	buf_release(&again);
}

static void input_read(struct input *input, struct span text, bool whole)
{
	struct span line;
	struct buf arena;

	input->n = 0;
	buf_init(&arena, 1 << 20);
	while (span_line(&text, &line)) {
		struct span exact = data_exact(line);
		struct observation o;
		struct error error;

		assert_true(input->n < OBSERVATIONS);
		buf_clear(&arena);
		if (observation_decode(exact, &o, &arena, &error) < 0)
			fail_msg("%s: %.*s", error.text, (int)line.len, line.at);
		if (whole)
			check_members(exact, &o);
		input->record[input->n] = record_new(&o);
		input->list[input->n] = &input->record[input->n]->o;
		input->n++;
		free((char *)exact.at);
	}
	buf_release(&arena);
}

static void input_release(struct input *input)
{
	for (size_t i = 0; i < input->n; i++)
		record_free(input->record[i]);
}

static void input_file(struct input *input, const char *id, const char *name)
{
	char path[4096];
	struct span text = data_read(data_path(path, sizeof path, "tests/data/signatures/%s/%s.jsonl", id, name));

	if (!text.at || text.len == 0)
		fail_msg("%s is missing or empty: every shipped signature has yes, no-1 and no-2", path);
	input_read(input, text, true);
	free((char *)text.at);
}

static const struct signature_hit *hit_of(const struct signature_hit *hits, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(hits[i].signature->id, id) == 0)
			return &hits[i];
	return NULL;
}

static int load_file(const char *name)
{
	char path[4096];
	struct error error;
	struct span text = data_read(data_path(path, sizeof path, "data/signatures/%s", name));
	struct signature *signature = signature_parse(text, path, &error);

	if (!signature) {
		print_message("# %s (%s)\n", error.text, error.fix);
		return -1;
	}
	free((char *)text.at);
	if (strncmp(signature->id, name, strlen(signature->id)) != 0 || strcmp(name + strlen(signature->id), ".conf") != 0) {
		print_message("# %s holds the id %s\n", name, signature->id);
		return -1;
	}
	signature_set_add(&shipped, signature);
	return 0;
}

static int load_shipped(void **state)
{
	char path[4096];
	DIR *dir = opendir(data_path(path, sizeof path, "data/signatures"));
	struct dirent *entry;
	int status = dir ? 0 : -1;

	(void)state;
	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".conf"))
			status |= load_file(entry->d_name);
	if (dir)
		closedir(dir);
	return status;
}

static int release_shipped(void **state)
{
	(void)state;
	signature_set_release(&shipped);
	return 0;
}

static void check_yes(const char *id)
{
	struct signature_hit hits[HITS];
	const struct signature_hit *hit;
	struct input input;
	size_t n;

	input_file(&input, id, "yes");
	n = signatures_match(&shipped, input.list, input.n, hits, HITS);
	hit = hit_of(hits, n, id);
	if (!hit)
		fail_msg("%s/yes.jsonl: does not hold", id);
	if (hit->count == 0 || hit->held < hit->count)
		fail_msg("%s/yes.jsonl: holds without evidence", id);
	for (size_t i = 0; i < hit->count; i++) {
		bool ours = false;

		for (size_t j = 0; j < input.n; j++)
			ours = ours || hit->evidence[i] == input.list[j];
		assert_true(ours);
	}
	input_release(&input);
}

static void check_no(const char *id, const char *name)
{
	struct signature_hit hits[HITS];
	struct input input;
	size_t n;

	input_file(&input, id, name);
	n = signatures_match(&shipped, input.list, input.n, hits, HITS);
	if (hit_of(hits, n, id))
		fail_msg("%s/%s.jsonl: holds", id, name);
	input_release(&input);
}

static void test_shipped(void **state)
{
	(void)state;
	assert_true(shipped.count >= 28 && shipped.count < HITS);
	for (int i = 0; i < shipped.count; i++) {
		check_yes(shipped.signature[i]->id);
		check_no(shipped.signature[i]->id, "no-1");
		check_no(shipped.signature[i]->id, "no-2");
	}
}

/* Nothing to go by, nothing found. */
static void test_silence(void **state)
{
	static const char healthy[] =
		"{\"t\":1,\"node\":\"n\",\"kind\":\"server_log\",\"framework\":\"vllm\",\"ready\":1,\"running\":3,\"waiting\":0,\"models_ok\":1}\n"
		"{\"t\":2,\"node\":\"n\",\"kind\":\"gpu\",\"gpu\":0,\"busy_pct\":97,\"power_w\":512,\"power_cap_w\":750}\n"
		"{\"t\":3,\"node\":\"n\",\"kind\":\"gpu_process\",\"pid\":9,\"gpu\":0,\"vram\":5,\"name\":\"VLLM::Worker_TP0\"}\n"
		"{\"t\":4,\"node\":\"n\",\"kind\":\"log\",\"class\":\"progress\",\"text\":\"Avg generation throughput: 411.9 tokens/s\"}\n"
		"{\"t\":5,\"node\":\"n\",\"kind\":\"server\",\"url\":\"http://127.0.0.1:8000/v1/models\",\"http\":200,\"class\":\"ok\"}\n";
	struct signature_hit hits[HITS];
	struct input input;

	(void)state;
	assert_int_equal(signatures_match(&shipped, NULL, 0, hits, HITS), 0);
	input_read(&input, span_of(healthy), false);
	if (signatures_match(&shipped, input.list, input.n, hits, HITS))
		fail_msg("%s holds on a healthy server", hits[0].signature->id);
	input_release(&input);
}

/* Other signatures that are named exist; advice has commands; the file is in the list that is installed. */
static void test_shipped_are_whole(void **state)
{
	char path[4096];
	struct span list = data_read(data_path(path, sizeof path, "data/signatures.mk"));

	(void)state;
	assert_non_null(list.at);
	for (int i = 0; i < shipped.count; i++) {
		const struct signature *s = shipped.signature[i];

		snprintf(path, sizeof path, "data/signatures/%s.conf", s->id);
		if (!span_contains(list, path))
			fail_msg("%s is not in data/signatures.mk", path);
		if (s->not_.count == 0)
			fail_msg("%s says nowhere what it is not", s->id);
		for (int j = 0; j < s->see.count; j++)
			if (!signature_find(&shipped, s->see.item[j]))
				fail_msg("%s: see '%s': no such signature", s->id, s->see.item[j]);
	}
	free((char *)list.at);
}

static void test_best_grade_first_and_max(void **state)
{
	struct signature_hit hits[HITS];
	struct input input;
	size_t n;

	(void)state;
	input_read(&input, span_of("{\"t\":1,\"kind\":\"fault\",\"address\":\"0x0\",\"reason\":\"Unknown\"}\n"
		"{\"t\":2,\"kind\":\"wave\",\"state\":\"stopped\",\"reasons\":[\"MEMORY_VIOLATION\"],\"kernel\":\"triton_poi_fused_0\"}\n"), false);
	n = signatures_match(&shipped, input.list, input.n, hits, HITS);
	assert_int_equal(n, 3);
	assert_string_equal(hits[0].signature->id, "null-page");
	assert_string_equal(hits[1].signature->id, "memory-violation");
	assert_string_equal(hits[1].signature->kernel, "victim");
	assert_string_equal(hits[2].signature->id, "triton-pc");
	assert_int_equal(signatures_match(&shipped, input.list, input.n, hits, 2), 2);
	assert_int_equal(signatures_match(&shipped, input.list, input.n, hits, 0), 0);
	input_release(&input);
}

/* One condition on a fixed list: three GPUs, four waves, one log line. */
static const char bed[] =
	"{\"t\":1,\"kind\":\"gpu\",\"gpu\":0,\"busy_pct\":99.5,\"power_w\":100,\"name\":\"MI300X\"}\n"
	"{\"t\":1,\"kind\":\"gpu\",\"gpu\":1,\"busy_pct\":3,\"name\":\"mi300x\"}\n"
	"{\"t\":1,\"kind\":\"gpu\",\"gpu\":2,\"busy_pct\":3,\"power_w\":300}\n"
	"{\"t\":1,\"kind\":\"wave\",\"pc\":\"0x10\",\"target\":\"1:9:1:1\",\"reasons\":[\"TRAP\"],\"kernel\":\"a b | c & d\"}\n"
	"{\"t\":1,\"kind\":\"wave\",\"pc\":\"0x10\",\"target\":\"1:9:2:1\",\"reasons\":[\"ASSERT_TRAP\"]}\n"
	"{\"t\":1,\"kind\":\"wave\",\"pc\":\"0x20\",\"target\":\"1:91:1:1\",\"reasons\":[],\"count\":5}\n"
	"{\"t\":1,\"kind\":\"wave\",\"pc\":\"0x7e…xxx\",\"target\":\"?\",\"reasons\":[]}\n"
	"{\"t\":1,\"kind\":\"log\",\"text\":\"RPC call to f timed out\"}\n";

static const struct { const char *condition; size_t held; } conditions[] = { /* 0: does not hold */
	{ "gpu", 3 }, { "gpu 3", 3 }, { "gpu 4", 0 }, { "stack", 0 },
	{ "gpu: busy_pct > 3", 1 }, { "gpu: busy_pct >= 3", 3 }, { "gpu: busy_pct < 3", 0 }, { "gpu: busy_pct <= 3.0", 2 },
	{ "gpu: gpu = 2", 1 }, { "gpu: gpu != 2", 2 }, { "gpu: gpu = 0 | 2", 2 }, { "gpu: gpu != 0 | 2", 1 },
	{ "gpu: power_w null", 1 }, { "gpu: power_w known", 2 }, { "gpu: power_w != 100", 1 }, { "gpu: name !~ zzz", 2 },
	{ "gpu: name = MI300X", 1 }, { "gpu: name ~ mi300", 2 }, { "gpu: name !~ MI300", 0 },
	{ "gpu: name ~ mi300 & power_w known", 1 },
	{ "gpu all: busy_pct >= 3", 3 }, { "gpu all: busy_pct > 3", 0 }, { "gpu all: power_w known", 0 }, { "stack all", 0 },
	{ "gpu all: power_w >= 100", 2 }, /* the one without a reading says nothing */
	{ "gpu all: power_w > 100", 0 }, { "gpu all: vram_used > 0", 0 },
	{ "gpu distinct busy_pct", 2 }, { "gpu 3 distinct busy_pct", 0 }, { "gpu distinct gpu: busy_pct = 3", 2 },
	{ "gpu same busy_pct", 2 }, { "gpu 3 same busy_pct", 0 }, { "gpu same power_w", 0 },
	{ "wave same pc", 1 }, /* the row that stands for five */
	{ "wave same pc: count null", 2 }, { "wave 7", 4 }, { "wave 8", 4 }, { "wave 9", 0 },
	{ "wave distinct target/2: reasons ~ TRAP", 0 }, { "wave distinct target/2", 3 }, { "wave distinct target/3: reasons ~ TRAP", 2 },
	{ "wave: reasons ~ \"TRAP\"", 1 }, { "wave: reasons ~ TRAP", 2 }, { "wave: reasons ~ assert_trap", 1 },
	{ "wave: pc < 0x11", 2 }, { "wave: pc > 0", 3 }, { "wave: pc < 99999999999999999999", 3 }, { "wave: pc = 0x10", 2 },
	{ "wave: kernel ~ c & d", 0 }, /* the second half is a term of its own */
	{ "log: text ~ rpc call to * timed out", 1 }, { "log: text ~ timed out*rpc", 0 }, { "log: text ~ x | timed", 1 }, { "log: text ~ f*", 1 },
};

static size_t held(const char *condition, const struct input *input, struct error *error)
{
	struct signature_set set = { NULL, 0 };
	struct signature_hit hit;
	struct signature *s;
	char *text;
	size_t n;

	if (asprintf(&text, "[signature]\nid = x\ntitle = t\nmeans = m\nadvice = a\ngrade = A\nneeds = %s\n", condition) < 0)
		abort();
	s = signature_parse(span_of(text), "x", error);
	free(text);
	if (!s)
		return SIZE_MAX;
	signature_set_add(&set, s);
	n = signatures_match(&set, input->list, input->n, &hit, 1) ? hit.held : 0;
	signature_set_release(&set);
	return n;
}

static void test_conditions(void **state)
{
	struct input input;

	(void)state;
	input_read(&input, span_of(bed), false);
	for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
		struct error error = { "", "" };
		size_t n = held(conditions[i].condition, &input, &error);

		if (strcmp(conditions[i].condition, "wave: kernel ~ c & d") == 0) {
			assert_true(n == SIZE_MAX);
			assert_string_equal(error.text, "x:7: unknown field 'd' of wave");
		} else if (n != conditions[i].held) {
			fail_msg("'%s' holds for %zu observations, not %zu %s", conditions[i].condition, conditions[i].held, n, error.text);
		}
	}
	input_release(&input);
}

static void test_any_unless_and_evidence(void **state)
{
	static const char text[] = "[signature]\nid = x\ntitle = t\nmeans = m\nadvice = a\ngrade = A\n";
	static const struct { const char *rules; size_t count; } cases[] = { /* evidence; 0: does not hold */
		{ "any = gpu: gpu = 0\nany = stack\n", 1 }, { "any = stack\nany = server\n", 0 }, { "any = gpu: gpu = 0\nany = log\n", 2 },
		{ "needs = log\nany = stack\n", 0 }, { "needs = log\nany = gpu\nunless = gpu: gpu = 7\n", 4 },
		{ "needs = log\nunless = gpu: gpu = 1\n", 0 }, { "needs = log\nunless = stack\nunless = gpu\n", 0 },
		{ "needs = gpu\nneeds = gpu: gpu = 1\n", 3 }, /* the same observation counts once as evidence */
	};
	struct input input;

	(void)state;
	input_read(&input, span_of(bed), false);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct signature_set set = { NULL, 0 };
		struct signature_hit hit = { .count = 0 };
		struct error error;
		char *whole;

		if (asprintf(&whole, "%s%s", text, cases[i].rules) < 0)
			abort();
		signature_set_add(&set, signature_parse(span_of(whole), "x", &error));
		if (signatures_match(&set, input.list, input.n, &hit, 1) == 0)
			hit.count = 0;
		if (hit.count != cases[i].count)
			fail_msg("%s has %zu observations as evidence, not %zu", cases[i].rules, hit.count, cases[i].count);
		signature_set_release(&set);
		free(whole);
	}
	input_release(&input);
}

#define WHOLE "[signature]\nid = x\ntitle = t\nmeans = m\nadvice = a\ngrade = A\nneeds = gpu\n"
static const struct { const char *text, *error, *fix; } errors[] = {
	{ WHOLE "needs = wavee\n", "f.conf:8: unknown kind 'wavee'", "did you mean 'wave'?" },
	{ WHOLE "any = wave: reason ~ x\n", "f.conf:8: unknown field 'reason' of wave", "did you mean 'reasons'?" },
	{ WHOLE "unless = wave distinct targets\n", "f.conf:8: unknown field 'targets' of wave", "did you mean 'target'?" },
	{ WHOLE "needs = gpu: busy_pct == 3\n", "f.conf:8: unknown comparison '==' after 'busy_pct'", "one of: = != ~ !~ < > <= >= null known" },
	{ WHOLE "needs = gpu: busy_pct\n", "f.conf:8: unknown comparison '' after 'busy_pct'", NULL },
	{ WHOLE "needs = gpu: busy_pct > \n", "f.conf:8: a value of 'busy_pct' is missing", NULL },
	{ WHOLE "needs = gpu: busy_pct > much\n", "f.conf:8: 'much' is no number", NULL },
	{ WHOLE "needs = gpu: busy_pct > 0xzz\n", "f.conf:8: '0xzz' is no number", NULL },
	{ WHOLE "needs = gpu: gpu = one\n", "f.conf:8: 'one' is no number", NULL },
	{ WHOLE "needs = gpu: name = a | \n", "f.conf:8: a value of 'name' is missing", NULL },
	{ WHOLE "needs = gpu: name ~ a & \n", "f.conf:8: a value of 'name' is missing", NULL },
	{ WHOLE "needs = wave: reasons > 3\n", "f.conf:8: 'reasons' is JSON: it has no order, use ~", NULL },
	{ WHOLE "needs = gpu: name null x\n", "f.conf:8: 'null' takes no value", NULL },
	{ WHOLE "needs = gpu:\n", "f.conf:8: a term is missing: FIELD OP VALUE", NULL },
	{ WHOLE "needs = :\n", "f.conf:8: no kind before ':'", NULL },
	{ WHOLE "needs = gpu 0\n", "f.conf:8: the count is from 1 to 1000000", NULL },
	{ WHOLE "needs = gpu some: gpu = 1\n", "f.conf:8: unknown count 'some'", NULL },
	{ WHOLE "needs = gpu 3 all\n", "f.conf:8: unknown count 'all'", NULL },
	{ WHOLE "needs = gpu distinct\n", "f.conf:8: 'distinct' of which field?", NULL },
	{ WHOLE "needs = gpu distinct name/x\n", "f.conf:8: after '/' stands a number of parts from 1 to 16", NULL },
	{ WHOLE "need = gpu\n", "f.conf:8: unknown key 'need'", "did you mean 'needs'?" },
	{ WHOLE "id = y\n", "f.conf:8: 'id' is given twice", NULL },
	{ WHOLE "kernel = guilty\n", "f.conf:8: 'guilty' is no kernel", "one of: culprit victim waiting" },
	{ WHOLE "means =\n", "f.conf:8: expected 'key = value', one of them is empty", NULL },
	{ WHOLE "means\n", "f.conf:8: expected 'key = value'", NULL },
	{ WHOLE "[profile]\n", "f.conf:8: unknown section [profile], the only one is [signature]", NULL },
	{ "id = x\n", "f.conf:1: a key before [signature]", NULL },
	{ "[signature]\nid = X\n", "f.conf:2: an id has small letters, digits and '-' only, at most 60", NULL },
	{ "[signature]\nid = x\ntitle = t\nmeans = m\nadvice = a\ngrade = A\n", "f.conf: neither 'needs' nor 'any': it would hold always", NULL },
	{ "[signature]\nid = x\ntitle = t\nmeans = m\ngrade = A\nneeds = gpu\n", "f.conf: no 'advice'", NULL },
	{ "", "f.conf: no 'id'", NULL },
};

static void test_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		struct span text = data_exact(span_of(errors[i].text));
		struct error error = { "", "" };

		if (signature_parse(text, "f.conf", &error))
			fail_msg("accepted: %s", errors[i].text);
		if (strcmp(error.text, errors[i].error) != 0 || (errors[i].fix && strcmp(error.fix, errors[i].fix) != 0))
			fail_msg("'%s' ('%s') instead of '%s'", error.text, error.fix, errors[i].error);
		free((char *)text.at);
	}
}

static void test_same_id_replaces(void **state)
{
	struct signature_set set = { NULL, 0 };
	struct error error;

	(void)state;
	signature_set_add(&set, signature_parse(span_of("\xef\xbb\xbf; mine\r\n" WHOLE), "a", &error));
	signature_set_add(&set, signature_parse(span_of(WHOLE "see = other\nnot = n\n"), "b", &error));
	assert_int_equal(set.count, 1);
	assert_string_equal(signature_find(&set, "x")->see.item[0], "other");
	assert_null(signature_find(&set, "y"));
	signature_set_release(&set);
}

static void test_log_words(void **state)
{
	static const struct { const char *line; bool looked_for; } lines[] = {
		{ "x: RPC CALL TO f timed out", true }, { "OSError: [Errno 28] no space left on device", true }, { "made 3 tokens", false }, { "", false },
	};
	struct signature_set set = { NULL, 0 };
	struct signature_words words;
	struct error error;

	(void)state;
	signature_set_add(&set, signature_parse(span_of(WHOLE "any = log: text ~ a*rpc call to * b | No space & class = fatal\n"
		"unless = log: text ~ third\nneeds = wave: kernel ~ made\nneeds = log: text !~ tokens\nneeds = log: class ~ made\n"), "x", &error));
	signatures_log_words(&set, &words);
	assert_int_equal(words.count, 3);
	assert_true(span_is(words.word[0], "rpc call to ") || span_is(words.word[1], "rpc call to "));
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct span line = data_exact(span_of(lines[i].line));

		assert_int_equal(signatures_log_line(&words, line), lines[i].looked_for);
		free((char *)line.at);
	}
	free(words.word);
	signature_set_release(&set);
	signatures_log_words(&set, &words);
	assert_int_equal(words.count, 0);
	free(words.word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped), cmocka_unit_test(test_silence), cmocka_unit_test(test_shipped_are_whole),
		cmocka_unit_test(test_best_grade_first_and_max), cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_any_unless_and_evidence), cmocka_unit_test(test_errors), cmocka_unit_test(test_same_id_replaces), cmocka_unit_test(test_log_words),
	};

	return cmocka_run_group_tests_name("signatures", tests, load_shipped, release_shipped);
}
