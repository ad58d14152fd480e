/* test_source_server.c - the server source against a server that answers well, badly, late or never. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/http_stub.h"
#include "tests/unit/source_bed.h"

extern const struct source_class source_server;

#define OK "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
#define LIST "{\"object\":\"list\",\"data\":[{\"id\":\"/data/M\",\"object\":\"model\",\"created\":1,\"owned_by\":\"atom\"}]}"

struct place {
	struct bed bed;
	struct stub stub;
	char url[64];
};

static void begin(struct place *p)
{
	bed_init(&p->bed, &source_server);
	stub_start(&p->stub, &p->bed.loop);
	snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d", p->stub.port);
	p->bed.options.url = p->url;
}

static void end(struct place *p)
{
	stub_stop(&p->stub);
	assert_int_equal(bed_release(&p->bed), 0);
}

static const struct observation *answered(struct place *p, int nth)
{
	assert_true(BED_UNTIL(&p->bed, bed_count(&p->bed, KIND_server) > nth));
	return bed_get(&p->bed, KIND_server, nth);
}

static char *with_length(const char *body)
{
	char *text;

	assert_true(asprintf(&text, OK "content-length: %zu\r\n\r\n%s", strlen(body), body) > 0);
	return text;
}

static void test_models(void **state)
{
	const struct observation *o;
	char *answer = with_length(LIST);
	struct place p;
	int64_t number;
	double ms;
	char url[100];

	(void)state;
	begin(&p);
	p.stub.answer = answer;
	bed_start(&p.bed);
	o = answered(&p, 0);
	assert_true(observation_text_is(o, SERVER_class, "ok"));
	assert_true(observation_get_int(o, SERVER_http, &number) && number == 200);
	assert_true(observation_text_is(o, SERVER_models, "[\"/data/M\"]"));
	assert_true(observation_text_is(o, SERVER_owned_by, "atom"));
	assert_true(observation_text_is(o, SERVER_engine, "atom"));
	assert_true(observation_get_int(o, SERVER_bytes, &number) && number == (int)strlen(LIST));
	assert_true(observation_is_null(o, SERVER_error));
	assert_true(observation_get_real(o, SERVER_connect_ms, &ms) && ms > 0);
	assert_true(observation_get_real(o, SERVER_first_byte_ms, &ms) && ms > 0);
	assert_true(observation_get_real(o, SERVER_total_ms, &ms) && ms > 0 && ms < 3000);
	snprintf(url, sizeof url, "%s/v1/models", p.url);
	assert_true(observation_text_is(o, SERVER_url, url));
	assert_string_equal(bed_text(&p.bed, KIND_source, SOURCE_state), "ok");
	assert_non_null(strstr(p.stub.asked, "User-Agent: hangtop/"));
	assert_null(strstr(p.stub.asked, "Accept-Encoding"));
	assert_null(strstr(p.stub.asked, "Authorization"));
	/* one connection for all */
	answered(&p, 1);
	assert_int_equal(p.stub.connections, 1);
	assert_int_equal(p.stub.models, 2);
	assert_int_equal(p.stub.other, 0);
	end(&p);
	free(answer);
}

/* Each kind of bad answer has its word. */
static void test_classes(void **state)
{
	static const struct { const char *answer; enum stub_end end; const char *class, *error; int http; } row[] = {
		{ OK "transfer-encoding: chunked\r\n\r\n5;x=1\r\n{\"dat\r\n6\r\na\":[]}\r\n0\r\nx: y\r\n\r\n", STUB_KEEP, "ok", "", 200 },
		{ "HTTP/1.1 103 Early Hints\r\n\r\n" OK "connection: close\r\n\r\n{\"data\":[]}", STUB_CLOSE, "ok", "", 200 },
		{ "HTTP/1.0 200 OK\r\n\r\n{\"data\":[]}", STUB_CLOSE, "ok", "", 200 },
		{ OK "content-length: 15\r\n\r\n{\"status\":\"ok\"}", STUB_KEEP, "bad-body", "no list of models", 200 },
		{ OK "content-length: 900\r\n\r\n{\"object\":\"list\",\"da", STUB_CLOSE, "bad-body", "", 200 },
		{ OK "transfer-encoding: chunked\r\n\r\nzz\r\n", STUB_KEEP, "bad-body", "", 200 },
		{ "HTTP/1.1 401 x\r\ncontent-length: 24\r\n\r\n{\"error\":\"Unauthorized\"}", STUB_KEEP, "unauthorized", "Unauthorized", 401 },
		{ "HTTP/1.1 404 x\r\ncontent-length: 22\r\n\r\n{\"detail\":\"Not Found\"}", STUB_KEEP, "not-found", "Not Found", 404 },
		{ "HTTP/1.1 307 x\r\nlocation: http://other/v1/models/\r\ncontent-length: 0\r\n\r\n", STUB_KEEP, "redirect",
			"to http://other/v1/models/", 307 },
		{ "HTTP/1.1 500 x\r\ncontent-length: 21\r\n\r\nInternal Server Error", STUB_KEEP, "server-error", "Internal Server Error", 500 },
		{ "HTTP/1.1 502 x\r\ncontent-length: 13\r\n\r\n<html></html>", STUB_KEEP, "proxy-error", "", 502 },
		{ "HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n", STUB_KEEP, "unavailable", "", 503 },
		{ "SSH-2.0-OpenSSH_9.6\r\n", STUB_CLOSE, "not-http", "", 0 },
		{ "\x15\x03\x01\x02\x02\x16 garbage", STUB_CLOSE, "not-http", "", 0 },
		{ NULL, STUB_RESET, "reset", "", 0 },
		{ NULL, STUB_CLOSE, "reset", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		const struct observation *o;
		struct place p;
		int64_t http = 0;
		struct span error = { "", 0 };

		begin(&p);
		p.stub.answer = row[i].answer;
		p.stub.end = row[i].end;
		bed_start(&p.bed);
		o = answered(&p, 0);
		if (!observation_text_is(o, SERVER_class, row[i].class))
			fail_msg("%zu: %s, not %s: %s", i, bed_text(&p.bed, KIND_server, SERVER_class), row[i].class,
				bed_text(&p.bed, KIND_server, SERVER_error));
		observation_get_int(o, SERVER_http, &http);
		assert_int_equal(http, row[i].http);
		observation_get_text(o, SERVER_error, &error);
		if (!span_contains(error, row[i].error))
			fail_msg("%zu: '%.*s'", i, (int)error.len, error.at);
		assert_int_equal(error.len > 0, strcmp(row[i].class, "ok") != 0 && (row[i].http == 0 || row[i].http == 200 || *row[i].error));
		assert_string_equal(bed_text(&p.bed, KIND_source, SOURCE_state), "ok");
		assert_int_equal(p.stub.other, 0); /* a redirect is not followed */
		end(&p);
	}
}

static void test_huge_body(void **state)
{
	size_t len = 3 << 20;
	char *answer = malloc(len);
	struct place p;
	int64_t bytes;

	(void)state;
	memset(answer, ' ', len);
	memcpy(answer, OK "\r\n", sizeof OK + 1);
	begin(&p);
	p.stub.answer = answer;
	p.stub.answer_len = len;
	bed_start(&p.bed);
	assert_true(observation_text_is(answered(&p, 0), SERVER_class, "too-large"));
	assert_true(observation_get_int(answered(&p, 0), SERVER_bytes, &bytes) && bytes <= 1 << 20);
	end(&p);
	free(answer);
}

/* Accepted, and then nothing; or half a body, and then nothing: the deadline ends it, and the next round comes. */
static void test_silence(void **state)
{
	static const char *const answer[] = { NULL, "HTTP/1.1 200 OK\r\ncontent", OK "content-length: 900\r\n\r\n{\"object\":" };

	(void)state;
	for (size_t i = 0; i < sizeof answer / sizeof answer[0]; i++) {
		const struct observation *o;
		struct place p;
		double ms;

		begin(&p);
		p.stub.answer = answer[i];
		bed_start(&p.bed);
		o = answered(&p, 0);
		assert_true(observation_text_is(o, SERVER_class, "timeout"));
		assert_true(observation_get_real(o, SERVER_total_ms, &ms) && ms >= 2900);
		assert_int_equal(observation_is_null(o, SERVER_http), i == 0);
		if (i == 0)
			answered(&p, 1);
		end(&p);
	}
}

static void test_stop_in_flight(void **state)
{
	struct place p;

	(void)state;
	begin(&p);
	bed_start(&p.bed);
	assert_true(BED_UNTIL(&p.bed, p.stub.requests == 1));
	end(&p); /* the loop ends empty, at once */
}

static void test_refused(void **state)
{
	const struct observation *o;
	struct place p;

	(void)state;
	begin(&p);
	snprintf(p.url, sizeof p.url, "http://127.0.0.1:1/v1/");
	bed_start(&p.bed);
	o = answered(&p, 0);
	assert_true(observation_text_is(o, SERVER_class, "refused"));
	assert_true(observation_text_is(o, SERVER_url, "http://127.0.0.1:1/v1/models"));
	assert_true(observation_is_null(o, SERVER_http));
	assert_true(observation_is_null(o, SERVER_first_byte_ms));
	assert_true(observation_is_null(o, SERVER_models));
	end(&p);
}

static void test_no_proxy_for_this_node(void **state)
{
	char *answer = with_length(LIST);
	struct place p;

	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	begin(&p);
	p.stub.answer = answer;
	bed_start(&p.bed);
	assert_true(observation_text_is(answered(&p, 0), SERVER_class, "ok"));
	end(&p);
	unsetenv("http_proxy");
	free(answer);
}

static bool told_anywhere(const struct bed *b, const char *secret)
{
	bool found = false;
	struct buf line;

	buf_init(&line, 0);
	for (int i = 0; i < b->records && !found; i++) {
		buf_clear(&line);
		observation_encode(&b->record[i]->o, &line);
		found = strstr(buf_string(&line), secret) != NULL;
	}
	buf_release(&line);
	return found;
}

static void test_password_in_the_url(void **state)
{
	char *answer = with_length(LIST), url[100];
	struct place p;

	(void)state;
	begin(&p);
	p.stub.answer = answer;
	snprintf(url, sizeof url, "http://me:sesame@127.0.0.1:%d/", p.stub.port);
	p.bed.options.url = url;
	bed_start(&p.bed);
	assert_true(observation_text_is(answered(&p, 0), SERVER_class, "ok"));
	assert_non_null(strstr(p.stub.asked, "Authorization: Basic "));
	snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/models", p.stub.port);
	assert_string_equal(bed_text(&p.bed, KIND_server, SERVER_url), url);
	assert_false(told_anywhere(&p.bed, "sesame"));
	end(&p);
	free(answer);
}

static void test_bad_url(void **state)
{
	static const char *const url[] = { "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999", "nonsense with blanks" };

	(void)state;
	for (size_t i = 0; i < sizeof url / sizeof url[0]; i++) {
		struct place p;

		begin(&p);
		p.bed.options.url = url[i];
		bed_start(&p.bed);
		assert_true(observation_text_is(answered(&p, 0), SERVER_class, "dns"));
		end(&p);
	}
}

/* Nothing given: the profile's port, then the server's own. */
static void test_found(void **state)
{
	char *answer = with_length(LIST);
	struct place p;

	(void)state;
	begin(&p);
	p.stub.answer = answer;
	p.bed.options.url = NULL;
	bed_start(&p.bed);
	assert_true(BED_UNTIL(&p.bed, bed_count(&p.bed, KIND_source) > 0));
	assert_string_equal(bed_text(&p.bed, KIND_source, SOURCE_state), "late");
	assert_non_null(strstr(bed_text(&p.bed, KIND_source, SOURCE_remedy), "--url"));
	p.bed.target.port = p.stub.port;
	target_changed(&p.bed.target);
	assert_true(observation_text_is(answered(&p, 0), SERVER_class, "ok"));
	end(&p);

	begin(&p);
	p.bed.options.url = NULL;
	p.bed.options.engine = "torchrun";
	bed_start(&p.bed);
	assert_true(BED_UNTIL(&p.bed, bed_count(&p.bed, KIND_source) > 0));
	assert_string_equal(bed_text(&p.bed, KIND_source, SOURCE_state), "off");
	end(&p);
	free(answer);
}

static void test_api_key(void **state)
{
	char *answer = with_length(LIST), path[] = "/tmp/hangtop-key-XXXXXX";
	int fd = mkstemp(path);
	struct place p;

	(void)state;
	setenv("HANGTOP_API_KEY", "from-environment", 1);
	begin(&p);
	p.stub.answer = answer;
	bed_start(&p.bed);
	answered(&p, 0);
	assert_non_null(strstr(p.stub.asked, "\r\nAuthorization: Bearer from-environment\r\n"));
	assert_false(told_anywhere(&p.bed, "from-environment"));
	end(&p);

	assert_int_equal(write(fd, " from-file\n", 11), 11);
	begin(&p);
	p.stub.answer = answer;
	p.bed.options.api_key_file = path;
	bed_start(&p.bed);
	answered(&p, 0);
	assert_non_null(strstr(p.stub.asked, "\r\nAuthorization: Bearer from-file\r\n"));
	assert_false(told_anywhere(&p.bed, "from-file"));
	end(&p);

	/* what would add a header of its own is not sent */
	assert_int_equal(write(fd, "x: y\n", 5), 5);
	begin(&p);
	p.stub.answer = answer;
	p.bed.options.api_key_file = path;
	bed_start(&p.bed);
	answered(&p, 0);
	assert_null(strstr(p.stub.asked, "Authorization"));
	assert_string_equal(bed_text(&p.bed, KIND_source, SOURCE_state), "late");
	end(&p);

	unlink(path);
	begin(&p);
	p.stub.answer = answer;
	p.bed.options.api_key_file = path;
	bed_start(&p.bed);
	assert_true(observation_text_is(answered(&p, 0), SERVER_class, "ok"));
	assert_non_null(strstr(bed_text(&p.bed, KIND_source, SOURCE_detail), "cannot read the API key"));
	end(&p);
	unsetenv("HANGTOP_API_KEY");
	close(fd);
	free(answer);
}

static void test_metrics(void **state)
{
	static const char first[] = "atom:requests_running 3\natom:requests_waiting 4\natom:generation_tokens_total 100\n"
		"atom:requests_finished_total NaN\n";
	static const char second[] = "atom:requests_running 3\natom:requests_waiting 4\natom:generation_tokens_total 150.5\n";
	static const char fallen[] = "atom:requests_running 0\natom:requests_waiting 0\natom:generation_tokens_total 1\n";
	char *models = with_length(LIST), *one = with_length(first), *two = with_length(second), *three = with_length(fallen);
	const struct observation *o;
	struct place p;
	int requests;

	(void)state;
	begin(&p);
	p.bed.options.engine = "atom";
	p.stub.answer = models;
	p.stub.metrics = one;
	bed_start(&p.bed);
	assert_true(BED_UNTIL(&p.bed, bed_number(&p.bed, KIND_requests, REQUESTS_open) == 7));
	assert_string_equal(bed_text(&p.bed, KIND_requests, REQUESTS_via), "metrics");
	assert_true(bed_number(&p.bed, KIND_requests, REQUESTS_running) == 3);
	assert_int_equal(bed_count(&p.bed, KIND_progress), 0); /* where it stood is no growth */
	requests = bed_count(&p.bed, KIND_requests);
	p.stub.metrics = two;
	assert_true(BED_UNTIL(&p.bed, bed_count(&p.bed, KIND_progress) == 1));
	o = bed_get(&p.bed, KIND_progress, 0);
	assert_true(observation_text_is(o, PROGRESS_counter, "metrics:atom:generation_tokens_total"));
	assert_true(fabs(o->value[PROGRESS_value].real - 150.5) < 1e-9 && fabs(o->value[PROGRESS_delta].real - 50.5) < 1e-9);
	assert_int_equal(bed_count(&p.bed, KIND_requests), requests); /* unchanged: not told again */
	p.stub.metrics = three; /* another run */
	assert_true(BED_UNTIL(&p.bed, bed_number(&p.bed, KIND_requests, REQUESTS_open) == 0));
	assert_int_equal(bed_count(&p.bed, KIND_progress), 1);
	assert_int_equal(p.stub.connections, 1);
	end(&p);
	free(models);
	free(one);
	free(two);
	free(three);
}

static void test_no_metrics(void **state)
{
	char *models = with_length(LIST);
	struct place p;

	(void)state;
	begin(&p);
	p.bed.options.engine = "sglang";
	p.stub.answer = models;
	p.stub.metrics = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
	bed_start(&p.bed);
	answered(&p, 2);
	assert_int_equal(p.stub.requests - p.stub.models, 1); /* asked once, then left alone for a while */
	assert_int_equal(bed_count(&p.bed, KIND_requests), 0);
	end(&p);
	free(models);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_huge_body),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_stop_in_flight),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_proxy_for_this_node),
		cmocka_unit_test(test_password_in_the_url),
		cmocka_unit_test(test_bad_url),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_api_key),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_no_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
