/*
 * Sockets: kinds that must not exist, and ways to somebody outside. Attempts
 * with arguments are called by name: tcp ADDRESS PORT, stream PATH, ...
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "attack.h"

#define KIND(name, family, type, protocol)             \
	static int do_##name(char **a)                 \
	{                                              \
		(void)a;                               \
		return socket(family, type, protocol); \
	}
KIND(packet, AF_PACKET, SOCK_RAW, 0)
KIND(packet_dgram, AF_PACKET, SOCK_DGRAM, 0)
KIND(vsock, AF_VSOCK, SOCK_STREAM, 0)
KIND(alg, AF_ALG, SOCK_SEQPACKET, 0)
KIND(bluetooth, AF_BLUETOOTH, SOCK_RAW, 1)
KIND(can, AF_CAN, SOCK_RAW, 1)
KIND(key, AF_KEY, SOCK_RAW, 2)
KIND(tipc, AF_TIPC, SOCK_STREAM, 0)
KIND(raw4, AF_INET, SOCK_RAW, IPPROTO_ICMP)
KIND(raw6, AF_INET6, SOCK_RAW, IPPROTO_ICMPV6)
KIND(mptcp, AF_INET, SOCK_STREAM, 262)
KIND(sctp, AF_INET, SOCK_STREAM, IPPROTO_SCTP)
KIND(udplite, AF_INET, SOCK_DGRAM, 136)
KIND(audit, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)
KIND(netfilter, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)
KIND(generic, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)
KIND(diag, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)
KIND(uevent, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)
KIND(crypto, AF_NETLINK, SOCK_RAW, NETLINK_CRYPTO)
KIND(xfrm, AF_NETLINK, SOCK_RAW, NETLINK_XFRM)
/* twins */
KIND(tcp4, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
KIND(tcp6, AF_INET6, SOCK_STREAM, IPPROTO_TCP)
KIND(udp4, AF_INET, SOCK_DGRAM, 0)
KIND(udp6, AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP)
KIND(local, AF_UNIX, SOCK_STREAM, 0)
KIND(local_dgram, AF_UNIX, SOCK_DGRAM, 0)
KIND(route, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)

/* "127.0.0.1" or "::1", and a port. */
static socklen_t internet(char **a, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (void *)ret;
	struct sockaddr_in6 *v6 = (void *)ret;
	in_port_t port = htons((in_port_t)strtoul(a[1], NULL, 10));

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, a[0], &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, a[0], &v6->sin6_addr) != 1)
		exit(2);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = port;
	return sizeof(*v6);
}

/* A path, or "@NAME" for an abstract one. */
static socklen_t local_name(const char *name, struct sockaddr_un *ret)
{
	size_t n = strlen(name);

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	if (n >= sizeof(ret->sun_path))
		exit(2);
	memcpy(ret->sun_path, name, n);
	if (name[0] == '@')
		ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (name[0] != '@'));
}

static int tcp(char **a)
{
	struct sockaddr_storage to;
	socklen_t len = internet(a, &to);
	int fd = socket(to.ss_family, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (void *)&to, len);
}

static int fastopen(char **a)
{
	struct sockaddr_storage to;
	socklen_t len = internet(a, &to);
	int fd = socket(to.ss_family, SOCK_STREAM, 0);

	return fd < 0 ? -1 : (int)sendto(fd, "x", 1, MSG_FASTOPEN, (void *)&to, len);
}

static int udp(char **a)
{
	struct sockaddr_storage to;
	socklen_t len = internet(a, &to);
	int fd = socket(to.ss_family, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : (int)sendto(fd, "x", 1, 0, (void *)&to, len);
}

static int ping(char **a)
{
	unsigned char echo[8] = { 8 };
	char *to_port[] = { a[0], "0" };
	struct sockaddr_storage to;
	socklen_t len = internet(to_port, &to);
	int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);

	return fd < 0 ? -1 : (int)sendto(fd, echo, sizeof(echo), 0, (void *)&to, len);
}

static int stream(char **a)
{
	struct sockaddr_un to;
	socklen_t len = local_name(a[0], &to);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (void *)&to, len);
}

static int dgram_connect(char **a)
{
	struct sockaddr_un to;
	socklen_t len = local_name(a[0], &to);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : connect(fd, (void *)&to, len);
}

static int dgram_sendto(char **a)
{
	struct sockaddr_un to;
	socklen_t len = local_name(a[0], &to);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : (int)sendto(fd, "x", 1, 0, (void *)&to, len);
}

static struct msghdr one_byte(struct sockaddr_un *to, socklen_t len)
{
	static struct iovec iov = { .iov_base = "x", .iov_len = 1 };

	return (struct msghdr){
		.msg_name = to, .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1
	};
}

static int dgram_sendmsg(char **a)
{
	struct sockaddr_un to;
	struct msghdr msg = one_byte(&to, local_name(a[0], &to));
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : (int)sendmsg(fd, &msg, 0);
}

static int dgram_sendmmsg(char **a)
{
	struct sockaddr_un to;
	struct mmsghdr msg = { .msg_hdr = one_byte(&to, local_name(a[0], &to)) };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	return fd < 0 ? -1 : sendmmsg(fd, &msg, 1, 0);
}

/* Both ends inside: the twin of every refusal above. */
static int own(char **a)
{
	struct sockaddr_un name;
	socklen_t len = local_name(a[0], &name);
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(server, (void *)&name, len) < 0 || listen(server, 1) < 0 ||
	    connect(client, (void *)&name, len) < 0)
		return -1;
	return accept(server, NULL, NULL);
}

static int own_tcp(char **a)
{
	struct sockaddr_storage name;
	char *any[] = { a[0] ? a[0] : "127.0.0.1", "0" };
	socklen_t len = internet(any, &name);
	int server = socket(name.ss_family, SOCK_STREAM, 0);
	int client = socket(name.ss_family, SOCK_STREAM, 0);

	if (bind(server, (void *)&name, len) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (void *)&name, &len) < 0 || connect(client, (void *)&name, len) < 0)
		return -1;
	return accept(server, NULL, NULL);
}

/* 203.0.113.0/24 through the loopback. */
static int add_route(char **a)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr dst;
		unsigned char address[4];
		struct rtattr oif;
		unsigned int index;
	} m = {
		.head = { .nlmsg_len = sizeof(m),
			  .nlmsg_type = RTM_NEWROUTE,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK },
		.route = { .rtm_family = AF_INET,
			   .rtm_dst_len = 24,
			   .rtm_table = RT_TABLE_MAIN,
			   .rtm_protocol = RTPROT_STATIC,
			   .rtm_scope = RT_SCOPE_LINK,
			   .rtm_type = RTN_UNICAST },
		.dst = { .rta_len = 8, .rta_type = RTA_DST },
		.address = { 203, 0, 113, 0 },
		.oif = { .rta_len = 8, .rta_type = RTA_OIF },
		.index = 1,
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
	} reply;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	(void)a;
	if (fd < 0 || send(fd, &m, sizeof(m), 0) < 0 ||
	    recv(fd, &reply, sizeof(reply), 0) < (ssize_t)sizeof(reply.head))
		return -1;
	errno = -reply.error.error;
	return errno ? -1 : 0;
}

/*
 * Two threads against a check that looks at memory or at a descriptor: one exchanges what the other
 * gives to connect(). They have a socket of their own, which may be reached, and one of the host.
 */
enum { RACES = 3000 };

static struct {
	struct sockaddr_storage own, host, given;
	socklen_t own_len, host_len;
	int local, inet, slot;
	atomic_bool over;
} race;

static void *flip_address(void *arg)
{
	for (unsigned int i = 0; !race.over; i++) {
		memcpy(&race.given, i & 1 ? &race.own : &race.host, sizeof(race.given));
		if (i % 64 == 0)
			sched_yield();
	}
	return arg;
}

static void *flip_both(void *arg)
{
	for (unsigned int i = 0; !race.over; i++) {
		memcpy(&race.given, i & 1 ? &race.own : &race.host, sizeof(race.given));
		dup2(i & 1 ? race.inet : race.local, race.slot);
	}
	return arg;
}

/* A server of our own, whose queue takes everybody. */
static int own_server(int family, const char *name)
{
	char *any[] = { "127.0.0.1", "0" };
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	race.own_len =
		family == AF_UNIX ? local_name(name, (void *)&race.own) : internet(any, &race.own);
	if (fd < 0 || bind(fd, (void *)&race.own, race.own_len) < 0 || listen(fd, 4096) < 0 ||
	    getsockname(fd, (void *)&race.own, &race.own_len) < 0)
		exit(2);
	return fd;
}

/* The host's socket: whoever reaches it is heard there. */
static int race_with(char **a, int family, void *(*flip)(void *))
{
	pthread_t other;
	int server = own_server(family, "own"), reached = 0, peer;

	race.host_len = local_name(a[0], (void *)&race.host);
	race.slot = dup(0);
	race.inet = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	race.local = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (pthread_create(&other, NULL, flip, NULL) != 0)
		exit(2);
	for (int i = 0; i < RACES; i++) {
		int fd = flip == flip_both ? race.slot : socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (void *)&race.given, sizeof(struct sockaddr_un)) == 0)
			reached++;
		if (fd != race.slot)
			close(fd);
		while ((peer = accept(server, NULL, NULL)) >= 0)
			close(peer);
	}
	race.over = true;
	pthread_join(other, NULL);
	fprintf(stderr, "%d of %d connected\n", reached, RACES);
	return 0;
}

static int race_path(char **a)
{
	return race_with(a, AF_UNIX, flip_address);
}

static int race_descriptor(char **a)
{
	return race_with(a, AF_INET, flip_both);
}

static const struct attempt attempts[] = {
	{ "packet", do_packet },
	{ "packet-dgram", do_packet_dgram },
	{ "vsock", do_vsock },
	{ "alg", do_alg },
	{ "bluetooth", do_bluetooth },
	{ "can", do_can },
	{ "key", do_key },
	{ "tipc", do_tipc },
	{ "raw4", do_raw4 },
	{ "raw6", do_raw6 },
	{ "mptcp", do_mptcp },
	{ "sctp", do_sctp },
	{ "udplite", do_udplite },
	{ "audit", do_audit },
	{ "netfilter", do_netfilter },
	{ "generic", do_generic },
	{ "diag", do_diag },
	{ "uevent", do_uevent },
	{ "crypto", do_crypto },
	{ "xfrm", do_xfrm },
	{ "add-route", add_route },
	/* allowed */
	{ "tcp4", do_tcp4 },
	{ "tcp6", do_tcp6 },
	{ "udp4", do_udp4 },
	{ "udp6", do_udp6 },
	{ "local", do_local },
	{ "local-dgram", do_local_dgram },
	{ "route", do_route },
	{ "own-tcp", own_tcp },
};

/* A server whose queue is full, at this path. */
static socklen_t fill_server(const char *path, struct sockaddr_un *ret)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0), first = socket(AF_UNIX, SOCK_STREAM, 0);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strncpy(ret->sun_path, path, sizeof(ret->sun_path) - 1);
	if (bind(server, (void *)ret, sizeof(*ret)) < 0 || listen(server, 0) < 0 ||
	    connect(first, (void *)ret, sizeof(*ret)) < 0)
		return 0;
	return sizeof(*ret);
}

/* One process makes the socket blocking again and again, the other connects it. It ends up waiting,
 * and whoever connects in its place must not: others still get their answers. */
static int block_judge(char **a)
{
	atomic_int *rounds =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), before = -1, still = 0;
	struct sockaddr_un un;
	socklen_t len = fill_server(a[0], &un);
	pid_t flips, connects;

	if (!len || rounds == MAP_FAILED)
		return -1;
	flips = fork();
	while (flips == 0)
		fcntl(fd, F_SETFL, 0);
	connects = fork();
	while (connects == 0) {
		fcntl(fd, F_SETFL, O_NONBLOCK);
		connect(fd, (void *)&un, len);
		atomic_fetch_add(rounds, 1);
	}
	alarm(60);
	for (int i = 0; i < 200 && still < 5; i++) {
		still = atomic_load(rounds) == before ? still + 1 : 0;
		before = atomic_load(rounds);
		usleep(50000);
	}
	for (int i = 0; i < 20 && mkdir("answered", 0700) == 0; i++)
		rmdir("answered");
	kill(flips, SIGKILL);
	kill(connects, SIGKILL);
	return still == 5 ? 0 : -1;
}

static const struct attempt named[] = {
	{ "tcp", tcp },
	{ "fastopen", fastopen },
	{ "udp", udp },
	{ "ping", ping },
	{ "stream", stream },
	{ "dgram-connect", dgram_connect },
	{ "dgram-sendto", dgram_sendto },
	{ "dgram-sendmsg", dgram_sendmsg },
	{ "dgram-sendmmsg", dgram_sendmmsg },
	{ "own", own },
	{ "own-tcp", own_tcp },
	{ "race-path", race_path },
	{ "race-descriptor", race_descriptor },
	{ "block-judge", block_judge },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		return attack(named, sizeof(named) / sizeof(named[0]), argv);
	return attack(attempts, sizeof(attempts) / sizeof(attempts[0]), argv);
}
