/* Try the network of a box with a proxy: make a connection and see it arrive. */

#include "base/data/addr.h"
#include "doctor/doctor.h"
#include "netns/destination.h"
#include "netns/listeners.h"

enum { TRIED_PORT = 443, PATIENCE_MS = 2000 };

/* Connect to an address reserved for documentation, and see whether it arrives here. */
static bool is_captured(const struct ab_network *net)
{
	static const uint8_t out[] = { 203, 0, 113, 1 };
	struct ab_sockaddr to = ab_sockaddr(false, out, TRIED_PORT);
	ab_autoclose int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ab_autoclose int server = -1;
	struct pollfd p = { .fd = -1, .events = POLLIN };
	struct ab_destination d;

	for (size_t i = 0; i < net->n; i++)
		if (net->listeners[i].kind == AB_LISTENER_TRANSPARENT &&
		    (net->capture != AB_CAPTURE_PORTS || net->listeners[i].port == TRIED_PORT))
			p.fd = net->listeners[i].fd;
	if (p.fd < 0 || client < 0 ||
	    (connect(client, &to.any, to.len) < 0 && errno != EINPROGRESS) ||
	    poll(&p, 1, PATIENCE_MS) != 1)
		return false;
	server = accept4(p.fd, NULL, NULL, SOCK_CLOEXEC);
	return server >= 0 && ab_original_destination(server, net->capture, &d) == 0 && !d.v6 &&
	       d.port == TRIED_PORT && memcmp(d.addr, out, sizeof(out)) == 0;
}

static void report_capture(const struct ab_network *net, struct ab_verdict *v)
{
	switch (net->capture) {
	case AB_CAPTURE_TPROXY:
	case AB_CAPTURE_REDIRECT:
		ab_verdict_set(
			v, net->logs ? AB_HEALTH_OK : AB_HEALTH_WARN, "nftables %s works%s",
			ab_capture_names[net->capture],
			net->logs
				? ""
				: ", but not its log: denied UDP packets are only counted, at the end of a run\n"
				  "as root: modprobe -a nft_limit nft_log nfnetlink_log; for a container, on its host");
		break;
	case AB_CAPTURE_PORTS:
		ab_verdict_set(
			v, AB_HEALTH_WARN,
			"nftables is not available: programs that ignore HTTP_PROXY are captured on well-known ports only\n"
			"as root: modprobe -a nf_tables nft_tproxy nft_objref nft_reject_inet; for a container, on its host");
		break;
	case AB_CAPTURE_NONE:
	case AB_CAPTURE_COUNT:
		ab_verdict_set(
			v, AB_HEALTH_WARN,
			"cannot create routes: only programs that use HTTP_PROXY reach the network\n"
			"a container's filter may block netlink sockets; allow them there");
		break;
	}
}

void ab_check_capture(struct ab_verdict *v)
{
	struct ab_network net;
	struct ab_error err = { 0 };

	if (ab_network_build(ab_capture_ways, ab_capture_way_count, NULL, 0, &net, &err) < 0) {
		ab_userns_explain(err.errnum, "open the listeners of a box", v);
		return;
	}
	if (net.capture != AB_CAPTURE_NONE && !is_captured(&net))
		ab_verdict_set(
			v, AB_HEALTH_FAIL,
			"the kernel accepts the rules (%s), but a connection does not arrive",
			ab_capture_names[net.capture]);
	else
		report_capture(&net, v);
	ab_network_fini(&net);
}
