/*
 * What comes up from the box is believed only as far as it goes: each message
 * has one length, a hand-over as many descriptors as it says.
 */
#include "sandbox/start/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "sandbox/start/bridge.h"
#include "tap.h"

static int inner, null;
static struct ab_box box;

static size_t open_files(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 512; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void say(const struct ab_msg *msg, size_t len, size_t nfds)
{
	int fds[AB_FDS_MAX] = { -1 };

	for (size_t i = 0; i < nfds; i++)
		fds[i] = null;
	if (ab_send_fds(inner, msg, len, fds, nfds) < 0)
		perror("send");
}

/* 1: heard, -1: not a message. Nothing stays open either way. */
static void is_heard(int want, const struct ab_msg *msg, size_t len, size_t nfds, const char *name)
{
	size_t before = open_files();
	struct ab_fds fds;
	struct ab_msg got;
	int r;

	say(msg, len, nfds);
	r = ab_box_hear(&box, &got, &fds, MSG_DONTWAIT);
	ok(r == want && (r > 0 || errno == EPROTO), "%s", name);
	if (r > 0)
		ab_fds_close(&fds);
	ok(open_files() == before, "nothing stays open");
}

static void check_lengths(void)
{
	struct ab_msg msg = { .type = AB_MSG_STATUS };
	const struct {
		uint32_t type;
		size_t body;
	} kinds[] = {
		{ AB_MSG_FAILED, sizeof(msg.u.error) },
		{ AB_MSG_NETWORK, sizeof(msg.u.network) },
		{ AB_MSG_TTY, 0 },
		{ AB_MSG_ASKS, sizeof(msg.u.holds) },
		{ AB_MSG_HOLDS, sizeof(msg.u.holds) },
		{ AB_MSG_STATUS, 0 },
		{ AB_MSG_LAST, 0 },
	};

	for (size_t i = 0; i < AB_COUNT(kinds); i++) {
		msg.type = kinds[i].type;
		is_heard(1, &msg, AB_MSG_LEN(kinds[i].body), 0, "whole");
		is_heard(-1, &msg, AB_MSG_LEN(kinds[i].body) - 1, 1, "short");
		/* What is longer than any message is cut to the longest. */
		if (AB_MSG_LEN(kinds[i].body) < sizeof(msg))
			is_heard(-1, &msg, AB_MSG_LEN(kinds[i].body) + 1, 1, "long");
	}
	msg.type = AB_MSG_GO;
	is_heard(-1, &msg, AB_MSG_LEN(0), 0, "one that only goes down");
	msg.type = 12345;
	is_heard(-1, &msg, AB_MSG_LEN(0), 1, "one that nobody knows");
	is_heard(-1, &msg, 3, 1, "less than a head");
}

static void check_handover(void)
{
	struct ab_msg msg = { .type = AB_MSG_NETWORK };
	size_t len = AB_MSG_LEN(sizeof(msg.u.network));

	msg.u.network.n = 2;
	is_heard(1, &msg, len, 2, "two sockets");
	is_heard(-1, &msg, len, 1, "one less than said");
	is_heard(-1, &msg, len, 3, "one more than said");
	msg.u.network.listeners[1].kind = AB_LISTENER_COUNT;
	is_heard(-1, &msg, len, 2, "of no kind");
	msg.u.network.listeners[1].kind = 0;
	msg.u.network.n = AB_LISTENERS_MAX;
	is_heard(1, &msg, len, AB_LISTENERS_MAX, "as many as there may be");
	msg.u.network.n = AB_LISTENERS_MAX + 1;
	is_heard(-1, &msg, len, AB_LISTENERS_MAX, "more than there is room");
	msg.u.network.n = UINT32_MAX;
	is_heard(-1, &msg, len, 0, "a number out of all bounds");
}

/* Texts from below end where they must. */
static void check_texts(void)
{
	struct ab_msg msg, got;
	struct ab_fds fds;

	memset(&msg, 'x', sizeof(msg));
	msg.type = AB_MSG_FAILED;
	say(&msg, AB_MSG_LEN(sizeof(msg.u.error)), 0);
	ok(ab_box_hear(&box, &got, &fds, 0) == 1 &&
		   strlen(got.u.error.text) == sizeof(got.u.error.text) - 1 &&
		   strlen(got.u.error.hint) == sizeof(got.u.error.hint) - 1 &&
		   strlen(got.u.error.step) == sizeof(got.u.error.step) - 1,
	   "an error's");
	memset(&msg, 'x', sizeof(msg));
	msg.type = AB_MSG_HOLDS;
	msg.u.holds.engine = AB_ENGINE_SHARED_PROC;
	say(&msg, AB_MSG_LEN(sizeof(msg.u.holds)), 0);
	ok(ab_box_hear(&box, &got, &fds, 0) == 1 &&
		   strlen(got.u.holds.missing) == sizeof(got.u.holds.missing) - 1 &&
		   strlen(got.u.holds.blocked) == sizeof(got.u.holds.blocked) - 1,
	   "and those of the proof");
	msg.u.holds.engine = AB_ENGINE_COUNT;
	say(&msg, AB_MSG_LEN(sizeof(msg.u.holds)), 0);
	ok(ab_box_hear(&box, &got, &fds, 0) < 0 && errno == EPROTO, "an engine must exist");
}

/* The supervisor waits for the network, and for nothing else. */
static void check_network(void)
{
	struct ab_msg msg = { .type = AB_MSG_STATUS };
	struct ab_network net;
	struct ab_error err = { 0 };
	size_t before = open_files();

	say(&msg, AB_MSG_LEN(0), 1);
	ok(ab_bridge_raise(&box, &net, &err) < 0 && net.n == 0, "another message in its place: %s",
	   err.text);
	msg = (struct ab_msg){ .type = AB_MSG_FAILED };
	ab_fail(&msg.u.error, AB_ESYSTEM, ENOSPC, "no more");
	ab_step(&msg.u.error, "network");
	say(&msg, AB_MSG_LEN(sizeof(msg.u.error)), 0);
	ok(ab_bridge_raise(&box, &net, &err) < 0 && err.errnum == ENOSPC,
	   "a failure below is ours: %s", err.text);
	msg = (struct ab_msg){ .type = AB_MSG_NETWORK };
	msg.u.network.n = 1;
	say(&msg, AB_MSG_LEN(sizeof(msg.u.network)), 1);
	ok(ab_bridge_raise(&box, &net, &err) < 0 && net.n == 0 && strcmp(err.step, "network") == 0,
	   "sockets that are none: %s", err.text);
	ok(open_files() == before, "nothing stays open");
	close(inner);
	ok(ab_bridge_raise(&box, &net, &err) < 0, "the end of the box: %s", err.text);
}

/* Init may be waiting for us: whoever waits for it then waits for ever. */
static void check_tell(void)
{
	struct ab_msg msg;
	int n = 0;

	alarm(240);
	while (n < 100000 && ab_box_tell(&box, AB_MSG_SIGNAL, n) == 0)
		n++;
	ok(n > 64 && errno == EAGAIN, "a queue that is full: after %d", n);
	while (n > 0 && recv(inner, &msg, sizeof(msg), MSG_DONTWAIT) == (ssize_t)AB_MSG_LEN(0))
		n--;
	ok(n == 0 && ab_box_tell(&box, AB_MSG_SIGNAL, 1) == 0 &&
		   recv(inner, &msg, sizeof(msg), 0) > 0,
	   "all of it comes, and then there is room again");
	alarm(0);
}

int main(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 1;
	box = (struct ab_box){ .pidfd = -1, .sock = pair[0] };
	inner = pair[1];
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	check_lengths();
	check_handover();
	check_texts();
	check_tell();
	check_network();
	return done();
}
