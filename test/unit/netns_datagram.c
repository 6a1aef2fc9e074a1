/* Questions for name servers: any address, and the answer comes from it. */
#include "netns/datagram.h"

#include <stdlib.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "netns/listeners.h"
#include "netns_help.h"
#include "tap.h"

static int name_server(const struct ab_network *net)
{
	for (size_t i = 0; i < net->n; i++)
		if (net->listeners[i].kind == AB_LISTENER_DNS_UDP)
			return net->listeners[i].fd;
	return -1;
}

/* Connected: the kernel itself drops what comes from somewhere else. */
static void check_server(int server, const char *at, bool v4)
{
	ab_autoclose int client = dial_to(at, 53, SOCK_DGRAM);
	struct ab_dns_peer peer;
	char buf[64], asked[INET6_ADDRSTRLEN] = "";

	ok(send(client, "question", 8, 0) == 8 && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) == 8,
	   "a question to %s arrives", at);
	if (v4)
		inet_ntop(AF_INET, peer.asked.s6_addr + 12, asked, sizeof(asked));
	else
		inet_ntop(AF_INET6, &peer.asked, asked, sizeof(asked));
	is_str(asked, at, "with the address that was asked");
	ok(ab_dns_socket_send(server, "answer", 6, &peer) == 0 && readable(client, 30000) &&
		   recv(client, buf, sizeof(buf), 0) == 6 && memcmp(buf, "answer", 6) == 0,
	   "and the answer comes from there");
}

/* Not connected: the program itself looks where it comes from. */
static void check_source(int server)
{
	ab_autoclose int client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union end to, from;
	socklen_t len = end_of("9.9.9.9", 53, &to);
	struct ab_dns_peer peer;
	char buf[64];

	ok(sendto(client, "q", 1, 0, &to.any, len) == 1 && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) == 1 &&
		   ab_dns_socket_send(server, "a", 1, &peer) == 0,
	   "a client that is not connected is answered");
	len = sizeof(from);
	ok(readable(client, 30000) && recvfrom(client, buf, sizeof(buf), 0, &from.any, &len) == 1 &&
		   memcmp(&from.v4.sin_addr, &to.v4.sin_addr, 4) == 0 &&
		   from.v4.sin_port == to.v4.sin_port,
	   "from the address and the port that it asked");
}

static void check_sizes(int server)
{
	ab_autoclose int client = dial_to("8.8.8.8", 53, SOCK_DGRAM);
	struct ab_dns_peer peer;
	char big[2048] = { 0 }, buf[512];

	ok(ab_dns_socket_recv(server, buf, sizeof(buf), &peer) < 0 && errno == EAGAIN,
	   "without a question it does not wait");
	ok(send(client, big, sizeof(big), 0) == (ssize_t)sizeof(big) && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) < 0 && errno == EMSGSIZE,
	   "one that is too long is dropped");
	ok(send(client, big, 512, 0) == 512 && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) == 512,
	   "one that just fits is not");
	ok(send(client, "", 0, 0) == 0 && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) == 0,
	   "an empty one is a datagram too");
}

/* A kernel without IPv6 has a socket of the other family. */
static void check_v4_socket(void)
{
	ab_autoclose int server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union end here;
	socklen_t len = end_of("0.0.0.0", 5353, &here);
	ab_autoclose int client = -1;
	struct ab_dns_peer peer;
	char buf[64];
	int on = 1;

	setsockopt(server, SOL_IP, IP_PKTINFO, &on, sizeof(on));
	ok(bind(server, &here.any, len) == 0, "a socket for IPv4 only");
	client = dial_to("127.8.8.8", 5353, SOCK_DGRAM);
	ok(send(client, "q", 1, 0) == 1 && readable(server, 30000) &&
		   ab_dns_socket_recv(server, buf, sizeof(buf), &peer) == 1 &&
		   ab_dns_socket_send(server, "a", 1, &peer) == 0 && readable(client, 30000) &&
		   recv(client, buf, 64, 0) == 1,
	   "answers from the right address as well");
}

int main(void)
{
	struct ab_network net = { 0 };
	struct ab_error err = { 0 };

	if (!enter_namespaces()) {
		lacks("name servers", "no user namespaces");
		return done();
	}
	ok(ab_network_build(ab_capture_ways, ab_capture_way_count, NULL, 0, &net, &err) == 0,
	   "network %s", err.text);
	check_server(name_server(&net), "127.0.0.1", true);
	check_server(name_server(&net), "127.0.0.53", true);
	check_server(name_server(&net), "8.8.8.8", true);
	check_server(name_server(&net), "198.19.255.1", true);
	check_server(name_server(&net), "::1", false);
	check_server(name_server(&net), "2001:4860:4860::8888", false);
	check_server(name_server(&net), "fd61:6765:6e74:626f:ffff::1", false);
	check_source(name_server(&net));
	check_sizes(name_server(&net));
	check_v4_socket();
	ab_network_fini(&net);
	return done();
}
