/* explain_text.c - what explain says to people, on one screen where it can. */
#include "config.h"

#include "app/explain_report.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

void explain_text(const struct explained *e, struct buf *out)
{
	buf_printf(out, "%s\n%s\n", e->answer->word ? e->answer->word : "unknown", e->answer->reason);
}
