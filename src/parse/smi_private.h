/* smi_private.h - the parts of smi_text.c: which table is open is its business, one row is theirs.
 *
 * Who: smi_text.c and the files named here. A row is "true" when it belonged to the table.
 */
#ifndef HANGTOP_PARSE_SMI_PRIVATE_H
#define HANGTOP_PARSE_SMI_PRIVATE_H

#include "parse/smi_text.h"

/* smi_text.c */
void smi_say(struct smi_scan *s);      /* end of a report: emit what is listed */
void smi_end_table(struct smi_scan *s);
/* The reading of that GPU in the report; NULL for a senseless number. Says the report first when `key`, which grows within one report,
 * is not above the last one: it is printed again. */
struct gpu_reading *smi_row_of(struct smi_scan *s, uint64_t gpu, int64_t key, uint64_t offset);
struct gpu_reading *smi_reading(struct smi_scan *s, int64_t gpu);
void smi_take_columns(struct smi_scan *s, struct span header); /* adds */
int smi_column(const struct smi_scan *s, const char *name);    /* -1 none */
/* The next cell: a word, and its unit when that stands apart. */
bool smi_cell(struct span *rest, struct span *value, struct span *unit);
int64_t smi_whole(struct span s);      /* -1 unknown */

/* smi_rocm.c */
bool smi_concise_header(struct smi_scan *s, struct span t);
bool smi_concise_row(struct smi_scan *s, const struct line *l);
bool smi_key_row(struct smi_scan *s, const struct line *l);
bool smi_pid_row(struct smi_scan *s, const struct line *l);

/* smi_amd.c */
bool smi_monitor_row(struct smi_scan *s, const struct line *l);
bool smi_process_row(struct smi_scan *s, const struct line *l);
bool smi_list_line(struct smi_scan *s, const struct line *l);
void smi_list_end(struct smi_scan *s);

/* smi_box.c */
bool smi_box_header(struct span t, enum smi_table *table);
bool smi_box_row(struct smi_scan *s, const struct line *l);

/* smi_csv.c */
bool smi_csv_header(struct smi_scan *s, struct span t);        /* keeps the header */
bool smi_csv_row(struct smi_scan *s, const struct line *l);

#endif
