/* evidence_items.h - what is read, as tables of items. Who: cmd_evidence.c, which starts the parts.
 *
 * Within a part what never waits comes first, what may wait for a driver or for a memory map last.
 * The caller sets callbacks and deadline; part_free() frees a part that is closed.
 */
#ifndef HANGTOP_APP_EVIDENCE_ITEMS_H
#define HANGTOP_APP_EVIDENCE_ITEMS_H

#include "app/evidence_find.h"
#include "app/evidence_mask.h"

#define EVIDENCE_GPUS_MAX 128

struct part *items_of_find(struct find *find);
struct part *items_of_node(const struct source_options *o);
struct part *items_of_shm(const struct source_options *o);
struct part *items_of_kernel_log(const struct source_options *o);
struct part *items_of_kfd(const struct source_options *o, bool processes); /* else topology */
size_t items_gpus(const struct source_options *o, unsigned card[EVIDENCE_GPUS_MAX]); /* numbers of amdgpu's cards */
struct part *items_of_gpu(const struct source_options *o, unsigned card);
struct part *items_of_process(const struct source_options *o, struct evidence_process *p); /* its items have p as context */
struct part *items_of_log(const struct find *find, const struct secrets *secrets);
void part_free(struct part *part);

#endif
