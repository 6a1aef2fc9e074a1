/*
 * The proxy as the supervisor uses it: a thread that is started when somebody
 * knocks, lists that are replaced while it runs, a failure that closes the
 * door, and an end that leaves nothing open. The listeners are on the machine's
 * own loopback here.
 */
#include "proxy/thread/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/system/fd.h"
#include "proxy_help.h"

static _Atomic size_t asked;

static int dial_later(void *arg, uint16_t port)
{
	(void)arg;
	(void)port;
	asked++;
	return 0;
}

static struct ab_proxy *make(const struct ab_policy *policy, bool strict)
{
	struct ab_proxy_setup setup = setup_of(policy);

	setup.strict = strict;
	return make_proxy(&setup);
}

static void test_life(void)
{
	struct ab_proxy_report report;
	struct ab_policy policy, wider;
	struct ab_proxy *proxy;
	struct ab_error err = { 0 };
	char ask[64], entry[64];
	int a, b = -1, at_origin = -1;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_DENY);
	proxy = make(&policy, true);
	ok(!readable(ab_proxy_ready_fd(proxy), 0), "nobody knocks");
	a = knock(door);
	ok(a >= 0 && readable(ab_proxy_ready_fd(proxy), 60000),
	   "somebody knocks, and is let in by the backlog");
	ok(ab_proxy_start(proxy, &err) == 0, "the thread starts");

	snprintf(ask, sizeof(ask),
		 "CONNECT 127.0.0.1:%u HTTP/1.1\r\n"
		 "Host: 127.0.0.1\r\n\r\n",
		 origin);
	say(a, ask);
	is_str(hear(a, 12), "HTTP/1.1 403", "what no list has is denied");

	snprintf(entry, sizeof(entry), "127.0.0.1:%u", origin);
	fill_policy(&wider, entry, AB_UNKNOWN_DENY);
	ab_proxy_replace(proxy, ab_filter_new(&wider), false);
	/* A new list holds for what comes after it. */
	for (int i = 0; i < 100; i++) {
		b = knock(door);
		say(b, ask);
		if (strcmp(hear(b, 12), "HTTP/1.1 200") == 0)
			break;
		close(b);
		b = -1;
	}
	ok(b >= 0, "with new lists it is allowed, and the thread never stopped");
	hear(b, strlen(" Connection established\r\n\r\n"));
	ok(readable(origin_fd, 60000) && (at_origin = accept(origin_fd, NULL, NULL)) >= 0,
	   "and reaches its host");
	say(at_origin, "banner");
	is_str(hear(b, 6), "banner", "who may speak first");
	say(b, "SSH-2.0-x\r\n");
	is_str(hear(at_origin, 11), "SSH-2.0-x\r\n", "and be answered");
	shutdown(b, SHUT_WR);
	is_str(hear(at_origin, 1), "", "one half may end");
	say(at_origin, "rest");
	is_str(hear(b, 4), "rest", "before the other");
	ok(!readable(ab_proxy_failure_fd(proxy), 0), "nothing has failed");
	ok(ab_proxy_stop(proxy, &report, &err) == 0, "it stops");
	ok(report.totals.denied >= 1 && report.totals.allowed == 1 &&
		   report.totals.bytes_up == 11 && report.totals.bytes_down == 10,
	   "and has counted");
	ok(report.lines.len > 0, "the denials are told");
	is_str(hear(at_origin, 1), "", "open connections end with it");
	ok(knock(door) < 0, "and nobody listens any more");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
	free_policy(&wider);
	close(a);
	close(b);
	close(at_origin);
}

enum { WORDS = 4 << 20 };

/* A slow host: has it heard all, to the end? */
static pid_t listen_slowly(int fd)
{
	pid_t pid = fork();
	static char chunk[65536];
	size_t have = 0;
	ssize_t n;

	if (pid)
		return pid;
	/* The other ends are here too, and would stay open. */
	ab_close_others(&fd, 1);
	usleep(200000);
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		have += (size_t)n;
	_exit(n < 0 || have != WORDS);
}

/* What a command has said before it ended is not lost with it. */
static void test_last_words(void)
{
	static char words[WORDS];
	struct ab_proxy_report report;
	struct ab_policy policy;
	struct ab_proxy *proxy;
	struct ab_error err = { 0 };
	char entry[64], ask[128];
	int a, at_origin, small = 4096, status = 1;
	size_t sent = 0;
	pid_t pid;

	snprintf(entry, sizeof(entry), "127.0.0.1:%u", origin);
	snprintf(ask, sizeof(ask), "CONNECT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", entry);
	fill_policy(&policy, entry, AB_UNKNOWN_DENY);
	setsockopt(origin_fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	proxy = make(&policy, true);
	a = knock(door);
	say(a, ask);
	ok(ab_proxy_start(proxy, &err) == 0, "a command that ends early");
	is_str(hear(a, 12), "HTTP/1.1 200", "reaches its host");
	ok(readable(origin_fd, 60000), "which is slow");
	at_origin = accept(origin_fd, NULL, NULL);
	pid = listen_slowly(at_origin);
	close(at_origin);
	hear(a, strlen(" Connection established\r\n\r\n"));
	memset(words, 1, sizeof(words));
	while (sent < WORDS) {
		ssize_t n = send(a, words + sent, WORDS - sent, MSG_NOSIGNAL);

		if (n < 0)
			break;
		sent += (size_t)n;
	}
	close(a);
	ok(ab_proxy_stop(proxy, &report, &err) == 0 && report.totals.bytes_up == WORDS,
	   "all of it is passed on");
	ok(waitpid(pid, &status, 0) == pid && status == 0, "and heard");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* Nobody has started the thread yet when the box ends. */
static void test_late(void)
{
	struct ab_proxy_report report;
	struct ab_policy policy;
	struct ab_proxy *proxy;
	struct ab_error err = { 0 };
	int a;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_DENY);
	proxy = make(&policy, true);
	a = knock(door);
	say(a, "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n");
	close(a);
	ok(ab_proxy_stop(proxy, &report, &err) == 0 && report.totals.denied == 1,
	   "a last attempt is judged and recorded");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* A log that cannot be written closes the door of a strict run. */
static void test_failure(bool strict)
{
	struct rlimit limit, none;
	struct ab_proxy_report report;
	struct ab_policy policy;
	struct ab_proxy *proxy;
	struct ab_error err = { 0 };
	ab_autofree char *heard = NULL;
	bool failed;
	int a;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_DENY);
	proxy = make(&policy, strict);
	a = knock(door);
	ok(ab_proxy_start(proxy, &err) == 0, "a run that is %s", strict ? "strict" : "not strict");
	/* Our own words go to a file too: none until the limit is gone. */
	getrlimit(RLIMIT_FSIZE, &limit);
	none = limit;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	say(a, "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n");
	heard = ab_strdup(hear(a, 1));
	failed = readable(ab_proxy_failure_fd(proxy), strict ? 60000 : 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	is_str(heard, "", "without a record there is no answer");
	ok(failed == strict, "the failure is told, where it counts");
	if (strict) {
		ab_proxy_failure(proxy, &err);
		ok(err.code == AB_ESYSTEM && err.errnum == EFBIG, "and what it was");
	} else {
		close(a);
		a = knock(door);
		say(a, "CONNECT evil.test:443 HTTP/1.1\r\n"
		       "Host: evil.test\r\n\r\n");
		is_str(hear(a, 12), "HTTP/1.1 403", "the next one is heard");
	}
	close(a);
	for (int i = 0; strict && i < 6000; i++) {
		a = knock(door);
		if (a < 0)
			break;
		close(a);
		usleep(10000);
	}
	ok(!strict || a < 0, "a failed proxy listens no more");
	ab_proxy_stop(proxy, &report, &err);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static bool has_asked(size_t n)
{
	for (int i = 0; i < 6000 && asked < n; i++)
		usleep(10000);
	return asked == n;
}

/* Who waits for a socket of the box does so in the backlog: between us and
 * init there is room for so many questions only. */
static void test_published(void)
{
	enum { CALLERS = 100, AT_ONCE = 64 };
	struct ab_proxy_report report;
	struct ab_policy policy;
	struct ab_error err = { 0 };
	uint16_t at;
	struct ab_published published = { .fd = bind_somewhere(SOCK_STREAM, &at), .port = 80 };
	struct ab_proxy_setup setup = { .run_id = "7kq2",
					.policy = &policy,
					.log = &log_file,
					.published = &published,
					.npublished = 1,
					.dial_inside = dial_later,
					.dial_host = dial_host };
	struct ab_proxy *proxy;
	int callers[CALLERS];

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_DENY);
	setup.own = ab_own_open(&err);
	ok(ab_proxy_new(&setup, &proxy, &err) == 0 && ab_proxy_start(proxy, &err) == 0,
	   "a port is published");
	for (size_t i = 0; i < CALLERS; i++)
		callers[i] = knock(at);
	ok(has_asked(AT_ONCE), "so many are asked for at once: %zu", asked);
	usleep(50000);
	ok(asked == AT_ONCE, "and no more");
	ab_proxy_dialled(proxy, ECONNREFUSED, -1);
	ok(has_asked(AT_ONCE + 1), "an answer makes room for one");
	for (size_t i = 1; i < CALLERS; i++) {
		ab_proxy_dialled(proxy, ECONNREFUSED, -1);
		if (!has_asked(AT_ONCE + i + 1 < CALLERS ? AT_ONCE + i + 1 : CALLERS))
			break;
	}
	ok(asked == CALLERS, "all have their turn");
	for (size_t i = 0; i < CALLERS; i++) {
		if (*hear(callers[i], 1))
			ok(false, "caller %zu heard something", i);
		close(callers[i]);
	}
	ab_proxy_stop(proxy, &report, &err);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	world_init();
	test_life();
	test_failure(true);
	test_failure(false);
	test_published();
	test_last_words();
	test_late();
	world_fini();
	return done();
}
