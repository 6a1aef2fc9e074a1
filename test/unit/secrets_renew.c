/* A real broker that reads secrets again. */
#include "secrets/renew.h"

#include <poll.h>
#include <time.h>

#include "broker_help.h"
#include "secrets/sources.h"

#define OLD "tv-old-Zq81mmWx0L"
#define NEW "tv-new-Pq72kkB3aa"

/* The next news: "i: value" or "i! error"; "none" after `ms`. */
static char *hear_news(struct ab_broker *broker, int ms)
{
	struct pollfd fd = { .fd = ab_broker_fd(broker), .events = POLLIN };
	struct ab_broker_news news;
	struct ab_error err = { 0 };
	char *told;

	if (poll(&fd, 1, ms) <= 0)
		return ab_strdup("none");
	if (ab_broker_hear(broker, &news, &err) < 0)
		return ab_printf("dead: %s", err.text);
	told = news.text ? ab_printf("%zu: %.*s", news.number, (int)news.len, news.text)
			 : ab_printf("%zu! %s", news.number, news.error.text);
	ab_broker_forget(&news);
	return told;
}

static void is_news(struct ab_broker *broker, const char *want, const char *name)
{
	ab_autofree char *got = hear_news(broker, 60000);

	is_str(got, want, name);
}

static void make_command(struct ab_secret *secret, const char *name, const char *script)
{
	ab_autofree char *text = ab_printf("T=%s; %s", top, script);

	*secret = (struct ab_secret){ .name = name, .origin = "test", .from = AB_FROM_COMMAND };
	ab_strv_add(&secret->command, "sh");
	ab_strv_add(&secret->command, "-c");
	ab_strv_add(&secret->command, text);
}

static bool is_gone(pid_t pid)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

	for (int i = 0; i < 6000; i++) {
		if (kill(pid, 0) < 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void check_secrets(void)
{
	enum { FILE_ONE, COUNTED, FAILING, SLOW, VARIABLE, LAST, BRIEF, DATED, LATER, COUNT };
	struct ab_secret v[COUNT];
	ab_autofree char *file = at("key"), *silence = NULL;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autofree char *pids = at("pid");
	struct stand s;
	pid_t slow = 0;
	FILE *f;

	set_up(&s, "secrt");
	sh("echo " OLD " >$T/key");
	v[FILE_ONE] = (struct ab_secret){
		.name = "F", .origin = "test", .from = AB_FROM_FILE, .file = file
	};
	make_command(&v[COUNTED], "C", "echo x >>$T/count; echo " NEW);
	make_command(&v[FAILING], "B", "echo no " NEW " >&2; echo " NEW "; exit 1");
	make_command(&v[SLOW], "S",
		     "echo $$ >$T/pid.new; "
		     "mv $T/pid.new $T/pid; sleep 60; echo " NEW);
	v[VARIABLE] = (struct ab_secret){ .name = "V", .origin = "test", .env = "PATH" };
	make_command(&v[LAST], "L", "echo " NEW);
	make_command(&v[BRIEF], "E",
		     "until [ -e $T/expired ]; do sleep 0.05; "
		     "done; echo " NEW);
	v[BRIEF].expires_ms = 1;
	make_command(&v[DATED], "D",
		     "until [ -e $T/dated ]; do sleep 0.05; "
		     "done; echo " NEW);
	s.safe.expires[DATED] = (int64_t)time(NULL) + 1;
	make_command(&v[LATER], "N", "echo " OLD);
	s.safe.expires[LATER] = (int64_t)time(NULL) + 3600;
	s.safe.stamps[FILE_ONE] = ab_source_stamp(&v[FILE_ONE]);
	s.policy.secrets = (struct ab_secrets){ .v = v, .len = COUNT };
	s.duty.environ = environ;
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	ab_broker_secret(broker, SLOW);
	ab_broker_secret(broker, COUNTED);
	is_news(broker, "1: " NEW, "a command is run again beside a slow one");
	ab_broker_secret(broker, FAILING);
	is_news(broker,
		"2! secret B: sh exited with status 1: no "
		"*****************",
		"one that fails says why, and not the value");
	ab_broker_secret(broker, COUNTED);
	ab_broker_secret(broker, VARIABLE);
	ab_broker_secret(broker, COUNT + 7);
	ab_broker_secret(broker, LAST);
	is_news(broker, "5: " NEW, "what is too soon or no source is passed by");
	ok(sh("test $(wc -l <$T/count) = 1") == 0, "it was not run again");
	sh("echo " NEW " >$T/key");
	is_news(broker, "0: " NEW, "a file that changes is read unasked");
	silence = hear_news(broker, 300);
	is_str(silence, "none", "once");
	sh("touch $T/expired");
	is_news(broker, "6: " NEW, "what has expired is read again unasked");
	sh("touch $T/dated");
	is_news(broker, "7: " NEW,
		"so is what said that it would, and nothing that is still valid");
	ok(comes("pid", true) && (f = fopen(pids, "re")) != NULL && fscanf(f, "%d", &slow) == 1 &&
		   fclose(f) == 0 && kill(slow, 0) == 0,
	   "the slow one goes on");
	ab_broker_end(broker);
	ok(is_gone(slow), "and ends with the broker");
	for (size_t i = 0; i < COUNT; i++)
		ab_strv_fini(&v[i].command);
	ab_run_retire(&s.run);
	tear_down(&s);
}

/* Hosts answer 401 as often as the box likes. */
static void check_rejections(void)
{
	enum { FRESH, SAME, COUNT };
	struct ab_secret v[COUNT];
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	int read[COUNT] = { 0 };
	struct stand s;

	set_up(&s, "rejct");
	make_command(&v[FRESH], "F", "echo x >>$T/fresh; echo " NEW "-$(wc -l <$T/fresh)");
	make_command(&v[SAME], "S", "echo " OLD);
	s.policy.secrets = (struct ab_secrets){ .v = v, .len = COUNT };
	s.duty.environ = environ;
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	for (int i = 0; i < 600 && read[SAME] < 3; i++) {
		ab_autofree char *news = NULL;

		ab_broker_secret(broker, FRESH);
		ab_broker_secret(broker, SAME);
		news = hear_news(broker, 100);
		read[FRESH] += news[0] == '0';
		read[SAME] += news[0] == '1';
	}
	ok(read[SAME] == 3, "a value that stays the same is read again every few seconds");
	ok(read[FRESH] == 2, "one that is new each time is read less and less often");
	ab_broker_end(broker);
	for (size_t i = 0; i < COUNT; i++)
		ab_strv_fini(&v[i].command);
	ab_run_retire(&s.run);
	tear_down(&s);
}

/* In the child that has read the value: the first answers get lost. */
static int lose_some(void *arg, size_t i, const struct ab_sourced *value,
		     const struct ab_error *err)
{
	(void)err;
	if (!value->data || sh("echo x >>$T/answers; test $(wc -l <$T/answers) -ge 2") != 0)
		return -1;
	return i == *(size_t *)arg && sh("echo $PPID >$T/reader && mv $T/reader $T/heard") == 0
		       ? 0
		       : -1;
}

static void check_lost(void)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	size_t wanted = 0;
	struct ab_secret secret;
	struct ab_secrets secrets = { .v = &secret, .len = 1 };
	uint64_t stamp = 0;
	struct ab_renewals_setup setup = { .secrets = &secrets,
					   .environ = environ,
					   .stamps = &stamp,
					   .state = -1,
					   .sock = -1,
					   .answer = lose_some,
					   .arg = &wanted };
	ab_autofree char *heard = NULL;
	struct ab_renewals *r;
	struct stand s;
	pid_t reader = 0;
	FILE *f;

	set_up(&s, "losts");
	heard = at("heard");
	make_command(&secret, "L", "echo " NEW);
	r = ab_renewals_new(&setup);
	ab_renewals_ask(r, 0);
	for (int i = 0; i < 6000 && sh("test -e $T/heard") != 0; i++) {
		ab_renewals_look(r);
		nanosleep(&pause, NULL);
	}
	ok(sh("test $(wc -l <$T/answers) = 2") == 0, "what got lost is read again unasked");
	/* A look finds that its reader has ended; the next one would read again. */
	f = fopen(heard, "r");
	ok(f && fscanf(f, "%d", &reader) == 1, "the reader that was heard is known");
	for (int i = 0; i < 6000 && kill(reader, 0) == 0; i++) {
		ab_renewals_look(r);
		nanosleep(&pause, NULL);
	}
	ab_renewals_look(r);
	ok(sh("test $(wc -l <$T/answers) = 2") == 0, "and what was heard is not");
	if (f)
		fclose(f);
	ab_strv_fini(&secret.command);
	ab_run_retire(&s.run);
	tear_down(&s);
	free(r);
}

/* A clock that goes by the second, when a reader has ended. */
static int64_t shifted_ms;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (shifted_ms) {
		ret->tv_sec = 1000 + shifted_ms / 1000;
		ret->tv_nsec = 0;
	}
	return r;
}

/* Which readings get lost. */
static int lose_listed(void *arg, size_t i, const struct ab_sourced *value,
		       const struct ab_error *err)
{
	(void)i;
	(void)value;
	(void)err;
	return sh("echo x >>$T/told; case \" %s \" in *\" $(wc -l <$T/told) \"*) exit 1; esac",
		  (const char *)arg) == 0
		       ? 0
		       : -1;
}

/* In which seconds a new value is read, if the box asks for one each second. */
static void check_repeated(const char *lost, bool asked, const char *want, const char *name)
{
	struct ab_secret secret;
	struct ab_secrets secrets = { .v = &secret, .len = 1 };
	uint64_t stamp = 0;
	struct ab_renewals_setup setup = { .secrets = &secrets,
					   .environ = environ,
					   .stamps = &stamp,
					   .state = -1,
					   .sock = -1,
					   .answer = lose_listed,
					   .arg = (void *)(uintptr_t)lost };
	ab_autobuf struct ab_buf seconds = { 0 };
	struct ab_renewals *r;

	sh("rm -f $T/told");
	make_command(&secret, "L", "echo " NEW "-$(date +%N)");
	shifted_ms = 1000;
	r = ab_renewals_new(&setup);
	for (int i = 0; i < 100; i++, shifted_ms += 1000) {
		siginfo_t info;

		if (asked || i == 0)
			ab_renewals_ask(r, 0);
		ab_renewals_look(r);
		if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0)
			ab_buf_printf(&seconds, "%d ", i);
		ab_renewals_look(r);
	}
	is_str(seconds.data, want, name);
	shifted_ms = 0;
	ab_strv_fini(&secret.command);
	free(r);
}

int main(void)
{
	start();
	check_secrets();
	check_rejections();
	check_lost();
	check_repeated("1 2 3 4 5", false, "0 5 15 35 75 ",
		       "what gets lost again and again is repeated less and less often");
	check_repeated("1 2 3", true, "0 5 15 35 40 50 70 ", "if the box asks, too");
	check_repeated("", true, "0 5 15 35 75 ",
		       "a new value each time is read less and less often");
	check_repeated("4", true, "0 5 15 35 40 80 ", "also after one that got lost");
	finish();
	return done();
}
