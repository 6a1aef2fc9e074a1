#include "netns/capture.h"

#include "netns/batch.h"
#include "netns/netlink.h"

#include "netns/messages_capture.h" /* generated */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the netlink messages were generated for a little-endian machine"
#endif

const char *const ab_capture_names[AB_CAPTURE_COUNT] = {
	[AB_CAPTURE_NONE] = "none",
	[AB_CAPTURE_PORTS] = "ports",
	[AB_CAPTURE_REDIRECT] = "redirect",
	[AB_CAPTURE_TPROXY] = "tproxy",
};

#define WAY(kind, logs, batch)                                 \
	{                                                      \
		kind, logs, batch, sizeof(batch), batch##_last \
	}

/* The best first. */
const struct ab_capture_way ab_capture_ways[] = {
	WAY(AB_CAPTURE_TPROXY, true, tproxy_log),
	WAY(AB_CAPTURE_TPROXY, false, tproxy),
	WAY(AB_CAPTURE_REDIRECT, true, redirect_log),
	WAY(AB_CAPTURE_REDIRECT, false, redirect),
};
const size_t ab_capture_way_count = AB_COUNT(ab_capture_ways);

/*
 * Set up the device and its routes. The kernel executes every message of a batch and
 * replies to those that fail and to the last one, so without IPv6 the others
 * remain in force.
 */
static bool make_routes(int fd)
{
	uint32_t seq = 0;

	if (fd < 0 || ab_netlink_send(fd, routes, sizeof(routes)) < 0)
		return false;
	while (seq != AB_SEQ_ROUTE6) {
		int errnum;

		seq = 0; /* stays 0 if there is no reply */
		errnum = ab_netlink_answer(fd, &seq);
		if (errnum && (seq <= AB_SEQ_ROUTE4 || seq > AB_SEQ_ROUTE6))
			return false;
	}
	return true;
}

/* Either the whole batch is in force or nothing. The first reply decides: there is
 * more than one only if something failed. */
static bool try_way(int fd, const struct ab_capture_way *way)
{
	uint32_t seq = 0;
	bool taken = ab_netlink_send(fd, way->batch, way->len) == 0 &&
		     ab_netlink_answer(fd, &seq) == 0 && seq == way->last;

	if (!taken)
		ab_netlink_drain(fd);
	return taken;
}

enum ab_capture ab_capture_raise(int route_fd, int rule_fd, const struct ab_capture_way *ways,
				 size_t nways, bool *ret_logs)
{
	*ret_logs = false;
	if (!make_routes(route_fd))
		return AB_CAPTURE_NONE;
	for (size_t i = 0; rule_fd >= 0 && i < nways; i++)
		if (try_way(rule_fd, &ways[i])) {
			*ret_logs = ways[i].logs;
			return ways[i].capture;
		}
	return AB_CAPTURE_PORTS;
}
