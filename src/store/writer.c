/* writer.c - the queue, the thread, and what is done when the disk says no. */
#include "config.h"

#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "store/evict.h"
#include "store/intern.h"
#include "store/rollup.h"
#include "store/schema.h"

#define BATCH_MS 250            /* at most this old when committed */
#define QUEUE_MAX 200000        /* observations waiting for a disk that says no */
#define RETRY_MS 5000
#define BALLAST (4 << 20)       /* given back to the file system to end a session decently on a full disk */
#define SIZE_CAP ((int64_t)1 << 30)
#define HOUSEKEEPING_MS 10000

struct writer {
	sqlite3 *db;
	sqlite3_stmt *insert[KIND_COUNT], *keyframe, *meta;
	struct intern intern;
	struct rollup rollup;
	struct map subject;            /* observation_key -> struct last_row, for keyframes */
	int64_t keyframe_t, housekept; /* wall of rows; mono */
	char path[4096], ballast[4200];
	int64_t size_cap;
	void (*notice)(void *);
	void *context;

	uv_thread_t thread;
	uv_mutex_t lock;
	uv_cond_t wake;
	/* Under the lock: */
	struct record **queue;
	size_t queued, cap;
	char *meta_key[64], *meta_value[64];
	int metas;
	bool urgent, ending;
	struct writer_status status;
};

struct last_row {
	enum kind kind;
	struct record *subject;        /* node and the subject fields */
	int64_t t, id;
};

static void last_row_free(void *value)
{
	struct last_row *row = value;

	record_free(row->subject);
	free(row);
}

/* --- opening --- */

static int make_parents(const char *path, struct error *error)
{
	char part[4096];

	snprintf(part, sizeof part, "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part, 0700) < 0 && errno != EEXIST && access(part, X_OK) < 0) {
			error_set_errno(error, errno, "cannot make the folder %s", part);
			return error_fix(error, "give a place that can be written with --db FILE, or --no-db");
		}
		*slash = '/';
	}
	return 0;
}

/* WAL needs shared memory on one host. */
static bool on_network(const char *path)
{
	static const unsigned long remote[] = { 0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x65735546, 0x0bd00bd0, 0x47504653,
		0x19830326, 0x00c36400, 0x01021997 };
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
		if (((unsigned long)fs.f_type & 0xffffffff) == remote[i])
			return true;
	return false;
}

static int create_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0) {
		error_set_errno(error, errno, "cannot write the session file %s", path);
		return error_fix(error, "give a place that can be written with --db FILE, or --no-db");
	}
	close(fd);
	return 0;
}

static void make_ballast(struct writer *w)
{
	int fd = open(w->ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0) {
		if (posix_fallocate(fd, 0, BALLAST) != 0)
			unlink(w->ballast);
		close(fd);
	}
}

static int prepare(struct writer *w, struct error *error)
{
	struct buf sql;
	int status = 0;

	buf_init(&sql, 0);
	for (int k = 0; k < KIND_COUNT && status == 0; k++) {
		buf_clear(&sql);
		schema_insert_sql((enum kind)k, &sql);
		status = sqlite3_prepare_v3(w->db, buf_string(&sql), -1, SQLITE_PREPARE_PERSISTENT, &w->insert[k], NULL);
	}
	buf_release(&sql);
	if (status == 0)
		status = sqlite3_prepare_v3(w->db, "INSERT INTO keyframe(t,kind,node,a,b,row_t,row_id) VALUES(?,?,?,?,?,?,?)", -1,
			SQLITE_PREPARE_PERSISTENT, &w->keyframe, NULL);
	if (status == 0)
		status = sqlite3_prepare_v2(w->db, "INSERT OR REPLACE INTO meta(key,value) VALUES(?,?)", -1, &w->meta, NULL);
	if (status != SQLITE_OK || intern_open(&w->intern, w->db) < 0 || rollup_open(&w->rollup, w->db) < 0)
		return schema_error(w->db, error, "session file");
	return 0;
}

static int open_database(struct writer *w, struct error *error)
{
	bool network;

	if (make_parents(w->path, error) < 0 || create_file(w->path, error) < 0)
		return -1;
	network = on_network(w->path);
	if (sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return schema_error(w->db, error, "cannot open the session file");
	sqlite3_busy_timeout(w->db, 2000);
	sqlite3_extended_result_codes(w->db, 1);
	if (schema_exec(w->db, "PRAGMA auto_vacuum=INCREMENTAL", error) < 0 ||
		schema_exec(w->db, network ? "PRAGMA journal_mode=TRUNCATE" : "PRAGMA journal_mode=WAL", error) < 0 ||
		schema_exec(w->db, "PRAGMA synchronous=FULL;PRAGMA wal_autocheckpoint=1000;PRAGMA journal_size_limit=16777216;"
			"PRAGMA cache_size=-1500;PRAGMA mmap_size=0;PRAGMA secure_delete=OFF;PRAGMA temp_store=MEMORY", error) < 0 ||
		schema_prepare(w->db, error) < 0 || prepare(w, error) < 0)
		return -1;
	snprintf(w->status.detail, sizeof w->status.detail, "%.250s%s", w->path, network ? " (network: no WAL)" : "");
	return 0;
}

/* --- one batch --- */

static void remember(struct writer *w, const struct observation *o, int64_t id)
{
	struct last_row *row;
	struct buf key;

	if (kind_table[o->kind].storage == STORAGE_EVENT)
		return;
	buf_init(&key, 1024);
	observation_key(o, &key);
	row = map_get(&w->subject, buf_string(&key));
	if (!row) {
		struct observation subject;

		row = mem_alloc(sizeof *row);
		observation_init(&subject, o->kind, o->node, 0);
		for (int i = 0; i < kind_table[o->kind].subjects; i++)
			subject.value[i] = o->value[i];
		row->kind = o->kind;
		row->subject = record_new(&subject);
		map_set(&w->subject, buf_string(&key), row);
	}
	row->t = o->t;
	row->id = id;
	buf_release(&key);
}

static int write_row(struct writer *w, const struct observation *o)
{
	sqlite3_stmt *s = w->insert[o->kind];
	struct span threads;
	bool apart = o->kind == KIND_stack && observation_get_text(o, STACK_threads, &threads) && intern_fits(threads);
	int64_t id;
	int status;

	status = schema_bind(s, o, !apart) == 0 ? sqlite3_step(s) : SQLITE_ERROR;
	sqlite3_reset(s);
	if (status != SQLITE_DONE)
		return -1;
	id = sqlite3_last_insert_rowid(w->db);
	if (apart && intern_write(&w->intern, id, threads) < 0)
		return -1;
	remember(w, o, id);
	return 0;
}

static void bind_value(sqlite3_stmt *s, int at, const struct value *v)
{
	if (v->type == VALUE_INT)
		sqlite3_bind_int64(s, at, v->number);
	else if (v->type == VALUE_TEXT)
		sqlite3_bind_text(s, at, v->text.at, (int)v->text.len, SQLITE_STATIC);
	else
		sqlite3_bind_null(s, at);
}

static int write_keyframe(struct writer *w, int64_t t)
{
	sqlite3_stmt *s = w->keyframe;

	for (size_t i = 0; i < w->subject.count; i++) {
		const struct last_row *row = w->subject.entry[i].value;
		int status;

		sqlite3_bind_int64(s, 1, t);
		sqlite3_bind_int(s, 2, row->kind);
		sqlite3_bind_text(s, 3, row->subject->o.node, -1, SQLITE_STATIC);
		bind_value(s, 4, &row->subject->o.value[0]);
		bind_value(s, 5, kind_table[row->kind].subjects > 1 ? &row->subject->o.value[1] : &(struct value){ VALUE_NULL, { 0 } });
		sqlite3_bind_int64(s, 6, row->t);
		sqlite3_bind_int64(s, 7, row->id);
		status = sqlite3_step(s);
		sqlite3_reset(s);
		if (status != SQLITE_DONE)
			return -1;
	}
	return 0;
}

/* A keyframe at T stands before the first row with t >= T. */
static int maybe_keyframe(struct writer *w, int64_t t)
{
	int64_t frame = t / KEYFRAME_MS * KEYFRAME_MS;

	if (frame <= w->keyframe_t)
		return 0;
	if (w->subject.count && write_keyframe(w, frame) < 0)
		return -1;
	w->keyframe_t = frame;
	return 0;
}

static int write_meta(struct writer *w, char **key, char **value, int n)
{
	for (int i = 0; i < n; i++) {
		int status;

		sqlite3_bind_text(w->meta, 1, key[i], -1, SQLITE_STATIC);
		sqlite3_bind_text(w->meta, 2, value[i], -1, SQLITE_STATIC);
		status = sqlite3_step(w->meta);
		sqlite3_reset(w->meta);
		if (status != SQLITE_DONE)
			return -1;
	}
	return 0;
}

/* A file that is written on: the last row of every subject, so that the next keyframe knows them. */
static int resume(struct writer *w, struct error *error)
{
	struct buf sql;
	int status = 0;

	buf_init(&sql, 0);
	for (int k = 0; k < KIND_COUNT && status == 0; k++) {
		sqlite3_stmt *s;
		struct observation o;
		int64_t id;

		if (kind_table[k].storage == STORAGE_EVENT)
			continue;
		buf_clear(&sql);
		schema_select_sql((enum kind)k, &sql);
		buf_printf(&sql, "WHERE t>coalesce((SELECT max(t) FROM \"%s\"),0)-3600000 ORDER BY t", kind_table[k].name);
		if (sqlite3_prepare_v2(w->db, buf_string(&sql), -1, &s, NULL) != SQLITE_OK) {
			status = schema_error(w->db, error, "session file");
			break;
		}
		while (sqlite3_step(s) == SQLITE_ROW) {
			schema_row(s, (enum kind)k, &o, &id);
			remember(w, &o, id);
			if (o.t > w->keyframe_t)
				w->keyframe_t = o.t / KEYFRAME_MS * KEYFRAME_MS;
		}
		sqlite3_finalize(s);
	}
	buf_release(&sql);
	return status;
}

struct batch {
	struct record **record;
	size_t count, cap;
	char *key[64], *value[64];
	int metas;
};

static int write_batch(struct writer *w, const struct batch *b, struct error *error)
{
	int64_t keyframe_t = w->keyframe_t;
	int status = schema_exec(w->db, "BEGIN IMMEDIATE", error);

	if (status < 0)
		return -1;
	for (size_t i = 0; i < b->count && status == 0; i++) {
		status = maybe_keyframe(w, b->record[i]->o.t);
		if (status == 0)
			status = write_row(w, &b->record[i]->o);
		if (status == 0)
			status = rollup_add(&w->rollup, &b->record[i]->o);
	}
	if (status == 0)
		status = write_meta(w, (char **)b->key, (char **)b->value, b->metas);
	if (status == 0 && sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	schema_error(w->db, error, "cannot write");
	if (!sqlite3_get_autocommit(w->db))
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	intern_forget(&w->intern);
	w->keyframe_t = keyframe_t;
	return -1;
}

static bool disk_is_full(sqlite3 *db)
{
	int code = sqlite3_extended_errcode(db);

	return (code & 0xff) == SQLITE_FULL || sqlite3_system_errno(db) == ENOSPC || sqlite3_system_errno(db) == EDQUOT;
}

/* --- status --- */

static void set_status(struct writer *w, bool ok, const char *detail, const char *remedy, bool tell)
{
	bool changed;

	uv_mutex_lock(&w->lock);
	changed = w->status.ok != ok;
	w->status.ok = ok;
	snprintf(w->status.detail, sizeof w->status.detail, "%s", detail);
	snprintf(w->status.remedy, sizeof w->status.remedy, "%s", remedy);
	uv_mutex_unlock(&w->lock);
	if ((changed || tell) && w->notice)
		w->notice(w->context);
}

static int64_t file_size(const struct writer *w)
{
	struct stat st;

	return stat(w->path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static void housekeeping(struct writer *w)
{
	char detail[300];
	int64_t mono = clock_mono_ms(), size = file_size(w);
	uint64_t committed;
	bool first = !w->housekept;

	if (w->housekept && mono - w->housekept < HOUSEKEEPING_MS)
		return;
	w->housekept = mono;
	if (size > w->size_cap && evict(w->db, w->size_cap) < 0)
		debug_log("store", "eviction: %s", sqlite3_errmsg(w->db));
	uv_mutex_lock(&w->lock);
	w->status.file_bytes = size;
	committed = w->status.committed;
	uv_mutex_unlock(&w->lock);
	snprintf(detail, sizeof detail, "%.220s  %.1f MB, %llu rows", w->path, (double)size / 1e6, (unsigned long long)committed);
	set_status(w, true, detail, "", !first);
}

/* --- the thread --- */

static void take(struct writer *w, struct batch *b)
{
	if (b->count + w->queued > b->cap) {
		b->cap = b->count + w->queued;
		b->record = mem_array(b->record, b->cap, sizeof *b->record);
	}
	if (w->queued)
		memcpy(b->record + b->count, w->queue, w->queued * sizeof *w->queue);
	b->count += w->queued;
	w->queued = 0;
	for (int i = 0; i < w->metas && b->metas < 64; i++) {
		b->key[b->metas] = w->meta_key[i];
		b->value[b->metas++] = w->meta_value[i];
	}
	w->metas = 0;
	w->urgent = false;
}

static void drop_oldest(struct writer *w, struct batch *b)
{
	size_t n = b->count > QUEUE_MAX ? b->count - QUEUE_MAX : 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		record_free(b->record[i]);
	memmove(b->record, b->record + n, (b->count - n) * sizeof *b->record);
	b->count -= n;
	uv_mutex_lock(&w->lock);
	w->status.dropped += n;
	uv_mutex_unlock(&w->lock);
}

static void clear_batch(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		record_free(b->record[i]);
	for (int i = 0; i < b->metas; i++) {
		free(b->key[i]);
		free(b->value[i]);
	}
	b->count = 0;
	b->metas = 0;
	if (b->cap > 65536) {
		free(b->record);
		b->record = NULL;
		b->cap = 0;
	}
}

/* Commit, with the ballast given back once when the disk is full. */
static int commit(struct writer *w, struct batch *b)
{
	struct error error;
	char detail[300];

	if (write_batch(w, b, &error) == 0)
		return 0;
	if (disk_is_full(w->db) && unlink(w->ballast) == 0 && write_batch(w, b, &error) == 0) {
		set_status(w, true, "the disk is nearly full: the reserve is used up", "make room on the disk", true);
		return 0;
	}
	snprintf(detail, sizeof detail, "%.200s; %zu observations wait in memory", error.text, b->count);
	set_status(w, false, detail, disk_is_full(w->db) ? "make room on the disk: recording goes on by itself" :
		"check the file and its folder: it is tried again every 5 s", true);
	return -1;
}

static void run(void *context)
{
	struct writer *w = context;
	struct batch batch = { 0 };
	bool ending = false, failed = false;
	int64_t retry = 0;

	while (!ending) {
		uv_mutex_lock(&w->lock);
		if (!w->urgent && !w->ending)
			uv_cond_timedwait(&w->wake, &w->lock, (uint64_t)BATCH_MS * 1000000);
		ending = w->ending;
		take(w, &batch);
		uv_mutex_unlock(&w->lock);
		drop_oldest(w, &batch);
		if (failed && !ending && clock_mono_ms() < retry)
			continue;
		if (batch.count || batch.metas) {
			failed = commit(w, &batch) < 0;
			retry = clock_mono_ms() + RETRY_MS;
			if (!failed) {
				uv_mutex_lock(&w->lock);
				w->status.committed += batch.count;
				uv_mutex_unlock(&w->lock);
				clear_batch(&batch);
			}
		}
		if (!failed)
			housekeeping(w);
	}
	clear_batch(&batch);
	free(batch.record);
}

/* --- what the front calls --- */

static bool matters(enum kind kind)
{
	return kind == KIND_verdict || kind == KIND_finding || kind == KIND_action || kind == KIND_note || kind == KIND_mark;
}

void writer_add(struct writer *w, const struct observation *o)
{
	struct record *record = record_new(o);

	uv_mutex_lock(&w->lock);
	if (w->queued == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 256;
		w->queue = mem_array(w->queue, w->cap, sizeof *w->queue);
	}
	if (w->queued >= QUEUE_MAX) {
		w->status.dropped++;
		record_free(record);
	} else {
		w->queue[w->queued++] = record;
	}
	if (matters(o->kind)) {
		w->urgent = true;
		uv_cond_signal(&w->wake);
	}
	uv_mutex_unlock(&w->lock);
}

void writer_meta(struct writer *w, const char *key, const char *value)
{
	uv_mutex_lock(&w->lock);
	if (w->metas < 64) {
		w->meta_key[w->metas] = mem_text(key);
		w->meta_value[w->metas++] = mem_text(value);
	}
	uv_mutex_unlock(&w->lock);
}

void writer_flush(struct writer *w)
{
	uv_mutex_lock(&w->lock);
	w->urgent = true;
	uv_cond_signal(&w->wake);
	uv_mutex_unlock(&w->lock);
}

void writer_status(struct writer *w, struct writer_status *out)
{
	uv_mutex_lock(&w->lock);
	*out = w->status;
	out->queued = w->queued;
	uv_mutex_unlock(&w->lock);
}

static void close_database(struct writer *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		sqlite3_finalize(w->insert[k]);
	sqlite3_finalize(w->keyframe);
	sqlite3_finalize(w->meta);
	intern_close(&w->intern);
	rollup_close(&w->rollup);
	map_release(&w->subject);
	sqlite3_close(w->db);
}

int writer_open(struct writer **out, const struct writer_options *options, struct error *error)
{
	struct writer *w = mem_alloc(sizeof *w);

	*out = NULL;
	snprintf(w->path, sizeof w->path, "%s", options->path);
	snprintf(w->ballast, sizeof w->ballast, "%s.ballast", w->path);
	w->size_cap = options->size_cap > 0 ? options->size_cap : SIZE_CAP;
	w->notice = options->notice;
	w->context = options->context;
	map_init(&w->subject, last_row_free);
	if (open_database(w, error) < 0 || resume(w, error) < 0) {
		close_database(w);
		free(w);
		return -1;
	}
	make_ballast(w);
	w->status.ok = true;
	uv_mutex_init(&w->lock);
	uv_cond_init(&w->wake);
	if (uv_thread_create(&w->thread, run, w) != 0) {
		close_database(w);
		free(w);
		return error_set(error, "cannot start the thread that writes the session");
	}
	*out = w;
	return 0;
}

void writer_close(struct writer *w)
{
	uv_mutex_lock(&w->lock);
	w->ending = true;
	uv_cond_signal(&w->wake);
	uv_mutex_unlock(&w->lock);
	uv_thread_join(&w->thread);
	unlink(w->ballast);
	close_database(w);
	for (size_t i = 0; i < w->queued; i++)
		record_free(w->queue[i]);
	free(w->queue);
	uv_cond_destroy(&w->wake);
	uv_mutex_destroy(&w->lock);
	free(w);
}
