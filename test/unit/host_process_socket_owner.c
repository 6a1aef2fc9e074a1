/*
 * Whose socket is it: the parsers as tables, and real processes with real
 * connections.
 */
#include "host/process/socket_owner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "guard.h"
#include "proxy/thread/proxy.h"
#include "tap.h"

#define REST                                                             \
	" 00000000:0000 01 00000000:00000000 00:00000000 00000000  1000" \
	"        0 "
#define REST6                                                          \
	" 00000000000000000000000000000000:0000 01 00000000:00000000 " \
	"00:00000000 00000000  1000        0 "

static bool is_little(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1;
}

static void check_sockets(void)
{
	static const char *const wrong[] = {
		"",
		"  sl  local_address rem_address   st tx_queue rx_queue",
		"   0: 0100007F:1F90",
		"   0: 0100007F1F90" REST "1",
		"   0: 0100007F:1F900" REST "1",
		"   0: 0100007G:1F90" REST "1",
		"   0: 0100007F0100007F:1F90" REST "1",
		"   x: 0100007F:1F90" REST "1",
		"   0: 0100007F:1F90" REST "x",
		"   0: 0100007F:1F90" REST "12345678901234567890123",
		"   0: 0100007F:1F90" REST "1x",
	};
	static const char plain[] =
		"   1: 0100007F:1F90" REST "12345 1 0000000000000000 20 4 30 10 -1";
	static const char mapped[] = "   1: 0000000000000000FFFF00000100007F:1F90" REST6 "77 1";
	static const char six[] = "   1: 00000000000000000000000001000000:1F90" REST6 "78 1";
	static const char any[] = "   1: 00000000:1F90" REST "79 1";
	static const char any6[] = "   1: 00000000000000000000000000000000:1F90" REST6 "80 1";
	struct ab_peer peer = { .addr = { 127, 0, 0, 1 }, .port = 8080 };
	struct ab_peer peer6 = { .v6 = true, .addr = { [15] = 1 }, .port = 8080 };
	struct ab_peer peer46 = { .v6 = true,
				  .addr = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 },
				  .port = 8080 };
	struct ab_socket_owner_socket s;
	size_t cut = 0;

	for (size_t i = 0; i < AB_COUNT(wrong); i++)
		ok(!ab_socket_owner_parse_socket(wrong[i], strlen(wrong[i]), &s), "no socket: %s",
		   wrong[i]);
	if (!is_little())
		return;
	ok(ab_socket_owner_parse_socket(plain, strlen(plain), &s) && s.inode == 12345 &&
		   ab_socket_owner_is_end(&s, &peer) && ab_socket_owner_is_end(&s, &peer46) &&
		   !ab_socket_owner_is_end(&s, &peer6),
	   "an end, also as IPv6 writes it");
	peer.port++;
	ok(!ab_socket_owner_is_end(&s, &peer), "another port is another end");
	peer.port--;
	s.listens = true;
	ok(!ab_socket_owner_is_end(&s, &peer), "who listens has no peer");
	ok(ab_socket_owner_parse_socket(mapped, strlen(mapped), &s) && s.inode == 77 &&
		   ab_socket_owner_is_end(&s, &peer) && ab_socket_owner_is_end(&s, &peer46),
	   "IPv4 in the table of IPv6");
	ok(ab_socket_owner_parse_socket(six, strlen(six), &s) && s.inode == 78 &&
		   ab_socket_owner_is_end(&s, &peer6) && !ab_socket_owner_is_end(&s, &peer),
	   "and IPv6");
	peer.udp = peer6.udp = peer46.udp = true;
	ok(ab_socket_owner_is_end(&s, &peer6) && !ab_socket_owner_is_end(&s, &peer),
	   "a datagram too is from the address of its socket");
	ok(ab_socket_owner_parse_socket(any, strlen(any), &s) &&
		   ab_socket_owner_is_end(&s, &peer) && ab_socket_owner_is_end(&s, &peer46) &&
		   !ab_socket_owner_is_end(&s, &peer6),
	   "or from a socket without one");
	ok(ab_socket_owner_parse_socket(any6, strlen(any6), &s) &&
		   ab_socket_owner_is_end(&s, &peer) && ab_socket_owner_is_end(&s, &peer6),
	   "which of IPv6 is for both");
	peer.udp = peer6.udp = false;
	ok(!ab_socket_owner_is_end(&s, &peer) && !ab_socket_owner_is_end(&s, &peer6),
	   "a connection is not");
	for (size_t n = 0; n < strlen(plain); n++)
		cut += ab_socket_owner_parse_socket(guarded(plain, n), n, &s);
	ok(cut > 0 && cut < 60, "cut anywhere it reads no byte too many");
}

static void check_status(void)
{
	static const char good[] = "Name:\tx\nPPid:\t41\nNSpid:\t4711\t12\t3\n";
	static const char *const wrong[] = {
		"",
		"PPid:\t1\n",
		"NSpid:\t1\n",
		"NSpid:\nPPid:\t1\n",
		"NSpid:\tx\nPPid:\t1\n",
		"xNSpid:\t1\nPPid:\t1\n",
		"NSpid:\t12345678901234\nPPid:\t1\n",
	};
	pid_t inner = 0, parent = 0;

	ok(ab_socket_owner_parse_status(good, strlen(good), &inner, &parent) && inner == 12 &&
		   parent == 41,
	   "the box's own number, and the parent");
	for (size_t i = 0; i < AB_COUNT(wrong); i++)
		ok(!ab_socket_owner_parse_status(wrong[i], strlen(wrong[i]), &inner, &parent),
		   "not one: %zu", i);
}

static void is_argv(const char *text, size_t len, bool more, const char *want)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_socket_owner_argv(text, len, more, &b);
	is_str(b.data, want, "argv");
}

static void check_argv(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	char many[2 * AB_OWNER_WORDS + 2], large[AB_OWNER_ARGV + 9];
	json_t *json;

	is_argv("", 0, false, "[]");
	is_argv("a\0b c\0", 6, false, "[\"a\",\"b c\"]");
	is_argv("a\0\0b", 4, false, "[\"a\",\"\",\"b\"]");
	is_argv("a\033]0;x\a\"\n\xff", 10, false, "[\"a\\u001b]0;x\\u0007\\\"\\u000a\\ufffd\"]");
	is_argv("a", 1, true, "[\"a\",\"...\"]");
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = i % 2 ? '\0' : 'x';
	ab_socket_owner_argv(many, sizeof(many), false, &b);
	json = json_loadb(b.data, b.len, 0, NULL);
	ok(json_array_size(json) == AB_OWNER_WORDS + 1, "so many words at most");
	json_decref(json);
	b.len = 0;
	memset(large, 'x', sizeof(large));
	ab_socket_owner_argv(large, sizeof(large), false, &b);
	ok(b.len == AB_OWNER_ARGV + strlen("[\"\",\"...\"]"), "so many bytes at most");
}

/* The box: a process whose child has a child that connects. Numbers of what
 * they wrote are read by the test. */

static int listen_on(int family)
{
	struct sockaddr_in6 addr6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = family == AF_INET ? sizeof(addr) : sizeof(addr6);

	if (fd < 0 || bind(fd, family == AF_INET ? (void *)&addr : (void *)&addr6, len) < 0 ||
	    listen(fd, 1) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Connect to the listener, as `family`: AF_INET6 to an IPv4 one goes by a
 * mapped address. */
static int connect_to(int listener, int family)
{
	struct sockaddr_storage there;
	socklen_t len = sizeof(there);
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
	int fd = socket(family, SOCK_STREAM, 0);

	getsockname(listener, (struct sockaddr *)&there, &len);
	if (there.ss_family == AF_INET && family == AF_INET6) {
		const struct sockaddr_in *v4 = (void *)&there;

		mapped.sin6_port = v4->sin_port;
		mapped.sin6_addr.s6_addr[10] = 0xff;
		mapped.sin6_addr.s6_addr[11] = 0xff;
		memcpy(mapped.sin6_addr.s6_addr + 12, &v4->sin_addr, 4);
		return connect(fd, (void *)&mapped, sizeof(mapped)) < 0 ? -1 : fd;
	}
	return connect(fd, (void *)&there, len) < 0 ? -1 : fd;
}

static struct ab_peer accept_peer(int listener)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = accept4(listener, (void *)&from, &len, SOCK_CLOEXEC);
	struct ab_peer peer = { .v6 = from.ss_family == AF_INET6 };

	if (fd < 0)
		abort();
	if (peer.v6) {
		const struct sockaddr_in6 *a = (void *)&from;

		memcpy(peer.addr, &a->sin6_addr, 16);
		peer.port = ntohs(a->sin6_port);
	} else {
		const struct sockaddr_in *a = (void *)&from;

		memcpy(peer.addr, &a->sin_addr, 4);
		peer.port = ntohs(a->sin_port);
	}
	return peer; /* its socket stays open: the end of the test ends it */
}

static _Noreturn void hold_on(void)
{
	for (;;)
		pause();
}

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* init -> middle -> client, which connects and writes its pid. */
static pid_t start_box(int listener, int family, int say)
{
	pid_t init = fork();

	if (init != 0)
		return init;
	die_with_parent();
	if (fork() == 0) {
		die_with_parent();
		if (fork() == 0) {
			pid_t self = getpid();

			die_with_parent();
			if (connect_to(listener, family) < 0)
				self = -1;
			close(listener);
			if (write(say, &self, sizeof(self)) != sizeof(self))
				_exit(1);
			hold_on();
		}
		hold_on();
	}
	hold_on();
}

static void check_real(int listening, int connecting, const char *name)
{
	int listener = listen_on(listening), pipes[2];
	ab_autobuf struct ab_buf b = { 0 };
	char exe[PATH_MAX] = "";
	struct ab_peer peer;
	pid_t init, client = -1;
	json_t *json;
	int pidfd;

	if (listener < 0) {
		lacks(name, "no such network here");
		return;
	}
	if (pipe(pipes) < 0)
		abort();
	init = start_box(listener, connecting, pipes[1]);
	if (read(pipes[0], &client, sizeof(client)) != sizeof(client))
		abort();
	if (client < 0) {
		lacks(name, "cannot connect here");
	} else {
		peer = accept_peer(listener);
		pidfd = (int)syscall(SYS_pidfd_open, init, 0);
		ok(ab_socket_owner_pid(pidfd) == init, "a pidfd knows whose it is");
		ab_socket_owner(init, &peer, &b);
		json = json_loadb(b.data, b.len, 0, NULL);
		if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
			abort();
		ok(json_array_size(json) == 2, "%s: the client and who started it: %s", name,
		   b.data);
		ok(json_integer_value(json_object_get(json_array_get(json, 0), "pid")) == client,
		   "the client first");
		is_str(json_string_value(json_object_get(json_array_get(json, 0), "exe")), exe,
		       "its program");
		ok(json_array_size(json_object_get(json_array_get(json, 0), "argv")) >= 1,
		   "its words");
		json_decref(json);
		b.len = 0;
		peer.port ^= 1;
		ab_socket_owner(init, &peer, &b);
		is_str(b.data, "[]", "an end that nobody has");
		peer.port ^= 1;
		b.len = 0;
		/* Our own, which is not in the box. */
		ab_socket_owner(client, &peer, &b);
		is_str(b.data, "[]", "the box's init itself is not told");
		close(pidfd);
	}
	kill(init, SIGKILL);
	waitpid(init, NULL, 0);
	b.len = 0;
	ab_socket_owner(init, &(struct ab_peer){ .port = 1 }, &b);
	is_str(b.data, "[]", "a box that is gone");
	close(listener);
	close(pipes[0]);
	close(pipes[1]);
}

/* A client in a pid namespace of its own: numbers as it sees them. */
static void check_namespace(void)
{
	int listener = listen_on(AF_INET), pipes[2];
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_peer peer;
	pid_t outer, init, client = 0;
	int status;

	if (listener < 0 || pipe(pipes) < 0)
		abort();
	fflush(stdout);
	outer = fork();
	if (outer == 0) {
		die_with_parent();
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
			_exit(77);
		init = start_box(listener, AF_INET, pipes[1]);
		if (write(pipes[1], &init, sizeof(init)) < 0)
			_exit(1);
		waitpid(init, &status, 0);
		_exit(0);
	}
	close(pipes[1]);
	{
		pid_t got[2] = { 0, 0 };
		ssize_t n = ab_read_full(pipes[0], got, sizeof(got));

		if (n != (ssize_t)sizeof(got)) {
			lacks("numbers of the box", "no namespaces here");
			waitpid(outer, NULL, 0);
			close(listener);
			close(pipes[0]);
			return;
		}
		/* In either order: that of the namespace is the small one. */
		client = got[0] < got[1] ? got[0] : got[1];
		init = got[0] < got[1] ? got[1] : got[0];
	}
	peer = accept_peer(listener);
	ab_socket_owner(init, &peer, &b);
	ok(client == 3 && strncmp(b.data, "[{\"pid\":3,", 10) == 0 &&
		   strstr(b.data, ",{\"pid\":2,"),
	   "numbers are the box's own: %s", b.data);
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
	close(listener);
	close(pipes[0]);
}

int main(void)
{
	check_sockets();
	check_status();
	check_argv();
	check_real(AF_INET, AF_INET, "IPv4");
	check_real(AF_INET, AF_INET6, "IPv4 by an IPv6 socket");
	check_real(AF_INET6, AF_INET6, "IPv6");
	check_namespace();
	return done();
}
