/* server_http.c - libcurl on the libuv loop. */
#include "config.h"

#include "source/server_http.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/debug.h"
#include "base/mem.h"
#include "source/http_library.h"

#define KEY_MAX 4096

static const struct http_library *curl;

/* A socket of libcurl that the loop watches. */
struct watch {
	uv_poll_t poll;
	struct server_http *http;
	curl_socket_t fd;
};

struct server_http {
	uv_loop_t *loop;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	uv_timer_t timer;
	int handles;            /* open on the loop */
	bool closing;
	bool busy;
	char url[1200], shown[1200];    /* shown: without name and password */
	struct buf body;
	bool too_large;
	char words[CURL_ERROR_SIZE];
	char key_trouble[300];
	void (*answered)(void *, const struct http_answer *);
	void *context;
	void (*closed)(void *);
	void *closed_context;
};

/* --- the key --- */

static bool key_from_file(struct server_http *h, const char *path, char *key)
{
	struct error error;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0) {
		error_set_errno(&error, errno, "cannot read the API key from %.150s", path);
		snprintf(h->key_trouble, sizeof h->key_trouble, "%.290s", error.text);
		return false;
	}
	n = read(fd, key, KEY_MAX - 1);
	close(fd);
	key[n > 0 ? n : 0] = 0;
	return true;
}

static void add_key(struct server_http *h, const char *path)
{
	static const char intro[] = "Authorization: Bearer ";
	char key[KEY_MAX] = "", header[KEY_MAX + sizeof intro];
	const char *env = getenv("HANGTOP_API_KEY");
	struct span text;

	if (path && !key_from_file(h, path, key))
		return;
	if (!path && (!env || strlen(env) >= KEY_MAX))
		return;
	text = span_trim(span_of(path ? key : env));
	for (size_t i = 0; i < text.len; i++)
		if (text.at[i] < 33 || text.at[i] > 126)
			text.len = 0; /* no text that could add a header of its own */
	if (text.len) {
		snprintf(header, sizeof header, "%s%.*s", intro, (int)text.len, text.at);
		h->headers = curl->slist_append(h->headers, header);
	} else {
		snprintf(h->key_trouble, sizeof h->key_trouble, "the API key is empty, or not one word: it is not sent");
	}
	explicit_bzero(key, sizeof key);
	explicit_bzero(header, sizeof header);
}

/* --- the answer --- */

static const char *class_of(CURLcode code, long os_error, const struct server_http *h)
{
	switch (code) {
	case CURLE_OK:
		return NULL;
	case CURLE_COULDNT_CONNECT:
		return os_error == ETIMEDOUT || os_error == EHOSTUNREACH || os_error == ENETUNREACH ? "timeout" : "refused";
	case CURLE_OPERATION_TIMEDOUT:
		return "timeout";
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_URL_MALFORMAT:
		return "dns";
	case CURLE_COULDNT_RESOLVE_PROXY:
		return "proxy-error";
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
		return "tls";
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return "not-http";
	case CURLE_WRITE_ERROR:
		return h->too_large ? "too-large" : "bad-body";
	case CURLE_PARTIAL_FILE:
	case CURLE_BAD_CONTENT_ENCODING:
		return "bad-body";
	default:
		/* a spoiled chunk is reported as a failure to receive */
		return strstr(h->words, "chunk") ? "bad-body" : "reset";
	}
}

static double milliseconds(CURL *easy, CURLINFO info)
{
	curl_off_t us = 0;

	if (curl->easy_getinfo(easy, info, &us) != CURLE_OK || us <= 0)
		return NAN;
	return (double)us / 1000;
}

static void answer(struct server_http *h, const struct http_answer *a)
{
	h->busy = false;
	h->answered(h->context, a);
}

static void on_done(struct server_http *h, CURLcode code)
{
	struct http_answer a = { .url = h->shown, .error = "" };
	char *redirect = NULL;
	long status = 0, os_error = 0;

	curl->easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	curl->easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &os_error);
	curl->easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &redirect);
	a.class = class_of(code, os_error, h);
	if (a.class && strcmp(a.class, "not-http") == 0)
		status = 0; /* what libcurl makes of a reply without a status line */
	a.status = (int)status;
	a.redirect = redirect;
	a.connect_ms = milliseconds(h->easy, CURLINFO_CONNECT_TIME_T);
	a.first_byte_ms = milliseconds(h->easy, CURLINFO_STARTTRANSFER_TIME_T);
	a.total_ms = milliseconds(h->easy, CURLINFO_TOTAL_TIME_T);
	if (a.class)
		a.error = h->too_large ? "the body is larger than 1 MiB" : *h->words ? h->words : curl->easy_strerror(code);
	a.body = buf_as_span(&h->body);
	curl->multi_remove_handle(h->multi, h->easy);
	answer(h, &a);
}

static void check_done(struct server_http *h)
{
	CURLMsg *message;
	int left;

	while (!h->closing && (message = curl->multi_info_read(h->multi, &left)))
		if (message->msg == CURLMSG_DONE)
			on_done(h, message->data.result);
}

static size_t on_body(char *at, size_t size, size_t count, void *context)
{
	struct server_http *h = context;

	buf_add(&h->body, at, size * count);
	h->too_large = h->body.cut;
	return h->too_large ? 0 : size * count;
}

/* --- libcurl and the loop --- */

static void on_handle_closed(struct server_http *h)
{
	void (*closed)(void *) = h->closed;
	void *context = h->closed_context;

	if (--h->handles || !h->closing)
		return;
	buf_release(&h->body);
	free(h);
	closed(context);
}

static void on_watch_closed(uv_handle_t *handle)
{
	struct watch *w = handle->data;
	struct server_http *h = w->http;

	free(w);
	on_handle_closed(h);
}

static void on_timer_closed(uv_handle_t *handle)
{
	on_handle_closed(handle->data);
}

static void on_socket_event(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;
	struct server_http *h = w->http;
	int flags = 0, running;

	if (status < 0)
		flags = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	curl->multi_socket_action(h->multi, w->fd, flags, &running);
	check_done(h);
}

static struct watch *watch_new(struct server_http *h, curl_socket_t fd)
{
	struct watch *w = mem_alloc(sizeof *w);

	w->http = h;
	w->fd = fd;
	w->poll.data = w;
	if (uv_poll_init_socket(h->loop, &w->poll, fd) < 0) {
		free(w);
		return NULL;
	}
	h->handles++;
	curl->multi_assign(h->multi, fd, w);
	return w;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *of_socket)
{
	struct server_http *h = context;
	struct watch *w = of_socket;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (!w)
			return 0; /* never told of it */
		curl->multi_assign(h->multi, fd, NULL);
		uv_close((uv_handle_t *)&w->poll, on_watch_closed);
		return 0;
	}
	if (!w && !(w = watch_new(h, fd)))
		return -1;
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	return uv_poll_start(&w->poll, events, on_socket_event);
}

static void on_timeout(uv_timer_t *timer)
{
	struct server_http *h = timer->data;
	int running;

	curl->multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	check_done(h);
}

static int on_timer(CURLM *multi, long ms, void *context)
{
	struct server_http *h = context;

	(void)multi;
	if (h->closing)
		return 0;
	if (ms < 0)
		return uv_timer_stop(&h->timer);
	return uv_timer_start(&h->timer, on_timeout, (uint64_t)ms, 0);
}

/* --- asking --- */

/* No proxy for this node itself, whatever the environment says. False for what is no HTTP URL. */
static bool check_url(const char *url, bool *loopback)
{
	CURLU *parts = curl->url();
	char *host = NULL, *scheme = NULL;
	bool good = parts && curl->url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl->url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		curl->url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		(strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
	struct span name = span_of(host);

	*loopback = good && (span_is(name, "localhost") || span_ends(name, ".localhost") || span_starts(name, "127.") ||
		span_is(name, "[::1]") || span_is(name, "0.0.0.0"));
	curl->free(host);
	curl->free(scheme);
	curl->url_cleanup(parts);
	return good;
}

/* "http://name:password@host/x" without what is before the '@'. */
static void show_url(struct server_http *h)
{
	struct span rest = span_of(h->url), authority;
	long start = span_find(rest, "://"), at;

	authority = span_sub(rest, start < 0 ? 0 : (size_t)start + 3, rest.len);
	rest = authority;
	span_cut(&rest, '/', &authority);
	at = span_find_last(authority, '@');
	snprintf(h->shown, sizeof h->shown, "%.*s%s", (int)(authority.at - h->url), h->url, authority.at + at + 1);
}

void server_http_get(struct server_http *h, const char *base, const char *path,
	void (*answered)(void *, const struct http_answer *), void *context)
{
	bool loopback;

	h->answered = answered;
	h->context = context;
	h->busy = true;
	h->too_large = false;
	h->words[0] = 0;
	buf_clear(&h->body);
	h->body.cut = false;
	snprintf(h->url, sizeof h->url, "%.1000s%.190s", base, path);
	show_url(h);
	if (!check_url(h->url, &loopback)) {
		answer(h, &(struct http_answer){ .url = h->shown, .class = "dns", .error = "this is no URL of HTTP",
			.connect_ms = NAN, .first_byte_ms = NAN, .total_ms = NAN });
		return;
	}
	curl->easy_setopt(h->easy, CURLOPT_URL, h->url);
	curl->easy_setopt(h->easy, CURLOPT_PROXY, loopback ? "" : NULL);
	curl->multi_add_handle(h->multi, h->easy);
}

static void set_options(struct server_http *h)
{
	curl->easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, (long)HTTP_DEADLINE_MS);
	curl->easy_setopt(h->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl->easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl->easy_setopt(h->easy, CURLOPT_BUFFERSIZE, 16384L);
	curl->easy_setopt(h->easy, CURLOPT_USERAGENT, "hangtop/" PACKAGE_VERSION);
	curl->easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	curl->easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl->easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	curl->easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->words);
	curl->multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl->multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl->multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl->multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, 1L);
}

struct server_http *server_http_new(uv_loop_t *loop, const char *key_file, struct error *error)
{
	struct server_http *h;

	curl = http_library(error);
	if (!curl)
		return NULL;
	h = mem_alloc(sizeof *h);
	h->loop = loop;
	h->multi = curl->multi_init();
	h->easy = curl->easy_init();
	if (!h->multi || !h->easy)
		mem_fatal("libcurl handles");
	buf_init(&h->body, HTTP_BODY_MAX);
	add_key(h, key_file);
	set_options(h);
	uv_timer_init(loop, &h->timer);
	h->timer.data = h;
	h->handles = 1;
	return h;
}

const char *server_http_key_trouble(const struct server_http *h)
{
	return h->key_trouble;
}

void server_http_free(struct server_http *h, void (*closed)(void *context), void *context)
{
	h->closing = true;
	h->closed = closed;
	h->closed_context = context;
	if (h->busy)
		curl->multi_remove_handle(h->multi, h->easy);
	curl->easy_cleanup(h->easy);
	curl->multi_cleanup(h->multi);
	curl->slist_free_all(h->headers);
	uv_close((uv_handle_t *)&h->timer, on_timer_closed);
}
