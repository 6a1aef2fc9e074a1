#include "proxy/dial/resolver.h"

#include <sys/stat.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/loop.h"
#include "dns_server.h"
#include "policy/values/host.h"
#include "tap.h"

static const struct dns_name names[] = {
	{ .name = "dual.test",
	  .a = { "192.0.2.1", "192.0.2.2" },
	  .aaaa = { "2001:db8::1" },
	  .ttl = 60 },
	{ .name = "v4.test", .a = { "192.0.2.3" }, .ttl = 60 },
	{ .name = "v6.test", .aaaa = { "2001:db8::3" }, .ttl = 60 },
	{ .name = "empty.test", .ttl = 60 },
	{ .name = "alias.test",
	  .cname = "real.example",
	  .a = { "192.0.2.4" },
	  .aaaa = { "2001:db8::4" },
	  .ttl = 60 },
	{ .name = "dangling.test", .cname = "nowhere.example", .ttl = 60 },
	{ .name = "big.test",
	  .a = { "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6",
		 "192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10", "192.0.2.11", "192.0.2.12",
		 "192.0.2.13", "192.0.2.14", "192.0.2.15", "192.0.2.16", "192.0.2.17",
		 "192.0.2.18" },
	  .aaaa = { "2001:db8::5" },
	  .manner = DNS_BIG,
	  .ttl = 60 },
	{ .name = "broken.test", .manner = DNS_SERVFAIL },
	{ .name = "garbage.test", .manner = DNS_GARBAGE },
	{ .name = "silent.test", .manner = DNS_SILENT },
	{ .name = "half.test", .a = { "192.0.2.6" }, .manner = DNS_NO_AAAA, .ttl = 60 },
	{ .name = "short.test", .a = { "192.0.2.7" }, .ttl = 0 },
	{ .name = "forever.test", .a = { "192.0.2.8" }, .ttl = 0x7fffffff },
	{ .name = "local.test", .a = { "192.0.2.9" }, .ttl = 60 },
	{ .name = "pinned.test", .a = { "192.0.2.10" }, .ttl = 60 },
	{ .name = "service.local", .a = { "192.0.2.11" }, .ttl = 60 },
};

static struct dns_server server;
static char dir[] = "/tmp/resolver-XXXXXX";
static char resolv_conf[64], hosts[64];
static struct ab_loop loop;
static struct ab_resolver *resolver;

struct question {
	struct ab_ask ask;
	int calls;
	struct ab_answer answer;
	struct question *cancels;
};

static int waiting; /* the loop stops when it is 0 */

static void answered(struct ab_ask *ask, const struct ab_answer *answer)
{
	struct question *q = ask->owner;

	q->calls++;
	q->answer = *answer;
	if (q->cancels && q->cancels->ask.link) {
		ab_resolver_cancel(&q->cancels->ask);
		waiting--;
	}
	loop.stop = --waiting <= 0;
}

/* true: answered at once. */
static bool ask(struct question *q, const char *name)
{
	const struct ab_answer *answer;
	struct ab_host host;

	*q = (struct question){ .ask = { .fn = answered, .owner = q } };
	if (ab_host_parse(name, strlen(name), &host, NULL) < 0)
		abort();
	answer = ab_resolver_ask(resolver, &host, &q->ask);
	if (answer)
		q->answer = *answer;
	else
		waiting++;
	return answer != NULL;
}

static void give_up(struct ab_timer *timer)
{
	(void)timer;
	loop.stop = true;
}

/* Until nobody waits any more, or for so long. */
static void run(uint64_t ms)
{
	struct ab_timer guard = { .fire = give_up };
	struct ab_error err;

	loop.stop = false;
	ab_loop_timer(&loop, &guard, ms);
	ab_loop_run(&loop, &err);
	ab_loop_timer_stop(&loop, &guard);
}

/* Until the server has got so many questions, and a moment longer: then its
 * answers are here, and one question too many would be too. */
static void run_until_asked(unsigned asked)
{
	for (int i = 0; i < 600 && (int)(asked - server.asked) > 0; i++)
		run(100);
	run(500);
}

/* What the name is, in words; *ret_asked: questions that it took. */
static const char *look_up(const char *name, unsigned *ret_asked)
{
	static char text[2048];
	struct question q;
	unsigned before = server.asked;

	waiting = 0;
	/* Somebody else's answer ends a run too. */
	if (!ask(&q, name))
		for (int i = 0; i < 3 && !q.calls; i++)
			run(60000);
	ab_resolver_cancel(&q.ask);
	*ret_asked = server.asked - before;
	strcpy(text, q.answer.kind == AB_ANSWER_OK	  ? ""
		     : q.answer.kind == AB_ANSWER_NO_NAME ? "no name"
							  : "no answer");
	for (unsigned i = 0; i < q.answer.n6; i++) {
		inet_ntop(AF_INET6, q.answer.v6[i], text + strlen(text), 64);
		strcat(text, " ");
	}
	for (unsigned i = 0; i < q.answer.n4; i++) {
		inet_ntop(AF_INET, q.answer.v4[i], text + strlen(text), 64);
		strcat(text, " ");
	}
	return text;
}

static void start(uint16_t port)
{
	struct ab_resolver_setup setup = {
		.loop = &loop, .resolv_conf = resolv_conf, .hosts = hosts, .port = port
	};
	struct ab_error err;

	if (ab_loop_init(&loop, &err) < 0)
		abort();
	resolver = ab_resolver_new(&setup);
}

static void stop(void)
{
	ab_resolver_free(resolver);
	ab_loop_fini(&loop);
}

static void set_hosts(const char *text)
{
	unlink(hosts);
	write_file(hosts, text);
}

static void test_answers(void)
{
	static const struct {
		const char *name, *answer;
		unsigned asked, again; /* again: when it is asked once more */
		unsigned most;	       /* that newer versions of c-ares ask */
	} cases[] = {
		{ "dual.test", "2001:db8::1 192.0.2.1 192.0.2.2 ", 2, 0 },
		{ "v4.test", "192.0.2.3 ", 2, 0 },
		{ "v6.test", "2001:db8::3 ", 2, 0 },
		{ "empty.test", "no name", 2, 0 },
		{ "nosuch.test", "no name", 2, 0 },
		{ "alias.test", "2001:db8::4 192.0.2.4 ", 2, 0 },
		{ "dangling.test", "no name", 2, 0 },
		{ "service.local", "192.0.2.11 ", 2, 0 },
		/* one server, three tries or ten, two families */
		{ "broken.test", "no answer", 6, 0, 20 },
		{ "garbage.test", "no answer", 2, 0, 20 },
		{ "short.test", "192.0.2.7 ", 2, 0 },
		{ "forever.test", "192.0.2.8 ", 2, 0 },
		{ "localhost", "::1 127.0.0.1 ", 0, 0 },
		{ "a.b.localhost", "::1 127.0.0.1 ", 0, 0 },
		{ "hidden.onion", "no name", 0, 0 },
		{ "pinned.test", "10.1.2.3 ", 0, 0 },
		{ "other.test", "fd00::3 10.1.2.4 ", 0, 0 },
	};
	unsigned asked;
	char name[32];

	set_hosts("10.1.2.3 Pinned.TEST\nfd00::3 other.test\n"
		  "10.1.2.4 other.test\n10.9.9.9 localhost a.b.localhost\n");
	start(server.port);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		is_str(look_up(cases[i].name, &asked), cases[i].answer, cases[i].name);
		ok(asked == cases[i].asked || (asked > cases[i].asked && asked <= cases[i].most),
		   "%u questions were sent", asked);
		/* They end while a question is on its way: the server has read it before this one. */
		if (cases[i].most) {
			snprintf(name, sizeof(name), "after-%s", cases[i].name);
			look_up(name, &asked);
		}
		is_str(look_up(cases[i].name, &asked), cases[i].answer, "the same once more");
		ok(asked == cases[i].again, "from memory");
	}
	stop();
}

static void test_truncated(void)
{
	unsigned asked, tcp = server.by_tcp;
	const char *text;

	start(server.port);
	text = look_up("big.test", &asked);
	ok(strncmp(text, "2001:db8::5 192.0.2.1 ", 22) == 0 && strstr(text, "192.0.2.16 ") &&
		   !strstr(text, "192.0.2.17 "),
	   "a truncated answer is fetched by TCP, and cut to its bound");
	ok(server.by_tcp - tcp == 2 && asked == 4, "both families by TCP");
	stop();
}

static void test_ttl(void)
{
	unsigned asked;

	start(server.port);
	look_up("short.test", &asked);
	look_up("forever.test", &asked);
	look_up("nosuch.test", &asked);
	look_up("short.test", &asked);
	ok(asked == 0, "a TTL of 0 is a second");
	/* The loop's clock stands still between its runs. */
	loop.now += 1001;
	look_up("short.test", &asked);
	ok(asked == 2, "and no more");
	look_up("nosuch.test", &asked);
	ok(asked == 0, "a name that is not there is remembered");
	loop.now += 5001;
	look_up("nosuch.test", &asked);
	ok(asked == 2, "for five seconds");
	loop.now += 290000;
	look_up("forever.test", &asked);
	ok(asked == 0, "no TTL is shorter than it says");
	loop.now += 11000;
	look_up("forever.test", &asked);
	ok(asked == 2, "nor longer than five minutes");
	stop();
}

static void test_together(void)
{
	struct question q[3], late;
	unsigned before = server.asked, asked;

	start(server.port);
	waiting = 0;
	for (int i = 0; i < 3; i++)
		ok(!ask(&q[i], "dual.test"), "it is not known yet");
	/* The last one is called first, and cancels the one before it. */
	q[2].cancels = &q[1];
	run(60000);
	ok(q[0].calls == 1 && q[2].calls == 1 && q[0].answer.n4 == 2,
	   "equal questions are answered together");
	ok(q[1].calls == 0, "one that is cancelled meanwhile is not");
	ok(server.asked - before == 2, "and were sent once");
	ab_resolver_cancel(&q[0].ask);
	ok(ask(&late, "dual.test") && late.answer.n6 == 1, "what is known is told at once");

	waiting = 0;
	asked = server.asked;
	ask(&late, "v4.test");
	ab_resolver_cancel(&late.ask);
	ab_resolver_cancel(&late.ask);
	run_until_asked(asked + 2);
	ok(late.calls == 0, "nobody is called after cancelling");
	look_up("v4.test", &asked);
	ok(asked == 0, "but what came is remembered");
	stop();
}

static void test_late_family(void)
{
	struct question q;
	unsigned asked;

	start(server.port);
	is_str(look_up("half.test", &asked), "192.0.2.6 ",
	       "a family that is late is not waited for");
	ok(ask(&q, "half.test") && q.answer.n4 == 1, "nor by those who come while it still is");
	stop();
}

static void test_dead(void)
{
	struct question q[2];
	struct dns_server dead;
	unsigned asked;

	dns_start(&dead, "127.0.0.1", 0, NULL, 0);
	dns_stop(&dead); /* nobody has its port now */
	start(dead.port);
	is_str(look_up("dual.test", &asked), "no answer", "a port without a server is no answer");
	stop();

	start(server.port);
	waiting = 0;
	ask(&q[0], "silent.test");
	ask(&q[1], "dual.test");
	run(60000);
	ok(q[0].calls == 1 && q[0].answer.kind == AB_ANSWER_NONE,
	   "a server that says nothing is no answer, after a while");
	ok(q[1].calls == 1 && q[1].answer.n4 == 2, "others do not wait for it");
	stop();
}

/* The C library gives a server ten seconds. */
static void test_slow(void)
{
	struct question q;

	start(server.port);
	server.hold = true;
	waiting = 0;
	ask(&q, "dual.test");
	run(5000);
	server.hold = false;
	run(60000);
	ok(q.calls == 1 && q.answer.kind == AB_ANSWER_OK && q.answer.n4 == 2,
	   "a server that answers after six seconds is heard");
	stop();
}

/* What the files say now is found within seconds. */
static void test_changes(void)
{
	static const struct dns_name other[] = {
		{ .name = "dual.test", .a = { "192.0.2.99" }, .ttl = 60 },
		{ .name = "silent.test", .a = { "192.0.2.98" }, .ttl = 60 },
	};
	struct dns_server second;
	struct question q;
	unsigned asked;

	dns_start(&second, "127.0.0.2", server.port, other, AB_COUNT(other));
	set_hosts("10.1.2.3 pinned.test\n");
	start(server.port);
	look_up("dual.test", &asked);
	is_str(look_up("pinned.test", &asked), "10.1.2.3 ", "from the file");
	waiting = 0;
	ask(&q, "silent.test");
	run(50);

	set_hosts("10.1.2.33 pinned.test\n");
	unlink(resolv_conf);
	loop.now += 4000;
	is_str(look_up("dual.test", &asked), "2001:db8::1 192.0.2.1 192.0.2.2 ",
	       "a resolv.conf that is gone changes nothing");
	is_str(look_up("pinned.test", &asked), "10.1.2.33 ", "a changed hosts file is read");

	write_file(resolv_conf, "nameserver 127.0.0.2\nsearch example\n");
	loop.now += 1000;
	is_str(look_up("pinned.test", &asked), "10.1.2.33 ",
	       "the files are not looked at all the time");
	loop.now += 4000;
	is_str(look_up("dual.test", &asked), "192.0.2.99 ",
	       "a new name server is asked, also for what was known");
	if (!q.calls) {
		waiting = 1;
		run(60000);
	}
	ok(q.calls == 1 && q.answer.n4 == 1 && q.answer.v4[0][3] == 98,
	   "and for what was under way");
	stop();
	dns_stop(&second);
	write_file(resolv_conf, "search example\nnameserver 127.0.0.1\n");
	set_hosts("");
}

static void test_many(void)
{
	enum { MANY = 1500 };
	struct question *q = ab_alloc(MANY * sizeof(*q));
	unsigned before = server.asked, answers = 0, asked;
	char name[32];

	start(server.port);
	waiting = 0;
	server.hold = true;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d.many.test", i);
		ask(&q[i], name);
	}
	run_until_asked(before + 2 * AB_RESOLVER_ACTIVE);
	ok(server.asked - before == 2 * AB_RESOLVER_ACTIVE,
	   "%u questions are under way, others wait", server.asked - before);
	/* Cancelling one that waits in the queue, and one that is asked. */
	ab_resolver_cancel(&q[0].ask);
	ab_resolver_cancel(&q[MANY - 1].ask);
	waiting -= 2;
	server.hold = false;
	run(120000);
	for (int i = 0; i < MANY; i++)
		answers += q[i].calls == 1 && q[i].answer.n4 == 1;
	ok(answers == MANY - 2, "%u of %d are answered in the end", answers, MANY - 2);
	look_up("n1498.many.test", &asked);
	ok(asked == 0, "the last ones are remembered");
	look_up("n1.many.test", &asked);
	ok(asked == 2, "the first ones are not");
	stop();
	free(q);
}

/* Also for the leak checker. */
static void test_ends(void)
{
	struct question q[4];
	unsigned asked;

	start(server.port);
	stop();
	start(server.port);
	waiting = 0;
	ask(&q[0], "silent.test");
	ask(&q[1], "dual.test");
	look_up("v4.test", &asked);
	stop();
	ok(!q[0].calls && !q[0].ask.link, "who waits at the end is not called");
	start(server.port);
	ask(&q[2], "dual.test");
	stop();
	ok(!q[2].calls, "nor who has just asked");
}

int main(void)
{
	if (!mkdtemp(dir))
		abort();
	snprintf(resolv_conf, sizeof(resolv_conf), "%s/resolv.conf", dir);
	snprintf(hosts, sizeof(hosts), "%s/hosts", dir);
	write_file(resolv_conf, "search example\nnameserver 127.0.0.1\n");
	dns_start(&server, "127.0.0.1", 0, names, AB_COUNT(names));
	test_answers();
	test_truncated();
	test_ttl();
	test_together();
	test_late_family();
	test_dead();
	test_slow();
	test_changes();
	test_many();
	test_ends();
	dns_stop(&server);
	unlink(resolv_conf);
	unlink(hosts);
	rmdir(dir);
	return done();
}
