/*
 * Bodies through an exchange: of every framing, in both directions at once,
 * in pieces, slow, early, cut off, and after an upgrade.
 */
#include "exchange_help.h"

#define GET "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define GOT "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define POST "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
#define POSTED "POST / HTTP/1.1\r\nHost: a.test\r\n"
#define FIVE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define NONE "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CHUNKS "5;x=\"y\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n"

static void open_mode(bool in_tunnel)
{
	if (in_tunnel)
		open_tunnel_to("a.test", 80);
	else
		open_proxy();
}

static void test_chunked(void)
{
	open_proxy();
	say(client, POST CHUNKED "Trailer: X-Sum\r\n\r\n");
	hear(servers[0], POSTED CHUNKED "Trailer: X-Sum\r\n\r\n",
	     "a chunked request begins before its body is there");
	for (const char *p = CHUNKS; *p; p++)
		say_bytes(client, p, 1);
	hear(servers[0], CHUNKS, "its chunks and trailers pass unchanged");
	say(servers[0], "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n");
	hear(client, "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n", "the answer's head comes at once");
	say(servers[0], "5\r\nevent\r\n");
	hear(client, "5\r\nevent\r\n", "and each event as it happens");
	ok(is_silent(client), "no sooner");
	say(servers[0], "2;");
	hear(client, "2;", "even half a size");
	say(servers[0], "x\r\nok\r\n0\r\nY: z\r\n\r\n");
	hear(client, "x\r\nok\r\n0\r\nY: z\r\n\r\n", "to the last trailer");
	is_str(recorded(), "POST a.test:80/ 200 up 114 down 77\n", "recorded as sent");
	say(client, GET);
	hear(servers[1] >= 0 && nservers > 1 ? servers[1] : servers[0], GOT,
	     "and the connection is kept");

	open_tunnel_to("a.test", 80);
	say(client, POSTED CHUNKED "\r\n" CHUNKS POSTED CHUNKED "\r\n" CHUNKS);
	hear(servers[0], POSTED CHUNKED "\r\n" CHUNKS,
	     "in a tunnel the same, up to the end of the body");
	ok(is_silent(servers[0]), "not further");
	say(servers[0], "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n" CHUNKS);
	hear(client, "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n" CHUNKS, "and back");
	hear(servers[0], POSTED CHUNKED "\r\n" CHUNKS, "then the next one");
}

static void test_no_body(void)
{
	static const struct {
		const char *method, *head;
	} cases[] = {
		{ "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" },
		{ "HEAD", "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n" },
		{ "HEAD", "HTTP/1.1 200 OK\r\n\r\n" },
		{ "GET", "HTTP/1.1 304 Same\r\nContent-Length: 500\r\n\r\n" },
		{ "GET", "HTTP/1.1 204 None\r\n\r\n" },
	};

	for (size_t i = 0; i < 2 * AB_COUNT(cases); i++) {
		const char *head = cases[i / 2].head;
		char text[200];

		open_mode(i % 2);
		snprintf(text, sizeof(text),
			 "%s %s/ HTTP/1.1\r\nHost: a.test"
			 "\r\n\r\n",
			 cases[i / 2].method, i % 2 ? "" : "http://a.test");
		say(client, text);
		say(servers[0], head);
		hear(client, head, "an answer that has no body");
		say(client, text);
		say(servers[0], head);
		hear(client, head, "and the next one");
		ok(nservers == 1, "on the same connection");
	}
}

static void test_until_close(void)
{
	for (int tunnelled = 0; tunnelled < 2; tunnelled++) {
		open_mode(tunnelled);
		say(client, tunnelled ? GOT : GET);
		say(servers[0], "HTTP/1.1 200 OK\r\n\r\nall ");
		hear(client,
		     tunnelled ? "HTTP/1.1 200 OK\r\n\r\nall "
			       : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
				 "all ",
		     "a body without length");
		say(servers[0], "of it");
		shutdown(servers[0], SHUT_WR);
		hear(client, "of it", "goes on");
		ok(end_of(client) == ENDED, "until it ends");
		is_str(recorded(),
		       tunnelled ? "GET a.test:80/ 200 up 32 down 28\n"
				 : "GET a.test:80/ 200 up 32 down 47\n",
		       "and is complete");
	}
}

static void test_old_client(void)
{
	open_proxy();
	say(client, "GET http://a.test/ HTTP/1.0\r\n\r\n");
	hear(servers[0], "GET / HTTP/1.0\r\nHost: a.test\r\n\r\n", "HTTP/1.0 stays that");
	say(servers[0], "HTTP/1.1 100 Continue\r\n\r\n" FIVE);
	hear(client,
	     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
	     "hello",
	     "and gets no interim answers");
	ok(end_of(client) == ENDED, "its connection ends");

	open_proxy();
	say(client, "GET http://a.test/ HTTP/1.0\r\n"
		    "Connection: keep-alive\r\n\r\n");
	hear(servers[0],
	     "GET / HTTP/1.0\r\nHost: a.test\r\n"
	     "Connection: keep-alive\r\n\r\n",
	     "unless it asks");
	say(servers[0], FIVE);
	hear(client,
	     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
	     "Connection: keep-alive\r\n\r\nhello",
	     "and is told so");
}

static void test_expect(void)
{
#define EXPECT "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"
	for (int tunnelled = 0; tunnelled < 2; tunnelled++) {
		open_mode(tunnelled);
		say(client, tunnelled ? POSTED EXPECT : POST EXPECT);
		hear(servers[0], POSTED EXPECT, "Expect passes");
		say(servers[0], "HTTP/1.1 100 Continue\r\n\r\n");
		hear(client, "HTTP/1.1 100 Continue\r\n\r\n", "so does 100");
		say(client, "hello");
		hear(servers[0], "hello", "and then the body");
		say(servers[0], "HTTP/1.1 103 Hint\r\nLink: x\r\n\r\n" FIVE);
		hear(client, "HTTP/1.1 103 Hint\r\nLink: x\r\n\r\n" FIVE,
		     "other interim answers too");
		is_str(recorded(), "POST a.test:80/ 200 up 79 down 98\n", "it is one request");
		say(client, tunnelled ? GOT : GET);
		say(servers[nservers - 1], FIVE);
		hear(nservers > 1 ? servers[1] : servers[0], GOT, "the connection is kept");

		open_mode(tunnelled);
		say(client, tunnelled ? POSTED EXPECT : POST EXPECT);
		say(servers[0], "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n");
		hear(client,
		     tunnelled ? "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n"
			       : "HTTP/1.1 413 No\r\nContent-Length: 0\r\n"
				 "Connection: close\r\n\r\n",
		     "an answer instead of 100");
		ok(end_of(client) == ENDED, "ends the connection");
		hear(servers[0], POSTED EXPECT, "whose body");
		ok(end_of(servers[0]) == ENDED, "the server never gets");
	}
}

static void test_early_answer(void)
{
	open_proxy();
	say(client, POST "Content-Length: 10\r\n\r\nhello");
	hear(servers[0], POSTED "Content-Length: 10\r\n\r\nhello", "half a body");
	say(servers[0], "HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno");
	hear(client,
	     "HTTP/1.1 401 No\r\nContent-Length: 2\r\nConnection: close\r\n"
	     "\r\nno",
	     "is answered already");
	ok(is_silent(client), "the client may go on");
	say(client, "world");
	hear(servers[0], "world", "and the server hears it to the end");
	ok(end_of(client) == ENDED, "then the connection ends");
	is_str(recorded(), "POST a.test:80/ 401 up 63 down 59\n", "on record");

	open_proxy();
	say(client, POST "Content-Length: 10\r\n\r\nhello");
	hear(servers[0], POSTED "Content-Length: 10\r\n\r\nhello", "half a body");
	say(servers[0], "HTTP/1.1 413 No\r\nContent-Length: 2\r\n"
			"Connection: close\r\n\r\nno");
	close(servers[0]);
	servers[0] = -1;
	hear(client,
	     "HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n"
	     "\r\nno",
	     "an answer by a server that is gone");
	say(client, "w");
	say(client, "orld");
	ok(end_of(client) == ENDED, "is not lost");

	open_proxy();
	say(client, POST CHUNKED "\r\n5\r\nhello\r\n");
	hear(servers[0], POSTED CHUNKED "\r\n5\r\nhello\r\n", "both directions");
	say(servers[0], "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n1\r\na\r\n");
	hear(client,
	     "HTTP/1.1 200 OK\r\n" CHUNKED "Connection: close\r\n\r\n"
	     "1\r\na\r\n",
	     "can be under way");
	say(client, "1\r\nb\r\n");
	hear(servers[0], "1\r\nb\r\n", "at once");
	say(servers[0], "1\r\nc\r\n");
	hear(client, "1\r\nc\r\n", "in turns");
	say(client, "0\r\n\r\n");
	hear(servers[0], "0\r\n\r\n", "one ends");
	say(servers[0], "0\r\n\r\n");
	hear(client, "0\r\n\r\n", "then the other");
	ok(end_of(client) == ENDED, "and both");
}

static void test_client_ends(void)
{
	for (int tunnelled = 0; tunnelled < 2; tunnelled++) {
		open_mode(tunnelled);
		say(client, tunnelled ? GOT : GET);
		hear(servers[0], GOT, "a client asks");
		ok(is_silent(servers[0]), "and waits");
		shutdown(client, SHUT_WR);
		ok(end_of(servers[0]) == ENDED, "that it will ask no more is passed on");
		say(servers[0], FIVE);
		hear(client, FIVE, "and it is answered");
		ok(end_of(client) == ENDED && !conn, "before the end");

		open_mode(tunnelled);
		say(client, tunnelled ? GOT GOT : GET GET);
		shutdown(client, SHUT_WR);
		hear(servers[0], GOT, "two requests and an end");
		say(servers[0], FIVE);
		hear(client, FIVE, "are");
		hear(servers[0], GOT, "two requests");
		say(servers[0], FIVE);
		hear(client, FIVE, "and an end");
		ok(end_of(client) == ENDED && !conn, "in this order");

		open_mode(tunnelled);
		say(client, tunnelled ? POSTED "Content-Length: 9\r\n\r\nhello"
				      : POST "Content-Length: 9\r\n\r\nhello");
		shutdown(client, SHUT_WR);
		hear(servers[0], POSTED "Content-Length: 9\r\n\r\nhello", "half a request");
		ok(end_of(servers[0]) == ENDED, "is seen to be half");
		say(servers[0], "HTTP/1.1 400 Half\r\nContent-Length: 0\r\n\r\n");
		hear(client, "HTTP/1.1 400 Half\r\n", "what is said to it");
		ok(end_of(client) != RESET, "arrives");

		open_mode(tunnelled);
		say(client, tunnelled ? GOT : GET);
		hear(servers[0], GOT, "a client that is gone");
		setsockopt(client, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
			   sizeof(struct linger));
		close(client);
		client = -1;
		turns(5);
		ok(!conn && end_of(servers[0]) != OPEN, "takes its request along");
		is_str(recorded(),
		       "GET a.test:80/ 0 up 32 down 0 "
		       "(the client's connection failed)\n",
		       "on record");
	}
	open_proxy();
	send(client, GET, strlen(GET), 0);
	turn();
	setsockopt(client, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
		   sizeof(struct linger));
	close(client);
	client = -1;
	turns(3);
	ok(!conn && nservers == 1, "a client that is gone while we dial");
	open_proxy();
	say(client, "GET http://a.te");
	shutdown(client, SHUT_WR);
	ok(end_of(client) == ENDED && !conn && nservers == 0, "half a head");
}

/* The answer, cut after n bytes: what the client can tell. */
static void cut_answer(bool tunnelled, const char *text, size_t n, bool reset, bool sized)
{
	size_t head = (size_t)(strstr(text, "\r\n\r\n") + 4 - text);
	char got[1000] = "";
	enum end end;

	open_mode(tunnelled);
	say(client, tunnelled ? GOT : GET);
	take(servers[0], got, strlen(GOT));
	say_bytes(servers[0], text, n);
	if (reset)
		setsockopt(servers[0], SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 },
			   sizeof(struct linger));
	close(servers[0]);
	servers[0] = -1;
	turns(3);
	memset(got, 0, sizeof(got));
	take(client, got, sizeof(got) - 1);
	end = end_of(client);
	if (n < head) {
		ok(strncmp(got, "HTTP/1.1 502 ", 13) == 0 && end == ENDED, "cut at %zu: 502", n);
	} else if (n == strlen(text) && (sized || !reset)) {
		ok(strstr(got, strstr(text, "\r\n\r\n")) &&
			   (end == ENDED || (!tunnelled && end == OPEN)),
		   "complete");
	} else if (sized || reset) {
		ok(strncmp(got, "HTTP/1.1 200", 12) != 0 || end == RESET, "cut at %zu: reset", n);
	} else {
		ok(end == ENDED, "cut at %zu: ended", n);
	}
	finish();
}

static void test_server_cut(void)
{
	static const char *const texts[] = {
		FIVE,
		"HTTP/1.1 200 OK\r\n" CHUNKED "\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\nhello",
	};

	for (size_t i = 0; i < AB_COUNT(texts); i++)
		for (int tunnelled = 0; tunnelled < 2; tunnelled++)
			for (size_t n = 0; n <= strlen(texts[i]); n++) {
				cut_answer(tunnelled, texts[i], n, false, i < 2);
				cut_answer(tunnelled, texts[i], n, true, i < 2);
			}
}

static void test_pieces(void)
{
	static const char get[] = GET POST "Content-Length: 5\r\n\r\nhello";
	static const char answer[] =
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" CHUNKED "\r\n" CHUNKS;

	open_proxy();
	for (size_t i = 0; i < sizeof(get) - 1; i++)
		say_bytes(client, get + i, 1);
	hear(servers[0], GOT, "a request byte by byte");
	for (size_t i = 0; i < sizeof(answer) - 1; i++)
		say_bytes(servers[0], answer + i, 1);
	hear(client, answer, "an answer byte by byte");
	turns(3);
	hear(servers[1], POSTED "Content-Length: 5\r\n\r\nhello", "and what was behind");
}

static void test_malformed_answers(void)
{
	static const char *const texts[] = {
		"SSH-2.0-x\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" CHUNKED "\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc",
	};

	for (size_t i = 0; i < 2 * AB_COUNT(texts); i++) {
		open_mode(i % 2);
		say(client, i % 2 ? GOT : GET);
		hear(servers[0], GOT, "a request");
		say(servers[0], texts[i / 2]);
		hear(client, "HTTP/1.1 502 Bad Gateway (agentbox: malformed response: ",
		     "a malformed answer is none");
		ok(end_of(servers[0]) != OPEN, "and its server is left");
	}
	open_proxy();
	say(client, GET);
	say(servers[0], "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n5\r\nhello\r\nx");
	hear(client, "HTTP/1.1 200 OK\r\n" CHUNKED "\r\n", "a malformed chunk");
	ok(end_of(client) == RESET, "cuts the answer off");
}

static void test_upgrade(void)
{
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
#define SWITCH "HTTP/1.1 101 Go\r\n" UPGRADE
	static const char *const hollow[] = {
		"HTTP/1.1 101 Go\r\n\r\n",
		"HTTP/1.1 101 Go\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\n\r\n",
		"HTTP/1.1 101 Go\r\nConnection: Upgrade\r\n\r\n",
		"HTTP/1.1 101 Go\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
	};

	for (int tunnelled = 0; tunnelled < 2; tunnelled++) {
		const char *ask = tunnelled ? "GET / HTTP/1.1\r\nHost: a.test\r\n" UPGRADE
					    : "GET http://a.test/ HTTP/1.1\r\n"
					      "Host: a.test\r\n" UPGRADE;

		open_mode(tunnelled);
		say(client, ask);
		say(client, "early");
		hear(servers[0], "GET / HTTP/1.1\r\nHost: a.test\r\n" UPGRADE,
		     "an upgrade is asked for");
		ok(is_silent(servers[0]), "nothing passes before");
		say(servers[0], SWITCH "welcome");
		hear(client, SWITCH "welcome", "it is granted");
		hear(servers[0], "early", "and then everything passes");
		say(client, "GET http://denied.test/ HTTP/1.1\n\n\r");
		hear(servers[0], "GET http://denied.test/ HTTP/1.1\n\n\r", "as it is");
		shutdown(client, SHUT_WR);
		ok(end_of(servers[0]) == ENDED, "one end");
		say(servers[0], "bye");
		hear(client, "bye", "is not the other");
		is_str(recorded(), "", "it is under way so long");
		shutdown(servers[0], SHUT_WR);
		ok(end_of(client) == ENDED && !conn, "both are");
		is_str(recorded(), "GET a.test:80/ 101 up 113 down 70\n", "and on record then");

		open_mode(tunnelled);
		say(client, ask);
		say(servers[0], FIVE);
		hear(client, FIVE, "an upgrade is not granted");
		say(client, tunnelled ? GOT : GET);
		hear(servers[0], "GET / HTTP/1.1\r\nHost: a.test\r\n" UPGRADE GOT,
		     "then HTTP goes on");
		say(servers[0], FIVE);
		hear(client, FIVE, "and is answered");
		say(client, tunnelled ? "GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n"
				      : "GET http://denied.test/ HTTP/1.1\r\n"
					"Host: denied.test\r\n\r\n");
		hear(client, "HTTP/1.1 403 ", "and judged");

		for (size_t i = 0; i < AB_COUNT(hollow); i++) {
			open_mode(tunnelled);
			say(client, ask);
			hear(servers[0], "GET / HTTP/1.1\r\nHost: a.test\r\n" UPGRADE,
			     "an upgrade is asked for");
			say(servers[0], hollow[i]);
			hear(client, "HTTP/1.1 502 ", "a status alone is no other protocol");
			ok(end_of(servers[0]) != OPEN, "and nothing more reaches the server");
		}
	}
	open_tunnel_to("a.test", 80);
	say(client, "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: h2c\r\n"
		    "Connection: Upgrade, HTTP2-Settings\r\n"
		    "HTTP2-Settings: AAMA\r\nA: b\r\n\r\n");
	hear(servers[0], "GET / HTTP/1.1\r\nHost: a.test\r\nA: b\r\n\r\n",
	     "an upgrade to HTTP/2 is not even asked for");
	say(servers[0], SWITCH);
	hear(client, "HTTP/1.1 502 ", "nor believed");
}

static void test_slow_client(void)
{
	enum { LEN = 6 << 20 };
	static char data[LEN], got[LEN];

	for (size_t i = 0; i < LEN; i++)
		data[i] = (char)(i * 7 + (i >> 10));
	for (int tunnelled = 0; tunnelled < 2; tunnelled++) {
		char head[100];
		size_t sent = 0, have;

		snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LEN);
		open_mode(tunnelled);
		say(client, tunnelled ? GOT : GET);
		say(servers[0], head);
		hear(client, head, "a large answer");
		/* Nobody reads: what is sent ends somewhere. */
		for (int i = 0; i < 200 && sent < LEN; i++) {
			ssize_t n = send(servers[0], data + sent, LEN - sent, MSG_NOSIGNAL);

			sent += n > 0 ? (size_t)n : 0;
			turn();
		}
		ok(conn->client.out.room + conn->server.in.room <= 128 << 10,
		   "waits in the kernel, not in memory");
		for (have = 0; have < LEN;) {
			size_t n =
				take(client, got + have, LEN - have < 50000 ? LEN - have : 50000);
			ssize_t more =
				sent < LEN ? send(servers[0], data + sent, LEN - sent, MSG_NOSIGNAL)
					   : 0;

			sent += more > 0 ? (size_t)more : 0;
			if (!n)
				break;
			have += n;
		}
		ok(have == LEN && memcmp(data, got, LEN) == 0, "and arrives whole");
		say(client, tunnelled ? GOT : GET);
		say(servers[0], FIVE);
		hear(client, FIVE, "and the next one");
	}
}

static uint64_t time_left(void)
{
	return conn->deadline.slot ? conn->deadline.at - engine.loop.now : 0;
}

/* A busy machine may use up half of it meanwhile. */
static bool is_limited_to(uint64_t ms)
{
	return time_left() > ms / 2 && time_left() <= ms;
}

static void test_deadlines(void)
{
	uint64_t first;

	open_proxy();
	turns(2);
	ok(is_limited_to(AB_HANDSHAKE_MS), "the first head has a deadline");
	first = conn->deadline.at;
	say(client, "GET http");
	ok(conn->deadline.slot && conn->deadline.at == first, "which bytes do not put off");
	say(client, "://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n");
	ok(time_left() == 0, "an answer has none");
	say(servers[0], FIVE);
	hear(client, FIVE, "and after it");
	turns(2);
	ok(is_limited_to(AB_IDLE_MS), "the connection may be idle");
	say(client, "G");
	ok(is_limited_to(AB_HEAD_MS), "a head that has begun may not");
	say(client, "ET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n"
		    "\r\n");
	hear(client, "HTTP/1.1 403 ", "a refusal");
	ok(conn && time_left() > 0 && time_left() <= 10000, "is not waited for longer than that");
}

static void test_linger(void)
{
	static char body[4 << 20];
	char got[20] = "";

	open_proxy();
	say(client, "POST http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n"
		    "Content-Length: 4194304\r\n\r\n");
	say_bytes(client, body, sizeof(body));
	take(client, got, 13);
	is_str(got, "HTTP/1.1 403 ", "who sends everything first can still read the refusal");
}

int main(void)
{
	world_init();
	test_chunked();
	test_no_body();
	test_until_close();
	test_old_client();
	test_expect();
	test_early_answer();
	test_client_ends();
	test_server_cut();
	test_pieces();
	test_malformed_answers();
	test_upgrade();
	test_slow_client();
	test_deadlines();
	test_linger();
	world_fini();
	ok(engine.nconns == 0, "no connection is left");
	return done();
}
