/* kernel_words.c - reading and searching the table of kernel names; its grammar is in kernel_words.h. */
#include "config.h"

#include "model/kernel_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LINE_BYTES_MAX 4096
#define COLUMNS 4

static const char *const column_names[COLUMNS] = { "fragment", "class", "words", "note" };

static void row_release(struct kernel_row *row)
{
	free(row->fragment);
	free(row->class);
	free(row->words);
	free(row->note);
}

void kernels_release(struct kernel_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		row_release(&set->row[i]);
	free(set->row);
	set->row = NULL;
	set->count = 0;
}

/* A fragment of nothing but stars would match every name. */
static bool says_something(struct span fragment)
{
	for (size_t i = 0; i < fragment.len; i++)
		if (fragment.at[i] != '*')
			return true;
	return false;
}

static int read_row(struct kernel_set *set, struct span line, const char *file, int number, struct error *error)
{
	struct span column[COLUMNS] = { { NULL, 0 } }, piece;
	struct kernel_row row;
	int n = 0;

	if (line.len > LINE_BYTES_MAX)
		return error_set(error, "%s:%d: line is longer than %d bytes", file, number, LINE_BYTES_MAX);
	if (memchr(line.at, 0, line.len))
		return error_set(error, "%s:%d: a NUL byte: this is no text file", file, number);
	while (span_cut(&line, '\t', &piece)) {
		if (n == COLUMNS)
			return error_set(error, "%s:%d: more than %d columns", file, number, COLUMNS);
		column[n++] = span_trim(piece);
	}
	for (int i = 0; i < 3; i++) {
		if (column[i].len == 0) {
			error_set(error, "%s:%d: no %s", file, number, column_names[i]);
			return error_fix(error, "a row is: fragment TAB class TAB words TAB note");
		}
	}
	if (!says_something(column[0]))
		return error_set(error, "%s:%d: a fragment of stars alone matches every kernel", file, number);
	if (memchr(column[1].at, ' ', column[1].len))
		return error_set(error, "%s:%d: the class is one word, not '%.*s'", file, number,
			(int)(column[1].len < 60 ? column[1].len : 60), column[1].at);
	if (set->count >= KERNEL_ROWS_MAX)
		return error_set(error, "%s:%d: more than %d rows", file, number, KERNEL_ROWS_MAX);
	row.fragment = mem_text_n(column[0].at, column[0].len);
	row.class = mem_text_n(column[1].at, column[1].len);
	row.words = mem_text_n(column[2].at, column[2].len);
	row.note = column[3].len ? mem_text_n(column[3].at, column[3].len) : mem_text("");
	set->row = mem_array(set->row, set->count + 1, sizeof set->row[0]);
	set->row[set->count++] = row;
	return 0;
}

int kernels_load(struct kernel_set *set, struct span tsv, const char *file, struct error *error)
{
	struct kernel_set fresh = { NULL, 0 };
	struct span line;
	int number = 0;

	span_skip(&tsv, "\xef\xbb\xbf");
	while (span_line(&tsv, &line)) {
		number++;
		if (span_trim(line).len == 0 || line.at[0] == '#')
			continue;
		if (read_row(&fresh, line, file, number, error) < 0) {
			kernels_release(&fresh);
			return -1;
		}
	}
	if (fresh.count + set->count > KERNEL_ROWS_MAX) {
		kernels_release(&fresh);
		return error_set(error, "%s: more than %d rows with those already there", file, KERNEL_ROWS_MAX);
	}
	if (set->count) {
		fresh.row = mem_array(fresh.row, fresh.count + set->count, sizeof fresh.row[0]);
		memcpy(fresh.row + fresh.count, set->row, set->count * sizeof set->row[0]);
		fresh.count += set->count;
		free(set->row);
	}
	*set = fresh;
	return 0;
}

static long find(struct span text, struct span piece)
{
	const char *at;

	if (piece.len == 0)
		return 0;
	at = text.len ? memmem(text.at, text.len, piece.at, piece.len) : NULL;
	return at ? at - text.at : -1;
}

/* The pieces between the stars, one after the other. */
static bool occurs(struct span kernel, const char *fragment)
{
	struct span rest = span_of(fragment), piece;

	while (span_cut(&rest, '*', &piece)) {
		long at = find(kernel, piece);

		if (at < 0)
			return false;
		kernel = span_sub(kernel, (size_t)at + piece.len, kernel.len);
	}
	return true;
}

const struct kernel_row *kernels_words(const struct kernel_set *set, struct span kernel)
{
	for (size_t i = 0; set && kernel.len && i < set->count; i++)
		if (occurs(kernel, set->row[i].fragment))
			return &set->row[i];
	return NULL;
}

int kernel_element_bytes(struct span kernel)
{
	static const char *const before[] = { "OpaqueType<", "OpaqueTypeILi" };

	for (size_t i = 0; i < 2; i++) {
		long at = span_find(kernel, before[i]);
		uint64_t bytes;
		struct span rest;

		if (at < 0)
			continue;
		rest = span_sub(kernel, (size_t)at + strlen(before[i]), kernel.len);
		if (span_take_uint(&rest, &bytes) && bytes >= 1 && bytes <= 64)
			return (int)bytes;
	}
	return 0;
}

void kernel_say(const struct kernel_row *row, struct span kernel, struct buf *out)
{
	static const struct { int bytes; const char *types; } dtypes[] = {
		{ 1, "int8, uint8, bool, float8" }, { 2, "float16, bfloat16, int16" }, { 4, "int32, float32" },
		{ 8, "int64, float64, complex64" }, { 16, "complex128" },
	};
	int bytes = kernel_element_bytes(kernel);

	buf_text(out, row->words);
	if (bytes == 0)
		return;
	buf_printf(out, ", %d-byte dtype", bytes);
	for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
		if (dtypes[i].bytes == bytes)
			buf_printf(out, " (%s)", dtypes[i].types);
}
