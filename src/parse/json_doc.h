/* json_doc.h - JSON documents that stand in a text: gathered line by line until their brackets close, then read.
 *
 * A document begins with a line whose message starts with '{' or '[' as JSON does, and ends where its first bracket closes; what is
 * behind it on the line is lost. Kinds told by content: rocm-smi (card0, system), amd-smi (gpu, gpu_data, process_list, error),
 * /v1/models (data), py-spy (an array of threads), any other: ignored. One that never closes gives nothing.
 * Bounds: JSON_DOC_MAX bytes. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_JSON_DOC_H
#define HANGTOP_PARSE_JSON_DOC_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/reading.h"
#include "parse/stack_text.h"

#define JSON_DOC_MAX (4 << 20)

struct json_doc {
	const struct reading_sink *sink;
	struct stack_scan *stacks;
	bool open, in_string, escaped;
	int depth;
	uint64_t offset;
	struct buf text;
	/* What the last whole document was. */
	bool models;            /* a list of models */
	char owned_by[64];      /* of the last list of models that named one */
};

void json_doc_init(struct json_doc *d, const struct reading_sink *sink, struct stack_scan *stacks);
void json_doc_release(struct json_doc *d);
/* True when the line begins or continues a document. */
bool json_doc_line(struct json_doc *d, struct span text, uint64_t offset);
/* A whole document from elsewhere (a decoded body). */
void json_doc_text(struct json_doc *d, struct span text, uint64_t offset);
void json_doc_flush(struct json_doc *d);        /* what is open is dropped */

#endif
