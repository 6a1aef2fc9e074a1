#pragma once
/*
 * What the box may do with the keys of the caller's ssh agent, and the decision
 * about one signature. Private to lib/proxy, except for ab_agent_terms_new() and
 * ab_agent_terms_learn().
 *
 * A login is signed for a server only. The client proves which one: it shows its
 * agent the server's key and signature of the key exchange (session-bind), and the
 * data to be signed begins with that session. The server's key must be one that the
 * caller's known_hosts has for an allowed host. That proves where the signature can
 * be used, but not who uses it: a program outside could open the connection and have
 * its login signed here. So the same signature must also have passed the proxy, on a
 * connection to that host (ssh.route).
 */
#include "policy/values/host.h"
#include "proxy/io/tls_ssh_key.h"
#include "proxy/wire/ssh_agent.h"

struct ab_policy;
struct ab_refusal;

enum {
	AB_AGENT_HOSTS_MAX = 256,
	AB_AGENT_SEEN = 64,   /* key exchanges that are remembered, the newest ones */
	AB_AGENT_GRANTS = 64, /* answers for the rest of the run */
	AB_AGENT_CONNS = 64,  /* connections at the same time */
};

struct ab_agent_host {
	struct ab_host host;
	uint16_t port;
	size_t nkeys, authorities; /* lines of known_hosts */
};

struct ab_agent_known {
	size_t host;
	struct ab_buf key;
	bool revoked;
};

/* A key exchange of a server, on a connection of the box. */
struct ab_agent_seen {
	char host[AB_HOST_TEXT];
	uint16_t port;
	char key[65], signature[65]; /* hashes */
};

struct ab_agent_terms {
	const struct ab_policy *policy;
	struct ab_agent_host *hosts;
	size_t nhosts;
	struct ab_agent_known *known;
	size_t nknown;
	struct ab_agent_seen seen[AB_AGENT_SEEN];
	size_t nseen;
	struct ab_strv grants; /* what a person has allowed for the run */
	uint64_t signatures;
	size_t nconns;
	uint32_t tickets;
};

/* For this policy, which must live longer; without known hosts. */
struct ab_agent_terms *ab_agent_terms_new(const struct ab_policy *policy);
void ab_agent_terms_free(struct ab_agent_terms *terms);
/* The content of a known_hosts file. */
void ab_agent_terms_learn(struct ab_agent_terms *terms, const char *text, size_t len);

void ab_agent_terms_saw(struct ab_agent_terms *terms, const char *host, uint16_t port,
			struct ab_ssh_text host_key, struct ab_ssh_text signature);

/* Whom a connection to the agent serves. Zero: no client has said it yet. */
struct ab_agent_binding {
	bool bound;
	const struct ab_refusal *bad; /* why no login is signed on it; NULL: it is sound */
	bool proxied;		      /* its key exchange passed the proxy */
	char host[AB_HOST_TEXT];      /* "" if it is not known */
	uint16_t port;
	struct ab_buf session, host_key, signature;
};

void ab_agent_bind(const struct ab_agent_terms *terms, const struct ab_agent_request *bind,
		   struct ab_agent_binding *binding);
void ab_agent_binding_fini(struct ab_agent_binding *binding);

/* May a client see this key? */
bool ab_agent_shows(const struct ab_agent_terms *terms, struct ab_ssh_text key);

/* NULL: the signature may be made, `ms` after the run began. `what` is what it signs. */
const struct ab_refusal *ab_agent_judge(const struct ab_agent_terms *terms,
					const struct ab_agent_binding *binding,
					const struct ab_agent_request *sign,
					const struct ab_signed *what, uint64_t ms);

/* Refusals of other requests. */
extern const struct ab_refusal ab_agent_refuses_other, ab_agent_refuses_malformed,
	ab_agent_refuses_unasked, ab_agent_refuses_crowd;
