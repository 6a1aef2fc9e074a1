#pragma once
/* What the proxy of a run with this policy would say about a host, in the words of its record. */
#include "base/base.h"

struct ab_host;
struct ab_policy;

struct ab_host_answer {
	bool allowed;
	bool asked;	  /* neither allowed nor denied: a person is asked */
	bool liftable;	  /* `allow` can allow it */
	const char *rule; /* "network.allow" */
	char reason[400]; /* a clause: "not on the allow list" */
	char entry[320];  /* the entry of a list that decided; "": none */
	char hint[400];	  /* options that would allow it: "--allow x.y:8080"; "": none */
};

/* For a filtered network. Only looks at the lists: a name is not resolved. */
void ab_host_check(const struct ab_policy *policy, const struct ab_host *host, uint16_t port,
		   struct ab_host_answer *ret);
