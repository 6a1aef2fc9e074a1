#include "sandbox/start/bridge.h"

#include "netns/loopback.h"
#include "sandbox/start/launch.h"

enum { SSH_PORT = 22 };

/* Send the sockets to the supervisor, so that the proxy is ready before the command. */
static int send_listeners(int sock, const struct ab_network *net, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_NETWORK, .u.network.n = (uint32_t)net->n };
	int fds[AB_LISTENERS_MAX];

	for (size_t i = 0; i < net->n; i++) {
		msg.u.network.listeners[i].kind = (uint16_t)net->listeners[i].kind;
		msg.u.network.listeners[i].port = net->listeners[i].port;
		fds[i] = net->listeners[i].fd;
	}
	if (ab_send_fds(sock, &msg, AB_MSG_LEN(sizeof(msg.u.network)), fds, net->n) == 0)
		return 0;
	return ab_fail(err, AB_ESYSTEM, errno, "send the sockets of the network");
}

int ab_bridge_begin(int sock, const struct ab_begin *begin, struct ab_error *err)
{
	struct ab_network made;
	int r;

	if (ab_netns_enter_new(err) < 0)
		return -1;
	if (begin->net != AB_BOX_NET_DOOR)
		return ab_loopback_up(err);
	if (ab_network_make(begin->ports, begin->nports, &made, err) < 0)
		return -1;
	r = send_listeners(sock, &made, err);
	ab_network_fini(&made);
	return r;
}

int ab_bridge_end(int sock, enum ab_capture *ret_capture, bool *ret_ssh, struct ab_error *err)
{
	struct ab_network more = { .n = 0 };
	struct ab_msg msg;
	ssize_t n = ab_recv_fds(sock, &msg, sizeof(msg), NULL, NULL, 0);
	int r;

	/* 0: the supervisor gave up and reported it itself. */
	if (n != (ssize_t)AB_MSG_LEN(0) || msg.type != AB_MSG_CAPTURE)
		return ab_fail(err, AB_ESYSTEM, n < 0 ? errno : 0,
			       "the network of the box did not come up");
	*ret_capture = (enum ab_capture)msg.value;
	*ret_ssh = *ret_capture >= AB_CAPTURE_REDIRECT;
	if (*ret_capture != AB_CAPTURE_PORTS)
		return 0;
	more.capture = AB_CAPTURE_PORTS;
	ab_network_make_ports(&more);
	*ret_ssh = ab_network_captures(&more, SSH_PORT);
	r = send_listeners(sock, &more, err);
	ab_network_fini(&more);
	return r;
}

/* Wait for the sockets of init and add them to *net. */
static int receive_listeners(const struct ab_box *box, struct ab_network *net, struct ab_error *err)
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
	if (r == 0 || msg.type != AB_MSG_NETWORK || net->n + fds.len > AB_LISTENERS_MAX)
		return ab_fail(err, AB_ESYSTEM, 0, "the box ended before its network was ready");
	for (size_t i = 0; i < fds.len; i++)
		net->listeners[net->n++] = (struct ab_listener){
			.kind = (enum ab_listener_kind)msg.u.network.listeners[i].kind,
			.port = msg.u.network.listeners[i].port,
			.fd = ab_take_fd(&fds.v[i]),
		};
	return 0;
}

int ab_bridge_raise(const struct ab_box *box, struct ab_network *ret, struct ab_error *err)
{
	ret->n = 0;
	ret->capture = AB_CAPTURE_NONE;
	if (receive_listeners(box, ret, err) < 0 ||
	    ab_network_raise(ret, ab_capture_ways, ab_capture_way_count, err) < 0)
		goto fail;
	if (ab_box_tell(box, AB_MSG_CAPTURE, (int)ret->capture) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "send the network mode to the box");
		goto fail;
	}
	if (ret->capture == AB_CAPTURE_PORTS && receive_listeners(box, ret, err) < 0)
		goto fail;
	return 0;
fail:
	ab_network_fini(ret);
	return ab_step(err, "network");
}
