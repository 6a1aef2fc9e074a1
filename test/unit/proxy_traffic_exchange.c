/*
 * Requests through the proxy and through tunnels, as client and server see
 * them, and as they are recorded.
 */
#include "exchange_help.h"

#define GET_A "GET http://a.test/x?q=1 HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define GOT_A "GET /x?q=1 HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define GET_B "GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n"
#define GOT_B "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n"
#define FIVE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define NONE "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static void test_keep_alive(void)
{
	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "a request reaches its server in origin form");
	is_str(dialled_hosts[0], "a.test:80", "whose name was dialled");
	say(servers[0], FIVE);
	hear(client, FIVE, "its answer the client");
	is_str(recorded(), "GET a.test:80/x 200 up 37 down 43\n",
	       "it is on record without its query");
	ok(conn && !conn->client.in.data && !conn->client.out.data && !conn->server.in.data &&
		   conn->up.pipe[0] < 0 && conn->down.pipe[0] < 0,
	   "nothing is held between requests");

	say(client, GET_A);
	hear(servers[0], GOT_A, "the next one goes to the same server");
	say(servers[0], FIVE);
	hear(client, FIVE, "and is answered");
	ok(nservers == 1, "on the kept connection");

	say(client, GET_B);
	ok(end_of(servers[0]) == ENDED, "one for another host ends that connection");
	hear(servers[1], GOT_B, "and goes to its own server");
	is_str(dialled_hosts[1], "b.test:80", "which was dialled");
	say(servers[1], NONE);
	hear(client, NONE, "an answer without body");

	say(client, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
		    "Connection: close\r\n\r\n");
	hear(servers[2],
	     "GET / HTTP/1.1\r\nHost: a.test\r\n"
	     "Connection: close\r\n\r\n",
	     "the last one");
	say(servers[2], NONE);
	hear(client,
	     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
	     "Connection: close\r\n\r\n",
	     "is answered as such");
	ok(end_of(client) == ENDED, "and ends the connection");
}

static void test_server_closes(void)
{
	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "a server that closes after each answer");
	say(servers[0], "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
			"Connection: close\r\n\r\nhello");
	hear(client, FIVE, "does not end the client's connection");
	ok(end_of(servers[0]) == ENDED, "only its own");
	say(client, GET_A);
	hear(servers[1], GOT_A, "the next request dials again");
	say(servers[1], FIVE);
	hear(client, FIVE, "and is answered");
	close(servers[1]);
	servers[1] = -1;
	turns(3);
	say(client, GET_A);
	hear(servers[2], GOT_A, "also when a kept connection ended idle");

	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "a server");
	say(servers[0], FIVE "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
	hear(client, FIVE, "that says more than it was asked");
	ok(is_silent(client), "is not heard");
	say(client, GET_A);
	hear(servers[1], GOT_A, "nor asked again");

	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "a server");
	say(servers[0], FIVE);
	hear(client, FIVE, "may close");
	say_bytes(client, GET_A, strlen(GET_A));
	hear(servers[0], GOT_A, "while it gets the next request");
	close(servers[0]);
	servers[0] = -1;
	turns(3);
	hear(servers[1], GOT_A, "which is asked again, once");
	close(servers[1]);
	servers[1] = -1;
	turns(3);
	hear(client, "HTTP/1.1 502 Bad Gateway", "and then fails");

	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "a kept connection");
	say(servers[0], NONE);
	hear(client, NONE, "is not trusted");
	say(client, "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
		    "Content-Length: 2\r\n\r\nhi");
	hear(servers[1],
	     "POST / HTTP/1.1\r\nHost: a.test\r\n"
	     "Content-Length: 2\r\n\r\nhi",
	     "with what must not be sent twice");
}

static void test_pipelining(void)
{
	open_proxy();
	say(client, GET_A GET_B GET_A);
	hear(servers[0], GOT_A, "of three requests at once the first is sent");
	ok(nservers == 1 && is_silent(servers[0]), "and only that");
	say(servers[0], FIVE);
	hear(client, FIVE, "until it is answered");
	hear(servers[1], GOT_B, "then the second");
	say(servers[1], CHUNKED "0\r\n\r\n");
	hear(client, CHUNKED "0\r\n\r\n", "and so on");
	hear(servers[2], GOT_A, "the third");
	say(servers[2], NONE);
	hear(client, NONE, "all in order");
	is_str(recorded(),
	       "GET a.test:80/x 200 up 37 down 43\nGET b.test:80/ 200 up 32 down 52\n"
	       "GET a.test:80/x 200 up 37 down 38\n",
	       "each on record");
}

static void test_denials(void)
{
	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "after an allowed request");
	say(servers[0], NONE);
	hear(client, NONE, "that was answered");
	say(client, "GET http://denied.test/secret?k HTTP/1.1\r\n"
		    "Host: denied.test\r\n\r\n" GET_A);
	hear(client,
	     "HTTP/1.1 403 Denied by agentbox (7kq2-1)\r\n"
	     "Content-Type: text/plain; charset=utf-8\r\n"
	     "Content-Length: 139\r\n"
	     "Cache-Control: no-store\r\n"
	     "Connection: close\r\n"
	     "\r\n"
	     "agentbox denied denied.test:80: not on the allow list "
	     "(rule network.allow, id 7kq2-1).\n"
	     "To allow it, a human can run: agentbox allow 7kq2-1\n",
	     "a denied one on the same connection is refused in words");
	ok(end_of(client) == ENDED, "and ends it, without a reset");
	ok(nservers == 1 && end_of(servers[0]) == ENDED, "nobody is dialled, nobody kept");
	is_str(recorded(),
	       "GET a.test:80/x 200 up 37 down 38\n"
	       "denied denied.test:80 fault 0\n"
	       "GET denied.test:80/secret 403 up 0 down 0 denial 1\n",
	       "it is on record");
	close(client);
	client = -1;
	turns(3);
	ok(!conn, "the connection is gone when the client has closed too");

	open_proxy();
	say(client, "HEAD http://ask.test/ HTTP/1.1\r\nHost: ask.test\r\n\r\n");
	hear(client,
	     "HTTP/1.1 403 Denied by agentbox (7kq2-1)\r\n"
	     "Content-Type: text/plain; charset=utf-8\r\n"
	     "Content-Length: 136\r\n"
	     "Cache-Control: no-store\r\n"
	     "Connection: close\r\n"
	     "\r\n",
	     "what nobody allowed is denied; HEAD gets no words");
	ok(end_of(client) == ENDED, "and the end");

	open_proxy();
	next_dial.result = AB_DIAL_FORBIDDEN;
	next_dial.verdict = (struct ab_verdict){ .basis = AB_BASIS_RANGE, .entry = "10.0.0.0/8" };
	say(client, GET_A);
	hear(client, "HTTP/1.1 403 Denied by agentbox (7kq2-1)",
	     "so is a name that leads to a denied range");
	is_str(recorded(),
	       "denied a.test:80 fault 1\n"
	       "GET a.test:80/x 403 up 0 down 0 denial 1\n",
	       "and on record");

	open_proxy();
	log_is_full = true;
	say(client, "GET http://denied.test/ HTTP/1.1\r\n"
		    "Host: denied.test\r\n\r\n");
	ok(end_of(client) == RESET && !conn, "without a record there is no answer");
	open_proxy();
	say(client, GET_A GET_A);
	hear(servers[0], GOT_A, "a request");
	log_is_full = true;
	say(servers[0], FIVE);
	ok(!conn && nservers == 1, "without a record there is no next one");
}

static void test_failures(void)
{
	static const struct {
		struct ab_dialled dial;
		const char *line, *words;
	} cases[] = {
		{ { .result = AB_DIAL_NO_NAME }, "502 Bad Gateway", "the name does not exist" },
		{ { .result = AB_DIAL_NO_ANSWER },
		  "504 Gateway Timeout",
		  "no name server answered" },
		{ { .result = AB_DIAL_TIMEOUT }, "504 Gateway Timeout", "the connection timed out" },
		{ { .result = AB_DIAL_UPSTREAM, .status = 403 },
		  "502 Bad Gateway",
		  "the upstream proxy refused the request" },
		{ { .result = AB_DIAL_FAILED, .errnum = ECONNREFUSED },
		  "502 Bad Gateway",
		  "connection refused" },
		{ { .result = AB_DIAL_FAILED, .errnum = ETIMEDOUT },
		  "504 Gateway Timeout",
		  "the connection timed out" },
		{ { .result = AB_DIAL_FAILED, .errnum = EIO },
		  "502 Bad Gateway",
		  "the connection failed" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char want[200], got[1000] = "";

		open_proxy();
		next_dial = cases[i].dial;
		say(client, GET_A);
		take(client, got, sizeof(got) - 1);
		snprintf(want, sizeof(want), "HTTP/1.1 %s (agentbox: %s)\r\n", cases[i].line,
			 cases[i].words);
		ok(strncmp(got, want, strlen(want)) == 0, "%s", cases[i].words);
		snprintf(want, sizeof(want),
			 "\r\n\r\nagentbox could not get a response from "
			 "a.test:80: %s.\n",
			 cases[i].words);
		ok(strstr(got, want), "in words");
		snprintf(want, sizeof(want), "GET a.test:80/x %.3s up 0 down 0 (%s)\n",
			 cases[i].line, cases[i].words);
		is_str(recorded(), want, "on record");
	}
}

static void test_malformed(void)
{
	static const struct {
		const char *in, *line;
	} cases[] = {
		{ "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
		  "400 Bad Request (agentbox: this is a proxy" },
		{ "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n",
		  "400 Bad Request (agentbox: this is a proxy" },
		{ "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		  "400 Bad Request (agentbox: use CONNECT for https:" },
		{ "GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		  "400 Bad Request (agentbox: ftp:// URLs cannot be requested" },
		{ "GET http://a.test/ HTTP/1.1\nHost", "400 Bad Request" },
		{ "GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n",
		  "400 Bad Request (agentbox: Host differs" },
		{ "GET http://a.test/ HTTP/3.0\r\nHost: b.test\r\n\r\n",
		  "505 HTTP Version Not Supported" },
		{ "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
		  "Transfer-Encoding: gzip\r\n\r\n",
		  "501 Not Implemented" },
		{ "\x16\x03\x01", "400 Bad Request" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char got[1000] = "";

		open_proxy();
		say(client, cases[i].in);
		take(client, got, sizeof(got) - 1);
		ok(strncmp(got + 9, cases[i].line, strlen(cases[i].line)) == 0, "%s",
		   cases[i].line);
		ok(strstr(got, "\r\n\r\nagentbox denied this request: ") &&
			   strstr(got, "(id 7kq2-1).\n"),
		   "in words");
		ok(nservers == 0 && strstr(recorded(), "denied (no host):0"),
		   "nobody is dialled, and it is on record");
	}
	open_proxy();
	say(client, "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
		    "Transfer-Encoding: chunked\r\n\r\n"
		    "5\r\nhello\r\n5\nhello");
	hear(servers[0],
	     "POST / HTTP/1.1\r\nHost: a.test\r\n"
	     "Transfer-Encoding: chunked\r\n\r\n",
	     "a chunked body");
	hear(client, "HTTP/1.1 400 Bad Request (agentbox: malformed chunked body)\r\n",
	     "that is malformed is refused");
	ok(end_of(servers[0]) == ENDED, "and what came before it cut off");
}

static void test_connect(void)
{
	open_proxy();
	say(client, GET_A);
	hear(servers[0], GOT_A, "after a request");
	say(servers[0], NONE);
	hear(client, NONE, "on the same connection");
	say(client, "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n"
		    "Proxy-Authorization: Basic eDp5\r\n\r\n\x16\x03");
	is_str(tunnel, "b.test:443 in 2", "CONNECT becomes a tunnel, with the bytes behind it");
	ok(end_of(servers[0]) == ENDED, "and the old server is left");
}

static void test_upstream(void)
{
	char password[] = "Basic dTpw";
	struct ab_upstream upstream = { .credentials = password };

	open_proxy();
	engine_setup.upstream = &upstream;
	next_dial.upstream = true;
	say(client, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
		    "Proxy-Authorization: Basic eDp5\r\n\r\n");
	hear(servers[0],
	     "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
	     "Proxy-Authorization: Basic dTpw\r\n\r\n",
	     "an upstream proxy gets the absolute form and its own password");
	say(servers[0], "HTTP/1.1 407 No\r\nContent-Length: 0\r\n"
			"Proxy-Authenticate: Basic realm=x\r\n\r\n");
	hear(client, "HTTP/1.1 502 Bad Gateway (agentbox: the upstream proxy",
	     "a client never sees that one's challenge");

	open_proxy();
	engine_setup.upstream = &upstream;
	say(client, GET_A);
	hear(servers[0], GOT_A, "a host beside it gets none of this");
	say(servers[0], "HTTP/1.1 407 No\r\nContent-Length: 0\r\n"
			"Proxy-Authenticate: Basic realm=x\r\n\r\n");
	hear(client, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n",
	     "and its headers stay on their hop");
}

static void test_tunnel(void)
{
#define TGET "GET /t HTTP/1.1\r\nhOST:  a.test \r\nConnection: keep-alive\r\n\r\n"
	open_tunnel_to("a.test", 80);
	say(client, TGET);
	hear(servers[0], TGET, "in a tunnel a head passes as it is");
	say(servers[0], "HTTP/1.1 200 OK\r\nConnection: x\r\nX: y\r\n"
			"Content-Length: 5\r\n\r\nhello");
	hear(client,
	     "HTTP/1.1 200 OK\r\nConnection: x\r\nX: y\r\n"
	     "Content-Length: 5\r\n\r\nhello",
	     "the answer as well");
	is_str(recorded(), "GET a.test:80/t 200 up 59 down 64\n", "on record, with the heads");
	say(client, "POST /p HTTP/1.1\r\nHost: a.test:80\r\n"
		    "Content-Length: 3\r\n\r\nabc");
	hear(servers[0],
	     "POST /p HTTP/1.1\r\nHost: a.test:80\r\n"
	     "Content-Length: 3\r\n\r\nabc",
	     "a second one, with a body");
	say(servers[0], CHUNKED "3\r\nxyz\r\n0\r\n\r\n");
	hear(client, CHUNKED "3\r\nxyz\r\n0\r\n\r\n", "and its answer");
	say(client, "GET /e HTTP/1.1\r\nHost: b.test\r\n\r\n");
	hear(client, "HTTP/1.1 403 Denied by agentbox (7kq2-1)\r\n",
	     "another host is refused on the kept connection, allowed or not");
	ok(end_of(servers[0]) == ENDED, "and not passed on");
	is_str(recorded(),
	       "GET a.test:80/t 200 up 59 down 64\n"
	       "POST a.test:80/p 200 up 59 down 60\n"
	       "denied a.test:80 fault 3 b.test\n"
	       "GET a.test:80/e 403 up 0 down 0 denial 1\n",
	       "all on record");
}

static void test_tunnel_authority(void)
{
	static const struct {
		const char *host;
		uint16_t port;
		const char *head;
		bool passes;
	} cases[] = {
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: A.TEST.\r\n\r\n", true },
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: a.test:80\r\n\r\n", true },
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: a.test:81\r\n\r\n", false },
		{ "a.test", 8080, "GET / HTTP/1.1\r\nHost: a.test:8080\r\n\r\n", true },
		{ "a.test", 8080, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", true },
		{ "a.test", 8080, "GET / HTTP/1.1\r\nHost: a.test:80\r\n\r\n", false },
		{ "a.test", 80, "GET / HTTP/1.0\r\n\r\n", true },
		{ "a.test", 80, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", true },
		{ "a.test", 80, "GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n", false },
		{ "a.test", 80, "GET http://b.test/ HTTP/1.0\r\n\r\n", false },
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: x.a.test\r\n\r\n", false },
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: 198.18.0.1\r\n\r\n", true },
		{ "a.test", 80, "GET / HTTP/1.1\r\nHost: 198.18.0.2\r\n\r\n", false },
		{ "192.0.2.1", 80, "GET / HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n", true },
		{ "192.0.2.1", 80, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", true },
		{ "192.0.2.1", 80, "GET / HTTP/1.1\r\nHost: a.test:81\r\n\r\n", false },
		{ "192.0.2.1", 80, "GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n", false },
		{ "192.0.2.1", 80, "GET / HTTP/1.1\r\nHost: ask.test\r\n\r\n", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		open_tunnel_to(cases[i].host, cases[i].port);
		say(client, cases[i].head);
		if (cases[i].passes) {
			hear(servers[0], cases[i].head, "agrees with its tunnel");
		} else {
			hear(client, "HTTP/1.1 403 ", "is refused");
			ok(end_of(servers[0]) == ENDED, "and not passed: %s:%u", cases[i].host,
			   cases[i].port);
		}
	}
	open_tunnel_to("a.test", 80);
	conn->ahead = 3;
	say(client, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
	hear(servers[0], " / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	     "what the server has already is not sent again");
	open_tunnel_to("a.test", 80);
	say(client, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
	hear(client, "HTTP/1.1 400 ", "no tunnel begins in a tunnel");
}

int main(void)
{
	world_init();
	test_keep_alive();
	test_server_closes();
	test_pipelining();
	test_denials();
	test_failures();
	test_malformed();
	test_connect();
	test_upstream();
	test_tunnel();
	test_tunnel_authority();
	world_fini();
	ok(engine.nconns == 0, "no connection is left");
	return done();
}
