/*
 * Connections that wait for a word: asked about once, answered once, bounded,
 * and recorded however it ends.
 */
#include "proxy/conn/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "proxy/conn/agent_terms.h"
#include "proxy/conn/conn.h"
#include "proxy_help.h"

#define OK_200 "HTTP/1.1 200"
#define NO_403 "HTTP/1.1 403"

static const char who[] = "[{\"pid\": 3, \"exe\": \"/usr/bin/curl\","
			  " \"argv\": [\"curl\"]}]";

/* The number of the question about this host, once it is there; 0: none. */
static uint32_t number_of(const char *host)
{
	uint32_t number = 0;

	for (int i = 0; i < 6000 && !number; i++) {
		pthread_mutex_lock(&told.lock);
		for (size_t k = 0; k < told.nwanted; k++)
			if (strcmp(told.wanted[k].host, host) == 0)
				number = told.wanted[k].number;
		pthread_mutex_unlock(&told.lock);
		if (!number)
			usleep(10000);
	}
	return number;
}

static bool is_settled(size_t i, uint32_t number, enum ab_settled how, uint32_t released)
{
	return settled(i + 1) && told.settled[i].number == number && told.settled[i].how == how &&
	       told.settled[i].released == released;
}

static bool has_record(const char *kind, const char *text)
{
	ab_autofree char *lines = records_with(kind);

	return strstr(lines, text) != NULL;
}

/* The origin hears from who was let through. */
static void is_through(int fd)
{
	int at_origin = -1;

	is_str(hear(fd, 12), OK_200, "it is let through");
	ok(readable(origin_fd, 60000) && (at_origin = accept(origin_fd, NULL, NULL)) >= 0,
	   "and reaches its host");
	close(at_origin);
	close(fd);
}

static void test_answers(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	struct sockaddr_in at;
	socklen_t len = sizeof(at);
	uint32_t number;
	int a, b, c;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	a = ask_for("127.0.0.1", origin);
	ok(wanted(1) && told.wanted[0].why == AB_QUESTION_UNKNOWN &&
		   told.wanted[0].port == origin && told.wanted[0].ms == AB_ASK_MS,
	   "somebody is asked");
	is_str(told.wanted[0].host, "127.0.0.1", "about the host");
	is_str(told.wanted[0].door, "connect", "at the door");
	getsockname(a, (struct sockaddr *)&at, &len);
	ok(!told.wanted[0].peer.v6 && told.wanted[0].peer.port == ntohs(at.sin_port) &&
		   memcmp(told.wanted[0].peer.addr, &at.sin_addr, 4) == 0,
	   "and by whom");
	number = told.wanted[0].number;
	ok(!readable(a, 50), "meanwhile it waits");
	b = ask_for("127.0.0.1", origin);
	ok(!readable(b, 50) && told.nwanted == 1, "a second one joins it");
	ab_proxy_who(proxy, number, who);
	ab_proxy_answer(proxy, number, AB_HOST_ANSWER_ONCE, "terminal", NULL);
	is_through(a);
	is_through(b);
	ok(is_settled(0, number, AB_SETTLED_ANSWERED, 2), "both by one word");
	ok(has_record("question", "\"answer\":\"once\",\"by\":\"terminal\","
				  "\"waiting\":2") &&
		   has_record("question", "\"process\":[{\"pid\":3,"),
	   "which is on record");

	ab_proxy_answer(proxy, number, AB_HOST_ANSWER_NO, "terminal", NULL);
	c = ask_for("127.0.0.1", origin);
	ok(wanted(2) && told.wanted[1].number == number,
	   "once is once: it is asked again, under the same number");
	ok(told.nsettled == 1, "and an answer that came too late was nothing");
	ab_proxy_answer(proxy, number, AB_HOST_ANSWER_RUN, "control", NULL);
	is_through(c);
	c = ask_for("127.0.0.1", origin);
	is_through(c);
	ok(told.nwanted == 2, "the run's word holds for the run");

	a = ask_for("evil.test", 443);
	number = number_of("evil.test");
	ab_proxy_answer(proxy, number, AB_HOST_ANSWER_NO, "approver", NULL);
	is_str(hear(a, 12), NO_403, "a no is a denial");
	ok(strstr(hear(a, 4000), "not on the allow list (the answer was "
				 "no) (rule network.allow, id 7kq2x-"),
	   "and says so");
	close(a);
	ok(is_settled(2, number, AB_SETTLED_ANSWERED, 0), "nobody is released");
	a = ask_for("evil.test", 443);
	is_str(hear(a, 12), NO_403, "no more is asked about it");
	ok(strstr(hear(a, 4000), "denied for this run (evil.test)"), "for this run");
	close(a);
	a = ask_for("evil.test", 8080);
	is_str(hear(a, 12), NO_403, "nor about another of its ports");
	close(a);
	ok(told.nwanted == 3, "indeed");
	report = stop_proxy(proxy);
	ok(report.totals.allowed == 4 && report.totals.denied == 3, "all are counted");
	ok(report.lines.len && strstr(report.lines.v[0], "3 requests"),
	   "what was allowed is not told as denied");
	ok(has_record("request", "\"rule\":\"grant\""), "a word is what let it through");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* The number of the open question about a port of the host, once it is there. */
static uint32_t number_at(const char *host, uint16_t port, int *ret_fd)
{
	size_t before = told.nwanted;

	*ret_fd = ask_for(host, port);
	return wanted(before + 1) ? told.wanted[before].number : 0;
}

static bool was_settled(uint32_t number)
{
	bool found = false;

	pthread_mutex_lock(&told.lock);
	for (size_t i = 0; i < told.nsettled; i++)
		found |= told.settled[i].number == number &&
			 told.settled[i].how == AB_SETTLED_ANSWERED;
	pthread_mutex_unlock(&told.lock);
	return found;
}

static void test_ports(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	uint32_t web, tls, ssh;
	int a, b, c;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	web = number_at("127.0.0.3", 80, &a);
	tls = number_at("127.0.0.3", 443, &b);
	ssh = number_at("127.0.0.3", 22, &c);
	ab_proxy_answer(proxy, web, AB_HOST_ANSWER_ONCE, "terminal", NULL);
	ok(settled(2) && was_settled(web) && was_settled(tls), "a yes to 80 is one to 443");
	ok(!was_settled(ssh) && !readable(c, 50), "and to no other port");
	close(a);
	close(b);
	ab_proxy_answer(proxy, ssh, AB_HOST_ANSWER_NO, "terminal", NULL);
	is_str(hear(c, 12), NO_403, "which gets a no of its own");
	close(c);

	web = number_at("evil.test", 80, &a);
	tls = number_at("evil.test", 443, &b);
	ssh = number_at("evil.test", 22, &c);
	ab_proxy_answer(proxy, tls, AB_HOST_ANSWER_NO, "terminal", NULL);
	ok(settled(6) && was_settled(web) && was_settled(tls) && was_settled(ssh),
	   "a no is one to every port");
	is_str(hear(a, 12), NO_403, "80");
	is_str(hear(c, 12), NO_403, "and 22");
	close(a);
	close(b);
	close(c);
	report = stop_proxy(proxy);
	ok(report.totals.denied == 4, "all are counted");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static void test_ends(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	uint32_t number;
	char id[40], want[80];
	int a, b;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	setup.ask_ms = 300;
	proxy = start_proxy(&setup);
	a = ask_for("slow.test", 443);
	number = number_of("slow.test");
	is_str(hear(a, 12), NO_403, "nobody answers");
	snprintf(id, sizeof(id), "id 7kq2x-%u)", number);
	ok(strstr(hear(a, 4000), id), "the denial has the question's number");
	snprintf(want, sizeof(want), "\"id\":\"7kq2x-%u\"", number);
	ok(is_settled(0, number, AB_SETTLED_TIME, 0), "its time is over");
	ok(has_record("violation", want) && has_record("violation", "(nobody answered in 1 s)"),
	   "that is on record");
	close(a);

	a = ask_for("gone.test", 443);
	b = ask_for("gone.test", 443);
	number = number_of("gone.test");
	close(a);
	ok(!readable(b, 20), "one goes, and the other waits on");
	close(b);
	ok(is_settled(1, number, AB_SETTLED_GONE, 0), "when both are gone the question is");
	ok(has_record("question", "\"answer\":\"gone\"") &&
		   has_record("violation", "(the program gave up before you answered)"),
	   "that is on record too");

	a = knock(door);
	say(a, "GET http://plain.test/x HTTP/1.1\r\nHost: plain.test\r\n\r\n");
	ok(number_of("plain.test"), "a plain request is asked about");
	is_str(hear(a, 12), NO_403, "and denied in time");
	close(a);
	a = knock(door);
	say(a, "\x05\x01");
	if (send(a, "\0", 1, 0) != 1)
		abort();
	hear(a, 2);
	if (send(a, "\5\1\0\3\nsocks.test\1\273", 17, 0) != 17)
		abort();
	ok(number_of("socks.test"), "so is one by SOCKS");
	ok(memcmp(hear(a, 10), "\5\2", 2) == 0, "which has its own no");
	close(a);
	a = ask_for("end.test", 443);
	number_of("end.test");
	report = stop_proxy(proxy);
	ok(report.totals.denied == 6, "what waits at the end is denied: %u",
	   (unsigned)report.totals.denied);
	ok(has_record("violation", "end.test"), "and recorded");
	close(a);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static void test_http(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	char words[200];
	int a, at_origin = -1;
	size_t sent;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	a = knock(door);
	snprintf(words, sizeof(words),
		 "POST http://127.0.0.1:%u/x HTTP/1.1\r\n"
		 "Host: 127.0.0.1:%u\r\nContent-Length: 5\r\n\r\nhello",
		 origin, origin);
	say(a, words);
	ok(wanted(1), "a request with a body waits");
	is_str(told.wanted[0].door, "http", "at its door");
	ab_proxy_answer(proxy, told.wanted[0].number, AB_HOST_ANSWER_ONCE, "control", NULL);
	ok(readable(origin_fd, 60000) && (at_origin = accept(origin_fd, NULL, NULL)) >= 0,
	   "a yes sends it on");
	ok(strncmp(hear(at_origin, 16), "POST /x HTTP/1.1", 16) == 0, "as it was");
	ab_proxy_survey(proxy);
	for (int i = 0; i < 6000 && !told.survey; i++)
		usleep(10000);
	ok(told.survey && strstr(told.survey, "\"domain\":\"127.0.0.1\"") &&
		   strstr(told.survey, "\"door\":\"http\""),
	   "it is seen to be open: %s", told.survey);
	say(at_origin, "HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n");
	is_str(hear(a, 12), OK_200, "and answered");
	say(a, words);
	ok(wanted(2), "the next one on the same connection is asked about");
	ab_proxy_answer(proxy, told.wanted[1].number, AB_HOST_ANSWER_NO, "control", NULL);
	ok(strstr(hear(a, 300), NO_403), "and can be denied");
	report = stop_proxy(proxy);
	/* Without the host, which is not for the server. */
	sent = strlen(words) - (size_t)snprintf(NULL, 0, "http://127.0.0.1:%u", origin);
	ok(report.totals.bytes_up == sent, "what went up is counted with its head: %u of %u",
	   (unsigned)report.totals.bytes_up, (unsigned)sent);
	close(a);
	close(at_origin);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static void send_all(int fd, size_t len)
{
	char chunk[4096];

	memset(chunk, 'x', sizeof(chunk));
	while (len) {
		ssize_t n =
			send(fd, chunk, len < sizeof(chunk) ? len : sizeof(chunk), MSG_NOSIGNAL);

		if (n <= 0)
			return;
		len -= (size_t)n;
	}
}

/* Everything until the end, or until nothing came for a moment. */
static size_t count_received(int fd, int ms)
{
	char chunk[4096];
	size_t sum = 0;
	ssize_t n;

	while (readable(fd, ms) && (n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		sum += (size_t)n;
	return sum;
}

/* A budget is exact over several connections; a hold keeps the rest back until it
 * is released, a cut loses it. */
static void test_budget(void)
{
	static const struct {
		enum ab_alarm action;
		bool release;
		size_t arrives;
	} cases[] = {
		{ AB_ALARM_CUT, false, 1000 },
		{ AB_ALARM_STOP, false, 1000 },
		{ AB_ALARM_HOLD, true, 1800 },
		{ AB_ALARM_WARN, false, 1800 },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_policy policy;
		struct ab_proxy_setup setup;
		struct ab_proxy *proxy;
		struct ab_proxy_report report;
		char entry[40];
		size_t got = 0;
		int a[3], b[3];

		snprintf(entry, sizeof(entry), "127.0.0.1:%u", origin);
		fill_policy(&policy, entry, AB_UNKNOWN_DENY);
		policy.monitor.upload_host = 1000;
		policy.monitor.action = cases[i].action;
		setup = setup_of(&policy);
		proxy = start_proxy(&setup);
		for (size_t k = 0; k < 3; k++) {
			a[k] = ask_for("127.0.0.1", origin);
			is_str(hear(a[k], 12), OK_200, "a tunnel");
			hear(a[k], 27);
			b[k] = accept(origin_fd, NULL, NULL);
			say(a[k], "\1");
			is_str(hear(b[k], 1), "\1", "that is open");
		}
		for (size_t k = 0; k < 3; k++)
			send_all(a[k], 599);
		for (int n = 0; n < 6000 && !told.nalarms; n++)
			usleep(10000);
		ok(told.nalarms == 1 && told.alarm.value == 1000 &&
			   strcmp(told.alarm.threshold, "uploadPerHost") == 0,
		   "one alarm, with what was sent: %u", (unsigned)told.alarm.value);
		if (cases[i].release) {
			/* The last of it may be on its way; then no more comes. */
			for (int n = 0; n < 60 && got < 997; n++)
				for (size_t k = 0; k < 3; k++)
					got += count_received(b[k], 300);
			ok(got == 997, "while it is held, the budget is there: %zu", got);
			ab_proxy_answer(proxy, 0, AB_HOST_ANSWER_RUN, "control", NULL);
		}
		for (size_t k = 0; k < 3; k++)
			shutdown(a[k], SHUT_WR);
		for (size_t k = 0; k < 3; k++)
			got += count_received(b[k], 60000);
		ok(got + 3 == cases[i].arrives, "action %s: %zu bytes arrived",
		   ab_alarm_names[cases[i].action], got + 3);
		for (size_t k = 0; k < 3; k++) {
			close(a[k]);
			close(b[k]);
		}
		report = stop_proxy(proxy);
		ok(report.totals.bytes_up == cases[i].arrives, "the record has the same number: %u",
		   (unsigned)report.totals.bytes_up);
		ab_strv_fini(&report.lines);
		free_policy(&policy);
	}
}

/* Of an answer and the end of the time one holds, and settled says which. */
static void test_race(void)
{
	enum { ROUNDS = 60 };
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	size_t by_word = 0, wrong = 0;

	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	setup.ask_ms = 20;
	proxy = start_proxy(&setup);
	for (size_t i = 0; i < ROUNDS; i++) {
		int fd = ask_for("127.0.0.1", origin);
		bool through;

		if (!wanted(i + 1))
			break;
		usleep((useconds_t)(10000 + i * 300));
		ab_proxy_answer(proxy, told.wanted[i].number, AB_HOST_ANSWER_ONCE, "control", NULL);
		through = strcmp(hear(fd, 12), OK_200) == 0;
		if (!settled(i + 1))
			break;
		by_word += through;
		wrong += told.settled[i].how != (through ? AB_SETTLED_ANSWERED : AB_SETTLED_TIME);
		wrong += told.settled[i].released != through;
		close(fd);
		if (through)
			close(accept(origin_fd, NULL, NULL));
	}
	usleep(50000);
	ok(told.nsettled == ROUNDS && !wrong, "each is settled once, as it was: %zu by word",
	   by_word);
	report = stop_proxy(proxy);
	ok(report.totals.allowed == by_word && report.totals.denied == ROUNDS - by_word,
	   "and counted so");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* More than anybody could answer; who is allowed gets through all the same. */
static void test_many(void)
{
	enum { MANY = 1100 };
	static int fds[MANY];
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	struct rlimit limit;
	char name[40];
	size_t waiting = 0, denied = 0;
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 8192) {
		lacks("many that wait", "not enough descriptors");
		return;
	}
	snprintf(name, sizeof(name), "127.0.0.1:%u", origin);
	fill_policy(&policy, name, AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		fds[i] = ask_for(name, 443);
	}
	ok(wanted(1024), "a thousand questions are open at once");
	for (int i = 1024; i < MANY; i++) {
		denied += strcmp(hear(fds[i], 12), NO_403) == 0;
		close(fds[i]);
	}
	ok(denied == MANY - 1024 && told.nwanted == 1024,
	   "what is beyond the bound is denied at once");
	ok(has_record("violation", "(too many questions are open)"), "and why");
	fd = ask_for("n7.test", 443);
	ok(!readable(fd, 50), "one may join them");
	close(fd);
	is_through(ask_for("127.0.0.1", origin));
	for (int i = 0; i < 1024; i++)
		waiting += !readable(fds[i], 0);
	ok(waiting == 1024, "they wait");
	ab_proxy_answer(proxy, told.wanted[500].number, AB_HOST_ANSWER_NO, "control", NULL);
	is_str(hear(fds[500], 12), NO_403, "each has its own answer");
	for (int i = 0; i < 1024; i++)
		close(fds[i]);
	ok(settled(1024), "all of them end");
	/* 1,200 in a minute, and some more by now. */
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "m%d.test", i);
		fds[i] = ask_for(name, 443);
	}
	ok(strncmp(hear(fds[299], 12), NO_403, 12) == 0 &&
		   strstr(hear(fds[299], 400), "(too many questions in a minute)"),
	   "so many come in a minute and no more");
	for (int i = 0; i < 300; i++)
		close(fds[i]);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* The reason of an answer outlives it, if the denied connection waits for the name of its process. */
static void test_reason(void)
{
	enum { MANY = 1024 };
	static int fds[MANY];
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	struct rlimit limit;
	char name[40];
	int a, b;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 8192) {
		ok(true, "# SKIP needs more descriptors");
		return;
	}
	fill_policy(&policy, "nobody.test", AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	setup.identify_denied = true;
	proxy = start_proxy(&setup);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		fds[i] = ask_for(name, 443);
	}
	ok(wanted(MANY), "no more questions are possible");
	/* For 100 ms somebody could say which process was denied. */
	a = ask_for("evil.test", 443);
	ok(wanted(MANY + 1) && told.wanted[MANY].why == AB_QUESTION_IDENTIFY, "who was denied?");
	ab_proxy_answer(proxy, told.wanted[0].number, AB_HOST_ANSWER_NO, "control", NULL);
	is_str(hear(fds[0], 12), NO_403, "there is room for one");
	b = ask_for("evil.test", 443);
	ok(wanted(MANY + 2) && told.wanted[MANY + 1].why == AB_QUESTION_UNKNOWN,
	   "it is asked about");
	ab_proxy_answer(proxy, told.wanted[MANY + 1].number, AB_HOST_ANSWER_NO, "approver",
			"because of this");
	is_str(hear(b, 12), NO_403, "the answer is no");
	ok(strstr(hear(b, 4000), "(the answer was no: because of this)"), "with its reason");
	close(a);
	close(b);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* With few descriptors, too, those who wait leave room for others. */
static void test_room(void)
{
	enum { LIMIT = 240, ROOM = 66, CLIENTS = 80 };
	struct rlimit few = { LIMIT, LIMIT };
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy_report report;
	struct ab_proxy *proxy;
	struct ab_error err;
	char name[40], over;
	int fds[CLIENTS], tell[2], status = 1;
	size_t denied = 0;
	pid_t pid;

	snprintf(name, sizeof(name), "127.0.0.1:%u", origin);
	fill_policy(&policy, name, AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = make_proxy(&setup);
	if (pipe(tell) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		close(tell[1]);
		setrlimit(RLIMIT_NOFILE, &few);
		_exit(ab_proxy_start(proxy, &err) < 0 || read(tell[0], &over, 1) != 0 ||
		      ab_proxy_stop(proxy, &report, &err) < 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		fds[i] = ask_for(name, 443);
		if (i < ROOM)
			continue;
		hear(fds[i], 12);
		denied += strstr(hear(fds[i], 4000),
				 "(too many connections are waiting for an answer)") != NULL;
		close(fds[i]);
	}
	ok(denied == CLIENTS - ROOM, "who would take the room is denied");
	ok(!readable(fds[ROOM - 1], 0), "the others wait");
	is_through(ask_for("127.0.0.1", origin));
	close(tell[1]);
	ok(waitpid(pid, &status, 0) == pid && status == 0, "all of them end");
	for (int i = 0; i < ROOM; i++)
		close(fds[i]);
	close(tell[0]);
	stop_proxy(proxy);
	free_policy(&policy);
}

static void test_grants(void)
{
	struct ab_policy policy, other;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	struct ab_grant grant = { .ms = 0 };
	char entry[40];
	int a, b;

	snprintf(entry, sizeof(entry), "127.0.0.1:%u", origin);
	fill_policy(&policy, "*.test", AB_UNKNOWN_ASK);
	ab_strv_add(&policy.net.deny, "bad.test");
	setup = setup_of(&policy);
	proxy = make_proxy(&setup);
	snprintf(grant.entry, sizeof(grant.entry), "early.example");
	grant.deny = true;
	ab_proxy_grant(proxy, &grant, "control");
	ok(has_record("grant", "\"entry\":\"early.example\",\"allowed\":false,"
			       "\"by\":\"control\",\"for_ms\":0"),
	   "a word before there is a thread");
	if (ab_proxy_start(proxy, &(struct ab_error){ 0 }) < 0)
		abort();
	a = ask_for("early.example", 443);
	is_str(hear(a, 12), NO_403, "holds");
	close(a);
	ok(told.nwanted == 0, "and nobody is asked");

	a = ask_for("127.0.0.1", origin);
	b = ask_for("127.0.0.2", origin);
	ok(wanted(2), "two wait");
	grant = (struct ab_grant){ .deny = false };
	snprintf(grant.entry, sizeof(grant.entry), "%s", entry);
	ab_proxy_grant(proxy, &grant, "control");
	is_through(a);
	ok(is_settled(0, number_of("127.0.0.1"), AB_SETTLED_ANSWERED, 1),
	   "a word about one of them releases it");
	ok(!readable(b, 50), "and no other");
	grant.deny = true;
	snprintf(grant.entry, sizeof(grant.entry), "127.0.0.2");
	ab_proxy_grant(proxy, &grant, "control");
	is_str(hear(b, 12), NO_403, "a denying one ends it");
	close(b);
	ok(is_settled(1, number_of("127.0.0.2"), AB_SETTLED_ANSWERED, 0), "and is told so");

	snprintf(grant.entry, sizeof(grant.entry), "x.test");
	ab_proxy_grant(proxy, &grant, "control");
	a = ask_for("x.test", 443);
	is_str(hear(a, 12), NO_403, "a denying word beats the allow list");
	close(a);
	grant.deny = false;
	snprintf(grant.entry, sizeof(grant.entry), "bad.test");
	ab_proxy_grant(proxy, &grant, "control");
	a = ask_for("bad.test", 443);
	is_str(hear(a, 12), NO_403, "no word beats the deny list");
	close(a);

	a = ask_for("127.0.0.1", origin);
	is_str(hear(a, 12), OK_200, "a tunnel that somebody's word opened");
	hear(a, 27);
	b = accept(origin_fd, NULL, NULL);
	grant.deny = true;
	snprintf(grant.entry, sizeof(grant.entry), "127.0.0.2");
	ab_proxy_grant(proxy, &grant, "control");
	say(a, "\1");
	is_str(hear(b, 1), "\1", "stays when another host is denied");
	snprintf(grant.entry, sizeof(grant.entry), "127.0.0.0/8");
	ab_proxy_grant(proxy, &grant, "control");
	is_str(hear(b, 1), "", "and ends when it is denied itself");
	ok(has_record("violation", "denied for this run (127.0.0.0/8)"), "which has an id");
	close(a);
	close(b);

	a = ask_for("later.example", 443);
	ok(number_of("later.example"), "a question is open");
	fill_policy(&other, "nobody.test", AB_UNKNOWN_DENY);
	for (int i = 0; i < 50; i++)
		ab_proxy_replace(proxy, ab_filter_new(&other), false);
	is_str(hear(a, 12), NO_403, "new lists answer it");
	close(a);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
	free_policy(&other);
}

static void test_hold(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	char entry[40];
	int a, b, at_origin;

	snprintf(entry, sizeof(entry), "127.0.0.1:%u", origin);
	fill_policy(&policy, entry, AB_UNKNOWN_ASK);
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	a = ask_for("127.0.0.1", origin);
	is_str(hear(a, 12), OK_200, "a tunnel before the hold");
	hear(a, 27);
	at_origin = accept(origin_fd, NULL, NULL);
	ab_proxy_hold(proxy, "too much");
	ok(wanted(1) && told.wanted[0].why == AB_QUESTION_HELD && told.wanted[0].number == 0 &&
		   told.wanted[0].ms == AB_HOLD_MS,
	   "a hold is a question");
	b = ask_for("127.0.0.1", origin);
	ok(!readable(b, 50), "also who is allowed waits");
	say(a, "\1");
	is_str(hear(at_origin, 1), "\1", "what was open goes on");
	ab_proxy_answer(proxy, 0, AB_HOST_ANSWER_RUN, "terminal", NULL);
	is_through(b);
	ok(is_settled(0, 0, AB_SETTLED_ANSWERED, 1), "a yes releases them");
	ab_proxy_hold(proxy, "too much again");
	ok(wanted(2), "another hold");
	b = ask_for("127.0.0.1", origin);
	ok(!readable(b, 50), "holds");
	ab_proxy_answer(proxy, 0, AB_HOST_ANSWER_NO, "terminal", NULL);
	is_str(hear(b, 12), NO_403, "a no cuts the network");
	ok(strstr(hear(b, 400), "the network was cut off: too much again"), "with the reason");
	close(b);
	is_str(hear(at_origin, 1), "", "what was open is closed");
	ok(has_record("violation", "\"rule\":\"monitor\""), "that is recorded");
	ok(is_settled(1, 0, AB_SETTLED_ANSWERED, 0), "and settled");
	b = ask_for("127.0.0.1", origin);
	is_str(hear(b, 12), NO_403, "what comes is refused");
	close(a);
	close(b);
	close(at_origin);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	setup = setup_of(&policy);
	setup.hold_ms = 200;
	proxy = start_proxy(&setup);
	ab_proxy_hold(proxy, "nobody is there");
	b = ask_for("127.0.0.1", origin);
	is_str(hear(b, 12), NO_403, "a hold that nobody ends is a cut");
	ok(is_settled(0, 0, AB_SETTLED_TIME, 0), "in time");
	close(b);
	report = stop_proxy(proxy);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

/* The answer's code, and how many records; a query for the name's address. */
static const char *resolve(const char *name)
{
	static char said[40];
	uint8_t q[300] = { 0, 0, 0, 7, 1, 0, 0, 1 };
	const uint8_t *answer;
	size_t n = 2 + 12;
	int fd = knock(dns);

	while (*name) {
		size_t len = strcspn(name, ".");

		q[n++] = (uint8_t)len;
		memcpy(q + n, name, len);
		n += len;
		name += len + (name[len] == '.');
	}
	n += 1;
	q[n + 1] = q[n + 3] = 1;
	n += 4;
	q[1] = (uint8_t)(n - 2);
	if (send(fd, q, n, 0) != (ssize_t)n)
		abort();
	answer = (const uint8_t *)hear(fd, 14);
	snprintf(said, sizeof(said), "code %u, %u", answer[5] & 15, answer[9]);
	close(fd);
	return said;
}

static void test_dns(void)
{
	static const struct {
		enum ab_unknown unknown;
		bool asked;
		const char *says;
	} cases[] = {
		{ AB_UNKNOWN_ASK, true, "code 0, 1" },
		{ AB_UNKNOWN_ASK, false, "code 3, 0" },
		{ AB_UNKNOWN_DENY, true, "code 3, 0" },
		{ AB_UNKNOWN_LEARN, false, "code 0, 1" },
	};
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	struct ab_grant grant = { .entry = "denied.test", .deny = true };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		fill_policy(&policy, "fine.test", cases[i].unknown);
		ab_strv_add(&policy.net.deny, "bad.test");
		setup = setup_of(&policy);
		if (!cases[i].asked)
			setup.asked = NULL;
		proxy = start_proxy(&setup);
		is_str(resolve("new.test"), cases[i].says, "a name that is on no list");
		is_str(resolve("fine.test"), "code 0, 1", "one that is allowed");
		is_str(resolve("bad.test"), "code 3, 0", "one that is denied");
		ab_proxy_grant(proxy, &grant, "control");
		is_str(resolve("denied.test"), "code 3, 0", "just now");
		ab_proxy_cut(proxy, "enough");
		is_str(resolve("fine.test"), "code 3, 0",
		       "without a network nobody has an address");
		report = stop_proxy(proxy);
		ab_strv_fini(&report.lines);
		free_policy(&policy);
	}
}

static void test_learn(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	int a;

	fill_policy(&policy, "fine.test", AB_UNKNOWN_LEARN);
	ab_strv_add(&policy.net.deny, "bad.test");
	setup = setup_of(&policy);
	proxy = start_proxy(&setup);
	is_through(ask_for("127.0.0.1", origin));
	a = ask_for("bad.test", 443);
	is_str(hear(a, 12), NO_403, "the deny list holds while learning");
	close(a);
	a = ask_for("10.1.2.3", 443);
	is_str(hear(a, 12), NO_403, "and so do ranges");
	close(a);
	report = stop_proxy(proxy);
	ok(has_record("request", "\"rule\":\"learn\""), "it is recorded so");
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static void test_who(void)
{
	struct ab_policy policy;
	struct ab_proxy_setup setup;
	struct ab_proxy *proxy;
	struct ab_proxy_report report;
	ab_autofree char *lines = NULL;
	int a;

	fill_policy(&policy, "fine.test", AB_UNKNOWN_DENY);
	setup = setup_of(&policy);
	setup.identify_denied = true;
	proxy = start_proxy(&setup);
	a = ask_for("who.test", 443);
	ok(wanted(1) && told.wanted[0].why == AB_QUESTION_IDENTIFY && told.wanted[0].peer.port,
	   "who was denied?");
	ab_proxy_who(proxy, told.wanted[0].number, who);
	is_str(hear(a, 12), NO_403, "it hears of it");
	close(a);
	a = ask_for("who.test", 443);
	is_str(hear(a, 12), NO_403, "the next one at once");
	ok(told.nwanted == 1, "without a question");
	close(a);
	a = ask_for("silent.test", 443);
	is_str(hear(a, 12), NO_403, "nobody need know");
	close(a);
	a = knock(door);
	say(a, "GET http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n");
	ok(number_of("plain.test") != 0, "a plain request");
	ab_proxy_who(proxy, number_of("plain.test"), "[not json");
	is_str(hear(a, 12), NO_403, "and nonsense changes nothing");
	close(a);
	report = stop_proxy(proxy);
	ok(told.nsettled == 0, "these are no questions");
	lines = records_with("who.test");
	ok(strstr(lines, "\"process\":[{\"pid\":3,\"exe\":\"/usr/bin/curl\","
			 "\"argv\":[\"curl\"]}]"),
	   "the record has who it was");
	ok(report.lines.len > 1 &&
		   strstr(report.lines.v[1], "not on the allow list  curl, pid 3, 2 times"),
	   "and so has the summary: %s", report.lines.v[1]);
	ab_strv_fini(&report.lines);
	free_policy(&policy);
}

static uint32_t agent_asked;

static void note_asked(void *arg, const struct ab_host_question *question)
{
	(void)arg;
	agent_asked = question->number;
}

static void resume(struct ab_conn *conn, struct ab_request_record *r)
{
	(void)conn;
	(void)r;
}

static void ignore_error(struct ab_engine *engine, const struct ab_error *err)
{
	(void)engine;
	(void)err;
}

/* The number of a denial that the ledger does not remember yet. */
static uint32_t take_number(struct ab_ledger *ledger, bool *ret_remembered)
{
	static unsigned nhosts;
	ab_autofree char *host = ab_printf("h%u.test", nhosts++);
	const struct ab_request_record r = { .host = host, .port = 443 };
	uint32_t number = ab_ledger_number(ledger, &r);

	*ret_remembered = ab_ledger_number(ledger, &r) == number;
	return number;
}

/* Where the ledger can remember no more, each numbering is a new one. */
static void test_agent_number(void)
{
	struct ab_proxy_setup setup = { .asked = note_asked, .ask_ms = 60000 };
	struct ab_log log = AB_LOG_NONE;
	struct ab_engine engine = { .setup = &setup,
				    .waiting.max_conns = 1,
				    .unrecorded = ignore_error };
	struct ab_conn conn = { .engine = &engine };
	struct ab_request_record r = { .host = "git.test",
				       .port = 22,
				       .door = AB_DOOR_AGENT,
				       .fault = AB_FAULT_AGENT,
				       .refusal = &ab_agent_refuses_unasked,
				       .why = "log in to git.test as git with the key K" };
	struct ab_error err;
	bool remembered = true;
	uint32_t number = 0;

	engine.ledger = ab_ledger_new("test", &log);
	if (ab_loop_init(&engine.loop, &err) < 0)
		abort();
	while (remembered)
		number = take_number(engine.ledger, &remembered);
	ok(ab_waiting_agent(&conn, &r, resume) && agent_asked == number + 2,
	   "a question of the ssh agent takes one number: %u after %u", agent_asked, number + 1);
	ok(take_number(engine.ledger, &remembered) == number + 3, "and the next denial the next");
	ab_waiting_answer(&engine, agent_asked, AB_HOST_ANSWER_ONCE, "test", NULL);
	ab_loop_fini(&engine.loop);
	ab_ledger_free(engine.ledger);
}

int main(void)
{
	test_agent_number();
	world_init();
	test_answers();
	test_ports();
	test_ends();
	test_http();
	test_budget();
	test_race();
	test_many();
	test_reason();
	test_room();
	test_grants();
	test_hold();
	test_dns();
	test_learn();
	test_who();
	world_fini();
	return done();
}
