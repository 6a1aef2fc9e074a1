#ifndef AB_SANDBOX_START_BRIDGE_H
#define AB_SANDBOX_START_BRIDGE_H
/*
 * The bridge between the box's network and the supervisor: sockets that init
 * makes and the supervisor uses. See netns/listeners.h for who does what.
 *
 *	init		a namespace, the sockets; up they go
 *	supervisor	brings the network up; down goes how (AB_MSG_CAPTURE)
 *	init		with AB_CAPTURE_PORTS: more sockets go up
 */
#include <stdbool.h>

#include "netns/listeners.h"

struct ab_box;
struct ab_error;

/* Init's first part. `net` and `host_ports` as in sandbox/start/box_wire.h. */
int ab_bridge_begin(int sock, const char *net, const char *host_ports, struct ab_error *err);

/* Its second one, for AB_INIT_DOOR, while it has CAP_NET_BIND_SERVICE. ret_ssh:
 * connections to port 22 are captured. */
int ab_bridge_end(int sock, enum ab_capture *ret_capture, bool *ret_ssh, struct ab_error *err);

/* The supervisor's: waits for the sockets, brings the network up. While init
 * goes on with its own, which is why it is not done there. */
int ab_bridge_raise(const struct ab_box *box, struct ab_network *ret, struct ab_error *err);

#endif
