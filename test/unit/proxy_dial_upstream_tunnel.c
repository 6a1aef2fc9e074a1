#include "proxy/dial/upstream_tunnel.h"

#include <netinet/tcp.h>

#include "dial_help.h"
#include "tap.h"

/*
 * The upstream proxy: takes a request, answers with a script, one connection
 * after another.
 */
static struct {
	int fd;
	pthread_t thread;
	const char *reply;
	size_t len;  /* bytes of it that are sent, then: */
	bool hang;   /* say no more; else close */
	bool slowly; /* byte by byte */
	bool deaf;   /* close without reading the request */
	char request[4096];
} proxy;
static int hanging[64], nhanging;

static void *run_proxy(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = accept4(proxy.fd, NULL, NULL, SOCK_CLOEXEC);
		size_t n = 0;
		int on = 1;

		if (fd < 0)
			return NULL;
		proxy.request[0] = '\0';
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		while (!proxy.deaf && n < sizeof(proxy.request) - 1 &&
		       !strstr(proxy.request, "\r\n\r\n")) {
			ssize_t r = recv(fd, proxy.request + n, sizeof(proxy.request) - 1 - n, 0);

			if (r <= 0)
				break;
			n += (size_t)r;
			proxy.request[n] = '\0';
		}
		for (size_t i = 0; i < proxy.len;) {
			size_t k = proxy.slowly ? 1 : proxy.len;

			if (send(fd, proxy.reply + i, k, MSG_NOSIGNAL) < 0)
				break;
			i += k;
			if (proxy.slowly && i < 40)
				usleep(500);
		}
		if (proxy.hang)
			hanging[nhanging++] = fd;
		else
			close(fd);
	}
}

static void script(const char *reply, size_t len, bool hang)
{
	proxy.reply = reply;
	proxy.len = len;
	proxy.hang = hang;
	proxy.slowly = proxy.deaf = false;
}

static bool ends(enum ab_dial_result result, int status)
{
	struct ab_dialled r = dial("target.test");

	return r.result == result && r.status == status && r.upstream &&
	       strcmp(r.address.text, "127.0.0.4") == 0;
}

static struct ab_upstream *upstream;
static const char good[] = "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";

static void test_request(void)
{
	unsigned asked = asked_so_far();
	char want[256];

	open_dialer(upstream);
	script(good, strlen(good), false);
	checks = 0;
	ok(ends(AB_DIAL_OK, 0), "a name goes through the upstream");
	snprintf(want, sizeof(want),
		 "CONNECT target.test:%u HTTP/1.1\r\nHost: target.test:%u\r\n"
		 "Proxy-Authorization: Basic dTpw\r\n\r\n",
		 port, port);
	is_str(proxy.request, want, "with a request for a tunnel");
	ok(dns.asked - asked == 2 && checks == 0,
	   "only the upstream's own name is looked up, and not checked");
	close_dialer();
}

/* Bytes behind the head belong to whoever uses the tunnel. */
static void test_first_bytes(void)
{
	static const char speaks[] = "HTTP/1.0 200 OK\r\n\r\n"
				     "\r\nSSH-2.0-server\r\n";
	static const char early[] = "HTTP/1.1 102 Processing\r\n\r\n"
				    "HTTP/1.1 200 OK\r\n\r\nhello";
	struct ab_dialled r;
	char buf[64] = "";

	open_dialer(upstream);
	for (int slowly = 0; slowly < 2; slowly++) {
		script(speaks, strlen(speaks), false);
		proxy.slowly = slowly;
		r = dial_to("target.test", port, false);
		fcntl(r.fd, F_SETFL, 0);
		ok(r.result == AB_DIAL_OK && recv(r.fd, buf, sizeof(buf), MSG_WAITALL) == 18 &&
			   strncmp(buf, "\r\nSSH-2.0-server\r\n", 18) == 0,
		   "what a server says first is left in the socket");
		close(r.fd);
	}
	script(early, strlen(early), false);
	r = dial_to("target.test", port, false);
	fcntl(r.fd, F_SETFL, 0);
	ok(r.result == AB_DIAL_OK && recv(r.fd, buf, sizeof(buf), MSG_WAITALL) == 5,
	   "an interim answer is not the answer");
	close(r.fd);
	close_dialer();
}

static void test_refusals(void)
{
	static const char no[] = "HTTP/1.1 403 Forbidden\r\n"
				 "Content-Length: 2\r\n\r\nno";
	unsigned wrong = 0;

	open_dialer(upstream);
	script(no, strlen(no), false);
	ok(ends(AB_DIAL_UPSTREAM, 403), "a refusal is told by its status");
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		script(good, i, false);
		wrong += !ends(AB_DIAL_UPSTREAM, 0);
	}
	ok(wrong == 0, "closed at every byte it is no tunnel");
	script("SSH-2.0-x\r\n", 11, true);
	ok(ends(AB_DIAL_UPSTREAM, 0), "garbage is not waited for");
	script("", 0, false);
	proxy.deaf = true;
	ok(ends(AB_DIAL_UPSTREAM, 0), "an upstream that hangs up is told");
	close_dialer();
}

static void test_direct(void)
{
	struct ab_dialled r;

	open_dialer(upstream);
	script(good, strlen(good), false);
	r = dial_to("2001:db8::1", 443, false);
	ok(r.result == AB_DIAL_FORBIDDEN && !r.upstream, "a literal target is checked also here");
	r = dial_to("::5", 443, false);
	ok(r.result == AB_DIAL_OK && r.upstream &&
		   strncmp(proxy.request, "CONNECT [::5]:443 HTTP", 22) == 0,
	   "an IPv6 literal has brackets");
	close(r.fd);
	r = dial("one.test");
	ok(r.result == AB_DIAL_OK && !r.upstream && strcmp(r.address.text, "127.0.0.1") == 0,
	   "what NO_PROXY names is dialled directly");
	r = dial("sub.direct.test");
	ok(r.result == AB_DIAL_NO_NAME && !r.upstream, "and is looked up then");
	r = dial("127.0.0.1");
	ok(r.result == AB_DIAL_OK && !r.upstream, "loopback is direct");
	r = dial("a.localhost");
	ok(r.result == AB_DIAL_OK && !r.upstream, "localhost too");
	close_dialer();
}

static void test_plain(void)
{
	struct ab_dialled r;
	char buf[8] = "";

	open_dialer(upstream);
	script("raw", 3, false);
	proxy.deaf = true;
	r = dial_to("target.test", 80, true);
	fcntl(r.fd, F_SETFL, 0);
	ok(r.result == AB_DIAL_OK && r.upstream && recv(r.fd, buf, 3, MSG_WAITALL) == 3 &&
		   strcmp(buf, "raw") == 0 && !proxy.request[0],
	   "for a plain request it is connected and not asked");
	close(r.fd);
	close_dialer();
}

static void test_absent(void)
{
	struct ab_upstream other = *upstream;
	struct ab_dialled r;

	strcpy(other.host.text, "mute.test");
	open_dialer(&other);
	r = dial("target.test");
	ok(r.result == AB_DIAL_FAILED && r.upstream && r.errnum == ECONNREFUSED,
	   "an upstream that is down is told");
	close_dialer();
	strcpy(other.host.text, "nosuch.test");
	open_dialer(&other);
	r = dial("target.test");
	ok(r.result == AB_DIAL_NO_NAME && r.upstream, "and one that does not exist");
	close_dialer();
}

static void test_cancel(void)
{
	open_dialer(upstream);
	script(good, 10, true);
	for (int ms = 0; ms < 40; ms += 10) {
		struct call c;

		waiting = 0;
		start(&c, "target.test");
		if (ms)
			run((uint64_t)ms);
		cancel(&c);
		run(10);
		ok(c.calls == 0, "an unfinished tunnel is cancelled");
	}
	close_dialer();
}

static void test_time(void)
{
	struct ab_upstream u = { .port = port };
	struct ab_dialled r;

	ab_host_parse("127.0.0.4", 9, &u.host, NULL);
	script("HTTP/1.1 200", 12, true);
	open_dialer(&u);
	r = dial("target.test");
	ok(r.result == AB_DIAL_TIMEOUT && r.upstream,
	   "an upstream that goes to sleep runs into the deadline");
	close_dialer();
}

int main(void)
{
	struct ab_error err;
	char url[64];
	unsigned fds;

	open_world();
	proxy.fd = listen_at("127.0.0.4", port, 64);
	snprintf(url, sizeof(url), "http://u:p@proxy.test:%u", port);
	if (proxy.fd < 0 || ab_upstream_parse(url, &upstream, &err) < 0 ||
	    pthread_create(&proxy.thread, NULL, run_proxy, NULL))
		abort();
	upstream->bypass = ab_strdup("direct.test, one.test");
	fds = count_fds();
	test_request();
	test_first_bytes();
	test_refusals();
	test_direct();
	test_plain();
	test_absent();
	test_cancel();
	test_time();
	while (nhanging)
		close(hanging[--nhanging]);
	ok(back_to(fds), "no descriptor is left");
	shutdown(proxy.fd, SHUT_RDWR);
	pthread_join(proxy.thread, NULL);
	close(proxy.fd);
	ab_upstream_free(upstream);
	close_world();
	return done();
}
