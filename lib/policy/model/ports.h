#pragma once
/*
 * Host ports that the box can reach (network.hostPorts), and
 * ports of the box that the host can reach (network.publish: "8080:3000", the
 * host port first).
 */
#include "policy/model/list_element.h"

struct ab_policy;
struct ab_publish;

/* Add one element. */
ab_put_fn ab_host_port_put;
ab_put_fn ab_publish_put;

/* "3000", "8080:3000". */
bool ab_publish_parse(const char *s, struct ab_publish *ret);

/* May an active run publish one more? Against managed settings and the policy's other ports. */
int ab_publish_check_late(const struct ab_policy *policy, const struct ab_publish *one,
			  struct ab_complaint *why);

/*
 * Check for conflicts. -1: *ret_key and *ret_from are the place of the mistake.
 * Ports conflict with the network mode only if the same layer or a later one
 * set them (`chooser`: the origin of the profile, or NULL); ab_listening_ports_drop
 * handles ports of an earlier layer.
 */
int ab_ports_check(const struct ab_config *c, const struct ab_origin *chooser,
		   enum ab_key_id *ret_key, const struct ab_origin **ret_from,
		   struct ab_complaint *why);

/* Remove ports that the network mode does not support, with a note for each
 * list. */
void ab_listening_ports_drop(struct ab_config *c, struct ab_strv *notes);
