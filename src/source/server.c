/* server.c - the server source: asks /v1/models (and the metrics of engines that have them) over HTTP, every two seconds.
 *
 * One connection, one request at a time, a deadline of three seconds, no redirects, no proxy for addresses of this node, no more
 * than HTTP_BODY_MAX of a body. The answer of /v1/models proves only that the HTTP loop turns: it is one input among others.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "base/text.h"
#include "parse/metrics.h"
#include "parse/models.h"
#include "source/server_http.h"
#include "source/source.h"

#define POLL_MS 2000
#define HEALTH_MS 10000
#define METRICS_RETRY_MS 60000  /* after an answer that says there are none */
#define COUNTERS_MAX 16

struct source {
	struct source_env *env;
	struct server_http *http;       /* NULL until there is something to ask */
	uv_timer_t poll;
	void (*closed)(void *);
	void *closed_context;
	bool http_closed, poll_closed;

	bool busy;
	char url[1024];                 /* asked in this round, without a path */
	const struct profile *profile;  /* in this round */
	int64_t metrics_not_before;
	double counter[COUNTERS_MAX];   /* last values; NaN unknown */
	int64_t running, waiting, requests_t;
	char key_trouble[300];
	char told[1400];
	int64_t health_t;
};

static void health(struct source *s, const char *state, const char *detail, const char *remedy, double latency_ms)
{
	int64_t now = clock_mono_ms();
	char key[sizeof s->told];

	snprintf(key, sizeof key, "%s|%s", state, detail);
	if (strcmp(key, s->told) == 0 && now - s->health_t < HEALTH_MS)
		return;
	snprintf(s->told, sizeof s->told, "%s", key);
	s->health_t = now;
	source_health(s->env, "server", state, detail, remedy, latency_ms);
}

/* --- what is asked --- */

/* The base URL: as given, or this node and the port of the server. False, and health told, when nothing is known. */
static bool find_url(struct source *s)
{
	const struct target *t = s->env->target;
	struct span url;
	int port;

	if (s->env->options->url) {
		url = span_trim(span_of(s->env->options->url));
		while (span_ends(url, "/"))
			url.len--;
		if (span_ends(url, "/v1/models"))
			url.len -= strlen("/v1/models");
		else if (span_ends(url, "/v1"))
			url.len -= strlen("/v1");
		snprintf(s->url, sizeof s->url, "%.*s", (int)(url.len < 900 ? url.len : 900), url.at ? url.at : "");
		return true;
	}
	port = t->port ? t->port : s->profile ? s->profile->port : 0;
	snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d", port);
	if (port)
		return true;
	if (s->profile)
		health(s, "off", "this kind of program has no HTTP port of its own", "give --url URL if it serves one", -1);
	else
		health(s, "late", "the server's port is not known yet", "give --url http://HOST:PORT", -1);
	return false;
}

static const struct profile *current_profile(const struct source *s)
{
	const struct profile *p = profile_find(s->env->target->profiles, s->env->options->engine);

	return p ? p : s->env->target->profile;
}

/* --- /v1/models --- */

static const char *engine_of(const struct profile_set *set, const char *owned_by)
{
	for (int i = 0; set && *owned_by && i < set->count; i++)
		for (int k = 0; k < set->profile[i]->owned_by.count; k++)
			if (strcmp(set->profile[i]->owned_by.item[k], owned_by) == 0)
				return set->profile[i]->name;
	return NULL;
}

static void emit_server(struct source *s, const struct http_answer *a)
{
	struct models models = { .count = 0 };
	struct buf ids, words;
	struct observation o;
	struct error error;
	const char *class = a->class;

	buf_init(&ids, 1 << 20);
	buf_init(&words, 400);
	text_scrub(&words, span_of(a->error));
	if (!class) {
		class = models_status_class(a->status, a->body);
		if (strcmp(class, "ok") != 0) {
			models_error_words(a->body, &words);
			if (strcmp(class, "redirect") == 0 && a->redirect) {
				buf_text(&words, words.len ? " to " : "to ");
				text_scrub(&words, span_of(a->redirect));
			}
		} else if (models_parse(a->body, &models, &error) < 0) {
			class = "bad-body";
			buf_text(&words, error.text);
		} else {
			models_json(&models, &ids);
		}
	}
	observation_init(&o, KIND_server, s->env->node, clock_wall_ms());
	observation_text(&o, SERVER_url, a->url);
	if (a->status)
		observation_int(&o, SERVER_http, a->status);
	observation_text(&o, SERVER_class, class);
	if (words.len)
		observation_span(&o, SERVER_error, buf_as_span(&words));
	observation_real(&o, SERVER_connect_ms, a->connect_ms);
	observation_real(&o, SERVER_first_byte_ms, a->first_byte_ms);
	observation_real(&o, SERVER_total_ms, a->total_ms);
	observation_int(&o, SERVER_bytes, (int64_t)a->body.len);
	if (ids.len && !ids.cut)
		observation_span(&o, SERVER_models, buf_as_span(&ids));
	if (models.owned_by[0]) {
		observation_text(&o, SERVER_owned_by, models.owned_by);
		observation_text(&o, SERVER_engine, engine_of(s->env->target->profiles, models.owned_by));
	}
	s->env->emit(s->env->context, &o);
	models_release(&models);
	buf_release(&ids);
	buf_release(&words);
}

/* --- metrics --- */

static void take_counter(struct source *s, int i, const char *name, struct span text)
{
	double value, before = s->counter[i];
	struct observation o;
	char counter[200];

	if (!metrics_sum(text, name, &value))
		return;
	s->counter[i] = value;
	if (!isfinite(before) || value <= before)
		return; /* the first look, nothing done, or another run */
	snprintf(counter, sizeof counter, "metrics:%.180s", name);
	observation_init(&o, KIND_progress, s->env->node, clock_wall_ms());
	observation_text(&o, PROGRESS_counter, counter);
	observation_real(&o, PROGRESS_value, value);
	observation_real(&o, PROGRESS_delta, value - before);
	s->env->emit(s->env->context, &o);
}

static int64_t gauge(const char *name, struct span text)
{
	double value;

	return name && metrics_sum(text, name, &value) && value >= 0 && value < 1e9 ? llround(value) : -1;
}

static void take_requests(struct source *s, struct span text)
{
	int64_t running = gauge(s->profile->metrics_running, text), waiting = gauge(s->profile->metrics_waiting, text);
	int64_t now = clock_mono_ms();
	struct observation o;

	if ((running < 0 && waiting < 0) ||
		(running == s->running && waiting == s->waiting && now - s->requests_t < HEALTH_MS))
		return;
	s->running = running;
	s->waiting = waiting;
	s->requests_t = now;
	observation_init(&o, KIND_requests, s->env->node, clock_wall_ms());
	observation_text(&o, REQUESTS_via, "metrics");
	if (running >= 0)
		observation_int(&o, REQUESTS_running, running);
	if (waiting >= 0)
		observation_int(&o, REQUESTS_waiting, waiting);
	if (running >= 0 && waiting >= 0)
		observation_int(&o, REQUESTS_open, running + waiting);
	s->env->emit(s->env->context, &o);
}

static void on_metrics(void *context, const struct http_answer *a)
{
	struct source *s = context;

	s->busy = false;
	if (a->class)
		return;
	if (a->status != 200) {
		debug_log("server", "metrics: HTTP %d, not asked for a while", a->status);
		s->metrics_not_before = clock_mono_ms() + METRICS_RETRY_MS;
		return;
	}
	for (int i = 0; i < s->profile->metrics_progress.count && i < COUNTERS_MAX; i++)
		take_counter(s, i, s->profile->metrics_progress.item[i], a->body);
	take_requests(s, a->body);
}

/* --- rounds --- */

static void on_models(void *context, const struct http_answer *a)
{
	struct source *s = context;
	const char *path = s->profile ? s->profile->metrics_path : NULL;

	emit_server(s, a);
	if (*s->key_trouble)
		health(s, "late", s->key_trouble, "check --api-key-file", a->total_ms);
	else
		health(s, "ok", a->url, NULL, a->total_ms);
	if (!a->class && a->status < 500 && path && clock_mono_ms() >= s->metrics_not_before)
		server_http_get(s->http, s->url, path, on_metrics, s);
	else
		s->busy = false;
}

static void forget_counters(struct source *s)
{
	for (int i = 0; i < COUNTERS_MAX; i++)
		s->counter[i] = NAN;
	s->running = s->waiting = -1;
	s->metrics_not_before = 0;
}

static bool start_http(struct source *s)
{
	struct error error;

	if (s->http)
		return true;
	s->http = server_http_new(s->env->loop, s->env->options->api_key_file, &error);
	if (!s->http) {
		health(s, "failed", error.text, error.fix, -1);
		return false;
	}
	snprintf(s->key_trouble, sizeof s->key_trouble, "%s", server_http_key_trouble(s->http));
	return true;
}

static void on_poll(uv_timer_t *timer)
{
	struct source *s = timer->data;
	const struct profile *profile = current_profile(s);

	if (s->busy)
		return;
	if (profile != s->profile)
		forget_counters(s);
	s->profile = profile;
	if (!find_url(s) || !start_http(s))
		return;
	s->busy = true;
	server_http_get(s->http, s->url, "/v1/models", on_models, s);
}

static void on_target(void *context)
{
	struct source *s = context;

	/* The first question as soon as there is somebody to ask; after that, in step. */
	if (!s->http)
		on_poll(&s->poll);
}

/* --- start and stop --- */

static struct source *server_start(struct source_env *env)
{
	struct source *s = mem_alloc(sizeof *s);
	uint64_t every = env->options->interval_ms > POLL_MS ? (uint64_t)env->options->interval_ms : POLL_MS;

	s->env = env;
	forget_counters(s);
	uv_timer_init(env->loop, &s->poll);
	s->poll.data = s;
	target_listen(env->target, on_target, s);
	uv_timer_start(&s->poll, on_poll, 0, every);
	return s;
}

static void done(struct source *s)
{
	void (*closed)(void *) = s->closed;
	void *context = s->closed_context;

	if (!s->http_closed || !s->poll_closed)
		return;
	free(s);
	if (closed)
		closed(context);
}

static void on_http_closed(void *context)
{
	struct source *s = context;

	s->http_closed = true;
	done(s);
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct source *s = handle->data;

	s->poll_closed = true;
	done(s);
}

static void server_stop(struct source *s, void (*closed)(void *context), void *context)
{
	target_unlisten(s->env->target, s);
	s->closed = closed;
	s->closed_context = context;
	s->http_closed = s->http == NULL;
	uv_close((uv_handle_t *)&s->poll, on_poll_closed);
	if (s->http)
		server_http_free(s->http, on_http_closed, s);
}

extern const struct source_class source_server;
const struct source_class source_server = { "server", "host", server_start, NULL, server_stop };
