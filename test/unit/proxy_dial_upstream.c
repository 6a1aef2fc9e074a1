#include "proxy/dial/upstream.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *url;
	const char *host; /* NULL: refused */
	uint16_t port;
	const char *credentials;
} urls[] = {
	{ "http://proxy:80", "proxy", 80, NULL },
	{ "http://proxy:80/", "proxy", 80, NULL },
	{ "HTTP://Proxy.Corp:3128", "proxy.corp", 3128, NULL },
	{ "http://proxy.corp.:3128/", "proxy.corp", 3128, NULL },
	{ "http://10.0.0.1:8080", "10.0.0.1", 8080, NULL },
	{ "http://[fd00::1]:8080", "fd00::1", 8080, NULL },
	{ "http://[fd00::1]:80/", "fd00::1", 80, NULL },
	{ "http://[::ffff:10.0.0.1]:81", "10.0.0.1", 81, NULL },
	{ "http://u:p@proxy:1", "proxy", 1, "Basic dTpw" },
	{ "http://u@proxy:80", "proxy", 80, "Basic dTo=" },
	{ "http://u:@proxy:80", "proxy", 80, "Basic dTo=" },
	{ "http://Aladdin:open%20sesame@proxy:80", "proxy", 80,
	  "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==" },
	{ "http://dom%5Cu:p%40%3a%25@proxy:80", "proxy", 80, "Basic ZG9tXHU6cEA6JQ==" },
	{ "http://u:a:b@proxy:80", "proxy", 80, "Basic dTphOmI=" },
	{ "http://u:%C3%A4@proxy:80", "proxy", 80, "Basic dTrDpA==" },

	{ "", NULL, 0, NULL },
	{ "proxy:3128", NULL, 0, NULL },
	{ "//proxy", NULL, 0, NULL },
	{ "http:/proxy", NULL, 0, NULL },
	{ "http://", NULL, 0, NULL },
	{ "http:///", NULL, 0, NULL },
	{ "http://:3128", NULL, 0, NULL },
	{ "http://proxy", NULL, 0, NULL },
	{ "http://u:p@proxy", NULL, 0, NULL },
	{ "http://proxy:", NULL, 0, NULL },
	{ "http://proxy:0", NULL, 0, NULL },
	{ "http://proxy:65536", NULL, 0, NULL },
	{ "http://proxy:80x", NULL, 0, NULL },
	{ "http://proxy:80:80", NULL, 0, NULL },
	{ "http://fd00::1:80", NULL, 0, NULL },
	{ "http://*.proxy:80", NULL, 0, NULL },
	{ "http://pro xy:80", NULL, 0, NULL },
	{ "http://proxy:80\r\nX: y", NULL, 0, NULL },
	{ "http://proxy:80/path", NULL, 0, NULL },
	{ "http://proxy:80?q", NULL, 0, NULL },
	{ "http://proxy:80#f", NULL, 0, NULL },
	{ "http://@proxy:80", NULL, 0, NULL },
	{ "http://:p@proxy:80", NULL, 0, NULL },
	{ "http://u@u:p@proxy:80", NULL, 0, NULL },
	{ "http://u%3Av:p@proxy:80", NULL, 0, NULL },
	{ "http://u%0d%0aX:p@proxy:80", NULL, 0, NULL },
	{ "http://u:%00@proxy:80", NULL, 0, NULL },
	{ "http://u:%7f@proxy:80", NULL, 0, NULL },
	{ "http://u:%4@proxy:80", NULL, 0, NULL },
	{ "http://u:%@proxy:80", NULL, 0, NULL },
	{ "http://u:%zz@proxy:80", NULL, 0, NULL },
	{ "https://proxy", NULL, 0, NULL },
	{ "socks5://proxy", NULL, 0, NULL },
	{ "SOCKS5H://proxy", NULL, 0, NULL },
	{ "ftp://proxy", NULL, 0, NULL },
};

static void test_urls(void)
{
	for (size_t i = 0; i < AB_COUNT(urls); i++) {
		struct ab_upstream *u = NULL;
		struct ab_error err = { .code = AB_ENONE };
		int r = ab_upstream_parse(urls[i].url, &u, &err);

		if (!urls[i].host) {
			ok(r < 0 && !u && err.code == AB_ECONFIG && err.hint[0],
			   "case %zu is refused, with a way out", i);
			continue;
		}
		ok(r == 0 && u->port == urls[i].port, "%s is taken", urls[i].url);
		if (r < 0)
			continue;
		is_str(u->host.text, urls[i].host, "the host");
		is_str(u->credentials, urls[i].credentials, "the credentials");
		ab_upstream_free(u);
	}
}

static void test_secrecy(void)
{
	static const char *const bad[] = {
		"http://user:hunter2@proxy:x",	"https://user:hunter2@proxy",
		"http://user:hunter2%@proxy",	"user:hunter2@proxy",
		"http://user:hunter2@proxy/x",	"socks5://user:hunter2@proxy",
		"http://user:hunter2@h@proxy/", "http://user:hunter2\1@proxy",
	};
	ab_autofree char *longer = ab_alloc(4096);
	struct ab_upstream *u;
	struct ab_error err;

	for (size_t i = 0; i < AB_COUNT(bad); i++)
		ok(ab_upstream_parse(bad[i], &u, &err) < 0 && !strstr(err.text, "hunter2") &&
			   !strstr(err.hint, "hunter2"),
		   "a mistake is told without the password (%zu)", i);
	memset(longer, 'x', 4095);
	memcpy(longer, "http://", 7);
	memcpy(longer + 1500, "@proxy:80", 10);
	ok(ab_upstream_parse(longer, &u, &err) < 0, "a login has a bound");
}

static const struct {
	const char *env[4];
	const char *host; /* NULL: none; "": an error */
	const char *bypass;
} envs[] = {
	{ { "PATH=/bin" }, NULL, NULL },
	{ { "HTTPS_PROXY=" }, NULL, NULL },
	{ { "HTTPS_PROXY=http://a:1" }, "a", NULL },
	{ { "https_proxy=http://a:1" }, "a", NULL },
	{ { "HTTP_PROXY=http://a:1" }, "a", NULL },
	{ { "http_proxy=http://a:1" }, "a", NULL },
	{ { "ALL_PROXY=http://a:1" }, "a", NULL },
	{ { "all_proxy=http://a:1" }, "a", NULL },
	{ { "http_proxy=http://b:1", "HTTPS_PROXY=http://a:1" }, "a", NULL },
	{ { "HTTPS_PROXY=", "http_proxy=http://b:1" }, "b", NULL },
	{ { "HTTPS_PROXYX=http://b:1" }, NULL, NULL },
	{ { "HTTPS_PROXY=http://a:1", "NO_PROXY=x,y" }, "a", "x,y" },
	{ { "HTTPS_PROXY=http://a:1", "no_proxy=x" }, "a", "x" },
	{ { "NO_PROXY=x" }, NULL, NULL },
	{ { "HTTPS_PROXY=https://a" }, "", NULL },
	{ { "ALL_PROXY=socks5h://a:1080" }, "", NULL },
	{ { "ALL_PROXY=socks5://a", "HTTPS_PROXY=http://a:1" }, "a", NULL },
};

static void test_env(void)
{
	for (size_t i = 0; i < AB_COUNT(envs); i++) {
		struct ab_upstream *u;
		struct ab_error err;
		int r = ab_upstream_from_env((char *const *)envs[i].env, &u, &err);

		if (!envs[i].host)
			ok(r == 0 && !u, "environment %zu asks for none", i);
		else if (!envs[i].host[0])
			ok(r < 0 && !u && strstr(err.text, "_PROXY: "),
			   "environment %zu is refused, by variable: %s", i, err.text);
		else
			ok(r == 0 && u && strcmp(u->host.text, envs[i].host) == 0 &&
				   (envs[i].bypass ? strcmp(u->bypass, envs[i].bypass) == 0
						   : !u->bypass),
			   "environment %zu is understood", i);
		if (r == 0)
			ab_upstream_free(u);
	}
}

static const struct {
	const char *bypass, *host;
	uint16_t port;
	bool direct;
} bypasses[] = {
	{ NULL, "a.test", 443, false },
	{ NULL, "localhost", 443, true },
	{ NULL, "a.localhost", 443, true },
	{ NULL, "127.8.9.1", 443, true },
	{ NULL, "::1", 443, true },
	{ NULL, "notlocalhost", 443, false },
	{ NULL, "localhost.test", 443, false },
	{ NULL, "::2", 443, false },
	{ NULL, "128.0.0.1", 443, false },
	{ "", "a.test", 443, false },
	{ " , ,", "a.test", 443, false },
	{ "*", "a.test", 443, true },
	{ "*", "10.0.0.1", 443, true },
	{ "a.test", "a.test", 443, true },
	{ "A.Test.", "a.test", 443, true },
	{ "a.test", "b.a.test", 443, true },
	{ "a.test", "ba.test", 443, false },
	{ "a.test", "test", 443, false },
	{ ".a.test", "a.test", 443, true },
	{ ".a.test", "b.a.test", 443, true },
	{ ".a.test", "ba.test", 443, false },
	{ "*.a.test", "b.a.test", 443, true },
	{ "*.a.test", "ba.test", 443, false },
	{ "x.test,a.test", "a.test", 443, true },
	{ "x.test a.test", "a.test", 443, true },
	{ "x.test, \ta.test ,y", "a.test", 443, true },
	{ "a.test:443", "a.test", 443, true },
	{ "a.test:443", "a.test", 80, false },
	{ "*.a.test:443", "b.a.test", 80, false },
	{ "10.0.0.1", "10.0.0.1", 443, true },
	{ "10.0.0.1", "10.0.0.2", 443, false },
	{ "10.0.0.1", "10.0.0.1.test", 443, false },
	{ "10.0.0.1:80", "10.0.0.1", 443, false },
	{ "10.0.0.0/8", "10.9.9.9", 443, true },
	{ "10.0.0.0/8", "11.0.0.1", 443, false },
	{ "10.0.0.0/99", "10.0.0.1", 443, false },
	{ "fd00::/8", "fd00::1", 443, true },
	{ "::1", "::1", 443, true },
	{ "[fd00::1]:443", "fd00::1", 443, true },
	{ "fd00::/8", "fe00::1", 443, false },
	{ "10.0.0.0/8", "a.test", 443, false },
	{ ".", "a.test", 443, false },
	{ "*.", "a.test", 443, false },
	{ "**", "a.test", 443, false },
	{ "*.*.test", "a.b.test", 443, false },
	{ "..a.test", "b.a.test", 443, false },
};

static void test_bypass(void)
{
	for (size_t i = 0; i < AB_COUNT(bypasses); i++) {
		struct ab_upstream u = { .bypass = (char *)bypasses[i].bypass };
		struct ab_host host;

		ok(ab_host_parse(bypasses[i].host, strlen(bypasses[i].host), &host, NULL) == 0 &&
			   ab_upstream_bypasses(&u, &host, bypasses[i].port) == bypasses[i].direct,
		   "\"%s\" %s %s:%u", bypasses[i].bypass ? bypasses[i].bypass : "",
		   bypasses[i].direct ? "means" : "does not mean", bypasses[i].host,
		   bypasses[i].port);
	}
}

static void test_request(void)
{
	struct ab_upstream plain = { .port = 1 };
	struct ab_upstream named = { .credentials = (char *)"Basic dTpw" };
	struct ab_host host;
	char *text;

	ab_host_parse("A.Test", 6, &host, NULL);
	text = ab_upstream_request(&plain, &host, 443);
	is_str(text, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
	       "the request for a name");
	free(text);
	text = ab_upstream_request(&named, &host, 22);
	is_str(text,
	       "CONNECT a.test:22 HTTP/1.1\r\nHost: a.test:22\r\n"
	       "Proxy-Authorization: Basic dTpw\r\n\r\n",
	       "the request with credentials");
	free(text);
	ab_host_parse("[fd00::1]", 9, &host, NULL);
	text = ab_upstream_request(&plain, &host, 443);
	is_str(text, "CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\n\r\n",
	       "an IPv6 address has brackets");
	free(text);
}

static const struct {
	const char *text;
	size_t len;  /* 0: strlen */
	int status;  /* 0: malformed; -1: incomplete */
	size_t rest; /* bytes behind the head */
} replies[] = {
	{ "HTTP/1.1 200 OK\r\n\r\n", 0, 200, 0 },
	{ "HTTP/1.1 200\r\n\r\n", 0, 200, 0 },
	{ "HTTP/1.1 200 \r\n\r\n", 0, 200, 0 },
	{ "HTTP/1.0 200 Connection established\r\n\r\n", 0, 200, 0 },
	{ "HTTP/1.1 200 OK\r\n\r\nSSH-2.0-x\r\n", 0, 200, 11 },
	{ "HTTP/1.1 200 OK\r\n\r\n\r\n\r\n", 0, 200, 4 },
	{ "HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!", 0, 403, 3 },
	{ "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\nA:b\r\nC:\r\n\r\n", 0, 407, 0 },
	{ "HTTP/1.1 200 OK\r\nVia:\t1.1 \xc3\xa4\r\n\r\n", 0, 200, 0 },
	{ "HTTP/1.1 999 x\r\n\r\n", 0, 999, 0 },

	{ "", 0, -1, 0 },
	{ "HTTP/1.1 200 OK\r\n", 0, -1, 0 },
	{ "HTTP/1.1 200 OK\r\nA: b\r\n\r", 0, -1, 0 },

	{ "SSH-2.0-OpenSSH\r\n", 0, 0, 0 },
	{ "<html>", 0, 0, 0 },
	{ "HTTP/2 200\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.2 200 OK\r\n\r\n", 0, 0, 0 },
	{ "http/1.1 200 OK\r\n\r\n", 0, 0, 0 },
	{ " HTTP/1.1 200 OK\r\n\r\n", 0, 0, 0 },
	{ "\r\nHTTP/1.1 200 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1  200 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 20 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 2000 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 -20 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 099 OK\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 20\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\n\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\n\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 O\0K\r\n\r\n", 20, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nA : c\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\n: c\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nA: \x1b[0m\r\n\r\n", 0, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nA: \x7f\r\n\r\n", 0, 0, 0 },
};

/* At the end of a page with nothing behind it. */
static ssize_t reply_at_edge(const char *text, size_t len, int *ret_status)
{
	static char *guard;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!guard) {
		guard = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (guard == MAP_FAILED || mprotect(guard + page, page, PROT_NONE) < 0)
			abort();
	}
	memcpy(guard + page - len, text, len);
	return ab_upstream_reply(guard + page - len, len, ret_status);
}

static void test_replies(void)
{
	for (size_t i = 0; i < AB_COUNT(replies); i++) {
		const char *text = replies[i].text;
		size_t len = replies[i].len ? replies[i].len : strlen(text);
		size_t head = len - replies[i].rest;
		int status = -1, wrong = 0;
		ssize_t n = reply_at_edge(text, len, &status);

		if (replies[i].status > 0)
			ok(n == (ssize_t)head && status == replies[i].status,
			   "reply %zu is a head of status %d", i, status);
		else
			ok(n == (replies[i].status ? 0 : -1) && status == -1, "reply %zu is %s", i,
			   replies[i].status ? "incomplete" : "malformed");
		for (size_t cut = 0; cut < len; cut++) {
			n = reply_at_edge(text, cut, &status);
			/* A good one is incomplete until its end, a bad one
			 * never becomes a good one. */
			if (replies[i].status)
				wrong += n != (cut < head ? 0 : (ssize_t)head);
			else
				wrong += n > 0;
		}
		ok(wrong == 0, "reply %zu cut at every byte", i);
	}
}

static void test_bound(void)
{
	static char big[2 * AB_UPSTREAM_HEAD];
	int status;
	size_t n;

	memset(big, 'x', sizeof(big));
	memcpy(big, "HTTP/1.1 200 OK\r\nA:", 19);
	ok(ab_upstream_reply(big, AB_UPSTREAM_HEAD - 1, &status) == 0, "a head may be long");
	ok(ab_upstream_reply(big, AB_UPSTREAM_HEAD, &status) < 0, "but not for ever");
	n = AB_UPSTREAM_HEAD;
	memcpy(big + n - 4, "\r\n\r\n", 4);
	ok(ab_upstream_reply(big, n, &status) == (ssize_t)n, "the longest one is taken");
	memset(big + n - 4, 'x', 4);
	memcpy(big + n - 3, "\r\n\r\n", 4);
	ok(ab_upstream_reply(big, n + 1, &status) < 0, "one byte more is refused");
}

int main(void)
{
	test_urls();
	test_secrecy();
	test_env();
	test_bypass();
	test_request();
	test_replies();
	test_bound();
	return done();
}
