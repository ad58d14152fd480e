/* http_text.h - HTTP answers and curl's errors in a text, as `curl -i`, `curl -v` and people paste them.
 *
 * "HTTP/1.1 200 OK" (also behind curl's "< "), headers, an empty line, a body: JSON as it is or chunked. 1xx is no answer.
 * "curl: (7) Failed to connect ...": an answer without a status. Bodies are read by json_doc.h. Who: scan.c.
 */
#ifndef HANGTOP_PARSE_HTTP_TEXT_H
#define HANGTOP_PARSE_HTTP_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "parse/json_doc.h"
#include "parse/line.h"
#include "parse/reading.h"

#define HTTP_BODY_MAX (4 << 20)

struct http_scan {
	const struct reading_sink *sink;
	struct json_doc *json;
	bool headers, chunked, body;    /* body: chunks are being gathered */
	int status;                     /* of the last answer */
	bool models_ok;                 /* a list of models came with 200 */
	uint64_t offset;
	struct buf chunks;
};

void http_text_init(struct http_scan *h, const struct reading_sink *sink, struct json_doc *json);
void http_text_release(struct http_scan *h);
bool http_text_line(struct http_scan *h, const struct line *l);
bool http_text_open(const struct http_scan *h);
void http_text_flush(struct http_scan *h);

#endif
