/* http_stub.h - a small HTTP server on a loop, for tests of clients: says what it is told to, and remembers what it was asked. */
#ifndef HANGTOP_TESTS_HTTP_STUB_H
#define HANGTOP_TESTS_HTTP_STUB_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum stub_end {
	STUB_KEEP,      /* the connection stays open */
	STUB_CLOSE,     /* closed after the answer */
	STUB_RESET,     /* closed with a reset after the answer */
};

struct stub {
	uv_tcp_t listener;
	int port;
	const char *answer;     /* to every request; NULL: silence */
	size_t answer_len;
	const char *metrics;    /* to GET /metrics; NULL: as the others */
	enum stub_end end;
	bool at_once;           /* speak before anything is asked */
	int connections, requests, models, other;
	char asked[4096];       /* the last request */
	struct stub_peer *peer; /* all open ones */
};

struct stub_peer {
	uv_tcp_t tcp;
	struct stub *stub;
	struct stub_peer *next;
	uv_write_t write;
	char in[4096];
	size_t len;
	bool closing;
};

static inline void stub_peer_closed(uv_handle_t *handle)
{
	struct stub_peer *p = handle->data;

	for (struct stub_peer **at = &p->stub->peer; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	free(p);
}

static inline void stub_peer_close(struct stub_peer *p, bool reset)
{
	if (p->closing)
		return;
	p->closing = true;
	if (!reset || uv_tcp_close_reset(&p->tcp, stub_peer_closed) < 0)
		uv_close((uv_handle_t *)&p->tcp, stub_peer_closed);
}

static inline void stub_written(uv_write_t *write, int status)
{
	struct stub_peer *p = write->data;

	(void)status;
	if (p->stub->end != STUB_KEEP)
		stub_peer_close(p, p->stub->end == STUB_RESET);
}

static inline void stub_answer(struct stub_peer *p, const char *text, size_t len)
{
	uv_buf_t buf = uv_buf_init((char *)text, (unsigned)len);

	p->write.data = p;
	uv_write(&p->write, (uv_stream_t *)&p->tcp, &buf, 1, stub_written);
}

static inline void stub_asked(struct stub_peer *p)
{
	struct stub *s = p->stub;
	bool metrics = strncmp(p->in, "GET /metrics ", 13) == 0;

	s->requests++;
	s->models += strncmp(p->in, "GET /v1/models ", 15) == 0;
	s->other += !metrics && strncmp(p->in, "GET /v1/models ", 15) != 0;
	snprintf(s->asked, sizeof s->asked, "%s", p->in);
	p->len = 0;
	if (metrics && s->metrics)
		stub_answer(p, s->metrics, strlen(s->metrics));
	else if (s->answer)
		stub_answer(p, s->answer, s->answer_len ? s->answer_len : strlen(s->answer));
	else if (s->end != STUB_KEEP)
		stub_peer_close(p, s->end == STUB_RESET);
}

static inline void stub_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct stub_peer *p = handle->data;

	(void)size;
	*buf = uv_buf_init(p->in + p->len, (unsigned)(sizeof p->in - 1 - p->len));
}

static inline void stub_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct stub_peer *p = stream->data;

	(void)buf;
	if (n < 0) {
		stub_peer_close(p, false);
		return;
	}
	p->len += (size_t)n;
	p->in[p->len] = 0;
	if (strstr(p->in, "\r\n\r\n"))
		stub_asked(p);
}

static inline void stub_connected(uv_stream_t *listener, int status)
{
	struct stub *s = listener->data;
	struct stub_peer *p;

	if (status < 0)
		return;
	p = calloc(1, sizeof *p);
	p->stub = s;
	p->tcp.data = p;
	p->next = s->peer;
	s->peer = p;
	s->connections++;
	uv_tcp_init(listener->loop, &p->tcp);
	uv_accept(listener, (uv_stream_t *)&p->tcp);
	if (s->at_once)
		stub_answer(p, s->answer, strlen(s->answer));
	uv_read_start((uv_stream_t *)&p->tcp, stub_alloc, stub_read);
}

static inline void stub_start(struct stub *s, uv_loop_t *loop)
{
	struct sockaddr_in address;
	int size = sizeof address;

	memset(s, 0, sizeof *s);
	uv_tcp_init(loop, &s->listener);
	s->listener.data = s;
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_bind(&s->listener, (struct sockaddr *)&address, 0);
	uv_listen((uv_stream_t *)&s->listener, 16, stub_connected);
	uv_tcp_getsockname(&s->listener, (struct sockaddr *)&address, &size);
	s->port = ntohs(address.sin_port);
}

static inline void stub_stop(struct stub *s)
{
	uv_close((uv_handle_t *)&s->listener, NULL);
	for (struct stub_peer *p = s->peer; p; p = p->next)
		stub_peer_close(p, false);
}

#endif
