/*
 * What a real broker tells: whose socket it is, what the approver says, what
 * was remembered, the lists of settings that change, a hook that fails.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "broker/list_wire.h"
#include "broker_help.h"
#include "proxy/thread/proxy.h"
#include "state/approvals.h"

static struct stand s;
static struct ab_broker *broker;
static struct ab_policy *policy; /* of a run with lists of hosts, or NULL */
static char *env[8];

static void begin(const char *id)
{
	static char *config, *path;

	set_up(&s, id);
	free(config);
	free(path);
	config = ab_printf("XDG_CONFIG_HOME=%s/config", top);
	path = ab_printf("T=%s", top);
	env[0] = config;
	env[1] = path;
	env[2] = (char *)(uintptr_t) "PATH=/usr/bin:/bin";
	env[3] = NULL;
	s.input.environ = env;
	s.input.system_config = "/nonexistent/config.json";
}

/* The run has a filtered network. */
static void use_lists(void)
{
	struct ab_error err = { 0 };

	if (ab_policy_load(&s.input, &policy, NULL, &err) < 0)
		abort();
	policy->net.mode = AB_NET_FILTERED;
	s.duty.policy = policy;
}

static void open_broker(void)
{
	struct ab_error err = { 0 };

	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
}

static void end(void)
{
	ab_broker_end(broker);
	ab_run_retire(&s.run);
	tear_down(&s);
	ab_policy_free(policy);
	policy = NULL;
	/* Nobody waits for a broker that watches, so it may still be about to exit. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	ok(errno == ECHILD, "no process is left");
	sh("rm -rf $T/config $T/go $T/hooked $T/pid");
}

/* "KIND TICKET NUMBER text" or "KIND TICKET NUMBER! error"; "none". */
static char *hear(int ms)
{
	struct pollfd fd = { .fd = ab_broker_fd(broker), .events = POLLIN };
	struct ab_broker_news news;
	struct ab_error err = { 0 };
	char *told;

	if (poll(&fd, 1, ms) <= 0)
		return ab_strdup("none");
	if (ab_broker_hear(broker, &news, &err) < 0)
		return ab_printf("dead: %s", err.text);
	told = ab_printf("%d %u %zu%s %s", news.kind, news.ticket, news.number,
			 news.text ? "" : "!", news.text ? news.text : news.error.text);
	if (news.text && strlen(news.text) != news.len)
		abort();
	ab_broker_forget(&news);
	return told;
}

static void is_news(const char *want, const char *name)
{
	ab_autofree char *got = hear(60000);

	is_str(got, want, name);
}

static bool has_news(const char *part)
{
	ab_autofree char *got = hear(60000);
	bool found = strstr(got, part) != NULL;

	if (!found)
		printf("# %s\n", got);
	return found;
}

static bool is_silent(int ms)
{
	ab_autofree char *got = hear(ms);

	return strcmp(got, "none") == 0;
}

/* A box whose only process is connected to us. */
static struct ab_peer connect_box(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), got;
	struct ab_peer peer = { 0 };

	if (bind(fd, (void *)&addr, len) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (void *)&addr, &len) < 0)
		abort();
	end_box(&s);
	close(s.duty.init);
	fflush(stdout);
	s.init = fork();
	if (s.init == 0) {
		if (fork() == 0) {
			int out = socket(AF_INET, SOCK_STREAM, 0);

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(fd);
			if (connect(out, (void *)&addr, len) < 0)
				_exit(1);
		}
		for (;;)
			pause();
	}
	s.duty.init = (int)syscall(SYS_pidfd_open, s.init, 0);
	got = accept(fd, (void *)&addr, &len);
	if (s.duty.init < 0 || got < 0)
		abort();
	close(fd);
	close(got);
	memcpy(peer.addr, &addr.sin_addr, 4);
	peer.port = ntohs(addr.sin_port);
	return peer;
}

static void check_who(void)
{
	struct ab_peer peer;

	begin("whois");
	peer = connect_box();
	open_broker();
	ok(ab_broker_find_owner(broker, 7, &peer) == 0 && has_news("1 7 0 [{\"pid\":"),
	   "the process that has the socket");
	peer.port ^= 1;
	ab_broker_find_owner(broker, 8, &peer);
	is_news("1 8 0 []", "nobody");
	end();
}

static void check_approver(void)
{
	begin("approve");
	s.duty.approver = "cat >$T/asked; cat $T/says; test ! -e $T/fails";
	open_broker();
	sh("printf '{\"answer\":\"run\",\"reason\":\"fine\"}' >$T/says");
	ok(ab_broker_approve(broker, 1, "{\"host\":\"x\"}", 12) == 0, "asked");
	is_news("2 1 2 fine", "for the run, and why");
	ok(sh("test \"$(cat $T/asked)\" = '{\"host\":\"x\"}'") == 0, "it was given the question");
	sh("printf '{\"answer\":\"once\"}' >$T/says");
	ab_broker_approve(broker, 2, "{}", 2);
	is_news("2 2 1 ", "once, without a reason");
	sh("printf '{\"answer\":\"always\"}' >$T/says");
	ab_broker_approve(broker, 3, "{}", 2);
	is_news("2 3 3 ", "always");
	sh("printf '{\"answer\":\"no\",\"reason\":\"bad\"}' >$T/says");
	ab_broker_approve(broker, 4, "{}", 2);
	is_news("2 4 0 bad", "no");
	sh("printf '{\"answer\":\"yes\"}' >$T/says");
	ab_broker_approve(broker, 5, "{}", 2);
	is_news("2 5 0! the approver: \"yes\" is not an answer", "what is no answer is a no");
	sh("printf '{\"answer\":\"once\"}' >$T/says; touch $T/fails");
	ab_broker_approve(broker, 6, "{}", 2);
	is_news("2 6 0! the approver: it exited with status 1", "one that fails too");
	end();
}

static void check_many(void)
{
	enum { AT_ONCE = 8, WAITING = 64, TOO_MANY = 8 };
	size_t refused = 0, answered = 0;

	begin("many");
	s.duty.approver = "echo x >>$T/begun; "
			  "until [ -e $T/go ]; do sleep 0.05; done; "
			  "echo '{\"answer\":\"once\"}'";
	open_broker();
	for (uint32_t i = 0; i < AT_ONCE; i++)
		ab_broker_approve(broker, i, "{}", 2);
	ok(sh("for i in $(seq 200); do test \"$(wc -l <$T/begun)\" = 8 && "
	      "exit 0; sleep 0.05; done; exit 1") == 0,
	   "eight are asked at once");
	for (uint32_t i = 0; i < WAITING + TOO_MANY; i++)
		ab_broker_approve(broker, 100 + i, "{}", 2);
	while (refused < TOO_MANY && has_news("0! ask the approver: too many"))
		refused++;
	ok(refused == TOO_MANY && is_silent(100), "%zu of too many are told", refused);
	ok(sh("test \"$(wc -l <$T/begun)\" = 8") == 0, "the others wait");
	sh("echo evil >$T/work/.envrc");
	ok(comes("work/.envrc", false), "and protected names are watched");
	sh("touch $T/go");
	while (answered < AT_ONCE + WAITING && has_news(" 1 "))
		answered++;
	ok(answered == AT_ONCE + WAITING && is_silent(100), "%zu answers in the end", answered);
	end();
}

static void check_remember(void)
{
	begin("remem");
	open_broker();
	ok(ab_broker_remember(broker, 5, AB_REMEMBER_ALLOW, "github.com") == 0 &&
		   has_news("+    \"allow\": [\"github.com\"]"),
	   "remembered, and the change is told");
	ok(sh("grep -q github.com $T/config/agentbox/config.json") == 0, "in the user's own file");
	ab_broker_remember(broker, 6, AB_REMEMBER_ALLOW, "github.com");
	is_news("3 6 0 ", "once more changes nothing");
	ab_broker_remember(broker, 7, AB_REMEMBER_ALLOW, "evil \033[2J host");
	ok(has_news("3 7 0! "), "what is no host is refused");
	ok(sh("grep -q evil $T/config/agentbox/config.json") == 1, "and not written");
	ok(ab_broker_remember(broker, 8, AB_REMEMBER_DENY, "ads.example") == 0 &&
		   has_news("ads.example is denied in"),
	   "a no can be remembered, too");
	ok(sh("grep -q '\"deny\": \\[\"ads.example\"\\]' $T/config/agentbox/config.json") == 0,
	   "in its own list");
	end();
	begin("below");
	s.input.profile = "claude";
	open_broker();
	ab_broker_remember(broker, 1, AB_REMEMBER_ALLOW, "github.com");
	ok(has_news("\"allow\": [\"github.com\"]"), "with a profile that has a list");
	ok(sh("grep -q anthropic $T/config/agentbox/config.json") == 1, "nothing of it is copied");
	end();
}

/* A plan by which the box can write the workspace. */
static void open_workspace(void)
{
	struct ab_facts facts = { 0 };
	ab_autofree char *work = at("work");

	ab_objects_add(&facts.write, work, AB_AS_DIR);
	ab_plan_make(&facts, &s.spec.plan);
	ab_objects_fini(&facts.write);
}

static void check_reload(void)
{
	size_t read_it = 0;

	begin("reloa");
	open_workspace();
	sh("mkdir -p $T/config/agentbox");
	use_lists();
	open_broker();
	ok(ab_broker_reload(broker, 9) == 0 && has_news("4 9 0 {\"allow\":[],\"deny\":[]"),
	   "the lists as they are");
	sh("echo '{ \"network\": { \"allow\": [\"a.example\"] } }' "
	   ">$T/config/agentbox/config.json");
	ok(has_news("4 0 0 {\"allow\":[\"a.example\"]"), "a file that appears is read unasked");
	ok(is_silent(400), "once");
	sh("echo '{ \"network\": { \"allow\": [\"b.example\"] } }' "
	   ">$T/config/agentbox/new; "
	   "mv $T/config/agentbox/new $T/config/agentbox/config.json");
	ok(has_news("4 0 0 {\"allow\":[\"b.example\"]"), "one that is replaced too");
	sh("printf '{\\n \"network\": { \"alow\": [] } }' "
	   ">$T/config/agentbox/config.json");
	ok(has_news("config.json:2:15: network.alow: unknown key"),
	   "a bad one is told, by line and key");
	sh("printf '{ \"network\": { \"deny\": [\"x.example\"] } }' "
	   ">$T/config/agentbox/config.json");
	ok(has_news("\"deny\":[\"x.example\"]"), "a good one after that");
	/* What a box would plant, for as long as it is there. */
	for (uint32_t i = 0; i < 20; i++) {
		ab_autofree char *got = NULL;

		sh("echo '{ \"network\": { \"deny\": [\"*.evil.example\"] } }' "
		   ">$T/work/.agentbox.json");
		ab_broker_reload(broker, 100 + i);
		got = hear(60000);
		read_it += strstr(got, "evil") || strstr(got, "! ");
	}
	ok(read_it == 0, "a project file of the box's own is not read");
	ab_broker_reload(broker, 78);
	ok(has_news("4 78 0 {"), "and nothing was said of it");
	end();
	ab_plan_fini(&s.spec.plan);
}

static void check_project(void)
{
	begin("proje");
	open_workspace();
	sh("echo '{ \"network\": { \"deny\": [\"y.example\"] } }' "
	   ">$T/work/.agentbox.json");
	use_lists();
	open_broker();
	ab_broker_reload(broker, 1);
	ok(has_news("\"deny\":[\"y.example\"]"), "a project file that was there is read");
	ab_broker_end(broker);
	policy->net.mode = AB_NET_BLOCKED;
	open_broker();
	ab_broker_reload(broker, 2);
	ok(has_news("4 2 0! this run has no filtered network"),
	   "where lists are not in use nothing is read");
	end();
	ab_plan_fini(&s.spec.plan);
}

static void check_large(void)
{
	begin("large");
	sh("mkdir -p $T/config/agentbox; { "
	   "printf '{ \"network\": { \"allow\": [\"x.example\"'; "
	   "for i in $(seq 1000); do printf ',\\n\"%%s-%%s-%%s.example\"' "
	   "$i aaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbb; done; "
	   "echo '] } }'; } >$T/config/agentbox/config.json");
	use_lists();
	open_broker();
	ab_broker_reload(broker, 3);
	ok(has_news("\"1000-aaaaaaaaaaaaaaaaaaaaaaaaaaaaa-"), "lists that no packet has room for");
	end();
}

static void check_hook(void)
{
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_error err = { 0 };

	begin("hooks");
	s.duty.on_violation = "cat >>$T/hooked; pwd >>$T/hooked; "
			      "echo noise; sleep 0.02";
	open_broker();
	for (int i = 0; i < 5; i++) {
		ab_autofree char *line = ab_printf("{\"n\":%d}", i);

		if (ab_broker_violation(broker, line, strlen(line)) < 0)
			abort();
	}
	end_box(&s);
	if (ab_broker_sweep(broker, false, &err) < 0 ||
	    ab_broker_swept(broker, &lines, &(struct ab_strv){ 0 }, &err) < 0)
		abort();
	ok(sh("for i in $(seq 0 4); do echo '{\"n\":'$i'}'; echo /; done | "
	      "cmp - $T/hooked") == 0,
	   "each one, in order, in /, before the end");
	ok(lines.len == 0, "and there is nothing to say about it");
	end();
}

static void check_hook_fails(void)
{
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_error err = { 0 };

	begin("hookf");
	s.duty.on_violation = "cat >>$T/hooked; exit 3";
	open_broker();
	ab_broker_violation(broker, "x", 1);
	is_news("5 0 0! the --on-violation command ended with status 3",
		"a hook that fails is told");
	for (int i = 0; i < 5; i++)
		ab_broker_violation(broker, "x", 1);
	ok(sh("for i in $(seq 200); do test \"$(wc -l <$T/hooked)\" = 6 && "
	      "exit 0; sleep 0.05; done; exit 1") == 0,
	   "the next ones are given to it");
	ok(is_silent(200), "but it is not told again at once");
	end();
	begin("hookl");
	s.duty.on_violation = "until [ -e $T/go ]; do sleep 0.02; done";
	open_broker();
	for (int i = 0; i < 300; i++)
		while (ab_broker_violation(broker, "x", 1) < 0)
			is_silent(10);
	/* An answer: everything before it was taken. */
	ab_broker_find_owner(broker, 1, &(struct ab_peer){ .port = 1 });
	is_news("1 1 0 []", "it serves beside a slow hook");
	sh("touch $T/go");
	ok(has_news("5 0 0! 4"), "how many it did not get is told");
	sh("rm $T/go");
	ab_broker_violation(broker, "x", 1);
	end_box(&s);
	ok(ab_broker_sweep(broker, false, &err) == 0 &&
		   ab_broker_swept(broker, &lines, &(struct ab_strv){ 0 }, &err) == 0,
	   "one that never ends does not keep the run");
	end();
}

static void check_leave(void)
{
	ab_autofree char *path = at("pid");
	char text[32] = "";
	int fd;

	begin("leave");
	s.duty.on_violation = "echo $$ >$T/pid.new; mv $T/pid.new $T/pid; "
			      "sleep 600";
	open_broker();
	ab_broker_violation(broker, "x", 1);
	ok(comes("pid", true), "a hook that runs");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		abort();
	close(fd);
	end();
	ok(sh("for i in $(seq 200); do kill -0 %d 2>/dev/null || exit 0; "
	      "sleep 0.02; done; exit 1",
	      atoi(text)) == 0,
	   "ends with the broker");
}

/* A supervisor that asks and asks and hears nothing. */
static void check_deaf(void)
{
	size_t sent = 0;

	begin("deaf");
	open_broker();
	while (sent < 100000 && ab_broker_approve(broker, 1, "{}", 2) == 0)
		sent++;
	for (int i = 0; i < 2000; i++)
		sent += ab_broker_approve(broker, 1, "{}", 2) == 0;
	sh("echo evil >$T/work/.envrc");
	ok(comes("work/.envrc", false), "who does not read (%zu asked) keeps it from nothing",
	   sent);
	ok(has_news("2 1 0! "), "it tells as much as there is room for");
	end();
}

int main(void)
{
	start();
	check_who();
	check_approver();
	check_many();
	check_remember();
	check_reload();
	check_project();
	check_large();
	check_hook();
	check_hook_fails();
	check_leave();
	check_deaf();
	finish();
	return done();
}
