#ifndef AB_POLICY_MODEL_PORTS_H
#define AB_POLICY_MODEL_PORTS_H
/*
 * Inside lib/policy: ports of the host that the box can reach
 * (network.hostPorts), and ports of the box that the host can
 * (network.publish: "8080:3000", the host's first).
 */
#include "policy/model/config.h"

struct ab_publish;

/* One element of each list. */
int ab_host_port_put(const struct ab_context *ctx, struct ab_value *v, const char *text,
		     const struct ab_origin *from, struct ab_complaint *why);
int ab_publish_put(const struct ab_context *ctx, struct ab_value *v, const char *text,
		   const struct ab_origin *from, struct ab_complaint *why);

/* "3000", "8080:3000". */
bool ab_publish_parse(const char *s, struct ab_publish *ret);

/*
 * Can what these values say be had together? -1: *ret_key and *ret_from say
 * where the mistake is. The network mode counts against what the same layer
 * or a later one says (`chooser`: who chose the profile, or NULL); ports that
 * an earlier layer wanted are what ab_listening_ports_drop is for.
 */
int ab_ports_check(const struct ab_config *c, const struct ab_origin *chooser,
		   enum ab_key_id *ret_key, const struct ab_origin **ret_from,
		   struct ab_complaint *why);

/* Take out ports that the network mode has no place for, with a note each. */
void ab_listening_ports_drop(struct ab_config *c, struct ab_strv *notes);

#endif
