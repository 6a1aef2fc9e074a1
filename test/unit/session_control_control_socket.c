#include "session/control/control_socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "state/state.h"
#include "tap.h"

static const struct {
	const char *text;
	const char *wrong; /* NULL: it is right */
} packets[] = {
	{ "{\"v\":1,\"do\":\"status\"}", NULL },
	{ "{\"v\":1,\"do\":\"pending\",\"from\":7}", NULL },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde-1\",\"answer\":\"once\"}", NULL },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde\",\"answer\":\"no\"}", NULL },
	{ "{\"v\":1,\"do\":\"allow\",\"entry\":\"X.Y:8080\"}", NULL },
	{ "{\"v\":1,\"do\":\"deny\",\"entry\":\"*.x.y\",\"for_ms\":5}", NULL },
	{ "{\"v\":1,\"do\":\"reload\",\"cut\":true}", NULL },
	{ "{\"v\":1,\"do\":\"stop\"}", NULL },
	{ "{\"v\":1,\"do\":\"follow\"}", NULL },
	{ "{\"v\":1,\"do\":\"attach\",\"number\":3}", NULL },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":3000,\"host\":8080}", NULL },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":65535,\"host\":1}", NULL },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1,\"env\":2,\"streams\":"
	  "[\"passed\",\"terminal\",\"/dev/null\"],\"approved\":\"once\"}",
	  NULL },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1}", "streams" },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1,\"streams\":[\"passed\",\"terminal\"]}",
	  "streams" },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1,\"streams\":"
	  "[\"/dev/sda\",\"terminal\",\"passed\"]}",
	  "streams" },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1,\"streams\":"
	  "[\"/dev/../etc\",\"terminal\",\"passed\"]}",
	  "streams" },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":99999999,\"streams\":"
	  "[\"passed\",\"passed\",\"passed\"]}",
	  "argc" },
	{ "{\"v\":1,\"do\":\"start\",\"argc\":1,\"streams\":"
	  "[\"passed\",\"passed\",\"passed\"],\"approved\":\"never\"}",
	  "approval" },
	{ "{\"v\":1,\"do\":\"attach\",\"number\":-1}", "number" },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":3000}", "needs" },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":0,\"host\":80}", "needs" },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":65536,\"host\":80}", "port" },
	{ "{\"v\":1,\"do\":\"publish\",\"port\":80,\"host\":\"80\"}", "host" },
	{ "", "JSON" },
	{ "[]", "JSON" },
	{ "{\"v\":1,\"do\":\"status\"} x", "JSON" },
	{ "{\"v\":1,\"v\":1,\"do\":\"status\"}", "JSON" },
	{ "{\"do\":\"status\"}", "version" },
	{ "{\"v\":2,\"do\":\"status\"}", "version" },
	{ "{\"v\":1}", "request" },
	{ "{\"v\":1,\"do\":\"format\"}", "request" },
	{ "{\"v\":1,\"do\":7}", "request" },
	{ "{\"v\":1,\"do\":\"pending\",\"from\":-1}", "from" },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde-1\"}", "needs" },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"other-1\",\"answer\":\"once\"}", "id" },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde-01\",\"answer\":\"once\"}", "id" },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde-99999999999\","
	  "\"answer\":\"once\"}",
	  "id" },
	{ "{\"v\":1,\"do\":\"answer\",\"id\":\"abcde-1\",\"answer\":\"session\"}", "once, run" },
	{ "{\"v\":1,\"do\":\"allow\"}", "missing \"entry\"" },
	{ "{\"v\":1,\"do\":\"allow\",\"entry\":\"x\\u0000.y\"}", "" },
	{ "{\"v\":1,\"do\":\"allow\",\"entry\":\"a b\"}", "" },
	{ "{\"v\":1,\"do\":\"allow\",\"entry\":\"x.y\",\"for_ms\":\"5\"}", "for_ms" },
	{ "{\"v\":1,\"do\":\"reload\",\"cut\":1}", "cut" },
	{ "{\"v\":1,\"do\":\"stop\",\"grace_ms\":99999999999}", "grace_ms" },
};

static void test_parse(void)
{
	struct ab_control_request request;

	for (size_t i = 0; i < AB_COUNT(packets); i++) {
		struct ab_error err = { 0 };
		int r = ab_control_parse("abcde", packets[i].text, strlen(packets[i].text),
					 &request, &err);

		ok(packets[i].wrong ? r < 0 && strstr(err.text, packets[i].wrong) : r == 0,
		   "%s: %s", packets[i].text, err.text);
	}
	ab_control_parse("abcde", packets[4].text, strlen(packets[4].text), &request,
			 &(struct ab_error){ 0 });
	is_str(request.entry, "x.y:8080", "an entry is canonical");
}

/* A run that answers "status", never answers "pending", follows, and ends at
 * "stop". */
struct run {
	struct ab_loop loop;
	struct ab_control *control;
	struct ab_control_client *held;
};

static void asked(void *arg, struct ab_control_client *client,
		  const struct ab_control_request *request)
{
	struct run *run = arg;

	switch (request->what) {
	case AB_DO_PENDING:
		run->held = client;
		break;
	case AB_DO_FOLLOW:
		ab_control_done(client);
		ab_control_follow(client);
		break;
	case AB_DO_STOP:
		/* One that has left meanwhile is answered all the same. */
		if (run->held)
			ab_control_done(ab_take(run->held));
		ab_control_tell(run->control, "{'event':'x'}");
		ab_control_done(client);
		run->loop.stop = request->ms == 0;
		break;
	default:
		ab_control_reply(client, "'run':%s", "abcde");
	}
}

static pid_t serve(int dir)
{
	struct ab_control_watch watch = { .dir = dir, .run_id = "abcde", .asked = asked };
	struct run run = { 0 };
	struct ab_error err = { 0 };
	pid_t pid;

	watch.loop = &run.loop;
	watch.arg = &run;
	if (ab_loop_init(&run.loop, &err) < 0 || ab_control_open(&run.control, &err) < 0)
		return -1;
	ab_control_attach(run.control, &watch);
	if (ab_control_name(run.control, &err) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (ab_loop_run(&run.loop, &err) < 0)
			_exit(1);
		ab_control_close(run.control);
		ab_loop_fini(&run.loop);
		exit(0);
	}
	ab_control_close(run.control);
	ab_loop_fini(&run.loop);
	return pid;
}

static int join(int dir)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dir, AB_CONTROL_NAME);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static const char *heard(int fd)
{
	static char packet[AB_CONTROL_MAX + 1];
	ssize_t n = recv(fd, packet, sizeof(packet) - 1, 0);

	packet[n > 0 ? n : 0] = '\0';
	return packet;
}

static const char *ask(int fd, const void *packet, size_t len)
{
	return send(fd, packet, len, MSG_NOSIGNAL) < 0 ? "" : heard(fd);
}

#define ASK(fd, text) ask(fd, text, strlen(text))

static void test_garbage(int dir)
{
	static char big[AB_CONTROL_MAX + 4096];
	unsigned char random[512];
	bool refused = true;

	for (int i = 0; i < 50; i++) {
		int fd = join(dir);

		for (size_t k = 0; k < sizeof(random); k++)
			random[k] = (unsigned char)rand();
		refused &= strstr(ask(fd, random, sizeof(random)), "\"ok\":false") != NULL;
		close(fd);
	}
	ok(refused, "garbage is refused in words");
	memset(big, ' ', sizeof(big));
	{
		ab_autoclose int fd = join(dir);

		is_str(ask(fd, big, sizeof(big)), "", "a packet that is too long ends the talk");
	}
	{
		ab_autoclose int fd = join(dir);

		ok(strstr(ASK(fd, "{\"v\":1,\"do\":\"status\"}"), "\"ok\":true") != NULL,
		   "the next one is answered");
	}
}

static void test_crowd(int dir)
{
	int fds[40], served = 0, n = 0;

	for (; n < 40; n++)
		fds[n] = join(dir);
	for (int i = 0; i < n; i++)
		served += strstr(ASK(fds[i], "{\"v\":1,\"do\":\"status\"}"), "abcde") != NULL;
	ok(served == 32, "%d of %d are served at once", served, n);
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

/* A client that has gone while it was asked, and one that does not read. */
static void test_leavers(int dir)
{
	int gone = join(dir), deaf = join(dir), good = join(dir);
	const char *last = "";
	int told = 0;

	send(gone, "{\"v\":1,\"do\":\"pending\"}", 22, 0);
	ok(strstr(ASK(good, "{\"v\":1,\"do\":\"status\"}"), "true") != NULL,
	   "one waits, another is answered");
	close(gone);
	ASK(deaf, "{\"v\":1,\"do\":\"follow\"}");
	for (int i = 0; i < 5000; i++)
		told += strstr(ASK(good, "{\"v\":1,\"do\":\"stop\"}"), "true") != NULL;
	ok(told == 5000, "who does not read holds up nobody (%d)", told);
	for (told = 0; told < 5000 && !strstr(last, "missed"); told++)
		last = heard(deaf);
	ok(told > 1 && told < 5000, "and hears, when it reads, that it has missed something (%d)",
	   told);
	ok(strstr(ASK(deaf, "{\"v\":1,\"do\":\"status\"}"), "true") != NULL, "it is still there");
	ASK(good, "{\"v\":1,\"do\":\"stop\"}");
	is_str(heard(deaf), "{\"event\":\"x\"}", "and hears again");
	close(deaf);
	close(good);
}

static void test_stranger(int dir)
{
	pid_t pid;
	int status;

	if (geteuid() != 0) {
		skip("another user", "only root can be another one");
		return;
	}
	pid = fork();
	if (pid == 0) {
		/* Connected while it was possible, asked as somebody else. */
		if (fchmod(dir, 0755) < 0 || fchmodat(dir, AB_CONTROL_NAME, 0666, 0) < 0 ||
		    setresuid(12345, 12345, 12345) < 0)
			_exit(2);
		_exit(strcmp(ASK(join(dir), "{\"v\":1,\"do\":\"status\"}"), "") ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	ok(status == 0, "another user is not answered, whatever the mode");
}

static void test_server(void)
{
	char path[] = "/tmp/agentbox-control-XXXXXX";
	ab_autoclose int dir = -1;
	struct stat st;
	pid_t pid;
	int status, fd;

	if (!mkdtemp(path) || (dir = open(path, O_DIRECTORY | O_CLOEXEC)) < 0)
		abort();
	pid = serve(dir);
	ok(pid > 0, "a socket in the run's folder");
	ok(fstatat(dir, AB_CONTROL_NAME, &st, 0) == 0 && S_ISSOCK(st.st_mode) &&
		   (st.st_mode & 07777) == 0600,
	   "for its owner only");
	test_garbage(dir);
	test_crowd(dir);
	test_leavers(dir);
	test_stranger(dir);
	fd = join(dir);
	ASK(fd, "{\"v\":1,\"do\":\"stop\",\"grace_ms\":0}");
	close(fd);
	waitpid(pid, &status, 0);
	ok(status == 0, "the server ends cleanly (%#x)", status);
	unlinkat(dir, AB_CONTROL_NAME, 0);
	rmdir(path);
}

int main(void)
{
	alarm(240);
	srand(1);
	test_parse();
	test_server();
	return done();
}
