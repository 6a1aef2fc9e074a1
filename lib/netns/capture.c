#include "netns/capture.h"

#include <errno.h>
#include <linux/netlink.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "netns/batch.h"
#include "netns/loopback.h"
#include "netns/netlink.h"

#include "netns/messages_capture.h" /* generated */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the netlink messages were made for a little-endian machine"
#endif

const char *const ab_capture_names[AB_CAPTURE_COUNT] = {
	[AB_CAPTURE_NONE] = "none",
	[AB_CAPTURE_PORTS] = "ports",
	[AB_CAPTURE_REDIRECT] = "redirect",
	[AB_CAPTURE_TPROXY] = "tproxy",
};

#define WAY(kind, batch)                                 \
	{                                                \
		kind, batch, sizeof(batch), batch##_last \
	}

/* The best first. */
const struct ab_capture_way ab_capture_ways[] = {
	WAY(AB_CAPTURE_TPROXY, tproxy),
	WAY(AB_CAPTURE_REDIRECT, redirect),
};
const size_t ab_capture_way_count = AB_COUNT(ab_capture_ways);

/*
 * The device and its routes. The kernel carries out every message of a batch,
 * answers those that fail, and the last one in any case: without IPv6 the
 * rest stands.
 */
static int make_routes(void)
{
	ab_autoclose int fd = ab_netlink_open(NETLINK_ROUTE);
	uint32_t seq = 0;

	if (fd < 0 || ab_netlink_send(fd, routes, sizeof(routes)) < 0)
		return -1;
	while (seq != AB_SEQ_ROUTE6) {
		int errnum = ab_netlink_answer(fd, &seq);

		if (errnum && (seq <= AB_SEQ_ROUTE4 || seq > AB_SEQ_ROUTE6)) {
			errno = errnum;
			return -1;
		}
	}
	return 0;
}

/* Either all of a batch is in force or nothing. Of several answers the first
 * one decides: there is more than one only where something failed. */
static int try_way(const struct ab_capture_way *way)
{
	ab_autoclose int fd = ab_netlink_open(NETLINK_NETFILTER);
	uint32_t seq = 0;

	if (fd < 0 || ab_netlink_send(fd, way->batch, way->len) < 0 ||
	    ab_netlink_answer(fd, &seq) != 0 || seq != way->last)
		return -1;
	return ab_take_fd(&fd);
}

int ab_capture_raise(const struct ab_capture_way *ways, size_t nways,
		     enum ab_capture *ret_capture, int *ret_rules,
		     struct ab_error *err)
{
	*ret_capture = AB_CAPTURE_NONE;
	*ret_rules = -1;
	if (make_routes() < 0)
		return ab_loopback_up(err);
	*ret_capture = AB_CAPTURE_PORTS;
	for (size_t i = 0; i < nways && *ret_rules < 0; i++) {
		*ret_rules = try_way(&ways[i]);
		if (*ret_rules >= 0)
			*ret_capture = ways[i].capture;
	}
	return 0;
}
