/* doc/session-file.md says what is in the file: its columns are those of kinds.def, and its queries run and answer. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "feed.h"
#include "store_file.h"
#include "store_load.h"

#define T0 LOAD_T0
#define MARKER "<!-- columns"

static char doc_path[600];

static char *read_doc(void)
{
	const char *srcdir = getenv("srcdir");
	FILE *f;
	char *text = mem_alloc(1 << 20);

	snprintf(doc_path, sizeof doc_path, "%s/doc/session-file.md", srcdir && *srcdir ? srcdir : ".");
	f = fopen(doc_path, "re");
	if (!f)
		fail_msg("cannot read %s", doc_path);
	text[fread(text, 1, (1 << 20) - 1, f)] = 0;
	fclose(f);
	return text;
}

static void columns(struct buf *out)
{
	static const char *const storage[] = {"sample", "state", "event"};
	static const char *const type[] = {"INTEGER", "REAL", "TEXT", "TEXT (JSON)"};

	for (int k = 0; k < KIND_COUNT; k++) {
		const struct kind_info *info = &kind_table[k];

		buf_printf(out, "\n### %s\n\n%s: %s.\n\n| column | type | |\n|--|--|--|\n", info->name,
			storage[info->storage], info->words);
		for (int i = 0; i < info->fields; i++)
			buf_printf(out, "| `%s`%s | %s | %s |\n", info->field[i].name,
				i < info->subjects ? " (key)" : "", type[info->field[i].type], info->field[i].words);
	}
}

static void the_columns_are_those_of_the_kinds(void **state)
{
	char *doc = read_doc(), *marker = strstr(doc, MARKER), *line;
	struct buf expected;

	(void)state;
	assert_non_null(marker);
	line = strchr(marker, '\n') + 1;
	buf_init(&expected, 1 << 20);
	columns(&expected);
	if (getenv("UPDATE")) {
		FILE *f = fopen(doc_path, "we");

		assert_non_null(f);
		fprintf(f, "%.*s%s", (int)(line - doc), doc, buf_string(&expected));
		fclose(f);
	} else if (strcmp(line, buf_string(&expected)) != 0) {
		size_t at = 0;

		while (line[at] && line[at] == expected.at[at])
			at++;
		fail_msg("doc/session-file.md differs from kinds.def near \"%.60s\": run UPDATE=1 "
			 "tests/unit/test_store_doc",
			expected.at + (at > 20 ? at - 20 : 0));
	}
	buf_release(&expected);
	free(doc);
}

/* --- the queries --- */

static void say(struct writer *w, const char *line)
{
	struct record *record = feed_record("%s", line);

	writer_add(w, &record->o);
	record_free(record);
}

/* Three minutes of eight ranks; rank 5 stands elsewhere when it hangs. */
static void make_sample(void)
{
	struct writer *w = store_writer("sample.db");
	struct load load = {.each = store_add, .context = w, .seed = 4};
	struct record *record;

	for (int rank = 0; rank < LOAD_RANKS; rank++) {
		record = feed_record(
			"{'t':%lld,'node':'gpu-node-17','kind':'process','pid':%d,'role':'worker','rank':'TP%d'}",
			(long long)T0 - 10, 41200 + rank, rank);
		writer_add(w, &record->o);
		record_free(record);
	}
	for (int i = 0; i < 180; i++) {
		load.hung = i > 60;
		load_tick(&load, T0 + i * 1000);
	}
	for (int rank = 0; rank < LOAD_RANKS; rank++) {
		record = feed_record(
			"{'t':%lld,'node':'gpu-node-17','kind':'stack','pid':%d,'rank':'TP%d','threads':[{'tid':1,"
			"'name':'MainThread','state':'active','gil':false,'frames':['%s (dist.py:1)','forward "
			"(model.py:7)']}]}",
			(long long)T0 + 175000, 41200 + rank, rank, rank == 5 ? "wait_for_event" : "all_reduce");
		writer_add(w, &record->o);
		record_free(record);
	}
	say(w, "{'t':1764573778000,'node':'gpu-node-17','kind':'process_sample','pid':41205,'state':'D','wchan':'kfd_"
	       "wait'}");
	say(w, "{'t':1764573779000,'node':'gpu-node-17','kind':'verdict','state':'HUNG','place':'collective','grade':'"
	       "A','reason':'x'}");
	writer_meta(w, "node", "gpu-node-17");
	writer_close(w);
}

/* The columns of all rows with blanks between, a line a row. -1 on an error. */
static int run_query(sqlite3 *db, const char *sql, struct buf *out)
{
	sqlite3_stmt *s;
	int status, rows = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
		fprintf(stderr, "# %s\n", sqlite3_errmsg(db));
		return -1;
	}
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);

			buf_printf(out, "%s%s", i ? "|" : "", text ? text : "");
		}
		buf_char(out, '\n');
		rows++;
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? rows : -1;
}

/* Part of what each query must say, in the order of the page; and how many rows. */
static const struct {
	const char *says;
	int rows;
} answer[] = {
	{"2025-12-01 07:22:59|HUNG|collective|A|x|", 1},
	{"-120|gpu-node-17|0|", 121 * 8},
	{"wait_for_event (dist.py:1)|1|TP5\nall_reduce (dist.py:1)|7|TP0 TP1 TP2 TP3 TP4 TP6 TP7", 2},
	{"TP0|41200|1|2025-12-01 07:22:55", 7},
	{"|metrics:vllm:generation_tokens_total|6.0", 10},
	{"2025-12-01 07:20:00|", 3},
	{"2025-12-01 07:20:00|60|60|", 3},
	{"41205|TP5|kfd_wait|1|2025-12-01 07:22:58", 1},
};
#define ANSWERS (sizeof answer / sizeof answer[0])

static void the_queries_answer(void **state)
{
	char *doc = read_doc(), *at = doc, *end;
	size_t n = 0;
	sqlite3 *db;

	(void)state;
	make_sample();
	assert_int_equal(sqlite3_open_v2(store_path("sample.db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	while ((at = strstr(at, "```sql\n"))) {
		struct buf out;
		int rows;

		at += 7;
		end = strstr(at, "```");
		assert_non_null(end);
		*end = 0;
		assert_true(n < ANSWERS);
		buf_init(&out, 1 << 20);
		rows = run_query(db, at, &out);
		if (rows != answer[n].rows || !strstr(buf_string(&out), answer[n].says))
			fail_msg("query %zu gives %d rows: %.400s", n + 1, rows, buf_string(&out));
		buf_release(&out);
		at = end + 3;
		n++;
	}
	assert_int_equal(n, ANSWERS);
	sqlite3_close(db);
	free(doc);
}

/* Tables, views and their columns, as the page lists them. */
static void the_other_tables_are_as_listed(void **state)
{
	char *doc = read_doc();
	sqlite3_stmt *s;
	sqlite3 *db;

	(void)state;
	writer_close(store_writer("tables.db"));
	assert_int_equal(sqlite3_open_v2(store_path("tables.db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT m.name || iif(m.type='view','` (view) | ','` | ') ||"
				 " (SELECT group_concat('`' || name || '`', ', ') FROM pragma_table_info(m.name)) FROM "
				 "sqlite_master m"
				 " WHERE m.type IN('table','view') AND m.name NOT LIKE 'sqlite%'",
				 -1, &s, NULL),
		SQLITE_OK);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(s, 0);
		if (kind_by_name(span_make(line, strcspn(line, "`"))) == KIND_COUNT && !strstr(doc, line))
			fail_msg("doc/session-file.md does not list: `%s", line);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_columns_are_those_of_the_kinds),
		cmocka_unit_test(the_queries_answer),
		cmocka_unit_test(the_other_tables_are_as_listed),
	};

	return cmocka_run_group_tests(tests, store_setup, store_teardown);
}
