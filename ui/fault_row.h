/* fault_row.h - a line of words for what went wrong on a GPU or in the server. Who: the Waves and Events panels.
 *
 * Kinds: fault hw_exception queue_error packet page_fault driver_event worker_death collective watchdog.
 */
#ifndef HANGTOP_UI_FAULT_ROW_H
#define HANGTOP_UI_FAULT_ROW_H

#include "ui/panel.h"

bool fault_is(enum kind kind);
/* One word for the kind, at most 8 columns, and its style. */
const char *fault_word(const struct observation *o, enum style *style);
/* "memory fault KFD node 5 = GPU 3 0x7f21... reason  rank TP3" at the end of the row being built. */
void fault_words(struct build *b, const struct observation *o);

#endif
