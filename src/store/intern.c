/* intern.c - frames are stored once. */
#include "config.h"

#include "store/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

#define CACHE_MAX 20000
#define LIST_MAX (4 << 20)

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
	return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) == SQLITE_OK ? 0 : -1;
}

int intern_open(struct intern *in, sqlite3 *db)
{
	memset(in, 0, sizeof *in);
	in->db = db;
	map_init(&in->frame, NULL);
	map_init(&in->list, NULL);
	if (prepare(db, "INSERT OR IGNORE INTO frame(text) VALUES(?)", &in->add_frame) < 0 ||
		prepare(db, "SELECT id FROM frame WHERE text=?", &in->find_frame) < 0 ||
		prepare(db, "INSERT OR IGNORE INTO frame_list(frames) VALUES(?)", &in->add_list) < 0 ||
		prepare(db, "SELECT id FROM frame_list WHERE frames=?", &in->find_list) < 0 ||
		prepare(db, "INSERT INTO stack_thread(stack,n,tid,name,state,gil,frames) VALUES(?,?,?,?,?,?,?)",
			&in->add_thread) < 0)
		return -1;
	return 0;
}

void intern_close(struct intern *in)
{
	sqlite3_finalize(in->add_frame);
	sqlite3_finalize(in->find_frame);
	sqlite3_finalize(in->add_list);
	sqlite3_finalize(in->find_list);
	sqlite3_finalize(in->add_thread);
	map_release(&in->frame);
	map_release(&in->list);
}

void intern_forget(struct intern *in)
{
	map_clear(&in->frame);
	map_clear(&in->list);
}

/* --- the canonical text --- */

static void put_thread(struct json_write *w, json_t *thread, json_t *frames)
{
	json_t *name = json_object_get(thread, "name"), *state = json_object_get(thread, "state"), *frame;
	json_t *tid = json_object_get(thread, "tid"), *gil = json_object_get(thread, "gil");
	size_t i;

	jw_object(w, NULL);
	if (tid)
		jw_int(w, "tid", json_integer_value(tid));
	if (name)
		jw_text(w, "name", span_make(json_string_value(name), json_string_length(name)));
	if (state)
		jw_text(w, "state", span_make(json_string_value(state), json_string_length(state)));
	if (gil)
		jw_bool(w, "gil", json_is_true(gil));
	jw_array(w, "frames");
	json_array_foreach(frames, i, frame)
		jw_text(w, NULL, span_make(json_string_value(frame), json_string_length(frame)));
	jw_end_array(w);
	jw_end_object(w);
}

static bool thread_fits(json_t *thread)
{
	json_t *name = json_object_get(thread, "name"), *state = json_object_get(thread, "state");
	json_t *tid = json_object_get(thread, "tid"), *gil = json_object_get(thread, "gil");
	json_t *frames = json_object_get(thread, "frames"), *frame;
	size_t i;

	if (!json_is_object(thread) || !json_is_array(frames) || (tid && !json_is_integer(tid)) ||
		(name && !json_is_string(name)) || (state && !json_is_string(state)) || (gil && !json_is_boolean(gil)))
		return false;
	json_array_foreach(
		frames, i, frame) if (!json_is_string(frame) ||
				      strlen(json_string_value(frame)) != json_string_length(frame)) return false;
	return true;
}

json_t *intern_parse(struct span threads)
{
	json_t *root = json_loadb(threads.at, threads.len, JSON_REJECT_DUPLICATES, NULL), *thread;
	bool fits = json_is_array(root) && json_array_size(root) > 0;
	struct json_write w;
	struct buf again;
	size_t i;

	buf_init(&again, 0);
	jw_start(&w, &again);
	jw_array(&w, NULL);
	json_array_foreach(root, i, thread)
	{
		fits = fits && thread_fits(thread);
		if (fits)
			put_thread(&w, thread, json_object_get(thread, "frames"));
	}
	jw_end_array(&w);
	fits = fits && span_same(buf_as_span(&again), threads);
	buf_release(&again);
	if (fits)
		return root;
	json_decref(root);
	return NULL;
}

/* --- writing --- */

static int64_t find_or_add(
	struct intern *in, struct map *cache, sqlite3_stmt *add, sqlite3_stmt *find, const char *text, size_t len)
{
	int64_t id = (int64_t)(intptr_t)map_get(cache, text);

	if (id)
		return id;
	sqlite3_bind_text(add, 1, text, (int)len, SQLITE_STATIC);
	if (sqlite3_step(add) != SQLITE_DONE) {
		sqlite3_reset(add);
		return -1;
	}
	sqlite3_reset(add);
	if (sqlite3_changes(in->db) > 0) {
		id = sqlite3_last_insert_rowid(in->db);
	} else {
		sqlite3_bind_text(find, 1, text, (int)len, SQLITE_STATIC);
		id = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : -1;
		sqlite3_reset(find);
	}
	if (cache->count >= CACHE_MAX)
		map_clear(cache);
	if (id > 0)
		map_set(cache, text, (void *)(intptr_t)id);
	return id;
}

static int64_t frames_id(struct intern *in, json_t *frames)
{
	struct buf list;
	json_t *frame;
	int64_t id = 0;
	size_t i;

	buf_init(&list, 0);
	buf_char(&list, '[');
	json_array_foreach(frames, i, frame)
	{
		id = find_or_add(in, &in->frame, in->add_frame, in->find_frame, json_string_value(frame),
			json_string_length(frame));
		if (id < 0)
			break;
		buf_printf(&list, "%s%lld", i ? "," : "", (long long)id);
	}
	buf_char(&list, ']');
	if (id >= 0)
		id = find_or_add(in, &in->list, in->add_list, in->find_list, buf_string(&list), list.len);
	buf_release(&list);
	return id;
}

static void bind_string(sqlite3_stmt *s, int at, json_t *text)
{
	if (text)
		sqlite3_bind_text(s, at, json_string_value(text), (int)json_string_length(text), SQLITE_STATIC);
	else
		sqlite3_bind_null(s, at);
}

static int write_thread(sqlite3_stmt *s, int64_t stack, size_t n, json_t *thread, int64_t frames)
{
	json_t *tid = json_object_get(thread, "tid"), *gil = json_object_get(thread, "gil");
	int status;

	sqlite3_bind_int64(s, 1, stack);
	sqlite3_bind_int64(s, 2, (int64_t)n);
	if (tid)
		sqlite3_bind_int64(s, 3, json_integer_value(tid));
	else
		sqlite3_bind_null(s, 3);
	bind_string(s, 4, json_object_get(thread, "name"));
	bind_string(s, 5, json_object_get(thread, "state"));
	if (gil)
		sqlite3_bind_int(s, 6, json_is_true(gil));
	else
		sqlite3_bind_null(s, 6);
	sqlite3_bind_int64(s, 7, frames);
	status = sqlite3_step(s);
	sqlite3_reset(s);
	return status == SQLITE_DONE ? 0 : -1;
}

int intern_write(struct intern *in, int64_t stack, json_t *threads)
{
	json_t *thread;
	size_t i;

	json_array_foreach(threads, i, thread)
	{
		int64_t frames = frames_id(in, json_object_get(thread, "frames"));

		if (frames < 0 || write_thread(in->add_thread, stack, i, thread, frames) < 0)
			return -1;
	}
	return 0;
}

/* --- reading --- */

int unintern_open(struct unintern *in, sqlite3 *db)
{
	memset(in, 0, sizeof *in);
	map_init(&in->text, free);
	if (prepare(db, "SELECT frames,tid,name,state,gil FROM stack_thread WHERE stack=? ORDER BY n", &in->threads) <
			0 ||
		prepare(db, "SELECT frames FROM frame_list WHERE id=?", &in->list) < 0 ||
		prepare(db, "SELECT text FROM frame WHERE id=?", &in->frame) < 0)
		return -1;
	return 0;
}

void unintern_close(struct unintern *in)
{
	sqlite3_finalize(in->threads);
	sqlite3_finalize(in->list);
	sqlite3_finalize(in->frame);
	map_release(&in->text);
}

static struct span column_span(sqlite3_stmt *s, int at)
{
	const char *text = (const char *)sqlite3_column_text(s, at);

	return span_make(text ? text : "", text ? (size_t)sqlite3_column_bytes(s, at) : 0);
}

static int put_frame(struct unintern *in, struct json_write *w, int64_t id)
{
	int status;

	sqlite3_bind_int64(in->frame, 1, id);
	status = sqlite3_step(in->frame);
	if (status == SQLITE_ROW)
		jw_text(w, NULL, column_span(in->frame, 0));
	sqlite3_reset(in->frame);
	return status == SQLITE_ROW ? 0 : -1;
}

/* "[1,2,3]": ids of frames. */
static int put_frames(struct unintern *in, struct json_write *w, struct span list)
{
	int64_t id;

	if (!span_skip(&list, "["))
		return -1;
	for (int n = 0; span_take_int(&list, &id); n++) {
		if (put_frame(in, w, id) < 0)
			return -1;
		if (!span_skip(&list, ","))
			break;
	}
	return span_is(list, "]") ? 0 : -1;
}

/* The text of a frame list; NULL when the file is damaged there. */
static const char *list_text(struct unintern *in, int64_t id)
{
	char key[24];
	const char *known;
	struct json_write w;
	struct buf text;
	int status = -1;

	snprintf(key, sizeof key, "%lld", (long long)id);
	known = map_get(&in->text, key);
	if (known)
		return known;
	buf_init(&text, LIST_MAX);
	jw_start(&w, &text);
	jw_array(&w, NULL);
	sqlite3_bind_int64(in->list, 1, id);
	if (sqlite3_step(in->list) == SQLITE_ROW)
		status = put_frames(in, &w, column_span(in->list, 0));
	sqlite3_reset(in->list);
	jw_end_array(&w);
	if (status < 0 || text.cut) {
		buf_release(&text);
		return NULL;
	}
	if (in->text.count >= CACHE_MAX)
		map_clear(&in->text);
	map_set(&in->text, key, buf_take(&text));
	return map_get(&in->text, key);
}

static int put_row(struct unintern *in, struct json_write *w)
{
	sqlite3_stmt *s = in->threads;
	const char *frames = list_text(in, sqlite3_column_int64(s, 0));

	if (!frames)
		return -1;
	jw_object(w, NULL);
	if (sqlite3_column_type(s, 1) != SQLITE_NULL)
		jw_int(w, "tid", sqlite3_column_int64(s, 1));
	if (sqlite3_column_type(s, 2) != SQLITE_NULL)
		jw_text(w, "name", column_span(s, 2));
	if (sqlite3_column_type(s, 3) != SQLITE_NULL)
		jw_text(w, "state", column_span(s, 3));
	if (sqlite3_column_type(s, 4) != SQLITE_NULL)
		jw_bool(w, "gil", sqlite3_column_int(s, 4) != 0);
	jw_raw(w, "frames", span_of(frames));
	jw_end_object(w);
	return 0;
}

int unintern_read(struct unintern *in, int64_t stack, struct buf *out)
{
	struct json_write w;
	size_t start = out->len;
	int status, n = 0, result = 0;

	jw_start(&w, out);
	jw_array(&w, NULL);
	sqlite3_bind_int64(in->threads, 1, stack);
	while ((status = sqlite3_step(in->threads)) == SQLITE_ROW && result == 0 && !out->cut) {
		result = put_row(in, &w);
		n++;
	}
	sqlite3_reset(in->threads);
	jw_end_array(&w);
	if (result == 0 && status == SQLITE_DONE && n > 0)
		return 1;
	out->len = start;
	return result < 0 || status != SQLITE_DONE ? -1 : 0;
}
