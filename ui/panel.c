#include "config.h"

#include "ui/panel.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define SERVER_INTERVAL_MS 2000
#define STACK_INTERVAL_MS 30000

const struct panel panel_table[PANEL_COUNT] = {
	[PANEL_OVERVIEW] = { PANEL_OVERVIEW, "Overview", false, true, false, panel_overview },
	[PANEL_SERVER] = { PANEL_SERVER, "Server", false, false, false, panel_server },
	[PANEL_GPUS] = { PANEL_GPUS, "GPUs", false, false, false, panel_gpus },
	[PANEL_RANKS] = { PANEL_RANKS, "Ranks", false, false, true, panel_ranks },
	[PANEL_STACKS] = { PANEL_STACKS, "Stacks", false, false, false, panel_stacks },
	[PANEL_WAVES] = { PANEL_WAVES, "Waves", false, false, true, panel_waves },
	[PANEL_LOG] = { PANEL_LOG, "Log", true, false, true, panel_log },
	[PANEL_EVENTS] = { PANEL_EVENTS, "Events", true, false, true, panel_events },
	[PANEL_SOURCES] = { PANEL_SOURCES, "Sources", false, false, false, panel_sources },
	[PANEL_SNAPSHOT] = { PANEL_SNAPSHOT, "Snapshot", false, false, false, panel_snapshot },
	[PANEL_HELP] = { PANEL_HELP, "Help", false, false, false, panel_help },
};

/* --- values --- */

struct span panel_field(const struct observation *o, int field)
{
	struct span s = { "", 0 };

	if (o)
		observation_get_text(o, field, &s);
	return s;
}

static int64_t interval(const struct view *view, enum kind kind)
{
	int64_t sample = view->interval_ms > 0 ? view->interval_ms : 1000;

	switch (kind) {
	case KIND_server:
		return sample > SERVER_INTERVAL_MS ? sample : SERVER_INTERVAL_MS;
	case KIND_stack:
		return STACK_INTERVAL_MS;
	case KIND_gpu:
	case KIND_gpu_process:
	case KIND_process_sample:
		return sample;
	default:
		return 0; /* holds until something else is seen */
	}
}

bool panel_stale(const struct view *view, const struct observation *o)
{
	int64_t ms = o ? interval(view, o->kind) : 0;

	return ms && view->now - o->t > 3 * ms;
}

void panel_missing(struct build *b, int w)
{
	rows_right(b->rows, w, STYLE_DIM, "–");
}

void panel_number(struct build *b, const struct observation *o, int field, int w, int decimals, const char *unit,
	enum style style)
{
	bool stale = panel_stale(b->view, o);
	double value;

	if (!o || !observation_get_real(o, field, &value)) {
		panel_missing(b, w);
		rows_gap(b->rows, 1);
		return;
	}
	rows_right(b->rows, w, stale ? STYLE_STALE : style, "%.*f%s", decimals, value, unit);
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

void panel_bytes(struct build *b, const struct observation *o, int field, int w)
{
	bool stale = panel_stale(b->view, o);
	char text[32];
	double value;

	if (!o || !observation_get_real(o, field, &value)) {
		panel_missing(b, w);
		rows_gap(b->rows, 1);
		return;
	}
	rows_right(b->rows, w, stale ? STYLE_STALE : STYLE_NORMAL, "%s", text_bytes(text, sizeof text, value));
	rows_text(b->rows, stale ? STYLE_STALE : STYLE_NORMAL, stale ? "?" : " ");
}

const char *panel_age(char *out, size_t size, const struct view *view, int64_t t)
{
	int64_t ms = view->now - t;

	if (t && ms >= 1000)
		return text_duration(out, size, ms / 1000 * 1000);
	snprintf(out, size, t ? "0s" : "–");
	return out;
}

const char *panel_time(char *out, size_t size, int64_t t, bool dated)
{
	char text[40];

	if (!dated)
		return clock_hms(out, size, t);
	clock_stamp(text, sizeof text, t);
	snprintf(out, size, "%s", strlen(text) > 5 ? text + 5 : text);
	return out;
}

bool panel_dated(const struct view *view, int64_t oldest)
{
	return oldest && view->now - oldest > 12 * 3600 * 1000LL;
}

const char *panel_models(const struct observation *server, char *out, size_t size)
{
	struct span text = panel_field(server, SERVER_models);
	json_t *list = text.len ? json_loadb(text.at, text.len, 0, NULL) : NULL;
	size_t i, len = 0;
	json_t *item;

	out[0] = 0;
	json_array_foreach(list, i, item)
	{
		const char *id = json_string_value(item);
		int n = id && len < size ? snprintf(out + len, size - len, "%s%s", i ? ", " : "", id) : 0;

		len += n > 0 ? (size_t)n : 0;
	}
	json_decref(list);
	return out;
}

static const struct {
	const char *class, *words, *proves;
} http_classes[] = {
	{ "ok", "answers", "says only that HTTP runs" },
	{ "refused", "connection refused", "no process listens: loading, dead, or another port" },
	{ "timeout", "no answer in time", "the HTTP loop is stuck or starved" },
	{ "reset", "connection reset", "the server dropped the connection" },
	{ "dns", "host name not found", "says nothing about the server" },
	{ "tls", "TLS failed", "something listens, but speaks other TLS" },
	{ "not-http", "answers, but not HTTP", "another service has the port" },
	{ "unauthorized", "wants an API key", "HTTP runs; give a key to see more" },
	{ "not-found", "no such path", "HTTP runs, but it may be another service" },
	{ "redirect", "redirects elsewhere", "HTTP runs; the real server is elsewhere" },
	{ "client-error", "refuses the request", "HTTP runs" },
	{ "server-error", "fails inside", "HTTP runs, what is behind it does not" },
	{ "unavailable", "says it is not available", "HTTP runs; loading, overloaded or unhealthy" },
	{ "proxy-error", "a proxy cannot reach it", "says nothing but that the proxy runs" },
	{ "too-large", "answer too large", "HTTP runs" },
	{ "bad-body", "answers with an unknown body", "HTTP runs, but it may be another service" },
};

const char *panel_http_words(struct span class)
{
	for (size_t i = 0; i < sizeof http_classes / sizeof *http_classes; i++)
		if (span_is(class, http_classes[i].class))
			return http_classes[i].words;
	return "unknown answer";
}

const char *panel_http_proves(struct span class)
{
	for (size_t i = 0; i < sizeof http_classes / sizeof *http_classes; i++)
		if (span_is(class, http_classes[i].class))
			return http_classes[i].proves;
	return "";
}

/* --- states and classes --- */

static const struct {
	enum style style, badge;
	const char *glyph, *ascii;
} states[] = {
	[STATE_UNKNOWN] = { STYLE_DIM, STYLE_BADGE_NONE, "◐", "??" },
	[STATE_HEALTHY] = { STYLE_OK, STYLE_BADGE_OK, "●", "OK" },
	[STATE_IDLE] = { STYLE_INFO, STYLE_BADGE_INFO, "●", "OK" },
	[STATE_LOADING] = { STYLE_INFO, STYLE_BADGE_INFO, "◐", "??" },
	[STATE_SLOW] = { STYLE_WARN, STYLE_BADGE_WARN, "▲", "!!" },
	[STATE_SUSPECT] = { STYLE_WARN, STYLE_BADGE_WARN, "▲", "!!" },
	[STATE_HUNG] = { STYLE_BAD, STYLE_BADGE_BAD, "✖", "XX" },
	[STATE_FAULT] = { STYLE_BAD, STYLE_BADGE_BAD, "✖", "XX" },
	[STATE_DEAD] = { STYLE_BAD, STYLE_BADGE_BAD, "✖", "XX" },
};

enum style panel_state_style(enum state state)
{
	return states[state].style;
}

enum style panel_badge_style(enum state state)
{
	return states[state].badge;
}

const char *panel_state_glyph(enum state state, bool ascii)
{
	return ascii ? states[state].ascii : states[state].glyph;
}

enum state panel_state_by_word(struct span word)
{
	for (int i = 0; i <= STATE_DEAD; i++)
		if (span_is(word, state_word((enum state)i)))
			return (enum state)i;
	return STATE_UNKNOWN;
}

const char *panel_state_words(enum state state, struct span where)
{
	if (state != STATE_HUNG)
		return state_word(state);
	if (span_is(where, "kernel"))
		return "HUNG in a GPU kernel";
	if (span_is(where, "collective"))
		return "HUNG in a collective";
	if (span_is(where, "host"))
		return "HUNG on the host";
	return "HUNG";
}

enum style panel_log_style(struct span class)
{
	static const struct {
		const char *class;
		enum style style;
	} styles[] = {
		{ "fault", STYLE_BAD },
		{ "fatal", STYLE_BAD },
		{ "warning", STYLE_WARN },
		{ "progress", STYLE_OK },
		{ "ready", STYLE_OK },
		{ "request", STYLE_INFO },
		{ "loading", STYLE_INFO },
		{ "start", STYLE_INFO },
	};

	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		if (span_is(class, styles[i].class))
			return styles[i].style;
	return STYLE_DIM;
}

enum style panel_source_style(struct span state)
{
	return span_is(state, "ok")	  ? STYLE_OK
	       : span_is(state, "late")	  ? STYLE_WARN
	       : span_is(state, "failed") ? STYLE_BAD
					  : STYLE_DIM;
}

static const struct stack_class *odd_class(const struct ranks *ranks)
{
	for (int i = 0; i < ranks->classes; i++)
		if (ranks->class[i].odd)
			return &ranks->class[i];
	return NULL;
}

static bool waits(enum wait_kind wait)
{
	return wait == WAIT_COLLECTIVE || wait == WAIT_GPU;
}

const char *panel_role(const struct ranks *ranks, const struct stack_class *c, char *out, size_t size)
{
	static const char *const words[] = {
		[WAIT_UNKNOWN] = "no frames",
		[WAIT_GPU] = "waits for the GPU",
		[WAIT_COLLECTIVE] = "waits in a collective",
		[WAIT_LOCK] = "waits for a lock",
		[WAIT_QUEUE] = "waits for work",
		[WAIT_IO] = "waits for I/O",
		[WAIT_HOST_CODE] = "runs host code",
	};
	const struct stack_class *odd = odd_class(ranks);

	if (c->odd)
		snprintf(out, size, "candidate");
	else if (odd && waits(c->wait))
		snprintf(out, size, "likely waiting for %s", odd->ranges);
	else
		snprintf(out, size, "%s", words[c->wait]);
	return out;
}

enum style panel_role_style(const struct ranks *ranks, const struct stack_class *c)
{
	return c->odd ? STYLE_WARN : odd_class(ranks) ? STYLE_INFO : STYLE_NORMAL;
}

const char *panel_arrows(char *out, size_t size, const char *text, bool ascii)
{
	struct span rest = span_of(text);
	size_t len = 0;

	out[0] = 0;
	while (rest.len && len + 4 < size) {
		bool arrow = !ascii && span_starts(rest, "<-");

		if (arrow) {
			len += text_put(out + len, 0x2190);
			rest = span_sub(rest, 2, rest.len);
		} else {
			out[len++] = *rest.at;
			rest = span_sub(rest, 1, rest.len);
		}
		out[len] = 0;
	}
	return out;
}

void panel_top(struct build *b, enum style style, const char *top)
{
	char text[400];

	rows_text(b->rows, style, panel_arrows(text, sizeof text, top, b->ascii));
}

const char *panel_where(char *out, size_t size, const char *where, const char *top, bool odd, bool ascii)
{
	struct span function, file, line;
	long slash;

	if (!odd && top[0])
		return panel_arrows(out, size, top, ascii);
	if (!frame_split(span_of(where), &function, &file, &line)) {
		snprintf(out, size, "%s", where);
		return out;
	}
	slash = span_find_last(file, '/');
	file = span_sub(file, (size_t)(slash + 1), file.len);
	snprintf(out, size, "%.*s (%.*s:%.*s)", (int)function.len, function.at, (int)file.len, file.at, (int)line.len,
		line.at);
	return out;
}

/* --- rows --- */

void panel_columns(const struct column *column, int n, int width, int least, bool *shown)
{
	int highest = 0;

	for (int i = 0; i < n; i++) {
		shown[i] = false;
		if (column[i].priority > highest)
			highest = column[i].priority;
	}
	for (int p = 0; p <= highest; p++) {
		for (int i = 0; i < n; i++) {
			int need = (column[i].w ? column[i].w : least) + 1;

			if (column[i].priority != p)
				continue;
			if (p && need > width)
				return;
			shown[i] = true;
			width -= need;
		}
	}
}

void panel_heading(struct build *b, const struct column *column, int n, const bool *shown, unsigned flags)
{
	rows_start(b->rows, 0, ROW_HEAD | flags);
	for (int i = 0; i < n; i++) {
		if (!shown[i])
			continue;
		if (column[i].right)
			rows_right(b->rows, column[i].w, STYLE_HEAD, "%s", column[i].name);
		else if (column[i].w)
			rows_cell(b->rows, column[i].w, STYLE_HEAD, span_of(column[i].name));
		else
			rows_text(b->rows, STYLE_HEAD, column[i].name);
		rows_gap(b->rows, 1);
	}
}

struct span panel_words(struct span *rest, int columns)
{
	struct span line = text_fit(*rest, columns);

	if (line.len < rest->len) {
		long blank = span_find_last(line, ' ');

		if (blank > 0 && rest->at[line.len] != ' ')
			line = span_sub(line, 0, (size_t)blank);
	}
	*rest = span_sub(*rest, line.len, rest->len);
	while (rest->len && *rest->at == ' ')
		*rest = span_sub(*rest, 1, rest->len);
	return line;
}

static void wrap(struct build *b, uint64_t key, unsigned flags, int indent, enum style style, struct span text)
{
	struct buf clean;
	struct span rest, line;
	int columns = b->w - indent > 10 ? b->w - indent : 10;

	buf_init(&clean, 64 << 10);
	text_scrub(&clean, text);
	rest = buf_as_span(&clean);
	for (int n = 1; rest.len; n++) {
		rows_start(b->rows, key ? key + (uint64_t)n : 0, flags);
		rows_gap(b->rows, indent);
		line = panel_words(&rest, columns);
		if (!line.len)
			break;
		rows_span(b->rows, style, line);
	}
	buf_release(&clean);
}

void panel_wrap(struct build *b, uint64_t key, int indent, enum style style, struct span text)
{
	wrap(b, key, ROW_DETAIL, indent, style, text);
}

void panel_empty(struct build *b, const char *text)
{
	wrap(b, 0, ROW_HEAD, 1, STYLE_DIM, span_of(text));
}

void panel_fields(struct build *b, uint64_t key, int indent, const struct observation *o)
{
	const struct kind_info *kind = &kind_table[o->kind];

	for (int i = 0; i < kind->fields; i++) {
		struct span text;
		double real;
		int64_t n;

		if (observation_is_null(o, i))
			continue;
		rows_start(b->rows, key + (uint64_t)i, ROW_DETAIL);
		rows_gap(b->rows, indent);
		rows_cell(b->rows, 12, STYLE_DIM, span_of(kind->field[i].name));
		rows_gap(b->rows, 1);
		if (observation_get_text(o, i, &text))
			rows_span(b->rows, STYLE_NORMAL, text);
		else if (kind->field[i].type == FIELD_REAL && observation_get_real(o, i, &real))
			rows_print(b->rows, STYLE_NORMAL, "%g", real);
		else if (observation_get_int(o, i, &n))
			rows_print(b->rows, STYLE_NORMAL, "%lld", (long long)n);
	}
}

void panel_fold(struct build *b, uint64_t key)
{
	rows_text(b->rows, STYLE_DIM, list_is_open(b->list, key) ? "▾ " : "▸ ");
}
