/*
 * A hostile box and a lying engine, in any order: no byte of the box reaches the engine but one
 * request that the routes allow, and what follows it once the engine opened the stream that this
 * request asked for. The answers are read here a second time, in a simple way of its own.
 *
 * The input is a sequence of events: a byte for which, one for the length, the bytes. The first byte
 * chooses a request to begin with.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "containers/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define CMD "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define UP "Connection: Upgrade\r\nUpgrade: tcp\r\n"

static const char *const requests[] = {
	"",
	"POST /containers/one/attach?stream=1 HTTP/1.1\r\nHost: x\r\n" UP "\r\n",
	"POST /containers/one/attach?stream=1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /exec/" CMD "/start HTTP/1.1\r\nHost: x\r\n" UP "Content-Length: 2\r\n\r\n{}",
	"POST /exec/" CMD "/start HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
	"POST /exec/" CMD "/start HTTP/1.1\r\nHost: x\r\n" UP
	"Content-Length: 16\r\n\r\n{\"Detach\":true }",
	"GET /containers/one/logs?follow=1 HTTP/1.1\r\nHost: x\r\n" UP "\r\n",
	"POST /containers/one/exec HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"Cmd\":\"id\"}",
	"GET /info HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /exec/" CMD "/start HTTP/1.1\r\nHost: x\r\n" UP "Content-Length: ",
};

struct world {
	struct ab_engine_judge judge;
	struct ab_engine_exchange x;
	struct ab_buf sent;   /* by the box */
	struct ab_buf wire;   /* to the engine */
	struct ab_buf told;   /* by the engine */
	struct ab_buf wanted; /* the request that the engine may get */
	unsigned notes;
};

static const char *moved(void *arg)
{
	(void)arg;
	return NULL;
}

static int list(void *arg, struct ab_strv *ret)
{
	(void)arg;
	(void)ret;
	return -1;
}

static int record(void *arg, struct ab_engine_note *note)
{
	struct world *w = arg;

	(void)note;
	return w->notes++ ? (abort(), -1) : 0;
}

/* The value of the only field with this name (lower case); NULL: there is none, or there are two. */
static const char *find_field(const char *head, const char *name, size_t *ret_count)
{
	const char *found = NULL;

	*ret_count = 0;
	for (const char *p = head; (p = strchr(p, '\n')); p++)
		if (strncasecmp(p + 1, name, strlen(name)) == 0) {
			found = p + 1 + strlen(name);
			++*ret_count;
		}
	return *ret_count == 1 ? found : NULL;
}

static bool is_value(const char *value, const char *want)
{
	value += strspn(value, " \t");
	return strncasecmp(value, want, strlen(want)) == 0 &&
	       value[strlen(want) + strspn(value + strlen(want), " \t")] == '\r';
}

/* Does this head open a stream to that request? */
static bool is_approval(const char *head, const char *request)
{
	static const char *const known[] = {
		"api-version:",	       "content-type:", "date:",   "docker-experimental:",
		"libpod-api-version:", "ostype:",	"server:", "x-reference-id:"
	};
	bool route = strstr(request, "/attach") ||
		     (strstr(request, "/start HTTP") && strncmp(request, "POST /exec/", 11) == 0);
	const char *type;
	size_t n;

	if (!route || strstr(request, "\"Detach\":true"))
		return false;
	if (strncmp(head, "HTTP/1.1 101 ", 13) == 0)
		return strstr(request, "\r\n" UP) && (type = find_field(head, "upgrade:", &n)) &&
		       is_value(type, "tcp") && (find_field(head, "connection:", &n), n);
	type = find_field(head, "content-type:", &n);
	if (strncmp(head, "HTTP/1.1 200 ", 13) != 0 || !type)
		return false;
	for (const char *p = head; (p = strchr(p, '\n')) && *++p;) {
		size_t i = 0;

		while (i < AB_COUNT(known) && strncasecmp(p, known[i], strlen(known[i])) != 0)
			i++;
		if (i == AB_COUNT(known))
			return false;
	}
	return is_value(type, "application/vnd.docker.raw-stream") ||
	       is_value(type, "application/vnd.docker.multiplexed-stream");
}

/* 0: no answer yet, 1: it opens a stream, -1: it does not. */
static int read_answer(const struct world *w)
{
	const char *at = w->told.data ? w->told.data : "", *end;

	while ((end = strstr(at, "\r\n\r\n"))) {
		ab_autofree char *head = ab_strndup(at, (size_t)(end + 2 - at));

		if (strlen(head) < 12 || head[9] != '1' || strncmp(head + 9, "101", 3) == 0)
			return is_approval(head, w->wanted.data ? w->wanted.data : "") ? 1 : -1;
		at = end + 4;
	}
	return 0;
}

/* Where what the box sent after its request begins. */
static size_t find_end_of_request(const struct world *w)
{
	static struct ab_http_request rq;
	struct ab_http_scan scan = { .local = true };
	struct ab_http_chunks chunks = { 0 };
	ssize_t head = ab_http_read_request(&scan, w->sent.data, w->sent.len, &rq), n;
	bool over = false;

	if (head <= 0)
		abort();
	if (rq.head.body == AB_HTTP_LENGTH)
		return (size_t)head + (size_t)rq.head.length;
	if (rq.head.body != AB_HTTP_CHUNKED)
		return (size_t)head;
	n = ab_http_chunks_take(&chunks, w->sent.data + head, w->sent.len - (size_t)head, NULL,
				NULL, &over);
	if (n < 0 || !over)
		abort();
	return (size_t)(head + n);
}

/* The request is one that the routes allow, and nothing else. */
static void check_request(const struct world *w)
{
	static struct ab_http_request rq;
	struct ab_http_scan scan = { 0 };
	struct ab_api_call call;
	struct ab_refusal_room {
		long room[256];
	} why;
	ssize_t head = ab_http_read_request(&scan, w->wanted.data, w->wanted.len, &rq);

	if (head <= 0 || ab_api_read(&rq, &call, (struct ab_refusal *)&why) < 0)
		abort();
	if (w->wanted.len - (size_t)head != (rq.head.body == AB_HTTP_LENGTH ? rq.head.length : 0))
		abort();
	if (rq.head.upgrade && (!call.route->streams || strstr(w->wanted.data, "\"Detach\":true")))
		abort();
	if (rq.head.upgrade == !rq.head.keep)
		abort();
	ab_api_call_fini(&call);
}

static void check_wire(const struct world *w)
{
	const struct ab_buf *wire = &w->wire, *wanted = &w->wanted;
	size_t both = wire->len < wanted->len ? wire->len : wanted->len, rest = wire->len - both,
	       at;
	int approved = read_answer(w);

	if (both && memcmp(wire->data, wanted->data, both) != 0)
		abort();
	/* After any other answer there is nothing left to send. */
	if (approved < 0 && w->x.to_engine.len)
		abort();
	if (!rest)
		return;
	at = find_end_of_request(w);
	if (approved != 1 || at + rest > w->sent.len ||
	    memcmp(wire->data + both, w->sent.data + at, rest) != 0)
		abort();
}

static void take(struct ab_buf *from, struct ab_buf *to, size_t most)
{
	size_t n = most < from->len ? most : from->len;

	if (to)
		ab_buf_add(to, from->data, n);
	ab_buf_skip(from, n);
}

static void client_sends(struct world *w, const void *data, size_t n)
{
	if (!n || !ab_engine_exchange_wishes(&w->x).read_client)
		return;
	ab_buf_add(&w->sent, data, n);
	ab_engine_exchange_client_data(&w->x, data, n);
}

static void engine_sends(struct world *w, const void *data, size_t n)
{
	if (!ab_engine_exchange_wishes(&w->x).read_engine)
		return;
	ab_buf_add(&w->told, data, n);
	ab_engine_exchange_engine_data(&w->x, data, n);
}

static void connect_engine(struct world *w, bool works)
{
	if (!ab_engine_exchange_wishes(&w->x).connect)
		return;
	if (!works) {
		ab_engine_exchange_unreachable(&w->x, "no engine");
		return;
	}
	ab_engine_exchange_connected(&w->x);
	ab_buf_add(&w->wanted, w->x.to_engine.data, w->x.to_engine.len);
	check_request(w);
}

/* How many bytes of the input belong to the event. */
static size_t happen(struct world *w, const uint8_t *data, size_t size)
{
	size_t n = size > 2 ? data[1] : 0;
	bool most = data[0] & 0x80;

	n = n < size - 2 ? n : size - 2;
	switch (data[0] & 15) {
	case 0:
	case 1:
	case 2:
		client_sends(w, data + 2, n);
		break;
	case 3:
	case 4:
	case 5:
		engine_sends(w, data + 2, n);
		break;
	case 6:
		take(&w->x.to_engine, &w->wire, most ? SIZE_MAX : n);
		return 2;
	case 7:
		take(&w->x.to_client, NULL, most ? SIZE_MAX : n);
		return 2;
	case 8:
	case 9:
		connect_engine(w, data[1] != 0);
		return 2;
	case 10:
		ab_engine_exchange_client_ended(&w->x);
		return 2;
	case 11:
		ab_engine_exchange_client_gone(&w->x);
		return 2;
	case 12:
		ab_engine_exchange_engine_ended(&w->x);
		return 2;
	case 13:
		ab_engine_exchange_engine_deaf(&w->x);
		return 2;
	case 14:
		ab_engine_exchange_expire(&w->x);
		return 2;
	default:
		take(&w->x.to_engine, &w->wire, SIZE_MAX);
		take(&w->x.to_client, NULL, SIZE_MAX);
		return 2;
	}
	return n + 2;
}

static void check(const struct world *w)
{
	const struct ab_buf *out = &w->x.to_client;

	check_wire(w);
	/* Before the box gets an answer, the request is recorded. */
	if (out->len && !w->notes &&
	    (out->len < 12 || memcmp(out->data, "HTTP/1.1 100", 12) != 0) &&
	    w->x.to_client.skipped == 0)
		abort();
	if (w->x.in.len + w->x.reply.len + out->len + w->x.to_engine.len > 4u << 20)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char pattern[] = "x:*";
	static char *patterns[] = { pattern, NULL };
	static const struct ab_strv images = { patterns, 1 };
	struct world w = { .judge = { .terms = { .run = "7kq2x", .images = &images },
				      .moved = moved,
				      .list = list } };
	const char *first;

	if (!size)
		return 0;
	ab_own_add(&w.judge.own, ID, "one", false);
	ab_own_add_command(&w.judge.own, CMD);
	ab_engine_exchange_init(&w.x, &w.judge, record, &w);
	first = requests[data[0] % AB_COUNT(requests)];
	client_sends(&w, first, strlen(first));
	for (size_t at = 1; size - at >= 2 && at < size && w.x.state != AB_ENGINE_OVER;) {
		at += happen(&w, data + at, size - at);
		check(&w);
	}
	ab_engine_exchange_abandon(&w.x, "the end");
	check(&w);
	if (w.notes != (w.sent.len != 0))
		abort();
	ab_engine_exchange_fini(&w.x);
	ab_engine_judge_fini(&w.judge);
	ab_buf_fini_all(&w.sent, &w.wire, &w.told, &w.wanted);
	return 0;
}
