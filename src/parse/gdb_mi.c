/* gdb_mi.c - values of MI, and the tuples that matter. */
#include "config.h"

#include "parse/gdb_mi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "parse/rocgdb.h"

#define MEMBERS_MAX 32
#define DEPTH_MAX 12
#define VALUE_MAX 4096

struct member {
	char name[32];
	char value[VALUE_MAX];
};

struct tuple {
	struct member member[MEMBERS_MAX];
	int count;
};

struct mi {
	struct rocgdb_scan *g;
	char current[32];               /* id of the current agent, queue or dispatch; "" none */
	uint64_t offset;
	struct tuple tuple[3];          /* of the nesting around: a wave's frame is a tuple inside its thread */
	bool found;
};

static struct span value(struct mi *mi, struct span s, char *out, int depth, struct tuple *into);

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

static void say_tuple(struct mi *mi, const struct tuple *t)
{
	struct span target = span_of(get(t, "target-id")), rest = target;
	int64_t n;

	if (span_skip(&rest, "AMDGPU Agent")) {
		say_agent(mi, t, target);
	} else if (span_skip(&rest, "AMDGPU Queue")) {
		say_queue(mi, t, rest);
	} else if (span_skip(&rest, "AMDGPU Dispatch")) {
		target = target_of(rest, &n);
		rocgdb_dispatch(mi->g, mi->offset, id_of(t), target, n, span_of(get(t, "grid")), span_of(get(t, "workgroup")), true,
			span_of(get(t, "fence")), span_of(get_any(t, "kernel-function", "kernel", "kernel-name")), current(mi, t));
	} else if (span_skip(&rest, "AMDGPU Wave")) {
		target = target_of(rest, &n);
		rocgdb_wave(mi->g, mi->offset, id_of(t), target, span_of(get(t, "addr")), span_of(get(t, "func")));
	} else {
		return;
	}
	mi->found = true;
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

static void add(struct tuple *t, const char *name, const char *text)
{
	if (!t || t->count == MEMBERS_MAX || *get(t, name))
		return;
	snprintf(t->member[t->count].name, sizeof t->member[0].name, "%s", name);
	snprintf(t->member[t->count++].value, VALUE_MAX, "%s", text);
}

/* The members of a tuple or list; `into` gets those of a tuple inside (a thread's frame). */
static struct span members(struct mi *mi, struct span s, char close, int depth, struct tuple *into)
{
	char name[32], text[VALUE_MAX];

	for (int i = 0; i < 20000 && s.len && *s.at != close; i++) {
		text[0] = 0;
		if (!take_name(&s, name))
			name[0] = 0;
		s = value(mi, s, text, depth + 1, into);
		if (*name && *text)
			add(into, name, text);
		if (!span_skip(&s, ",") && s.len && *s.at != close)
			return span_make("", 0);
	}
	return s.len ? span_sub(s, 1, s.len) : s;
}

static struct span value(struct mi *mi, struct span s, char *out, int depth, struct tuple *into)
{
	if (!s.len || depth > DEPTH_MAX)
		return span_make("", 0);
	if (*s.at == '"')
		return c_string(s, out);
	if (*s.at == '[') {
		struct span rest = members(mi, span_sub(s, 1, s.len), ']', depth, into);

		return rest;
	}
	if (*s.at == '{') {
		struct tuple *mine = NULL;
		struct span rest;

		/* A tuple with a target is one of ours; one inside it adds to it. */
		if (span_starts(s, "{id=") || span_contains(span_sub(s, 0, 200), "target-id=") || span_contains(span_sub(s, 0, 200), "target_id=")) {
			for (int i = 0; i < 3 && !mine; i++)
				if (!mi->tuple[i].count)
					mine = &mi->tuple[i];
		}
		rest = members(mi, span_sub(s, 1, s.len), '}', depth, mine ? mine : into);
		if (mine) {
			say_tuple(mi, mine);
			mine->count = 0;
		}
		return rest;
	}
	return span_make("", 0);
}

/* current-agent-id="1.1" stands behind the list. */
static void find_current(struct mi *mi, struct span s)
{
	static const char *const names[] = { "current-agent-id=\"", "current-queue-id=\"", "current-dispatch-id=\"" };

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

	memset(&mi, 0, sizeof mi);
	mi.g = g;
	mi.offset = offset;
	find_current(&mi, s);
	members(&mi, s, 0, 0, NULL);
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

/* ~"text\n" and &"text\n": what gdb would have printed. */
static bool stream(struct rocgdb_scan *g, const struct line *l, struct span s)
{
	char text[VALUE_MAX];
	struct span rest, piece;

	if (s.len < 3 || (*s.at != '~' && *s.at != '&' && *s.at != '@') || s.at[1] != '"' || s.at[s.len - 1] != '"')
		return false;
	c_string(span_sub(s, 1, s.len), text);
	rest = span_of(text);
	while (span_line(&rest, &piece)) {
		struct line inner = *l;

		inner.text = piece;
		rocgdb_line(g, &inner);
	}
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
		rocgdb_see(g, l->offset, false);
		g->failed = true;
		return true;
	}
	if (!span_starts(s, "^done,") && !span_starts(s, "*stopped,") && !span_starts(s, "=thread"))
		return false;
	rocgdb_see(g, l->offset, false);
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
