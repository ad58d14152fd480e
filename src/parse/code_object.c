/* code_object.c - URIs of code objects. */
#include "config.h"

#include "parse/code_object.h"

#include <inttypes.h>
#include <string.h>

#define BEFORE 0x80     /* bytes of code around a pc */
#define BEHIND 0x40
#define REPLACED ":/#?&="

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* The whole span is a number in C notation that an off_t can hold. */
static bool c_number(struct span s, int64_t *value)
{
	int base = 10;
	int64_t n = 0;

	if (span_skip(&s, "0x") || span_skip(&s, "0X"))
		base = 16;
	else if (s.len > 1 && s.at[0] == '0')
		base = 8;
	if (!s.len)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		int d = digit(s.at[i]);

		if (d >= base || n > (INT64_MAX - d) / base)
			return false;
		n = n * base + d;
	}
	*value = n;
	return true;
}

/* "offset=N&size=N" */
static bool range(struct span s, struct code_object *o)
{
	long size = span_find(s, "&size=");

	if (!span_skip(&s, "offset=") || size < 0)
		return false;
	size -= (long)strlen("offset=");
	return c_number(span_sub(s, 0, (size_t)size), &o->offset) &&
		c_number(span_sub(s, (size_t)size + strlen("&size="), s.len), &o->size);
}

/* Where the range begins: the last #offset= or ?offset= ; s.len without one. */
static size_t range_at(struct span s)
{
	for (size_t i = s.len; i-- > 0;)
		if ((s.at[i] == '#' || s.at[i] == '?') && span_starts(span_sub(s, i + 1, s.len), "offset="))
			return i;
	return s.len;
}

static bool decode_path(struct span s, char out[CODE_OBJECT_PATH_MAX])
{
	size_t n = 0;

	while (span_starts(s, "//"))
		s = span_sub(s, 1, s.len);
	for (size_t i = 0; i < s.len; i++) {
		char c = s.at[i];

		if (c == '%' && i + 2 < s.len && digit(s.at[i + 1]) < 16 && digit(s.at[i + 2]) < 16) {
			c = (char)(digit(s.at[i + 1]) * 16 + digit(s.at[i + 2]));
			i += 2;
		}
		if (c == '\0' || n == CODE_OBJECT_PATH_MAX - 1)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return n > 0;
}

bool code_object_parse(struct span uri, struct code_object *o)
{
	struct span rest = uri = span_trim(uri);
	size_t cut;

	o->uri = uri;
	o->pid = o->offset = o->size = -1;
	o->path[0] = '\0';
	if (span_skip(&rest, "memory://"))
		o->scheme = CODE_OBJECT_MEMORY;
	else if (span_skip(&rest, "file://"))
		o->scheme = CODE_OBJECT_FILE;
	else
		return false;
	cut = range_at(rest);
	if (cut < rest.len && !range(span_sub(rest, cut + 1, rest.len), o))
		return false;
	if (o->scheme == CODE_OBJECT_FILE)
		return decode_path(span_sub(rest, 0, cut), o->path);
	return cut < rest.len && c_number(span_sub(rest, 0, cut), &o->pid);
}

static char saved_char(char c)
{
	return c && strchr(REPLACED, c) ? '_' : c;
}

void code_object_saved_suffix(struct span uri, struct buf *buf)
{
	uri = span_trim(uri);
	for (size_t i = 0; i < uri.len; i++)
		buf_char(buf, saved_char(uri.at[i]));
}

bool code_object_is_saved_as(struct span uri, struct span filename)
{
	size_t id;

	uri = span_trim(uri);
	if (!uri.len || filename.len < uri.len)
		return false;
	id = filename.len - uri.len;
	for (size_t i = 0; i < uri.len; i++)
		if (filename.at[id + i] != saved_char(uri.at[i]))
			return false;
	if (id == 1 || (id && filename.at[id - 1] != '_'))
		return false;
	for (size_t i = 0; i + 1 < id; i++)
		if (filename.at[i] < '0' || filename.at[i] > '9')
			return false;
	return true;
}

/* For a shell: 'it'\''s' */
static void quote(const char *text, struct buf *buf)
{
	buf_char(buf, '\'');
	for (; *text; text++)
		if (*text == '\'')
			buf_text(buf, "'\\''");
		else
			buf_char(buf, *text);
	buf_char(buf, '\'');
}

static void objdump(const char *tool, uint64_t low, uint64_t high, struct buf *buf)
{
	buf_printf(buf, "%s -d -C ", tool);
	if (high)
		buf_printf(buf, "--start-address=0x%" PRIx64 " --stop-address=0x%" PRIx64 " ", low, high);
}

void code_object_objdump(const char *tool, const char *path, int64_t offset, int64_t size, uint64_t low, uint64_t high, struct buf *buf)
{
	if (offset >= 0) {
		buf_text(buf, "dd if=");
		quote(path, buf);
		buf_printf(buf, " of=code.o iflag=skip_bytes,count_bytes bs=1M skip=%" PRId64 " count=%" PRId64 " && ", offset, size);
	}
	objdump(tool, low, high, buf);
	if (offset >= 0)
		buf_text(buf, "code.o");
	else
		quote(path, buf);
}

bool code_object_command(struct span uri, uint64_t load_base, uint64_t pc, struct buf *buf)
{
	struct code_object object;
	uint64_t low = 0, high = 0;

	if (!code_object_parse(uri, &object))
		return false;
	if (load_base && pc >= load_base) {
		high = pc - load_base + BEHIND;
		low = high > BEFORE + BEHIND ? high - BEFORE - BEHIND : 0;
	}
	if (object.scheme == CODE_OBJECT_FILE) {
		code_object_objdump("llvm-objdump", object.path, object.offset, object.size, low, high, buf);
		return true;
	}
	objdump("llvm-objdump", low, high, buf);
	buf_char(buf, '*');
	code_object_saved_suffix(object.uri, buf);
	return true;
}
