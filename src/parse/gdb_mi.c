/* gdb_mi.c - values of MI, and the tuples that matter. */
#include "config.h"

#include "parse/gdb_mi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "parse/rocgdb.h"

#define MEMBERS_MAX 48
#define DEPTH_MAX 12
#define VALUE_MAX 4096

struct member {
	char name[32];
	char value[VALUE_MAX];
};

/* The members of the tuples that are open, the innermost last: a tuple's own begin at its `base`. */
struct mi {
	struct rocgdb_scan *g;
	char current[32];               /* id of the current agent, queue or dispatch; "" none */
	uint64_t offset;
	struct member member[MEMBERS_MAX];
	int count;
};

/* One tuple while it is said. */
struct tuple {
	const struct member *member;
	int count;
};

static const char *get(const struct tuple *t, const char *name)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->member[i].name, name) == 0)
			return t->member[i].value;
	return "";
}

static const char *get_any(const struct tuple *t, const char *a, const char *b, const char *c)
{
	const char *v = get(t, a);

	if (!*v && b)
		v = get(t, b);
	if (!*v && c)
		v = get(t, c);
	return v;
}

static int64_t number(const char *text)
{
	int64_t n;

	return span_int(span_of(text), &n) ? n : -1;
}

/* "1.2" is number 2 of inferior 1. */
static int64_t id_of(const struct tuple *t)
{
	const char *id = get(t, "id"), *dot = strrchr(id, '.');

	return number(dot ? dot + 1 : id);
}

static bool current(const struct mi *mi, const struct tuple *t)
{
	return *get(t, "current") == '*' || (*mi->current && strcmp(get(t, "id"), mi->current) == 0);
}

static void say_agent(struct mi *mi, const struct tuple *t, struct span target)
{
	struct span rest = span_after(target, "(GPUID ");
	struct reading r;
	uint64_t gpuid;

	reading_start(&r, "gdb_agent", mi->offset);
	if (id_of(t) >= 0)
		reading_int(&r, "number", id_of(t));
	reading_word(&r, "state", get(t, "state"));
	if (span_take_uint(&rest, &gpuid))
		reading_int(&r, "gpuid", (int64_t)gpuid);
	reading_word(&r, "arch", get_any(t, "architecture", "arch", NULL));
	reading_word(&r, "device", get_any(t, "name", "device-name", "device"));
	if (number(get(t, "cores")) >= 0)
		reading_int(&r, "cores", number(get(t, "cores")));
	if (number(get(t, "threads")) >= 0)
		reading_int(&r, "threads", number(get(t, "threads")));
	reading_word(&r, "location", get_any(t, "location", "pci-slot", "pci"));
	reading_int(&r, "current", current(mi, t));
	reading_emit(&r, mi->g->sink);
	rocgdb_see(mi->g, mi->offset, true);
}

/* "AMDGPU Queue 1:2 (QID 1)" -> "1:2" and 1. */
static struct span target_of(struct span target, int64_t *n)
{
	struct span rest = span_trim(target), word, in;
	uint64_t value_of;

	*n = -1;
	if (!span_word(&rest, &word))
		return span_make("", 0);
	in = span_after(rest, "ID ");
	if (span_take_uint(&in, &value_of))
		*n = (int64_t)value_of;
	return word;
}

static void say_queue(struct mi *mi, const struct tuple *t, struct span target)
{
	int64_t qid, read = number(get(t, "read")), write = number(get(t, "write"));
	struct reading r;

	target = target_of(target, &qid);
	reading_start(&r, "gdb_queue", mi->offset);
	if (id_of(t) >= 0)
		reading_int(&r, "number", id_of(t));
	reading_text(&r, "target", target);
	if (qid >= 0)
		reading_int(&r, "qid", qid);
	reading_word(&r, "type", get(t, "type"));
	if (read >= 0 && write >= 0) {
		reading_int(&r, "read", read);
		reading_int(&r, "write", write);
		reading_int(&r, "pending", write - read);
	}
	if (number(get(t, "size")) >= 0)
		reading_int(&r, "size", number(get(t, "size")));
	reading_word(&r, "address", get_any(t, "addr", "address", NULL));
	reading_int(&r, "current", current(mi, t));
	reading_emit(&r, mi->g->sink);
	rocgdb_see(mi->g, mi->offset, true);
}

/* "B|Aa|Ra"; the manual of ROCgdb has a list instead: "[B,Aa,Ra]". */
static struct span fence_of(const struct tuple *t, char out[64])
{
	struct span s = span_of(get_any(t, "fence", "fences", NULL));

	if (!span_skip(&s, "[") || !s.len)
		return s;
	snprintf(out, 64, "%.*s", (int)(s.len - 1 < 63 ? s.len - 1 : 63), s.at);
	for (char *c = out; *c; c++)
		*c = *c == ',' ? '|' : *c;
	return span_of(out);
}

static void say_tuple(struct mi *mi, const struct tuple *t)
{
	struct span target = span_of(get(t, "target-id")), rest = target;
	char fence[64];
	int64_t n;

	if (span_skip(&rest, "AMDGPU Agent")) {
		say_agent(mi, t, target);
	} else if (span_skip(&rest, "AMDGPU Queue")) {
		say_queue(mi, t, rest);
	} else if (span_skip(&rest, "AMDGPU Dispatch")) {
		target = target_of(rest, &n);
		rocgdb_dispatch(mi->g, mi->offset, id_of(t), target, n, span_of(get(t, "grid")), span_of(get(t, "workgroup")), true,
			fence_of(t, fence), span_of(get_any(t, "kernel-function", "kernel", "kernel-name")), current(mi, t));
	} else if (span_skip(&rest, "AMDGPU Wave")) {
		target = target_of(rest, &n);
		rocgdb_wave(mi->g, mi->offset, id_of(t), target, span_of(get(t, "addr")), span_of(get(t, "func")));
	}
}

/* A c-string: returns what is behind it. */
static struct span c_string(struct span s, char *out)
{
	size_t n = 0, i = 1;

	for (; i < s.len && s.at[i] != '"'; i++) {
		char c = s.at[i];

		if (c == '\\' && i + 1 < s.len) {
			c = s.at[++i];
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
		}
		if (n < VALUE_MAX - 1)
			out[n++] = c;
	}
	out[n] = 0;
	return span_sub(s, i + 1, s.len);
}

/* "name=" off s, `-` for `_`. */
static bool take_name(struct span *s, char name[32])
{
	size_t n = 0;

	while (n < s->len && n < 31 && (isalnum((unsigned char)s->at[n]) || s->at[n] == '-' || s->at[n] == '_')) {
		name[n] = s->at[n] == '_' ? '-' : s->at[n];
		n++;
	}
	name[n] = 0;
	if (!n || n >= s->len || s->at[n] != '=')
		return false;
	*s = span_sub(*s, n + 1, s->len);
	return true;
}

static void add(struct mi *mi, const char *name, const char *text)
{
	struct member *m = &mi->member[mi->count];

	if (mi->count == MEMBERS_MAX)
		return;
	snprintf(m->name, sizeof m->name, "%s", name);
	snprintf(m->value, sizeof m->value, "%s", text);
	mi->count++;
}

static void append(char *list, const char *text)
{
	size_t n = strlen(list);

	snprintf(list + n, VALUE_MAX - n, "%s%s", n ? "," : "", text);
}

static struct span value(struct mi *mi, struct span s, char *out, int depth, bool of_tuple);

/* The members of a tuple, or the values of a list, whose strings go to `list`. `closed` when its end is there. */
static struct span members(struct mi *mi, struct span s, char close, int depth, char *list, bool *closed)
{
	char name[32], text[VALUE_MAX];

	*closed = false;
	for (int i = 0; i < 20000 && s.len && *s.at != close; i++) {
		text[0] = 0;
		if (!take_name(&s, name))
			name[0] = 0;
		s = value(mi, s, text, depth + 1, strcmp(name, "frame") == 0);
		if (*text && close == ']')
			append(list, text);
		else if (*text && *name)
			add(mi, name, text);
		if (!span_skip(&s, ",") && s.len && *s.at != close)
			return span_make("", 0);
	}
	*closed = s.len > 0;
	return span_sub(s, 1, s.len);
}

/* `part`: the members of a tuple count as those of the tuple around it. */
static struct span tuple(struct mi *mi, struct span s, int depth, bool part)
{
	struct tuple mine;
	char list[VALUE_MAX] = "";
	int base = mi->count;
	bool closed;

	s = members(mi, s, '}', depth, list, &closed);
	mine.member = mi->member + base;
	mine.count = mi->count - base;
	if (closed && *get(&mine, "target-id"))
		say_tuple(mi, &mine);
	else if (part)
		return s;
	mi->count = base;
	return s;
}

static struct span value(struct mi *mi, struct span s, char *out, int depth, bool part)
{
	char list[VALUE_MAX] = "";
	bool closed;

	if (!s.len || depth > DEPTH_MAX)
		return span_make("", 0);
	if (*s.at == '"')
		return c_string(s, out);
	if (*s.at == '{')
		return tuple(mi, span_sub(s, 1, s.len), depth, part);
	if (*s.at != '[')
		return span_make("", 0);
	s = members(mi, span_sub(s, 1, s.len), ']', depth, list, &closed);
	if (*list)
		snprintf(out, VALUE_MAX, "[%.*s]", VALUE_MAX - 3, list);
	return s;
}

/* current-agent-id="1.1" stands behind the list; `_` in the manual. */
static void find_current(struct mi *mi, struct span s)
{
	static const char *const names[] = { "current-agent-id=\"", "current-queue-id=\"", "current-dispatch-id=\"", "current_agent_id=\"",
		"current_queue_id=\"", "current_dispatch_id=\"" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct span rest = span_after(s, names[i]);
		long quote = span_find_char(rest, '"');

		if (quote > 0 && quote < (long)sizeof mi->current)
			snprintf(mi->current, sizeof mi->current, "%.*s", (int)quote, rest.at);
	}
}

static void read_record(struct rocgdb_scan *g, struct span s, uint64_t offset)
{
	static struct mi mi;
	char list[VALUE_MAX] = "";
	bool closed;

	memset(&mi, 0, sizeof mi);
	mi.g = g;
	mi.offset = offset;
	find_current(&mi, s);
	members(&mi, s, 0, 0, list, &closed);
}

void gdb_mi_end(struct rocgdb_scan *g)
{
	if (g->mi_text.len)
		read_record(g, buf_as_span(&g->mi_text), g->mi_offset);
	buf_clear(&g->mi_text);
}

/* *stopped,reason="signal-received",signal-name="SIGSEGV",...,thread-id="6" */
static void stopped(struct rocgdb_scan *g, struct span s, uint64_t offset)
{
	struct span name = span_after(s, "signal-name=\""), number = span_after(s, ",thread-id=\"");
	long quote = span_find_char(name, '"');
	uint64_t thread;

	if (quote > 0)
		rocgdb_signal(g, offset, span_sub(name, 0, (size_t)quote), span_take_uint(&number, &thread) ? (int64_t)thread : -1, false);
}

/* Text that gdb would have printed, read as such. */
static void printed(struct rocgdb_scan *g, const struct line *l, struct span s)
{
	char text[VALUE_MAX];
	struct span rest, piece;

	c_string(s, text);
	rest = span_of(text);
	while (span_line(&rest, &piece)) {
		struct line inner = *l;

		inner.text = piece;
		rocgdb_line(g, &inner);
	}
}

static void failed(struct rocgdb_scan *g, const struct line *l, struct span s)
{
	struct span message = span_after(s, "msg=");

	if (span_starts(message, "\""))
		printed(g, l, message);
	rocgdb_failed(g, l->offset, s);
}

/* Brackets that are open at the end of a line of a record; strings do not count. */
static int depth_after(struct rocgdb_scan *g, struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.at[i];

		if (g->mi_string && c == '\\')
			i++;
		else if (c == '"')
			g->mi_string = !g->mi_string;
		else if (!g->mi_string)
			g->mi_depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
	}
	return g->mi_depth;
}

/* ~"text\n" and &"text\n" */
static bool stream(struct rocgdb_scan *g, const struct line *l, struct span s)
{
	if (s.len < 3 || (*s.at != '~' && *s.at != '&' && *s.at != '@') || s.at[1] != '"' || s.at[s.len - 1] != '"')
		return false;
	printed(g, l, span_sub(s, 1, s.len));
	return true;
}

bool gdb_mi_line(struct rocgdb_scan *g, const struct line *l)
{
	struct span s = span_trim(l->text);
	uint64_t token;

	if (g->mi_text.len) {
		buf_span(&g->mi_text, s);
		if (depth_after(g, s) <= 0 || g->mi_text.cut) {
			read_record(g, buf_as_span(&g->mi_text), g->mi_offset);
			buf_clear(&g->mi_text);
		}
		return true;
	}
	if (stream(g, l, s))
		return true;
	span_take_uint(&s, &token);
	if (span_starts(s, "^error")) {
		failed(g, l, s);
		return true;
	}
	if (!span_starts(s, "^done,") && !span_starts(s, "*stopped,") && !span_starts(s, "=thread"))
		return false;
	rocgdb_see(g, l->offset, false);
	if (*s.at == '*')
		stopped(g, s, l->offset);
	s = span_sub(s, (size_t)span_find_char(s, ',') + 1, s.len);
	g->mi_string = false;
	g->mi_depth = 0;
	if (depth_after(g, s) <= 0) {
		read_record(g, s, l->offset);
		return true;
	}
	buf_span(&g->mi_text, s);
	g->mi_offset = l->offset;
	return true;
}
