/* report.h - the answer without a screen: text for people, one JSON object for programs, and the exit code. Who: --once.
 */
#ifndef HANGTOP_APP_REPORT_H
#define HANGTOP_APP_REPORT_H

#include "app/core.h"

int report_exit_code(const struct verdict *verdict);
void report_text(const struct core *core, int64_t now, struct buf *out);
/* The stack classes, the odd ones first, each with the frames of one of its ranks. Who: stacks. */
void report_stacks(const struct core *core, int64_t now, struct buf *out);
/* {"verdict":WORD|null,"state":...,"where":...,"grade":...,"since":ms,"reason":...,"evidence":[...],"candidates":[...],
 *  "next":...,"node":...,"t":ms,"server":{...},"ranks":[...],"stack_groups":[...],"gpus":[...],"sources":[...]} */
void report_json(const struct core *core, int64_t now, struct buf *out);

#endif
