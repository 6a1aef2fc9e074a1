#include "proxy/dial/dial.h"

#include <netinet/tcp.h>
#include <sys/resource.h>

#include "dial_help.h"
#include "tap.h"

static const struct {
	const char *host;
	enum ab_dial_result result;
	const char *address;
	int errnum;
} cases[] = {
	{ "one.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "alias.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "second.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "slow.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "wrapped.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "127.0.0.1", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "hosts.test", AB_DIAL_OK, "127.0.0.1", 0 },
	{ "mute.test", AB_DIAL_FAILED, "127.0.0.2", ECONNREFUSED },
	{ "127.0.0.2", AB_DIAL_FAILED, "127.0.0.2", ECONNREFUSED },
	{ "private.test", AB_DIAL_FORBIDDEN, "10.0.0.1", 0 },
	{ "mixed.test", AB_DIAL_FORBIDDEN, "169.254.169.254", 0 },
	{ "mixed6.test", AB_DIAL_FORBIDDEN, "fd00::1", 0 },
	{ "mapped.test", AB_DIAL_FORBIDDEN, "10.0.0.1", 0 },
	{ "nat64.test", AB_DIAL_FORBIDDEN, "10.0.0.1", 0 },
	{ "hosts-private.test", AB_DIAL_FORBIDDEN, "10.0.0.2", 0 },
	{ "10.0.0.1", AB_DIAL_FORBIDDEN, "10.0.0.1", 0 },
	{ "fd00::1", AB_DIAL_FORBIDDEN, "fd00::1", 0 },
	{ "nosuch.test", AB_DIAL_NO_NAME, "", 0 },
	{ "empty.test", AB_DIAL_NO_NAME, "", 0 },
};

static void test_cases(void)
{
	open_dialer(NULL);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		/* Once by the resolver, once from its memory. */
		for (int k = 0; k < 2; k++) {
			struct ab_dialled r;

			checks = 0;
			r = dial(cases[i].host);
			ok(r.result == cases[i].result && r.errnum == cases[i].errnum &&
				   (r.fd >= 0) == (r.result == AB_DIAL_OK) && !r.upstream &&
				   !r.status,
			   "%s ends as it should", cases[i].host);
			is_str(r.address.text, cases[i].address, "its address");
			ok((checks > 0) == (r.result != AB_DIAL_NO_NAME), "addresses were checked");
			if (r.result == AB_DIAL_FORBIDDEN)
				is_str(r.verdict.entry, "private", "the verdict is told");
		}
	}
	close_dialer();
}

static void test_socket(void)
{
	struct ab_dialled r;
	struct ab_source source = { .ready = NULL };
	struct ab_error err;
	int on = 0;
	socklen_t len = sizeof(on);

	open_dialer(NULL);
	r = dial_to("one.test", port, false);
	ok(fcntl(r.fd, F_GETFL) & O_NONBLOCK, "the socket does not block");
	ok(fcntl(r.fd, F_GETFD) & FD_CLOEXEC, "it is close-on-exec");
	ok(getsockopt(r.fd, IPPROTO_TCP, TCP_NODELAY, &on, &len) == 0 && on,
	   "it does not wait for more to send");
	source.fd = r.fd;
	ok(ab_loop_add(&loop, &source, 0, &err) == 0, "nobody watches it, so the loop takes it");
	close(r.fd);

	r = dial_to("slow.test", port, false);
	source.fd = r.fd;
	ok(ab_loop_add(&loop, &source, 0, &err) == 0, "the same after other attempts");
	close(r.fd);
	close_dialer();
}

static void test_families(void)
{
	struct ab_dialled r;

	open_dialer(NULL);
	if (six >= 0)
		is_str(dial("dual.test").address.text, "::1", "IPv6 is tried first");
	else
		is_str(dial("dual.test").address.text, "127.0.0.1",
		       "without IPv6 the other one is used");
	r = dial("noroute.test");
	ok(r.result == AB_DIAL_OK && strcmp(r.address.text, "127.0.0.1") == 0,
	   "addresses without a way to them are passed over");
	r = dial("refused.test");
	ok(r.result == AB_DIAL_FAILED && r.errnum != 0, "when all fail the reason is told: %s",
	   strerror(r.errnum));
	r = dial("localhost");
	ok(r.result == AB_DIAL_OK, "localhost is this machine");
	close_dialer();
}

static void test_limit(void)
{
	struct rlimit old, few;
	struct ab_dialled r;

	open_dialer(NULL);
	dial("one.test"); /* the resolver has read its files */
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &few);
	r = dial("one.test");
	ok(r.result == AB_DIAL_FAILED && r.errnum == EMFILE,
	   "no descriptor left is a failure with its reason");
	r = dial("noroute.test");
	ok(r.result == AB_DIAL_NO_ANSWER || r.result == AB_DIAL_NO_NAME,
	   "the same for the resolver: no answer");
	setrlimit(RLIMIT_NOFILE, &old);
	ok(dial("one.test").result == AB_DIAL_OK, "it goes on afterwards");
	close_dialer();
}

static void test_many(void)
{
	enum { MANY = 1000 };
	struct call *c = ab_alloc(MANY * sizeof(*c));
	struct rlimit limit;
	unsigned before;
	int n = MANY, fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	/* Both ends are here. */
	if (limit.rlim_max < 2 * MANY + 100)
		n = (int)limit.rlim_max / 4;
	open_dialer(NULL);
	for (int round = 0; round < 3; round++) {
		static const char *const how[] = { "of one name", "of one name again",
						   "of many names" };
		int good = 0;

		before = asked_so_far();
		waiting = 0;
		for (int i = 0; i < n; i++) {
			char name[32];

			snprintf(name, sizeof(name), "n%d.many.test", i);
			start(&c[i], round < 2 ? "one.test" : name);
		}
		run(120000);
		for (int i = 0; i < n; i++) {
			good += c[i].calls == 1 && c[i].result.result == AB_DIAL_OK;
			if (c[i].result.fd >= 0)
				close(c[i].result.fd);
		}
		while ((fd = accept4(one, NULL, NULL, 0)) >= 0)
			close(fd);
		ok(good == n, "%d dials at once %s", good, how[round]);
		if (round < 2)
			ok(dns.asked - before == (round ? 0u : 2u), "with %u questions",
			   dns.asked - before);
	}
	close_dialer();
	free(c);
}

static void test_cancel(void)
{
	static const char *const hosts_in[] = {
		"127.0.0.1",   /* is over before the first batch */
		"one.test",    /* resolving, or over */
		"silent.test", /* resolving */
		"hole.test",   /* resolving, then connecting */
		"slow.test",   "10.0.0.1", "nosuch.test",
	};
	unsigned fds = count_fds();
	struct call c, other;

	open_dialer(NULL);
	for (size_t i = 0; i < AB_COUNT(hosts_in); i++) {
		for (int ms = 0; ms < 40; ms += 10) {
			waiting = 0;
			start(&c, hosts_in[i]);
			if (ms)
				run((uint64_t)ms);
			if (c.dial) {
				cancel(&c);
				run(10);
				ok(c.calls == 0, "%s cancelled after %d ms", hosts_in[i], ms);
			} else if (c.result.fd >= 0) {
				close(c.result.fd);
			}
		}
		waiting = 0;
		start(&other, "127.0.0.1");
		start(&c, hosts_in[i]);
		other.cancels = &c;
		run(50);
		ok(other.calls == 1 && c.calls == 0, "%s cancelled by the callback of another one",
		   hosts_in[i]);
		close(other.result.fd);
	}
	/* What is under way when the dialer ends is not called either. */
	for (size_t i = 0; i < AB_COUNT(hosts_in); i++) {
		start(&c, hosts_in[i]);
		close_dialer();
		ok(c.calls == 0, "%s under way at the end", hosts_in[i]);
		open_dialer(NULL);
	}
	close_dialer();
	ok(back_to(fds), "no descriptor is left");
}

/* Both that take their time, at the same time. */
static void test_time(void)
{
	struct call slow, silent;

	open_dialer(NULL);
	start(&slow, "hole.test");
	start(&silent, "silent.test");
	run(120000);
	ok(slow.calls == 1 && slow.result.result == AB_DIAL_TIMEOUT,
	   "a host that never answers runs into the deadline");
	ok(silent.calls == 1 && silent.result.result == AB_DIAL_NO_ANSWER,
	   "a resolver that never answers is told apart");
	close_dialer();
}

int main(void)
{
	open_world();
	test_cases();
	test_socket();
	test_families();
	test_limit();
	test_cancel();
	test_many();
	test_time();
	close_world();
	return done();
}
