/* line_private.h - between line.c and line_rank.c; stack_text.c reads ranks out of headings with it. */
#ifndef HANGTOP_PARSE_LINE_PRIVATE_H
#define HANGTOP_PARSE_LINE_PRIVATE_H

#include "parse/line.h"

#define LINE_PREFIX_MAX 300     /* no prefix is longer */

/* "(Worker_TP1 pid=9) ", "(WorkerDict pid=616, ip=192.0.2.9) ": its length, 0 when it is none. */
size_t line_label(struct line *l, struct span s);
/* All parts of a text, joined by '_': "DP1 TP3" is DP1_TP3. False, and "", when it has none. */
bool line_rank_parts(struct span s, char rank[LINE_RANK_MAX]);
/* The number behind the first `word` that has one. */
bool line_number_after(struct span s, const char *word, char rank[LINE_RANK_MAX]);

#endif
