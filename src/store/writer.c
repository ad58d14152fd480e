/* writer.c - the queue, the thread, and what is done when the disk says no. */
#include "config.h"

#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/mem.h"
#include "store/session_write.h"

#define BATCH_MS 850 /* at most this old when committed; what matters is committed at once */
#define BATCH_MAX 20000 /* observations in one transaction */
#define RETRY_MS 5000
#define CLOSE_MS 5000 /* a file system that hangs does not keep the program */
#define SIZE_CAP ((int64_t)1 << 30)
#define CHECK_MS 1000
#define WORD_MS 60000 /* size and rows in the status are told this often */
#define FOLD_MS 1000
#define WAL_LEAST ((int64_t)8 << 20)

struct writer {
	/* Of the thread: */
	struct session_write file;
	struct queue batch;
	struct map meta;
	int64_t retry, checked, told, folded; /* mono; 0 never */
	bool failed; /* the batch could not be committed */
	bool degraded; /* the disk is or was full, and the reserve is not back */
	bool samples; /* false: file or log are far past the cap and nothing may go */
	bool held_log; /* a reader keeps the log from being folded into the file */
	void (*notice)(void *);
	void *context;

	uv_thread_t thread;
	uv_mutex_t lock;
	uv_cond_t wake, done;
	/* Under the lock: */
	struct queue queue;
	size_t held, held_bytes; /* in the batch */
	struct map new_meta;
	bool urgent, asked, ending, ended;
	bool stuck; /* the last attempt failed */
	struct writer_status status;
};

/* --- what it says --- */

static void set_status(struct writer *w, bool ok, const char *detail, const char *remedy, bool tell)
{
	uv_mutex_lock(&w->lock);
	tell = tell || w->status.ok != ok;
	w->status.ok = ok;
	snprintf(w->status.detail, sizeof w->status.detail, "%s", detail);
	snprintf(w->status.remedy, sizeof w->status.remedy, "%s", remedy);
	uv_mutex_unlock(&w->lock);
	if (!tell)
		return;
	w->told = clock_mono_ms();
	if (w->notice)
		w->notice(w->context);
}

static size_t waiting(struct writer *w)
{
	size_t n;

	uv_mutex_lock(&w->lock);
	n = w->queue.count + w->held;
	uv_mutex_unlock(&w->lock);
	return n;
}

static void say_full(struct writer *w, bool tell)
{
	char detail[300], remedy[200];
	size_t n = waiting(w);

	if (w->failed)
		snprintf(detail, sizeof detail, "disk full: recording degraded, %zu observations wait in memory", n);
	else
		snprintf(detail, sizeof detail, "disk full: recording degraded, the reserve is being used");
	snprintf(remedy, sizeof remedy, "make room where %.120s is: recording goes on by itself", w->file.place.path);
	set_status(w, false, detail, remedy, tell);
}

static void say_failed(struct writer *w, const struct error *error)
{
	char detail[300];

	snprintf(detail, sizeof detail, "%.220s; %zu observations wait in memory", error->text, waiting(w));
	set_status(w, false, detail, "check the file and its folder: it is tried again every 5 s", false);
}

static void say_fine(struct writer *w, bool tell)
{
	const struct place *place = &w->file.place;
	int64_t wal = place_bytes(place, "-wal");
	char detail[300];
	uint64_t rows;

	uv_mutex_lock(&w->lock);
	rows = w->status.committed;
	uv_mutex_unlock(&w->lock);
	snprintf(detail, sizeof detail, "%.180s  %.1f MB, %llu rows%s%s", place->path,
		(double)(place_bytes(place, "") + wal) / 1e6, (unsigned long long)rows,
		place->network ? " (network file system: no WAL)" : "", w->held_log ? " (a reader holds the log)" : "");
	if (!w->samples && w->held_log)
		set_status(w, false,
			"a program that reads the session file does not end, and its log has no room left: samples are"
			" left out",
			"end that program", tell);
	else if (!w->samples)
		set_status(w, false,
			"the session file is at its cap and all that is left surrounds a verdict: samples are left out",
			"start a new session, or allow a larger one", tell);
	else
		set_status(w, true, detail, "", tell);
}

/* --- one turn of the thread --- */

static void merge_meta(struct map *from, struct map *to)
{
	for (size_t i = 0; i < from->count; i++)
		map_set(to, from->entry[i].key, mem_text(from->entry[i].value));
	map_clear(from);
}

/* Wait for work. True when a batch was taken; *ending when it is the last turn. */
static bool take(struct writer *w, bool *ending)
{
	bool taken = false;

	uv_mutex_lock(&w->lock);
	if (!w->urgent && !w->ending && (w->failed || w->queue.count < BATCH_MAX))
		uv_cond_timedwait(&w->wake, &w->lock, (uint64_t)BATCH_MS * 1000000);
	w->urgent = false;
	*ending = w->ending;
	if (!w->failed || *ending || w->asked || clock_mono_ms() >= w->retry) {
		w->asked = false;
		queue_move(&w->queue, &w->batch, *ending ? w->queue.count : BATCH_MAX);
		w->held = w->batch.count;
		w->held_bytes = w->batch.bytes;
		merge_meta(&w->new_meta, &w->meta);
		taken = w->batch.count || w->meta.count || *ending;
	}
	uv_mutex_unlock(&w->lock);
	return taken;
}

static void committed(struct writer *w)
{
	int64_t bytes = place_bytes(&w->file.place, "") + place_bytes(&w->file.place, "-wal");

	uv_mutex_lock(&w->lock);
	w->status.committed += w->batch.count - w->file.left_out;
	w->status.dropped += w->file.left_out;
	w->status.file_bytes = bytes;
	w->held = w->held_bytes = 0;
	w->stuck = false;
	uv_cond_broadcast(&w->done);
	uv_mutex_unlock(&w->lock);
	queue_clear(&w->batch);
	map_clear(&w->meta);
}

static void put_back(struct writer *w)
{
	uv_mutex_lock(&w->lock);
	queue_return(&w->queue, &w->batch);
	w->held = w->held_bytes = 0;
	w->status.dropped += queue_trim(&w->queue, 0);
	w->stuck = true;
	uv_cond_broadcast(&w->done);
	uv_mutex_unlock(&w->lock);
}

static void commit(struct writer *w, bool last)
{
	struct error error;
	int status = session_write_batch(&w->file, &w->batch, &w->meta, w->samples, last, &error);

	if (status < 0 && w->file.full && w->file.place.reserve) {
		place_give_back(&w->file.place);
		status = session_write_batch(&w->file, &w->batch, &w->meta, w->samples, last, &error);
		w->degraded = true;
	}
	w->failed = status < 0;
	w->retry = clock_mono_ms() + RETRY_MS;
	if (!w->failed)
		committed(w);
	else
		put_back(w);
	if (w->failed && w->file.full)
		w->degraded = true;
	if (w->failed && !w->file.full)
		say_failed(w, &error);
	else if (w->degraded)
		say_full(w, false);
}

/* The log may grow to a sixteenth of the cap. */
static int64_t wal_max(const struct writer *w)
{
	return w->file.evict.cap / 16 > WAL_LEAST ? w->file.evict.cap / 16 : WAL_LEAST;
}

/* A reader that does not end keeps the log from being folded into the file, and the log grows. */
static void bound_wal(struct writer *w)
{
	int64_t mono = clock_mono_ms();

	w->held_log = place_bytes(&w->file.place, "-wal") > wal_max(w);
	if (!w->held_log || (w->folded && mono - w->folded < FOLD_MS))
		return;
	w->folded = mono;
	sqlite3_busy_timeout(w->file.db, 100);
	sqlite3_wal_checkpoint_v2(w->file.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(w->file.db, 2000);
	w->held_log = place_bytes(&w->file.place, "-wal") > wal_max(w);
}

static void check(struct writer *w)
{
	int64_t mono = clock_mono_ms();

	if (w->checked && mono - w->checked < CHECK_MS)
		return;
	w->checked = mono;
	if (!place_is_there(&w->file.place)) {
		set_status(w, false, "the session file was removed or replaced while being written",
			"start hangtop again", false);
		return;
	}
	if (w->degraded && !w->failed && place_take_reserve(&w->file.place))
		w->degraded = false;
	if (w->failed)
		return;
	bound_wal(w);
	if (w->degraded)
		say_full(w, false);
	else
		say_fine(w, mono - w->told >= WORD_MS);
}

/* One step between batches. True when there is more. */
static bool evict_some(struct writer *w)
{
	int more = evict_step(&w->file.evict);

	if (more < 0)
		debug_log("store", "eviction: %s", sqlite3_errmsg(w->file.db));
	w->samples = (!w->file.evict.stuck || evict_used(&w->file.evict) <= 2 * w->file.evict.cap) &&
		     (!w->held_log || place_bytes(&w->file.place, "-wal") <= w->file.evict.cap + wal_max(w));
	return more > 0;
}

static void run(void *context)
{
	struct writer *w = context;
	bool ending = false;

	while (!ending) {
		if (take(w, &ending))
			commit(w, ending);
		check(w);
		if (!w->failed && !ending && evict_some(w)) {
			uv_mutex_lock(&w->lock);
			w->urgent = true; /* the next step follows at once, after what has come meanwhile */
			uv_mutex_unlock(&w->lock);
		}
	}
	uv_mutex_lock(&w->lock);
	w->ended = true;
	uv_cond_broadcast(&w->done);
	uv_mutex_unlock(&w->lock);
}

/* --- what the front calls --- */

void writer_add(struct writer *w, const struct observation *o)
{
	struct record *record = record_new(o);

	uv_mutex_lock(&w->lock);
	queue_add(&w->queue, record);
	w->status.dropped += queue_trim(&w->queue, w->held_bytes);
	if (queue_matters(o->kind) || w->queue.count == BATCH_MAX) {
		w->urgent = true;
		uv_cond_signal(&w->wake);
	}
	uv_mutex_unlock(&w->lock);
}

void writer_meta(struct writer *w, const char *key, const char *value)
{
	uv_mutex_lock(&w->lock);
	map_set(&w->new_meta, key, mem_text(value));
	uv_mutex_unlock(&w->lock);
}

void writer_flush(struct writer *w)
{
	uv_mutex_lock(&w->lock);
	w->urgent = w->asked = true;
	uv_cond_signal(&w->wake);
	uv_mutex_unlock(&w->lock);
}

void writer_wait(struct writer *w, uint64_t left)
{
	uv_mutex_lock(&w->lock);
	while (w->queue.count + w->held > left && !w->stuck) {
		w->urgent = true;
		uv_cond_signal(&w->wake);
		uv_cond_wait(&w->done, &w->lock);
	}
	uv_mutex_unlock(&w->lock);
}

void writer_status(struct writer *w, struct writer_status *out)
{
	uv_mutex_lock(&w->lock);
	*out = w->status;
	out->queued = w->queue.count + w->held;
	uv_mutex_unlock(&w->lock);
}

int writer_open(struct writer **out, const struct writer_options *options, struct error *error)
{
	struct writer *w = mem_alloc(sizeof *w);

	*out = NULL;
	if (session_write_open(&w->file, options->path, options->size_cap > 0 ? options->size_cap : SIZE_CAP, error) <
		0) {
		free(w);
		return -1;
	}
	w->notice = options->notice;
	w->context = options->context;
	w->samples = true;
	w->told = clock_mono_ms();
	w->degraded = !w->file.place.reserve;
	map_init(&w->meta, free);
	map_init(&w->new_meta, free);
	uv_mutex_init(&w->lock);
	uv_cond_init(&w->wake);
	uv_cond_init(&w->done);
	w->status.ok = true;
	snprintf(w->status.detail, sizeof w->status.detail, "%.250s%s", w->file.place.path,
		w->file.place.network ? " (network file system: no WAL)" : "");
	if (uv_thread_create(&w->thread, run, w) != 0) {
		session_write_close(&w->file);
		free(w);
		return error_set(error, "cannot start the thread that writes the session");
	}
	*out = w;
	return 0;
}

void writer_close(struct writer *w)
{
	int waited = 0;
	bool ended;

	uv_mutex_lock(&w->lock);
	w->ending = true;
	uv_cond_signal(&w->wake);
	while (!w->ended && waited == 0)
		waited = uv_cond_timedwait(&w->done, &w->lock, (uint64_t)CLOSE_MS * 1000000);
	ended = w->ended;
	uv_mutex_unlock(&w->lock);
	if (!ended) {
		debug_log("store", "the writer hangs in the file system: left behind");
		return; /* the thread still uses all of it */
	}
	uv_thread_join(&w->thread);
	session_write_close(&w->file);
	queue_release(&w->queue);
	queue_release(&w->batch);
	map_release(&w->meta);
	map_release(&w->new_meta);
	uv_cond_destroy(&w->wake);
	uv_cond_destroy(&w->done);
	uv_mutex_destroy(&w->lock);
	free(w);
}
