/* models.h - answers to GET /v1/models: the list of ids, and one word for every kind of answer.
 *
 * Shape (OpenAI; ATOM, vLLM, SGLang, llama.cpp, Ollama, TGI): {"object":"list","data":[{"id":"...","owned_by":"..."}, ...]}.
 * Unknown members are ignored, entries without an id skipped. The answer proves only that the HTTP loop turns.
 * Who: source/server, app/explain.
 */
#ifndef HANGTOP_PARSE_MODELS_H
#define HANGTOP_PARSE_MODELS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

#define MODELS_MAX 500
#define MODELS_ID_MAX 512       /* bytes of one id that are kept */

struct models {
	char **id;              /* scrubbed */
	int count;              /* kept */
	int total;              /* in the body */
	char owned_by[64];      /* of the first entry that has it, scrubbed; "" unknown */
};

/* -1 when the body is no list of models. Release in both cases. */
int models_parse(struct span body, struct models *out, struct error *error);
void models_release(struct models *m);
void models_json(const struct models *m, struct buf *out);     /* array of ids */

/* The class of an HTTP status (SERVER_class in kinds.def): ok, redirect, unauthorized, not-found, client-error, server-error,
 * unavailable, proxy-error. The body tells a proxy's 503 page from a server's. */
const char *models_status_class(int http, struct span body);
/* The words of an error body in any of the shapes seen ({"error":"x"}, {"error":{"message":"x"}}, {"detail":"x"},
 * {"message":"x"}, plain text); nothing for HTML. At most 200 bytes, scrubbed. Appends. */
void models_error_words(struct span body, struct buf *out);

#endif
