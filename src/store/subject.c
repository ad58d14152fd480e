/* subject.c - who still speaks. */
#include "config.h"

#include "store/subject.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/schema.h"

struct last_row {
	struct record *subject; /* node and subject fields */
	int64_t t;
};

static void last_row_free(void *value)
{
	struct last_row *row = value;

	record_free(row->subject);
	free(row);
}

int64_t subjects_window(int64_t t)
{
	return t / SILENT_MS * SILENT_MS - SILENT_MS;
}

int subjects_open(struct subjects *s, sqlite3 *db)
{
	memset(s, 0, sizeof *s);
	map_init(&s->last, last_row_free);
	buf_init(&s->key, 4096);
	return sqlite3_prepare_v3(db, "INSERT OR REPLACE INTO silent(kind,node,a,b,t) VALUES(?,?,?,?,?)", -1,
		       SQLITE_PREPARE_PERSISTENT, &s->insert, NULL) == SQLITE_OK
		       ? 0
		       : -1;
}

void subjects_close(struct subjects *s)
{
	sqlite3_finalize(s->insert);
	map_release(&s->last);
	buf_release(&s->key);
}

void subjects_forget(struct subjects *s)
{
	map_clear(&s->last);
	s->step = 0;
}

static int note(struct subjects *s, const struct last_row *row)
{
	const struct observation *o = &row->subject->o;
	int status;

	sqlite3_bind_text(s->insert, 1, kind_table[o->kind].name, -1, SQLITE_STATIC);
	sqlite3_bind_text(s->insert, 2, o->node, -1, SQLITE_STATIC);
	for (int i = 0; i < 2; i++) {
		if (i < kind_table[o->kind].subjects)
			schema_bind_subject(s->insert, 3 + i, o, i);
		else
			sqlite3_bind_int(s->insert, 3 + i, 0);
	}
	sqlite3_bind_int64(s->insert, 5, row->t);
	status = sqlite3_step(s->insert);
	sqlite3_reset(s->insert);
	return status == SQLITE_DONE ? 0 : -1;
}

int subjects_advance(struct subjects *s, int64_t t)
{
	int64_t window = subjects_window(t);

	if (t / SILENT_MS <= s->step)
		return 0;
	s->step = t / SILENT_MS;
	for (size_t i = s->last.count; i > 0; i--) {
		const struct last_row *row = s->last.entry[i - 1].value;

		if (row->t >= window)
			continue;
		if (note(s, row) < 0)
			return -1;
		map_remove(&s->last, s->last.entry[i - 1].key);
	}
	return 0;
}

void subjects_saw(struct subjects *s, const struct observation *o)
{
	struct last_row *row;

	if (kind_table[o->kind].storage != STORAGE_SAMPLE)
		return;
	buf_clear(&s->key);
	observation_key(o, &s->key);
	row = map_get(&s->last, buf_string(&s->key));
	if (!row) {
		struct observation subject;

		row = mem_alloc(sizeof *row);
		observation_init(&subject, o->kind, o->node, 0);
		for (int i = 0; i < kind_table[o->kind].subjects; i++)
			subject.value[i] = o->value[i];
		row->subject = record_new(&subject);
		map_set(&s->last, buf_string(&s->key), row);
	}
	row->t = o->t;
}
