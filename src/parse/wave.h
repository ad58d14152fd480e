/* wave.h - wave dumps of the ROCm debug agent, every generation, in a stream of lines.
 *
 * From rocr_debug_agent 2.0.1 (ROCm 3.7) to 2.2.0 (2026), and the lane dumps of 2019:
 *   wave_N: pc=0x... [(kernel_code_entry=<E>)] (running | stopped, reason: A|B)
 *     <E> = not available | 0x...[ <NAME>][, kernargs=0x...]; NAME holds <>(){} and is read from the end of the line
 *   <class> registers:  rows "name: hex", "name: [0] hex [1] hex ..."
 *   Local memory content[ (N bytes)]:   Global memory (kernarg segment, N bytes):   rows "0x...: 8 words"
 *   Disassembly[ for function NAME]:, code object: URI, loaded at: [0x..-0x..], " => 0x.. <+N>:    insn", End of disassembly.
 *   N wavefront(s) found in [STATE ]@PC: 0x...    (2018, 2019: one block for N waves, no ids, no reasons)
 * Markers are looked for anywhere in a line. Blocks of several ranks may be mixed line by line: lines with the same prefix belong
 * together (line_tag()); without one an arrow belongs to the wave of its pc, a code object to the range that holds it. A disassembly that belongs to no wave is an orphan.
 * Headers, titles and URIs that a terminal or a mail program broke are put together again (wrapped.h).
 * Bounds: WAVES_PENDING waves wait for their end, WAVES_ROWS are emitted one by one; past that the first of each kernel, pc and
 * reasons is, and the others are only counted.
 * Rows of registers are the bulk of a log: wave_row() tells scan.c which lines need no look. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_WAVE_H
#define HANGTOP_PARSE_WAVE_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/line.h"
#include "parse/reading.h"
#include "parse/wrapped.h"

#define WAVES_PENDING 32
#define WAVES_ROWS 500
#define WAVE_OPENS 32           /* disassemblies of ranks that print theirs at the same time */
#define WAVE_ROW_LENGTHS 8      /* lengths of rows that were looked at whole */
#define WAVE_GROUPS_MAX 2048
#define WAVE_GROUP_SLOTS 4096   /* open addressing */
#define WAVE_KEPT_GROUPS 64     /* groups whose first wave keeps its registers */
#define WAVE_REGISTERS_MAX 12000
#define WAVE_DISASSEMBLY_MAX 4000

struct wave_code {              /* the parts of a disassembly */
	uint64_t tag;           /* whose lines: label, pid and rank of the prefix; 0 without one */
	bool used, ended;
	uint64_t offset;
	char *title, *uri;      /* NULL unknown */
	uint64_t low, high;     /* loaded at; 0 unknown */
	bool has_arrow;
	uint64_t arrow_pc, arrow_at;    /* arrow_at: offset of its line in the input */
	char arrow_address[24];
	int64_t arrow_offset;
	bool arrow_known;       /* the offset */
	char *insn;
	struct buf text;
	bool interleaved;
};

struct wave_block {
	uint64_t tag;
	bool used, done;
	uint64_t offset;
	int64_t id, count;      /* -1 unknown, 0 one */
	uint64_t pc;
	char pc_text[24];
	char entry[24];
	char *kernel;           /* of the header */
	char *reasons;          /* A|B; NULL for running */
	bool old, running;
	unsigned registers;     /* bits of the classes whose titles were seen */
	char rank[LINE_RANK_MAX];
	struct wave_code code;  /* used when it has one */
	struct buf rows;
	bool keep;
};

struct wave_group {
	uint64_t key;           /* hash of kernel, pc and reasons; 0 free */
	uint64_t count, emitted;
};

struct wave_scan {
	const struct reading_sink *sink;
	struct wave_block block[WAVES_PENDING]; /* ring, oldest first */
	int first, count;
	struct wave_code open[WAVE_OPENS];               /* disassemblies without their end */
	int opens;
	struct wave_group *group;               /* WAVE_GROUP_SLOTS */
	int groups;
	bool light;                             /* the newest wave is only counted: its lines need no look */
	uint64_t waves, rows;
	size_t row_len[WAVE_ROW_LENGTHS];       /* of the last plain rows: others of these lengths need no look */
	int row_next;
	bool keep;                              /* rows of the newest wave are kept */
	bool in_rows;                           /* below a title of registers or memory */
	bool old_agent;                         /* below the header of 2019 */
	char old_rank[LINE_RANK_MAX];
	struct wrapped header, title;           /* that go on in the next line */
};

void wave_init(struct wave_scan *w, const struct reading_sink *sink);
void wave_release(struct wave_scan *w);
/* True when the line was one of a wave dump. */
bool wave_line(struct wave_scan *w, const struct line *l);
/* Lines are awaited that go on with an earlier one, or a disassembly is open: every line must be shown. */
static inline bool wave_waits(const struct wave_scan *w)
{
	return w->opens || w->header.open;
}
/* A line that starts with a blank, without its end: true when it is a plain row of registers or memory below their title. */
bool wave_row_slow(struct wave_scan *w, const char *at, size_t len);
static inline bool wave_row(struct wave_scan *w, const char *at, size_t len)
{
	if (!w->keep && len == w->row_len[0])
		return true;
	return wave_row_slow(w, at, len);
}
/* A line that only the agent prints, from its first byte on: read here, and no other parser needs to see it. */
bool wave_own_line(struct wave_scan *w, const char *at, size_t len, uint64_t offset);
/* False when no line that starts with c is one. */
static inline bool wave_may_own(char c)
{
	static const bool starts[256] = { [' '] = 1, ['-'] = 1, ['w'] = 1, ['s'] = 1, ['t'] = 1, ['v'] = 1, ['g'] = 1, ['L'] = 1, ['G'] = 1, ['D'] = 1,
		['E'] = 1 };

	return starts[(unsigned char)c];
}
/* What waits for its end has none: the input is at its end, or has been quiet for a while. */
void wave_flush(struct wave_scan *w);

#endif
