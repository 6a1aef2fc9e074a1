#pragma once
/*
 * Connects the box's network with the supervisor: init creates the sockets, the
 * supervisor uses them. netns/listeners.h describes the steps.
 *
 *	init		creates the namespace and the sockets, and sends them up
 *	supervisor	brings the network up, and sends the mode (AB_MSG_CAPTURE)
 *	init		with AB_CAPTURE_PORTS: sends more sockets up
 */
#include "base/base.h"
#include "netns/listeners.h"

struct ab_begin;
struct ab_box;

/* In init, first part. */
int ab_bridge_begin(int sock, const struct ab_begin *begin, struct ab_error *err);

/* In init, second part, with a door, while it has CAP_NET_BIND_SERVICE.
 * ret_ssh: connections to port 22 are captured. */
int ab_bridge_end(int sock, enum ab_capture *ret_capture, bool *ret_ssh, struct ab_error *err);

/* In the supervisor: wait for the sockets and bring the network up. This is not
 * done in init so that init can continue meanwhile. */
int ab_bridge_raise(const struct ab_box *box, struct ab_network *ret, struct ab_error *err);
