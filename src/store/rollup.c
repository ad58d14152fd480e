/* rollup.c - one row a minute for plots. */
#include "config.h"

#include "store/rollup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct roll {
	double lo, hi, last, total;
	int64_t n;
};

static const struct {
	enum kind kind;
	int field;
	const char *series;
} rolled[] = {
	{KIND_gpu, GPU_busy_pct, "gpu.busy_pct"},
	{KIND_gpu, GPU_mem_activity_pct, "gpu.mem_activity_pct"},
	{KIND_gpu, GPU_power_w, "gpu.power_w"},
	{KIND_gpu, GPU_vram_used, "gpu.vram_used"},
	{KIND_process_sample, PROCESS_SAMPLE_cpu_pct, "process_sample.cpu_pct"},
	{KIND_server, SERVER_total_ms, "server.total_ms"},
	{KIND_progress, PROGRESS_delta, "progress.delta"},
};

int rollup_open(struct rollup *r, sqlite3 *db)
{
	memset(r, 0, sizeof *r);
	map_init(&r->minute, free);
	buf_init(&r->key, 4096);
	return sqlite3_prepare_v3(db,
		       "INSERT OR REPLACE INTO roll(minute,series,subject,lo,hi,last,total,n) VALUES(?,?,?,?,?,?,?,?)",
		       -1, SQLITE_PREPARE_PERSISTENT, &r->insert, NULL) == SQLITE_OK
		       ? 0
		       : -1;
}

void rollup_close(struct rollup *r)
{
	sqlite3_finalize(r->insert);
	map_release(&r->minute);
	buf_release(&r->key);
}

void rollup_forget(struct rollup *r)
{
	map_clear(&r->minute);
	r->now = 0;
}

bool rollup_wants(enum kind kind)
{
	for (size_t i = 0; i < sizeof rolled / sizeof rolled[0]; i++)
		if (rolled[i].kind == kind)
			return true;
	return false;
}

int rollup_write(struct rollup *r)
{
	for (size_t i = 0; i < r->minute.count; i++) {
		const struct map_entry *entry = &r->minute.entry[i];
		const struct roll *roll = entry->value;
		const char *tab = strchr(entry->key, '\t');
		int status;

		sqlite3_bind_int64(r->insert, 1, r->now * ROLLUP_MINUTE_MS);
		sqlite3_bind_text(r->insert, 2, entry->key, (int)(tab - entry->key), SQLITE_STATIC);
		sqlite3_bind_text(r->insert, 3, tab + 1, -1, SQLITE_STATIC);
		sqlite3_bind_double(r->insert, 4, roll->lo);
		sqlite3_bind_double(r->insert, 5, roll->hi);
		sqlite3_bind_double(r->insert, 6, roll->last);
		sqlite3_bind_double(r->insert, 7, roll->total);
		sqlite3_bind_int64(r->insert, 8, roll->n);
		status = sqlite3_step(r->insert);
		sqlite3_reset(r->insert);
		if (status != SQLITE_DONE)
			return -1;
	}
	return 0;
}

static void count_in(struct rollup *r, const char *key, double value)
{
	struct roll *roll = map_get(&r->minute, key);

	if (!roll) {
		roll = mem_alloc(sizeof *roll);
		roll->lo = roll->hi = value;
		map_set(&r->minute, key, roll);
	}
	if (value < roll->lo)
		roll->lo = value;
	if (value > roll->hi)
		roll->hi = value;
	roll->last = value;
	roll->total += value;
	roll->n++;
}

int rollup_add(struct rollup *r, const struct observation *o)
{
	int64_t minute = o->t / ROLLUP_MINUTE_MS;

	if (minute > r->now) {
		if (rollup_write(r) < 0)
			return -1;
		map_clear(&r->minute);
		r->now = minute;
	}
	for (size_t i = 0; i < sizeof rolled / sizeof rolled[0]; i++) {
		double value;

		if (rolled[i].kind != o->kind || !observation_get_real(o, rolled[i].field, &value))
			continue;
		buf_clear(&r->key);
		buf_printf(&r->key, "%s\t", rolled[i].series);
		observation_key(o, &r->key);
		count_in(r, buf_string(&r->key), value);
	}
	return 0;
}
