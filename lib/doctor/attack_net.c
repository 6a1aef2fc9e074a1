/* Ways out by the network, and to services of the host by other means. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "doctor/attack.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

struct address {
	struct sockaddr_storage ss;
	socklen_t len;
};

static struct address address_of(const char *text, int port)
{
	struct address to = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&to.ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&to.ss;

	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		to.len = sizeof(*v4);
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		to.len = sizeof(*v6);
	}
	return to;
}

/* Does it get anywhere? An attempt that is only under way has left us. */
static int dial(int fd, const struct address *to)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (connect(fd, (const struct sockaddr *)&to->ss, to->len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -1;
	if (poll(&p, 1, 200) == 0)
		return 0;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	errno = error;
	return error == 0 ? 0 : -1;
}

static enum ab_hold connect_by(struct ab_attacker *a, const char *to, int port,
			       int type, int protocol)
{
	struct address addr = address_of(to, port);
	ab_autoclose int fd =
		socket(addr.ss.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       protocol);

	return ab_refused(a, fd < 0 ? -1 : dial(fd, &addr));
}

static enum ab_hold tcp(struct ab_attacker *a, const struct ab_try *t)
{
	return connect_by(a, t->arg, (int)t->number, SOCK_STREAM, 0);
}

static enum ab_hold mptcp(struct ab_attacker *a, const struct ab_try *t)
{
	return connect_by(a, t->arg, (int)t->number, SOCK_STREAM,
			  IPPROTO_MPTCP);
}

static enum ab_hold udp(struct ab_attacker *a, const struct ab_try *t)
{
	struct address to = address_of(t->arg, (int)t->number);
	ab_autoclose int fd =
		socket(to.ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return ab_refused(a,
			  fd < 0 ? -1
				 : sendto(fd, "", 0, MSG_DONTWAIT,
					  (struct sockaddr *)&to.ss, to.len));
}

static enum ab_hold ping(struct ab_attacker *a, const struct ab_try *t)
{
	return connect_by(a, t->arg, 0, SOCK_DGRAM, IPPROTO_ICMP);
}

/* Data in the first packet: no connect() for anybody to judge. */
static enum ab_hold fast_open(struct ab_attacker *a, const struct ab_try *t)
{
	struct address to =
		address_of(t->arg, t->number ? (int)t->number : a->port);
	ab_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return ab_refused(
		a, fd < 0 ? -1
			  : sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
				   (struct sockaddr *)&to.ss, to.len));
}

static enum ab_hold host_loopback(struct ab_attacker *a, const struct ab_try *t)
{
	if (!a->port)
		return ab_untried(a, "the host has no loopback device");
	return connect_by(a, t->arg, a->port, SOCK_STREAM, 0);
}

static enum ab_hold family(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket((int)t->number, SOCK_RAW, 0));
}

static enum ab_hold raw(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket(AF_INET, SOCK_RAW, (int)t->number));
}

static enum ab_hold netlink(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, socket(AF_NETLINK, SOCK_RAW, (int)t->number));
}

/* Ask the kernel for something by route netlink; 0 or -1 with errno. */
static int ask_routes(int type, int flags)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
			    .nlmsg_type = (uint16_t)type,
			    .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		  .route = { .rtm_family = AF_INET,
			     .rtm_table = RT_TABLE_MAIN,
			     .rtm_protocol = RTPROT_STATIC,
			     .rtm_scope = RT_SCOPE_LINK,
			     .rtm_type = RTN_UNICAST } };
	ab_autoclose int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} answer;
	struct nlmsgerr *error = NLMSG_DATA(&answer.head);

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(ask.head))
		return -1;
	if (answer.head.nlmsg_type != NLMSG_ERROR)
		return 0;
	errno = -error->error;
	return error->error ? -1 : 0;
}

static enum ab_hold add_route(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
	return ab_refused(a,
			  ask_routes(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK));
}

static enum ab_hold set_address(struct ab_attacker *a, const struct ab_try *t)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_PROMISC };
	ab_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)t;
	return ab_refused(a, ioctl(fd, SIOCSIFFLAGS, &req));
}

static enum ab_hold interfaces(struct ab_attacker *a, const struct ab_try *t)
{
	int n = 0;

	(void)t;
	for (unsigned int i = 1; i < 4096; i++) {
		char name[IF_NAMESIZE];

		if (if_indextoname(i, name) && strcmp(name, "lo") != 0)
			n++;
	}
	return n ? ab_broken(a, "%d devices besides lo", n)
		 : ab_held(a, "only lo");
}

static const char *read_routes(struct ab_attacker *a)
{
	(void)a;
	return ask_routes(RTM_GETROUTE, NLM_F_DUMP) < 0 ? "reading routes"
							: NULL;
}

/* A server and its client, both in the box. */
static const char *serve(const char *at)
{
	struct address to = address_of(at, 0);
	ab_autoclose int here =
		socket(to.ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autoclose int there =
		socket(to.ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (here < 0 || there < 0 ||
	    bind(here, (struct sockaddr *)&to.ss, to.len) < 0 ||
	    listen(here, 1) < 0 ||
	    getsockname(here, (struct sockaddr *)&to.ss, &to.len) < 0 ||
	    connect(there, (struct sockaddr *)&to.ss, to.len) < 0)
		return at;
	return NULL;
}

static const char *serve_v4(struct ab_attacker *a)
{
	(void)a;
	return serve("127.0.0.1");
}

/* A machine may have no IPv6 at all. */
static const char *serve_v6(struct ab_attacker *a)
{
	(void)a;
	return access("/proc/sys/net/ipv6", F_OK) == 0 ? serve("::1") : NULL;
}

static int dial_unix(const char *path, bool abstract, int type)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t n = strlen(path);
	ab_autoclose int fd =
		socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (n + abstract >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(un.sun_path + abstract, path, n);
	return fd < 0 ? -1
		      : connect(fd, (struct sockaddr *)&un,
				(socklen_t)(offsetof(struct sockaddr_un,
						     sun_path) +
					    n + 1));
}

static enum ab_hold abstract_socket(struct ab_attacker *a,
				    const struct ab_try *t)
{
	ab_autofree char *name = ab_printf(AB_PLANTED_NAME "%s", a->tag);

	(void)t;
	return ab_refused(a, dial_unix(name, true, SOCK_STREAM));
}

/* By any kind of socket; EPROTOTYPE means that somebody is there. */
static enum ab_hold path_socket(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_place(a, t->arg);

	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++)
		if (dial_unix(path, false, type) == 0 || errno == EPROTOTYPE ||
		    errno == EAGAIN)
			return ab_broken(a, "somebody answers");
	return ab_held(a, "%s", strerror(errno));
}

static const char *own_sockets(struct ab_attacker *a)
{
	ab_autofree char *name = ab_printf(AB_INSIDE_NAME "%s", a->tag);
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "/tmp/own.sock" };
	ab_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ab_autoclose int hidden =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 ||
	    listen(fd, 1) < 0 || dial_unix(un.sun_path, false, SOCK_STREAM) < 0)
		return "a socket of one's own";
	unlink(un.sun_path);
	memset(un.sun_path, 0, sizeof(un.sun_path));
	memcpy(un.sun_path + 1, name, strlen(name));
	if (bind(hidden, (struct sockaddr *)&un,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			     strlen(name) + 1)) < 0 ||
	    listen(hidden, 1) < 0 || dial_unix(name, true, SOCK_STREAM) < 0)
		return "an abstract socket of one's own";
	return NULL;
}

/* Addresses for documentation, where the address is not the point: through a
 * hole nothing reaches anybody. */
#define OUT4 "203.0.113.1"
#define OUT6 "2001:db8::1"
#define NET "network"
static const struct ab_try net[] = {
	{ NET, "connect out by TCP", tcp, OUT4, 443, serve_v4 },
	{ NET, "connect out by TCP over IPv6", tcp, OUT6, 443, serve_v6 },
	{ NET, "reach a cloud's metadata service", tcp, "169.254.169.254", 80 },
	{ NET, "reach a private network", tcp, "10.0.0.1", 22 },
	{ NET, "connect out by MPTCP", mptcp, OUT4, 443 },
	{ NET, "send data without connecting (fast open)", fast_open, OUT4,
	  443 },
	{ NET, "send a datagram", udp, OUT4, 443 },
	{ NET, "send a datagram over IPv6", udp, OUT6, 443 },
	{ NET, "ask a name server outside", udp, "192.0.2.53", 53 },
	{ NET, "ping", ping, OUT4 },
	{ NET, "reach the host's loopback", host_loopback, "127.0.0.1" },
	{ NET, "reach it by another loopback address", host_loopback,
	  "127.8.8.8" },
	{ NET, "reach it over IPv6", host_loopback, "::ffff:127.0.0.1" },
	{ NET, "reach it by fast open", fast_open, "127.0.0.1", 0 },
	{ NET, "make a raw socket", raw, NULL, IPPROTO_ICMP },
	{ NET, "make a packet socket", family, NULL, AF_PACKET },
	{ NET, "make a socket to the virtual machine's host", family, NULL,
	  AF_VSOCK },
	{ NET, "make a kernel crypto socket", family, NULL, AF_ALG },
	{ NET, "make a Bluetooth socket", family, NULL, AF_BLUETOOTH },
	{ NET, "configure the packet filter", netlink, NULL,
	  NETLINK_NETFILTER },
	{ NET, "listen to kernel events", netlink, NULL,
	  NETLINK_KOBJECT_UEVENT },
	{ NET, "add a route", add_route, NULL, 0, read_routes },
	{ NET, "change a network device", set_address },
	{ NET, "find another network device", interfaces },
};
const struct ab_tries ab_tries_net = { net, AB_COUNT(net) };

static enum ab_hold host_shm(struct ab_attacker *a, const struct ab_try *t)
{
	(void)t;
	if (!a->key)
		return ab_untried(a, "this kernel has no such memory");
	return ab_refused(a, shmget(a->key, 0, 0));
}

static enum ab_hold host_queue(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *name = ab_printf("/" AB_PLANTED_NAME "%s", a->tag);
	mqd_t queue = mq_open(name, O_RDWR | O_CLOEXEC);

	(void)t;
	if (queue == (mqd_t)-1)
		return ab_held(a, "%s", strerror(errno));
	mq_close(queue);
	return ab_broken(a, "it worked");
}

static enum ab_hold host_file(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autofree char *path =
		ab_printf("%s/" AB_PLANTED_NAME "%s", t->arg, a->tag);

	return ab_refused(a, access(path, F_OK));
}

static const char *own_shm(struct ab_attacker *a)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);
	void *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	(void)a;
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return p == (void *)-1 ? "shared memory of one's own" : NULL;
}

/* Left behind on purpose: outside looks whether it came out. */
static const char *leave(const char *top, const char *tag)
{
	ab_autofree char *path = ab_printf("%s/" AB_INSIDE_NAME "%s", top, tag);
	ab_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? "a file of one's own there" : NULL;
}

static const char *leave_in_tmp(struct ab_attacker *a)
{
	return leave("/tmp", a->tag);
}

static const char *leave_in_shm(struct ab_attacker *a)
{
	return leave("/dev/shm", a->tag);
}

#define IPC "services of the host"
static const struct ab_try ipc[] = {
	{ IPC, "shared memory by its key", host_shm, NULL, 0, own_shm },
	{ IPC, "a message queue by its name", host_queue },
	{ IPC, "a file in the host's /tmp", host_file, "/tmp", 0,
	  leave_in_tmp },
	{ IPC, "a file in the host's /dev/shm", host_file, "/dev/shm", 0,
	  leave_in_shm },
	{ IPC, "an abstract socket", abstract_socket, NULL, 0, own_sockets },
	{ IPC, "an agent's socket in the home folder", path_socket,
	  "~/agent.sock" },
	{ IPC, "the system bus", path_socket, "/run/dbus/system_bus_socket" },
	{ IPC, "the system bus by its old path", path_socket,
	  "/var/run/dbus/system_bus_socket" },
	{ IPC, "Docker", path_socket, "/var/run/docker.sock" },
	{ IPC, "containerd", path_socket, "/run/containerd/containerd.sock" },
	{ IPC, "the service manager", path_socket, "/run/systemd/private" },
	{ IPC, "the journal", path_socket, "/run/systemd/journal/socket" },
	{ IPC, "the log", path_socket, "/dev/log" },
	{ IPC, "the resolver", path_socket,
	  "/run/systemd/resolve/io.systemd.Resolve" },
	{ IPC, "the name service cache", path_socket, "/var/run/nscd/socket" },
	{ IPC, "the display", path_socket, "/tmp/.X11-unix/X0" },
};
const struct ab_tries ab_tries_ipc = { ipc, AB_COUNT(ipc) };
