/* gpu_say.h - readings of kind `gpu` and `gpu_process` from what a tool printed. Who: json_doc.c, smi_text.c. */
#ifndef HANGTOP_PARSE_GPU_SAY_H
#define HANGTOP_PARSE_GPU_SAY_H

#include "parse/gpu_reading.h"
#include "parse/reading.h"

void gpu_list_say(const struct gpu_list *list, uint64_t offset, const char *via, const struct reading_sink *sink);

#endif
