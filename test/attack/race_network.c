/*
 * Try to reach servers of the host from a box that has no network of its own: by every kind of
 * socket, by options that would open one that is closed, and by changing descriptors, addresses and
 * messages while the guard looks at them.
 *
 *	race_network UDP-PORT TCP-PORT SOCKET-FILE SECONDS
 *
 * The datagrams are counted by whoever has that port; connections that succeed are told here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

enum { TRIES = 100, LONGEST = 60 };

static struct sockaddr_in udp, tcp, own;
static struct sockaddr_un file;
static atomic_bool stop;
static atomic_ulong tries;
static int victim, stream_end, datagrams;

static void hole(const char *what)
{
	printf("HOLE %s\n", what);
}

/* What must fail, one by one. */
static void try_options(void)
{
	static const int levels[] = { SOL_UDP, 136, SOL_IP, SOL_SOCKET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), off = 0, r;

	if (fd < 0)
		return;
	for (size_t i = 0; i < 4; i++)
		(void)!setsockopt(fd, levels[i], UDP_CORK, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0) == 0)
		hole("unbound from the device");
	(void)!sendto(fd, "option", 6, 0, (struct sockaddr *)&udp, sizeof(udp));
	(void)!sendto(fd, "option", 6, MSG_MORE, (struct sockaddr *)&udp, sizeof(udp));
	r = connect(fd, (struct sockaddr *)&udp, sizeof(udp));
	if (r == 0) {
		(void)!write(fd, "written", 7);
		(void)!send(fd, "sent", 4, 0);
		(void)!send(fd, NULL, 0, 0);
	}
	shutdown(fd, SHUT_WR);
	close(fd);
}

/* To an address, with the device in the message. */
static void try_packet_info(void)
{
	struct in_pktinfo info = { .ipi_ifindex = 2 };
	union {
		char bytes[CMSG_SPACE(sizeof(info))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)(uintptr_t) "info", 4 };
	struct msghdr m = { .msg_name = &udp,
			    .msg_namelen = sizeof(udp),
			    .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	c->cmsg_level = SOL_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	(void)!sendmsg(fd, &m, 0);
	close(fd);
}

static void try_sockets(void)
{
	static const struct {
		const char *name;
		int family, type, protocol;
	} kinds[] = {
		{ "raw", AF_INET, SOCK_RAW, IPPROTO_UDP },
		{ "raw IPv6", AF_INET6, SOCK_RAW, IPPROTO_UDP },
		{ "ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP },
		{ "UDP-Lite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE },
		{ "packet", AF_PACKET, SOCK_DGRAM, 0 },
		{ "vsock", AF_VSOCK, SOCK_STREAM, 0 },
		{ "MPTCP", AF_INET, SOCK_STREAM, IPPROTO_MPTCP },
		{ "SCTP", AF_INET, SOCK_STREAM, IPPROTO_SCTP },
	};
	char params[256] = { 0 };
	int fd;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (socket(kinds[i].family, kinds[i].type, kinds[i].protocol) >= 0)
			hole(kinds[i].name);
	if (syscall(SYS_io_uring_setup, 4, params) >= 0)
		hole("io_uring");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (sendto(fd, "fast", 4, MSG_FASTOPEN, (struct sockaddr *)&tcp, sizeof(tcp)) >= 0)
		hole("MSG_FASTOPEN");
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&tcp, sizeof(tcp)) == 0)
		hole("a server of the host");
	close(fd);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&file, sizeof(file)) == 0)
		hole("a socket file of the host");
	close(fd);
}

/* The message is for a Unix stream when the guard looks, and for a datagram socket afterwards. */
static void *send_messages(void *arg)
{
	struct iovec part = { (void *)(uintptr_t) "raced", 5 };
	struct msghdr m = {
		.msg_name = &udp, .msg_namelen = sizeof(udp), .msg_iov = &part, .msg_iovlen = 1
	};

	(void)arg;
	while (!stop) {
		(void)!sendmsg(victim, &m, MSG_DONTWAIT);
		(void)!sendto(victim, "raced", 5, MSG_DONTWAIT, (struct sockaddr *)&udp,
			      sizeof(udp));
		tries++;
	}
	return NULL;
}

/* And this one changes what the number stands for. */
static void *exchange(void *arg)
{
	char rest[4096];

	(void)arg;
	while (!stop) {
		dup2(datagrams, victim);
		dup2(stream_end, victim);
		(void)!recv(stream_end, rest, sizeof(rest), MSG_DONTWAIT);
	}
	return NULL;
}

static union {
	struct sockaddr_in in;
	struct sockaddr_un un;
	char bytes[sizeof(struct sockaddr_un)];
} moving;

/* The address is that of the box's own server, then one of the host's. */
static void *change_address(void *arg)
{
	(void)arg;
	while (!stop) {
		memcpy(&moving.in, &own, sizeof(own));
		memcpy(&moving.in, &tcp, sizeof(tcp));
	}
	return NULL;
}

static void *connect_again(void *arg)
{
	struct sockaddr_in at;
	socklen_t len;

	(void)arg;
	while (!stop) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		len = sizeof(at);
		if (connect(fd, (struct sockaddr *)&moving.in, sizeof(moving.in)) == 0 &&
		    getpeername(fd, (struct sockaddr *)&at, &len) == 0 &&
		    at.sin_port == tcp.sin_port)
			hole("a server of the host, in a race");
		close(fd);
		tries++;
	}
	return NULL;
}

static void serve(void)
{
	socklen_t len = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	own = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0 || listen(fd, 4096) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &len) < 0) {
		perror("serve");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	int pair[2];

	if (argc != 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	udp = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)atoi(argv[1])),
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	tcp = udp;
	tcp.sin_port = htons((uint16_t)atoi(argv[2]));
	file.sun_family = AF_UNIX;
	snprintf(file.sun_path, sizeof(file.sun_path), "%s", argv[3]);
	try_options();
	try_packet_info();
	try_sockets();
	serve();
	datagrams = socket(AF_INET, SOCK_DGRAM, 0);
	if (datagrams < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
		perror("sockets");
		return 1;
	}
	stream_end = pair[0];
	victim = dup(pair[0]);
	pthread_create(&threads[0], NULL, send_messages, NULL);
	pthread_create(&threads[1], NULL, exchange, NULL);
	pthread_create(&threads[2], NULL, change_address, NULL);
	pthread_create(&threads[3], NULL, connect_again, NULL);
	/* At least this long and this often, on any machine. */
	for (int s = 0; s < LONGEST && (s < atoi(argv[4]) || tries <= TRIES); s++)
		sleep(1);
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%s\n", tries > TRIES ? "tried" : "hardly tried");
	return 0;
}
