/* store_file.h - a folder for session files, and short ways to fill and read them, for tests of src/store. */
#ifndef HANGTOP_TESTS_STORE_FILE_H
#define HANGTOP_TESTS_STORE_FILE_H

#include <ftw.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/reader.h"
#include "store/writer.h"

static char store_dir[256];

static inline int store_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(store_dir, sizeof store_dir, "%s/hangtop-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(store_dir) ? 0 : -1;
}

static inline int store_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int store_teardown(void **state)
{
	(void)state;
	return nftw(store_dir, store_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *store_path(const char *name)
{
	static char path[4][512];
	static int n;
	char *out = path[n++ % 4];

	snprintf(out, sizeof path[0], "%s/%s", store_dir, name);
	return out;
}

static inline struct writer *store_writer(const char *name)
{
	struct writer_options options = {.path = store_path(name)};
	struct writer *w;
	struct error error;

	if (writer_open(&w, &options, &error) < 0) {
		fprintf(stderr, "# writer_open: %s\n", error.text);
		return NULL;
	}
	return w;
}

static inline struct reader *store_reader(const char *name)
{
	struct reader *r;
	struct error error;

	if (reader_open(&r, store_path(name), &error) < 0) {
		fprintf(stderr, "# reader_open: %s\n", error.text);
		return NULL;
	}
	return r;
}

static inline void store_add(void *writer, const struct observation *o)
{
	writer_add(writer, o);
}

/* Collect lines of JSON. */
static inline void store_line(void *buf, const struct observation *o)
{
	observation_encode(o, buf);
	buf_char(buf, '\n');
}

static inline void store_count(void *count, const struct observation *o)
{
	(void)o;
	++*(int *)count;
}

/* The one number that this query answers; -1 when it answers none. */
static inline int64_t store_number(const char *name, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *s = NULL;
	int64_t value = -1;

	if (sqlite3_open_v2(store_path(name), &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return value;
}

#endif
