/*
 * One request of the box and one answer of a lying engine: what reaches the engine, what reaches the
 * box and what is recorded, however the bytes are cut.
 */
#include "containers/exchange.h"

#include "tap.h"

#define ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define CMD "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define UP "Connection: Upgrade\r\nUpgrade: tcp\r\n"
#define RAW "Content-Type: application/vnd.docker.raw-stream\r\n"
#define START(more, body) "POST /v1.41/exec/" CMD "/start HTTP/1.1\r\nHost: x\r\n" more body
#define ATTACHED "Content-Length: 17\r\n\r\n{\"Detach\": false}"
#define DETACHED "Content-Length: 16\r\n\r\n{\"Detach\": true}"
/* A second request: what a box would send where it gets a connection of its own. */
#define EVIL "POST /containers/create HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"

enum request { ATTACH_UP, ATTACH, EXEC_UP, EXEC, DETACH_UP, DETACH, LOGS_UP, PING, REQUESTS };

static const struct {
	const char *name, *bytes;
	bool streams, upgrade;
} requests[REQUESTS] = {
	[ATTACH_UP] = { "attach with an upgrade",
			"POST /containers/one/attach?stream=1&stdin=1 HTTP/1.1\r\nHost: x\r\n" UP
			"\r\n",
			true, true },
	[ATTACH] = { "attach",
		     "POST /containers/one/attach?stream=1&stdin=1 HTTP/1.1\r\nHost: x\r\n\r\n",
		     true, false },
	[EXEC_UP] = { "exec with an upgrade", START(UP, ATTACHED), true, true },
	[EXEC] = { "exec", START("", ATTACHED), true, false },
	[DETACH_UP] = { "a detached exec with an upgrade", START(UP, DETACHED), false, false },
	[DETACH] = { "a detached exec", START("", DETACHED), false, false },
	[LOGS_UP] = { "logs with an upgrade",
		      "GET /containers/one/logs?follow=1 HTTP/1.1\r\nHost: x\r\n" UP "\r\n", false,
		      false },
	[PING] = { "ping", "GET /_ping HTTP/1.1\r\nHost: x\r\n\r\n", false, false },
};

#define ANY (~0u)
#define OF(r) (1u << (r))
#define STREAMS (OF(ATTACH_UP) | OF(ATTACH) | OF(EXEC_UP) | OF(EXEC))
#define UPGRADES (OF(ATTACH_UP) | OF(EXEC_UP))

/* An answer. `streams`: to these requests it opens a stream; `status` and `body` are what the box
 * gets to all others. A stream gives the box `rest`. */
static const struct {
	const char *name, *bytes;
	unsigned streams;
	int status;
	const char *body, *rest;
} answers[] = {
	{ "101", "HTTP/1.1 101 UPGRADED\r\n" RAW UP "\r\nout", UPGRADES, 502, NULL, "out" },
	{ "200 with the raw type", "HTTP/1.1 200 OK\r\n" RAW "\r\nout", STREAMS, 200, "out",
	  "out" },
	{ "200 with the multiplexed type",
	  "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.multiplexed-stream\r\n\r\nout",
	  STREAMS, 200, "out", "out" },
	{ "100 first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" RAW "\r\nout", STREAMS,
	  200, "out", "out" },
	{ "101 after 100", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 X\r\n" UP "\r\nout", UPGRADES,
	  502, NULL, "out" },
	{ "101 in HTTP/1.0", "HTTP/1.0 101 UPGRADED\r\n" RAW UP "\r\nout", 0, 502, NULL },
	{ "101 without a protocol", "HTTP/1.1 101 UPGRADED\r\n" RAW "\r\nout", 0, 502, NULL },
	{ "101 to another protocol",
	  "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nout", 0, 502, NULL },
	{ "101 to two protocols", "HTTP/1.1 101 UPGRADED\r\n" UP "Upgrade: echo\r\n\r\nout", 0, 502,
	  NULL },
	{ "101 with a length", "HTTP/1.1 101 UPGRADED\r\n" UP "Content-Length: 3\r\n\r\nout", 0,
	  502, NULL },
	{ "101 with the length 0", "HTTP/1.1 101 UPGRADED\r\n" UP "Content-Length: 0\r\n\r\nout", 0,
	  502, NULL },
	{ "101, chunked", "HTTP/1.1 101 UPGRADED\r\n" UP "Transfer-Encoding: chunked\r\n\r\nout", 0,
	  502, NULL },
	{ "200 without a type", "HTTP/1.1 200 OK\r\n\r\nout", 0, 200, "out" },
	{ "200 with another type", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\nout",
	  0, 200, "out" },
	{ "200 with a longer type",
	  "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream-x\r\n\r\nout", 0, 200,
	  "out" },
	{ "200 with a parameter of the type",
	  "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream; a=b\r\n\r\nout", 0,
	  200, "out" },
	{ "200 with the type twice", "HTTP/1.1 200 OK\r\n" RAW RAW "\r\nout", 0, 200, "out" },
	{ "200 with two types", "HTTP/1.1 200 OK\r\n" RAW "Content-Type: text/plain\r\n\r\nout", 0,
	  200, "out" },
	{ "200 with the type in another field",
	  "HTTP/1.1 200 OK\r\nX-Content-Type: application/vnd.docker.raw-stream\r\n\r\nout", 0, 200,
	  "out" },
	{ "200 with a length", "HTTP/1.1 200 OK\r\n" RAW "Content-Length: 3\r\n\r\noutmore", 0, 200,
	  "out" },
	{ "200 with the length 0", "HTTP/1.1 200 OK\r\n" RAW "Content-Length: 0\r\n\r\nmore", 0,
	  200, "" },
	{ "200, chunked",
	  "HTTP/1.1 200 OK\r\n" RAW "Transfer-Encoding: chunked\r\n\r\n3\r\nout\r\n0\r\n\r\nmore",
	  0, 200, "3\r\nout\r\n0\r\n\r\n" },
	{ "200, chunked, with a trailer",
	  "HTTP/1.1 200 OK\r\n" RAW
	  "Transfer-Encoding: chunked\r\n\r\n3\r\nout\r\n0\r\nx: y\r\n\r\nmore",
	  0, 200, "3\r\nout\r\n0\r\nx: y\r\n\r\n" },
	{ "200 that keeps the connection",
	  "HTTP/1.1 200 OK\r\n" RAW "Connection: keep-alive\r\n\r\nout", 0, 200, "out" },
	{ "200 that names a time to keep",
	  "HTTP/1.1 200 OK\r\n" RAW "Keep-Alive: timeout=5\r\n\r\nout", 0, 200, "out" },
	{ "200 with an upgrade", "HTTP/1.1 200 OK\r\n" RAW UP "\r\nout", 0, 200, "out" },
	{ "200 with trailers to come", "HTTP/1.1 200 OK\r\n" RAW "Trailer: x\r\n\r\nout", 0, 200,
	  "out" },
	{ "200, compressed", "HTTP/1.1 200 OK\r\n" RAW "Content-Encoding: gzip\r\n\r\nout", 0, 200,
	  "out" },
	{ "200 with a field of a later engine",
	  "HTTP/1.1 200 OK\r\n" RAW "Body-Ends: after=3\r\n\r\nout", 0, 200, "out" },
	{ "200 with a field that only looks known",
	  "HTTP/1.1 200 OK\r\n" RAW "Server-: x\r\n\r\nout", 0, 200, "out" },
	{ "200 with what engines say of themselves",
	  "HTTP/1.1 200 OK\r\nServer: Docker/27\r\nApi-Version: 1.47\r\nOstype: linux\r\n" RAW
	  "Docker-Experimental: false\r\nLibpod-API-Version: 5.0\r\nX-Reference-Id: 0xc0\r\n"
	  "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nout",
	  STREAMS, 200, "out", "out" },
	{ "200 in HTTP/1.0", "HTTP/1.0 200 OK\r\n" RAW "\r\nout", 0, 200, "out" },
	{ "201 with the raw type", "HTTP/1.1 201 Created\r\n" RAW "\r\nout", 0, 201, "out" },
	{ "204", "HTTP/1.1 204 No Content\r\n" RAW "\r\nmore", 0, 204, "" },
	{ "304", "HTTP/1.1 304 Not Modified\r\n" RAW "\r\nmore", 0, 304, "" },
	{ "409", "HTTP/1.1 409 Conflict\r\nContent-Length: 3\r\n\r\noutmore", 0, 409, "out" },
	{ "500 with the raw type", "HTTP/1.1 500 Error\r\n" RAW "\r\nout", 0, 500, "out" },
	{ "two answers",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOKHTTP/1.1 200 OK\r\n" RAW "\r\nout", 0, 200,
	  "OK" },
	{ "two answers, the second 101",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOKHTTP/1.1 101 X\r\n" UP "\r\nout", 0, 200,
	  "OK" },
	{ "no answer", "", 0, 502, NULL },
	{ "no HTTP", "SSH-2.0-x\r\n\r\n", 0, 502, NULL },
	{ "a head that is cut off", "HTTP/1.1 200 OK\r\n" RAW, 0, 502, NULL },
	{ "a folded type",
	  "HTTP/1.1 200 OK\r\nX: y\r\n Content-Type: application/vnd.docker.raw-stream\r\n\r\nout",
	  0, 502, NULL },
	{ "a bare line feed",
	  "HTTP/1.1 200 OK\nContent-Type: application/vnd.docker.raw-stream\n\nout", 0, 502, NULL },
	{ "two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nout", 0,
	  502, NULL },
	{ "a length and chunks",
	  "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nout", 0, 502,
	  NULL },
};

struct test {
	struct ab_engine_judge judge;
	struct ab_engine_exchange x;
	struct ab_buf engine, client; /* what they got */
	struct ab_engine_note note;
	unsigned notes;
	bool fails; /* the record cannot be written */
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
	struct test *t = arg;

	t->notes++;
	t->note = *note;
	return t->fails ? -1 : 0;
}

static void begin(struct test *t)
{
	static char pattern[] = "x:*";
	static char *patterns[] = { pattern, NULL };
	static const struct ab_strv images = { patterns, 1 };

	*t = (struct test){ .judge = { .terms = { .run = "7kq2x", .images = &images },
				       .moved = moved,
				       .list = list } };
	ab_own_add(&t->judge.own, ID, "one", false);
	ab_own_add_command(&t->judge.own, CMD);
	ab_engine_exchange_init(&t->x, &t->judge, record, t);
}

static void end(struct test *t)
{
	ab_engine_exchange_fini(&t->x);
	ab_engine_judge_fini(&t->judge);
	ab_buf_fini_all(&t->engine, &t->client);
}

static void move(struct ab_buf *from, struct ab_buf *to)
{
	ab_buf_add(to, from->data, from->len);
	ab_buf_fini(from);
}

static void move_all(struct test *t)
{
	if (ab_engine_exchange_wishes(&t->x).connect)
		ab_engine_exchange_connected(&t->x);
	move(&t->x.to_engine, &t->engine);
	move(&t->x.to_client, &t->client);
}

/* Bytes in two pieces; `cut` 0: one at a time. */
static void feed(struct test *t, void (*take)(struct ab_engine_exchange *, const void *, size_t),
		 const char *bytes, size_t cut)
{
	size_t len = strlen(bytes), n;

	for (size_t at = 0; at < len; at += n) {
		n = !cut ? 1 : !at && cut < len ? cut : len - at;
		take(&t->x, bytes + at, n);
		move_all(t);
	}
}

/* The body of what the box got, and its status. */
static const char *read_reply(const struct test *t, int *ret_status)
{
	const char *text = t->client.data ? t->client.data : "", *end = strstr(text, "\r\n\r\n");

	*ret_status = strncmp(text, "HTTP/1.1 ", 9) == 0 ? atoi(text + 9) : 0;
	return end ? end + 4 : "";
}

/* What the engine got after its one request. */
static const char *find_rest(const struct test *t, size_t *ret_requests)
{
	const char *text = t->engine.data ? t->engine.data : "", *end = strstr(text, "\r\n\r\n");
	const char *length = strstr(text, "Content-Length: ");

	*ret_requests = 0;
	for (const char *p = text; (p = strstr(p, " HTTP/1.1\r\nHost: docker\r\n")); p++)
		++*ret_requests;
	return end && length ? end + 4 + atoi(length + 16) : "";
}

/* NULL: everything is as it should be. */
static const char *check_answer(struct test *t, size_t r, size_t a, size_t cut)
{
	bool streams = answers[a].streams & OF(r);
	const char *want_rest = streams ? "early" EVIL : "";
	int want = streams ? (answers[a].bytes[9] == '2' || strstr(answers[a].bytes, " 200 ") ? 200
											      : 101)
			   : answers[a].status;
	const char *body;
	size_t sent;
	int status;

	feed(t, ab_engine_exchange_client_data, requests[r].bytes, cut);
	feed(t, ab_engine_exchange_client_data, "early", 1);
	feed(t, ab_engine_exchange_engine_data, answers[a].bytes, cut);
	if (!streams)
		ab_engine_exchange_engine_ended(&t->x);
	move_all(t);
	feed(t, ab_engine_exchange_client_data, EVIL, cut);
	if (streams && t->x.state != AB_ENGINE_STREAM)
		return "no stream";
	if (!streams && !ab_engine_exchange_wishes(&t->x).over)
		return "not over";
	if (streams)
		ab_engine_exchange_engine_ended(&t->x);
	move_all(t);
	body = read_reply(t, &status);
	if (strcmp(find_rest(t, &sent), want_rest) != 0 || sent != 1)
		return "other bytes reached the engine";
	if (!strstr(t->engine.data, "Upgrade: tcp") != !requests[r].upgrade)
		return "the upgrade is wrong";
	if (!strstr(t->engine.data, "Connection: close") != requests[r].upgrade)
		return "the end of the connection is wrong";
	if (status != want || t->note.status != want || t->notes != 1 || t->note.stream != streams)
		return "the status or the record is wrong";
	if (streams ? strcmp(body, answers[a].rest) != 0
		    : answers[a].body && strcmp(body, answers[a].body) != 0)
		return "the body is wrong";
	return NULL;
}

static void test_answers(void)
{
	for (size_t a = 0; a < AB_COUNT(answers); a++) {
		const char *why = NULL;
		size_t r, cut = 0, most = strlen(answers[a].bytes) + 2;

		for (r = 0; r < REQUESTS && !why; r++)
			for (cut = 0; cut < most && !why; cut++) {
				struct test t;

				begin(&t);
				why = check_answer(&t, r, a, cut);
				end(&t);
			}
		ok(!why, "%s: %s (%s, cut at %zu)", answers[a].name, why ? why : "as it says",
		   r ? requests[r - 1].name : "", cut - 1);
	}
}

/* Requests, and what is recorded of them although the engine hears nothing. */
static void test_refused(void)
{
	static const struct {
		const char *name, *bytes, *path;
		int status;
		bool denied;
	} cases[] = {
		{ "a second Detach",
		  START(UP, "Content-Length: 30\r\n\r\n{\"Detach\":false,\"Detach\":true}"),
		  "/v1.41/exec/" CMD "/start", 400, true },
		{ "detach in another spelling",
		  START(UP, "Content-Length: 16\r\n\r\n{\"detach\": true}"),
		  "/v1.41/exec/" CMD "/start", 403, true },
		{ "a Detach that is a number",
		  START(UP, "Content-Length: 13\r\n\r\n{\"Detach\": 1}"),
		  "/v1.41/exec/" CMD "/start", 403, true },
		{ "a Detach that is a text",
		  START(UP, "Content-Length: 18\r\n\r\n{\"Detach\": \"true\"}"),
		  "/v1.41/exec/" CMD "/start", 403, true },
		{ "another container", "GET /containers/other/json HTTP/1.1\r\nHost: x\r\n\r\n",
		  "/containers/other/json", 404, false },
		{ "another command", "POST /exec/cc/start HTTP/1.1\r\nHost: x\r\n\r\n",
		  "/exec/cc/start", 404, false },
		{ "a route that is closed", "POST /build HTTP/1.1\r\nHost: x\r\n\r\n", "/build",
		  403, true },
		{ "no request line", "nonsense\r\n\r\n", "nonsense", 400, true },
		{ "control characters", "GET /\x1b[31m HTTP/1.1\r\n\r\n", "GET /\\x1b", 400, true },
		{ "two lengths",
		  "GET /_ping HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		  "GET /_ping HTTP/1.1", 400, true },
		{ "chunks that are none",
		  "POST /exec/" CMD "/start HTTP/1.1\r\nHost: x\r\n"
		  "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		  "/exec/" CMD "/start", 400, true },
		{ "a head that is cut off", "GET /_ping HTTP/1.1\r\nHost", "GET /_ping HTTP/1.1",
		  400, true },
		{ "a body that is cut off", START("", "Content-Length: 9\r\n\r\n{"),
		  "/v1.41/exec/" CMD "/start", 400, true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct test t;
		int status;

		begin(&t);
		feed(&t, ab_engine_exchange_client_data, cases[i].bytes, 0);
		ab_engine_exchange_client_ended(&t.x);
		move_all(&t);
		(void)read_reply(&t, &status);
		ok(!t.engine.len && t.notes == 1 && status == cases[i].status &&
			   t.note.status == status && !t.note.engine && !t.note.allowed &&
			   !t.note.number != cases[i].denied && t.note.reason[0],
		   "%s: %d, \"%s\"", cases[i].name, status, t.note.reason);
		is_str(t.note.path, cases[i].path, "and what it asked is recorded");
		end(&t);
	}
}

/* An exec that says Detach when it is created streams as its start says. */
static void test_detached_before(void)
{
	static const char create[] =
		"POST /containers/one/exec HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n"
		"{\"Cmd\":[\"id\"],\"Detach\": true }";
	struct test t;

	begin(&t);
	feed(&t, ab_engine_exchange_client_data, create, 0);
	ok(t.engine.len && !strstr(t.engine.data, "Detach"),
	   "the engine is not told that a command will be detached");
	end(&t);
}

/* An engine that answers before it has the request. */
static void test_early(void)
{
	static const char *const early[] = {
		"HTTP/1.1 101 UPGRADED\r\n" RAW UP "\r\n",
		"HTTP/1.1 200 OK\r\n" RAW "\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	};

	for (size_t i = 0; i < AB_COUNT(early); i++) {
		struct test t;

		begin(&t);
		ab_engine_exchange_client_data(&t.x, requests[EXEC_UP].bytes,
					       strlen(requests[EXEC_UP].bytes));
		ab_engine_exchange_connected(&t.x);
		ab_buf_skip(&t.x.to_engine, 10);
		ab_engine_exchange_engine_data(&t.x, early[i], strlen(early[i]));
		ab_engine_exchange_client_data(&t.x, EVIL, strlen(EVIL));
		ok(!t.x.to_engine.len && t.notes == 1 && !t.note.stream,
		   "answer %zu before the request is sent: the rest is not sent", i + 1);
		end(&t);
	}
}

static void test_ends(void)
{
	struct test t;

	begin(&t);
	feed(&t, ab_engine_exchange_client_data, requests[LOGS_UP].bytes, 0);
	ab_engine_exchange_client_gone(&t.x);
	ok(t.x.state == AB_ENGINE_OVER && t.notes == 1 && t.note.allowed && !t.note.status,
	   "a client that goes before the answer is recorded");
	end(&t);
	begin(&t);
	feed(&t, ab_engine_exchange_client_data, requests[LOGS_UP].bytes, 0);
	ab_engine_exchange_client_ended(&t.x);
	feed(&t, ab_engine_exchange_engine_data, "HTTP/1.1 200 OK\r\n\r\nout", 0);
	ok(strstr(t.client.data, "out") && t.x.state == AB_ENGINE_PASS,
	   "a client that only sends no more gets its answer");
	end(&t);
	begin(&t);
	feed(&t, ab_engine_exchange_client_data,
	     "POST /containers/one/start HTTP/1.1\r\nHost: x\r\n\r\n", 0);
	ab_engine_exchange_client_gone(&t.x);
	ok(t.x.state == AB_ENGINE_ASKED && t.notes == 0, "the answer to a change is waited for");
	feed(&t, ab_engine_exchange_engine_data, "HTTP/1.1 204 No Content\r\n\r\n", 0);
	ok(t.x.state == AB_ENGINE_OVER && t.notes == 1 && t.note.engine == 204,
	   "and recorded, without a client");
	end(&t);
	begin(&t);
	ab_engine_exchange_client_gone(&t.x);
	ok(t.x.state == AB_ENGINE_OVER && t.notes == 0, "no byte is no request");
	end(&t);
	begin(&t);
	feed(&t, ab_engine_exchange_client_data, "GET /_p", 0);
	ab_engine_exchange_expire(&t.x);
	ok(t.x.state == AB_ENGINE_LAST && t.note.status == 408, "a request that does not come");
	end(&t);
	begin(&t);
	t.fails = true;
	feed(&t, ab_engine_exchange_client_data, requests[EXEC_UP].bytes, 0);
	feed(&t, ab_engine_exchange_engine_data, answers[0].bytes, 0);
	feed(&t, ab_engine_exchange_client_data, EVIL, 0);
	ok(t.x.state == AB_ENGINE_OVER && !t.client.len && !strstr(t.engine.data, "create"),
	   "what cannot be recorded gets no answer and no stream");
	end(&t);
}

/* The half-closed side of a stream, and an engine that reads no more. */
static void test_stream_ends(void)
{
	struct test t;

	begin(&t);
	feed(&t, ab_engine_exchange_client_data, requests[EXEC_UP].bytes, 0);
	feed(&t, ab_engine_exchange_engine_data, answers[0].bytes, 0);
	ab_engine_exchange_client_ended(&t.x);
	ok(ab_engine_exchange_wishes(&t.x).shut_engine, "the end of input is passed on");
	feed(&t, ab_engine_exchange_engine_data, "late", 0);
	ok(strstr(t.client.data, "outlate"), "and the output goes on");
	ab_engine_exchange_engine_deaf(&t.x);
	feed(&t, ab_engine_exchange_client_data, "x", 0);
	ok(!strstr(find_rest(&t, &(size_t){ 0 }), "x"),
	   "an engine that reads no more gets no more");
	end(&t);
}

int main(void)
{
	test_answers();
	test_refused();
	test_detached_before();
	test_early();
	test_ends();
	test_stream_ends();
	return done();
}
