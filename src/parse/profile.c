/* profile.c - reading engine profiles; the grammar is in profile.h. */
#include "config.h"

#include "parse/profile.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

#define LINE_MAX_BYTES 65536
#define ITEMS_MAX 1000          /* of one list */

enum key_type { KEY_TEXT, KEY_NUMBER, KEY_LIST, KEY_PATTERNS };

struct key {
	const char *section, *name;
	enum key_type type;
	size_t at;              /* offset in struct profile */
};

#define AT(member) offsetof(struct profile, member)
static const struct key keys[] = {
	{ "profile", "name", KEY_TEXT, AT(name) },
	{ "profile", "words", KEY_TEXT, AT(words) },
	{ "profile", "port", KEY_NUMBER, AT(port) },
	{ "profile", "log", KEY_LIST, AT(log_path) },
	{ "profile", "owned_by", KEY_LIST, AT(owned_by) },
	{ "process", "api", KEY_PATTERNS, AT(api) },
	{ "process", "engine", KEY_PATTERNS, AT(engine) },
	{ "process", "worker", KEY_PATTERNS, AT(worker) },
	{ "process", "helper", KEY_PATTERNS, AT(helper) },
	{ "process", "spawn_worker", KEY_PATTERNS, AT(spawn_worker) },
	{ "process", "port_option", KEY_LIST, AT(port_option) },
	{ "log", "progress", KEY_PATTERNS, AT(line[LOG_PROGRESS]) },
	{ "log", "request", KEY_PATTERNS, AT(line[LOG_REQUEST]) },
	{ "log", "finish", KEY_PATTERNS, AT(line[LOG_FINISH]) },
	{ "log", "loading", KEY_PATTERNS, AT(line[LOG_LOADING]) },
	{ "log", "ready", KEY_PATTERNS, AT(line[LOG_READY]) },
	{ "log", "fault", KEY_PATTERNS, AT(line[LOG_FAULT]) },
	{ "log", "fatal", KEY_PATTERNS, AT(line[LOG_FATAL]) },
	{ "log", "warning", KEY_PATTERNS, AT(line[LOG_WARNING]) },
	{ "log", "start", KEY_PATTERNS, AT(line[LOG_START]) },
	{ "log", "stats", KEY_PATTERNS, AT(line[LOG_STATS]) },
	{ "log", "ignore", KEY_PATTERNS, AT(line[LOG_IGNORE]) },
	{ "log", "rank", KEY_PATTERNS, AT(rank) },
	{ "log", "shape", KEY_PATTERNS, AT(shape) },
	{ "metrics", "path", KEY_TEXT, AT(metrics_path) },
	{ "metrics", "progress", KEY_LIST, AT(metrics_progress) },
	{ "metrics", "running", KEY_TEXT, AT(metrics_running) },
	{ "metrics", "waiting", KEY_TEXT, AT(metrics_waiting) },
};
#undef AT
#define KEYS (sizeof keys / sizeof keys[0])

static const char *const sections[] = { "profile", "process", "log", "metrics", "quirk" };
#define SECTIONS (sizeof sections / sizeof sections[0])

static const char *const class_words[LOG_CLASSES] = {
	[LOG_PROGRESS] = "progress", [LOG_REQUEST] = "request", [LOG_FINISH] = "finish", [LOG_LOADING] = "loading",
	[LOG_READY] = "ready", [LOG_FAULT] = "fault", [LOG_FATAL] = "fatal", [LOG_WARNING] = "warning",
	[LOG_START] = "start", [LOG_STATS] = "stats", [LOG_IGNORE] = "ignore",
};

const char *log_class_word(enum log_class c)
{
	return (int)c < 0 || c >= LOG_CLASSES ? NULL : class_words[c];
}

static const char *guess_section(struct span name)
{
	const char *best = sections[0];

	for (size_t i = 1; i < SECTIONS; i++)
		if (span_distance(name, span_of(sections[i])) < span_distance(name, span_of(best)))
			best = sections[i];
	return best;
}

/* The same key in another section, else the closest key of this one. */
static const struct key *guess_key(const char *section, struct span name)
{
	const struct key *best = NULL;
	int least = 100;

	for (size_t i = 0; i < KEYS; i++)
		if (span_is(name, keys[i].name))
			return &keys[i];
	for (size_t i = 0; i < KEYS; i++) {
		int d = span_distance(name, span_of(keys[i].name));

		if (strcmp(keys[i].section, section) == 0 && d < least) {
			least = d;
			best = &keys[i];
		}
	}
	return best;
}

static void list_add(struct profile_list *list, char *item)
{
	list->item = mem_array(list->item, (size_t)list->count + 1, sizeof list->item[0]);
	list->item[list->count++] = item;
}

static void list_release(struct profile_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->item[i]);
	free(list->item);
}

struct reader {
	struct profile *profile;
	const char *file;
	int line;
	const char *section;    /* NULL before the first */
	struct error *error;
};

static int check_pattern(struct reader *r, const struct key *key, struct span value)
{
	PCRE2_SIZE at;
	int number;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)value.at, value.len, 0, &number, &at, NULL);
	PCRE2_UCHAR words[128] = "";

	if (code) {
		pcre2_code_free(code);
		return 0;
	}
	pcre2_get_error_message(number, words, sizeof words);
	return error_set(r->error, "%s:%d: pattern of '%s' does not compile: %s at column %zu of the pattern", r->file, r->line,
		key->name, (const char *)words, (size_t)at + 1);
}

static int read_list(struct reader *r, const struct key *key, struct profile_list *list, struct span value)
{
	if (key->type == KEY_PATTERNS && check_pattern(r, key, value) < 0)
		return -1;
	if (list->count >= ITEMS_MAX)
		return error_set(r->error, "%s:%d: more than %d values of '%s'", r->file, r->line, ITEMS_MAX, key->name);
	list_add(list, mem_text_n(value.at, value.len));
	return 0;
}

static int read_text(struct reader *r, const struct key *key, char **text, struct span value)
{
	if (*text)
		return error_set(r->error, "%s:%d: '%s' is given twice", r->file, r->line, key->name);
	*text = mem_text_n(value.at, value.len);
	return 0;
}

static int read_value(struct reader *r, const struct key *key, struct span value)
{
	void *at = (char *)r->profile + key->at;
	uint64_t number;

	switch (key->type) {
	case KEY_TEXT:
		return read_text(r, key, at, value);
	case KEY_NUMBER:
		if (!span_uint(value, &number) || number < 1 || number > 65535)
			return error_set(r->error, "%s:%d: '%s' must be a number from 1 to 65535, not '%.*s'", r->file, r->line,
				key->name, (int)(value.len < 40 ? value.len : 40), value.at);
		*(int *)at = (int)number;
		return 0;
	case KEY_LIST:
	case KEY_PATTERNS:
		return read_list(r, key, at, value);
	}
	return -1;
}

static int read_key(struct reader *r, struct span name, struct span value)
{
	const struct key *near;

	for (size_t i = 0; i < KEYS; i++)
		if (span_is(name, keys[i].name) && strcmp(keys[i].section, r->section) == 0)
			return read_value(r, &keys[i], value);
	near = guess_key(r->section, name);
	error_set(r->error, "%s:%d: unknown key '%.*s' in [%s]", r->file, r->line, (int)(name.len < 60 ? name.len : 60), name.at,
		r->section);
	if (near && strcmp(near->section, r->section) != 0)
		return error_fix(r->error, "'%s' belongs in [%s]", near->name, near->section);
	return near ? error_fix(r->error, "did you mean '%s'?", near->name) : -1;
}

static int read_quirk(struct reader *r, struct span name, struct span value)
{
	char *text = mem_alloc(name.len + value.len + 3);

	memcpy(text, name.at, name.len);
	memcpy(text + name.len, ": ", 2);
	memcpy(text + name.len + 2, value.at, value.len);
	list_add(&r->profile->quirk, text);
	return 0;
}

static int read_section(struct reader *r, struct span line)
{
	struct span name, quoted;

	if (!span_ends(line, "]"))
		return error_set(r->error, "%s:%d: a section must end with ']'", r->file, r->line);
	name = span_trim(span_sub(line, 1, line.len - 2));
	quoted = name;
	span_cut(&quoted, ' ', &name);
	quoted = span_trim(quoted);
	r->section = NULL;
	for (size_t i = 0; i < SECTIONS; i++)
		if (span_is(name, sections[i]))
			r->section = sections[i];
	if (!r->section) {
		error_set(r->error, "%s:%d: unknown section [%.*s]", r->file, r->line, (int)(name.len < 60 ? name.len : 60), name.at);
		return error_fix(r->error, "did you mean [%s]?", guess_section(name));
	}
	if (quoted.len == 0)
		return 0;
	if (quoted.len < 3 || quoted.at[0] != '"' || !span_ends(quoted, "\"") || strcmp(r->section, "profile") != 0)
		return error_set(r->error, "%s:%d: only [profile \"name\"] takes a name, in double quotes", r->file, r->line);
	return read_text(r, &keys[0], &r->profile->name, span_sub(quoted, 1, quoted.len - 2));
}

static int read_line(struct reader *r, struct span line)
{
	struct span rest = line, name;

	if (line.len > LINE_MAX_BYTES)
		return error_set(r->error, "%s:%d: line is longer than %d bytes", r->file, r->line, LINE_MAX_BYTES);
	if (line.len && (line.at[0] == '#' || line.at[0] == ';'))
		return 0;
	line = rest = span_trim(line);
	if (line.len == 0)
		return 0;
	if (memchr(line.at, 0, line.len))
		return error_set(r->error, "%s:%d: a NUL byte: this is no text file", r->file, r->line);
	if (line.at[0] == '[')
		return read_section(r, line);
	if (span_find_char(line, '=') < 0)
		return error_set(r->error, "%s:%d: expected 'key = value'", r->file, r->line);
	if (!r->section)
		return error_set(r->error, "%s:%d: a key before the first [section]", r->file, r->line);
	span_cut(&rest, '=', &name);
	name = span_trim(name);
	rest = span_trim(rest);
	if (name.len == 0 || rest.len == 0)
		return error_set(r->error, "%s:%d: expected 'key = value', one of them is empty", r->file, r->line);
	if (strcmp(r->section, "quirk") == 0)
		return read_quirk(r, name, rest);
	return read_key(r, name, rest);
}

struct profile *profile_parse(struct span text, const char *file, struct error *error)
{
	struct reader r = { .file = file, .error = error };
	struct span line;

	r.profile = mem_alloc(sizeof *r.profile);
	span_skip(&text, "\xef\xbb\xbf");
	while (span_line(&text, &line)) {
		r.line++;
		if (read_line(&r, line) < 0) {
			profile_free(r.profile);
			return NULL;
		}
	}
	if (!r.profile->name) {
		error_set(error, "%s: no 'name' in [profile]", file);
		profile_free(r.profile);
		return NULL;
	}
	if (!r.profile->words)
		r.profile->words = mem_text(r.profile->name);
	return r.profile;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < KEYS; i++) {
		void *at = (char *)profile + keys[i].at;

		if (keys[i].type == KEY_TEXT)
			free(*(char **)at);
		else if (keys[i].type != KEY_NUMBER)
			list_release(at);
	}
	list_release(&profile->quirk);
	free(profile);
}

const struct profile *profile_find(const struct profile_set *set, const char *name)
{
	for (int i = 0; set && name && i < set->count; i++)
		if (strcmp(set->profile[i]->name, name) == 0)
			return set->profile[i];
	return NULL;
}

void profile_set_add(struct profile_set *set, struct profile *profile)
{
	for (int i = 0; i < set->count; i++) {
		if (strcmp(set->profile[i]->name, profile->name) == 0) {
			profile_free(set->profile[i]);
			set->profile[i] = profile;
			return;
		}
	}
	set->profile = mem_array(set->profile, (size_t)set->count + 1, sizeof set->profile[0]);
	set->profile[set->count++] = profile;
}

void profile_set_release(struct profile_set *set)
{
	for (int i = 0; i < set->count; i++)
		profile_free(set->profile[i]);
	free(set->profile);
	set->profile = NULL;
	set->count = 0;
}
