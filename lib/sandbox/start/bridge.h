#ifndef AB_SANDBOX_START_BRIDGE_H
#define AB_SANDBOX_START_BRIDGE_H
/*
 * Connects the box's network with the supervisor: init builds the network, the supervisor gets its
 * sockets (netns/listeners.h).
 *
 * Init does all of it: it is ready earlier than the supervisor, whose work decides when the command
 * starts.
 */
#include <stdbool.h>

#include "netns/listeners.h"

struct ab_box;
struct ab_error;

/*
 * In init, while it has CAP_NET_ADMIN and CAP_NET_BIND_SERVICE. `net` and `host_ports` as in
 * sandbox/start/box_wire.h. ret_ssh: connections to port 22 are captured, or there is no proxy.
 */
int ab_bridge_build(int sock, const char *net, const char *host_ports,
		    enum ab_capture *ret_capture, bool *ret_ssh, struct ab_error *err);

/* In the supervisor: wait for the sockets. */
int ab_bridge_receive(const struct ab_box *box, struct ab_network *ret, struct ab_error *err);

#endif
