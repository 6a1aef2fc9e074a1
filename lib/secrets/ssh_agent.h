#pragma once
/*
 * Before the lock: what the box's ssh agent needs of the host. That is the socket of
 * the caller's own agent, and the keys that the caller's known_hosts has for the hosts
 * of ssh.hosts.
 */
#include "base/base.h"

struct ab_agent_terms;
struct ab_policy;
struct ab_spec;

struct ab_ssh_agent {
	char *socket;		      /* of the caller's agent */
	struct ab_agent_terms *terms; /* NULL: the box gets no agent */
};

/* Does nothing if the policy lends no keys. Without an agent to ask, a note says so. In a nested run
 * the agent of the outer box stays. */
int ab_ssh_agent_prepare(const struct ab_policy *policy, char *const *env, bool nested,
			 struct ab_spec *spec, struct ab_ssh_agent *ret, struct ab_strv *notes,
			 struct ab_error *err);
void ab_ssh_agent_fini(struct ab_ssh_agent *agent);
