#include "sandbox/start/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "netns/loopback.h"
#include "netns/namespace.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/launch.h"

enum { SSH_PORT = 22 };

/* The supervisor wrote the list, so it is well-formed. */
static size_t read_ports(const char *list, uint16_t ret[AB_HOST_PORTS_MAX])
{
	size_t n = 0;

	while (*list && n < AB_HOST_PORTS_MAX) {
		char *end;

		ret[n++] = (uint16_t)strtoul(list, &end, 10);
		list = *end ? end + 1 : end;
	}
	return n;
}

/* Send the sockets to the supervisor, so that the proxy is ready before the command. */
static void send_listeners(int sock, const struct ab_network *net)
{
	struct ab_msg msg = { .type = AB_MSG_NETWORK,
			      .value = (int)net->capture,
			      .u.network.n = (uint32_t)net->n };
	int fds[AB_LISTENERS_MAX];

	for (size_t i = 0; i < net->n; i++) {
		msg.u.network.listeners[i].kind = (uint16_t)net->listeners[i].kind;
		msg.u.network.listeners[i].port = net->listeners[i].port;
		fds[i] = net->listeners[i].fd;
	}
	if (ab_send_fds(sock, &msg, AB_MSG_LEN(sizeof(msg.u.network)), fds, net->n) < 0)
		_exit(125);
}

/*
 * Every connection from the box to the proxy has the same destination, so only
 * its source port is different. The kernel offers 28,000 of them, and many are
 * still in TIME_WAIT, so the search for a free one would dominate. If this fails,
 * the network works anyway.
 */
static void widen_port_range(void)
{
	static const char range[] = "16384 60999";
	ab_autoclose int fd = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)ab_write_all(fd, range, sizeof(range) - 1);
}

int ab_bridge_build(int sock, const char *net, const char *host_ports,
		    enum ab_capture *ret_capture, bool *ret_ssh, struct ab_error *err)
{
	uint16_t ports[AB_HOST_PORTS_MAX];
	struct ab_network made;

	*ret_capture = AB_CAPTURE_NONE;
	*ret_ssh = true; /* nothing is missed where there is no proxy */
	if (ab_netns_enter_new(err) < 0)
		return -1;
	if (strcmp(net, AB_INIT_DOOR) != 0)
		return ab_loopback_up(err);
	if (ab_network_build(ab_capture_ways, ab_capture_way_count, ports,
			     read_ports(host_ports, ports), &made, err) < 0)
		return -1;
	*ret_capture = made.capture;
	*ret_ssh = ab_network_captures(&made, SSH_PORT);
	send_listeners(sock, &made);
	ab_network_fini(&made);
	widen_port_range();
	return 0;
}

static int receive_listeners(const struct ab_box *box, struct ab_network *ret,
			     struct ab_error *err)
{
	ab_autofds struct ab_fds fds = { .len = 0 };
	struct ab_msg msg;
	int r = ab_box_hear(box, &msg, &fds, 0);

	if (r < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "receive from the box");
	if (r > 0 && msg.type == AB_MSG_FAILED) {
		*err = msg.u.error;
		return -1;
	}
	if (r == 0 || msg.type != AB_MSG_NETWORK)
		return ab_fail(err, AB_ESYSTEM, 0, "the box ended before its network was ready");
	ret->capture = (enum ab_capture)msg.value;
	for (size_t i = 0; i < fds.len; i++)
		ret->listeners[ret->n++] = (struct ab_listener){
			.kind = (enum ab_listener_kind)msg.u.network.listeners[i].kind,
			.port = msg.u.network.listeners[i].port,
			.fd = ab_take_fd(&fds.v[i]),
		};
	return 0;
}

int ab_bridge_receive(const struct ab_box *box, struct ab_network *ret, struct ab_error *err)
{
	ret->n = 0;
	ret->capture = AB_CAPTURE_NONE;
	return receive_listeners(box, ret, err) < 0 ? ab_step(err, "network") : 0;
}
