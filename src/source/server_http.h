/* server_http.h - one HTTP client on the loop: GET, one request at a time, bounded in time and bytes.
 *
 * libcurl's multi interface with uv_poll and uv_timer; written to the interface of curl 7.76. One kept connection. libcurl is
 * initialised with the first client, so that programs that ask nothing do not pay for it. Who: source/server.
 * The API key is read from a file or from HANGTOP_API_KEY, sent as "Authorization: Bearer", and told to nobody.
 */
#ifndef HANGTOP_SOURCE_SERVER_HTTP_H
#define HANGTOP_SOURCE_SERVER_HTTP_H

#include <uv.h>

#include "base/error.h"
#include "base/span.h"

#define HTTP_BODY_MAX (1 << 20)
#define HTTP_DEADLINE_MS 3000

/* Borrowed: valid during the callback. */
struct http_answer {
	const char *url;
	int status;             /* 0: no answer */
	const char *class;      /* SERVER_class (kinds.def) of what went wrong below HTTP; NULL: an answer arrived whole */
	const char *error;      /* words; "" when nothing went wrong */
	const char *redirect;   /* where a 3xx points to; NULL */
	double connect_ms, first_byte_ms, total_ms; /* NaN unknown */
	struct span body;
};

struct server_http;

/* key_file may be NULL. NULL on error. */
struct server_http *server_http_new(uv_loop_t *loop, const char *key_file, struct error *error);
const char *server_http_key_trouble(const struct server_http *h);      /* why there is no key; "" */
/* `answered` is called once, later or at once. Not while another request is under way. base has no slash at its end. */
void server_http_get(struct server_http *h, const char *base, const char *path,
	void (*answered)(void *context, const struct http_answer *a), void *context);
/* A request under way is dropped without an answer. */
void server_http_free(struct server_http *h, void (*closed)(void *context), void *context);

#endif
