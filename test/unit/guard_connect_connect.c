/*
 * Connections that the guard makes for the box: which socket files may be
 * reached, and that the caller's own socket is connected, at once or later.
 * A forked child is the caller: its memory and descriptors are where ours are.
 */
#include "guard/connect/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "guard/notify/guard_process.h"
#include "sandbox/plan/plan.h"
#include "tap.h"

/* The test itself cannot go on. */
static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct ab_arena arena;
static char top[] = "/tmp/agentbox-unit.XXXXXX";
static struct ab_mount mounts[6];
static const struct ab_plan plan = { .v = mounts, .len = AB_COUNT(mounts) };
static struct ab_strv allowed;

static void make_plan(void)
{
	mounts[0] = (struct ab_mount){ .op = AB_MOUNT_WRITE,
				       .as = AB_AS_DIR,
				       .path = ab_printf("%s/w", top) };
	mounts[1] = (struct ab_mount){ .op = AB_MOUNT_PIN,
				       .as = AB_AS_DIR,
				       .path = ab_printf("%s/w/.git", top) };
	mounts[2] = (struct ab_mount){ .op = AB_MOUNT_CLOSE,
				       .as = AB_AS_DIR,
				       .path = ab_printf("%s/w/.git/hooks", top) };
	mounts[3] = (struct ab_mount){ .op = AB_MOUNT_MASK,
				       .as = AB_AS_FILE,
				       .path = ab_printf("%s/w/masked", top) };
	mounts[4] = (struct ab_mount){ .op = AB_MOUNT_PRIVATE,
				       .as = AB_AS_DIR,
				       .path = ab_printf("%s/private", top) };
	mounts[5] = (struct ab_mount){ .op = AB_MOUNT_LAYER,
				       .as = AB_AS_DIR,
				       .path = ab_printf("%s/layer", top) };
	ab_strv_addf(&allowed, "%s/h/allowed", top);
}

static void test_permitted(void)
{
	static const struct {
		const char *path;
		bool permitted;
		bool without_mounts; /* and where these folders are the host's */
	} cases[] = {
		{ "w/s", true, true },	      { "w/deep/er/s", true, true },
		{ "w/.git/s", true, true },   { "w/.git/hooks/s", false, false },
		{ "w/masked", false, false }, { "h/s", false, false },
		{ "h/allowed", true, true },  { "h/allowed2", false, false },
		{ "wide", false, false },     { "private/s", true, false },
		{ "layer/s", true, false },
	};
	struct ab_connect_terms terms = {
		.plan = &plan, .allowed = &allowed, .own_mounts = true, .own_net = true
	};
	struct ab_connect_terms without = { .plan = &plan, .allowed = &allowed };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *path = ab_printf("%s/%s", top, cases[i].path);

		ok(ab_connect_permitted(&terms, path) == cases[i].permitted, "%s", cases[i].path);
		ok(ab_connect_permitted(&without, path) == cases[i].without_mounts,
		   "%s without mounts", cases[i].path);
	}
	ok(!ab_connect_permitted(&terms, "/run/docker.sock"), "outside every tree");
}

static socklen_t set_name(struct sockaddr_un *un, const char *name)
{
	*un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(un->sun_path, sizeof(un->sun_path), "%s/%s", top, name);
	return (socklen_t)sizeof(*un);
}

static int make_server(const char *name, int queue)
{
	struct sockaddr_un un;
	socklen_t len = set_name(&un, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (bind(fd, (struct sockaddr *)&un, len) < 0 || listen(fd, queue) < 0)
		die("make a server");
	return fd;
}

/* A caller whose descriptor `fd` is a socket of its own, and who only waits. */
static struct sockaddr_un given;
static pid_t caller;
static int callers;

static void start_caller_with(int family, int flags)
{
	int ready[2];
	char byte;

	callers = 60;
	if (pipe(ready) < 0)
		die("make a pipe");
	caller = fork();
	if (caller == 0) {
		int fd = socket(family, SOCK_STREAM | flags, 0);

		dup2(fd, callers);
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		die("start a caller");
	close(ready[0]);
	close(ready[1]);
}

static void start_caller(int flags)
{
	start_caller_with(AF_UNIX, flags);
}

static void stop_caller(void)
{
	kill(caller, SIGKILL);
	waitpid(caller, NULL, 0);
}

static bool is_there(void *arg, uint64_t id)
{
	return !arg && id == 7;
}

static struct ab_connect_result begin_with(struct ab_connects *c, socklen_t len, bool gone)
{
	const struct ab_connect_events events = { .waits = is_there, .arg = gone ? c : NULL };
	struct seccomp_data call = { .nr = __NR_connect };
	const struct ab_held held = { .id = 7, .pid = caller, .data = &call, .arena = &arena };
	struct iovec here = { &given, sizeof(given) }, there = here;

	/* The caller wrote it where we did. */
	if (process_vm_writev(caller, &here, 1, &there, 1, 0) != (ssize_t)sizeof(given))
		die("write to the caller");
	call.args[0] = (uint64_t)callers;
	call.args[1] = (uint64_t)(uintptr_t)&given;
	call.args[2] = len;
	ab_arena_reset(&arena);
	return ab_connects_begin(c, &events, &held);
}

static struct ab_connect_result begin_as(struct ab_connects *c, const char *name, bool gone)
{
	return begin_with(c, set_name(&given, name), gone);
}

static struct ab_connect_result begin(struct ab_connects *c, const char *name)
{
	return begin_as(c, name, false);
}

/* What is heard of those that wait. */
struct heard {
	bool gone;
	int ended, errnum;
};

static bool is_waiting(void *arg, uint64_t id)
{
	const struct heard *h = arg;

	return !h->gone && id == 7;
}

static void hear_end(void *arg, uint64_t id, int fd, int errnum)
{
	struct heard *h = arg;

	h->ended += id == 7 && fd >= 0;
	h->errnum = errnum;
}

static struct heard look(struct ab_connects *c, bool gone)
{
	struct heard heard = { .gone = gone, .errnum = -1 };
	struct ab_connect_events events = { is_waiting, hear_end, &heard };

	ab_connects_look(c, &events);
	return heard;
}

static void test_begin(struct ab_connects *c)
{
	int own = make_server("w/s", 8), host = make_server("h/s", 8), fd;
	struct ab_connect_result r;

	start_caller(0);
	r = begin(c, "h/s");
	ok(r.step == AB_CONNECT_DONE && r.errnum == EACCES && r.denied, "a socket of the host");
	ok(accept(host, NULL, NULL) < 0 && errno == EAGAIN, "it heard nothing");
	r = begin(c, "w/nothing");
	ok(r.step == AB_CONNECT_DONE && r.errnum == ENOENT && !r.denied, "no such file");
	r = begin(c, "w");
	ok(r.step == AB_CONNECT_DONE && r.errnum == ECONNREFUSED, "not a socket");
	r = begin(c, "w/s");
	fd = accept(own, NULL, NULL);
	ok(r.step == AB_CONNECT_DONE && !r.errnum && fd >= 0, "the caller's socket is connected");
	r = begin(c, "w/s");
	ok(r.step == AB_CONNECT_DONE && r.errnum == EISCONN, "only once");
	stop_caller();
	close(fd);
	close(own);
	close(host);
}

/* Fills the queue of the server. */
static int fill_queue(const char *name)
{
	struct sockaddr_un un;
	socklen_t len = set_name(&un, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&un, len) < 0)
		die("fill a queue");
	return fd;
}

static void test_waiting(struct ab_connects *c)
{
	int server = make_server("w/full", 0), first = fill_queue("w/full");
	struct ab_connect_result r;
	struct heard h;

	start_caller(SOCK_NONBLOCK);
	r = begin(c, "w/full");
	ok(r.step == AB_CONNECT_DONE && r.errnum == EAGAIN, "a non-blocking caller does not wait");
	stop_caller();
	start_caller(0);
	ok(ab_connects_next_look(c) == 0, "nobody waits");
	r = begin(c, "w/full");
	ok(r.step == AB_CONNECT_WAITS && r.fd < 0, "a blocking one does");
	ok(ab_connects_next_look(c) > 0, "and is looked at again");
	ok(!look(c, false).ended, "still full");
	close(accept(server, NULL, NULL));
	h = look(c, false);
	ok(h.ended == 1 && h.errnum == 0, "connected when there is room");
	ok(ab_connects_next_look(c) == 0, "and forgotten");
	stop_caller();
	start_caller(0);
	r = begin(c, "w/full");
	ok(r.step == AB_CONNECT_WAITS, "full again");
	ok(look(c, true).ended == 1 && ab_connects_next_look(c) == 0,
	   "a caller that is gone is dropped");
	stop_caller();
	close(first);
	close(server);
}

/* A socket that was made outside: here all of them are. */
static void test_network(const struct ab_connect_terms *terms)
{
	int server = make_server("w/net", 8);
	uint64_t net = ab_connect_network(server);
	struct ab_connects *strict = ab_connects_new(terms, net), *c = ab_connects_new(terms, 0);
	struct ab_connect_result r;

	start_caller(0);
	r = begin(strict, "w/net");
	ok(net && r.step == AB_CONNECT_DONE && r.errnum == EACCES,
	   "a socket of the host's network");
	r = begin_as(c, "w/net", true);
	ok(r.step == AB_CONNECT_DONE && r.errnum == EINTR, "a caller that is gone");
	ok(accept(server, NULL, NULL) < 0 && errno == EAGAIN, "the server heard nothing");
	r = begin(c, "w/net");
	ok(r.step == AB_CONNECT_DONE && !r.errnum, "another one is connected");
	stop_caller();
	close(server);
	free(strict);
	free(c);
}

static struct ab_connect_result begin_port(struct ab_connects *c, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(&given, &to, sizeof(to));
	return begin_with(c, sizeof(to), false);
}

/* A caller that blocks gets the answer at once, and one that does not block what the kernel would
 * say. Each caller is another process. */
static void test_ports(struct ab_connects *c)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	struct ab_connect_result r;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&at, len) < 0 || listen(server, 8) < 0 ||
	    getsockname(server, (struct sockaddr *)&at, &len) < 0)
		die("make a server");
	for (int i = 0; i < 2; i++) {
		start_caller_with(AF_INET, 0);
		r = begin_port(c, at.sin_port);
		fd = accept(server, NULL, NULL);
		ok(r.step == AB_CONNECT_DONE && !r.errnum && fd >= 0, "connected at once");
		r = begin_port(c, at.sin_port);
		ok(r.step == AB_CONNECT_DONE && r.errnum == EISCONN,
		   "the same caller again, by what was kept");
		close(fd);
		stop_caller();
	}
	start_caller_with(AF_INET, SOCK_NONBLOCK);
	r = begin_port(c, at.sin_port);
	ok(r.step == AB_CONNECT_DONE && r.errnum == EINPROGRESS, "a non-blocking caller");
	close(accept(server, NULL, NULL));
	stop_caller();
	close(server);
	start_caller_with(AF_INET, 0);
	r = begin_port(c, at.sin_port);
	ok(r.step == AB_CONNECT_DONE && r.errnum == ECONNREFUSED, "nobody listens");
	stop_caller();
}

int main(void)
{
	struct ab_connect_terms terms = { .plan = &plan, .allowed = &allowed, .own_net = true };
	struct ab_connects *c;

	if (!mkdtemp(top) || chdir(top) < 0 || system("mkdir -p w/.git/hooks h") != 0)
		die("make a folder");
	make_plan();
	c = ab_connects_new(&terms, 0);
	test_permitted();
	test_network(&terms);
	test_begin(c);
	test_waiting(c);
	test_ports(c);
	if (system("rm -r w h") != 0 || chdir("/") < 0 || rmdir(top) < 0)
		die("clean up");
	return done();
}
