#include "proxy/conn/agent_terms.h"

#include "base/text/sha256.h"
#include "policy/model/policy.h"
#include "proxy/record/ledger.h"
#include "proxy/wire/known_hosts.h"

enum { SESSION_MAX = 64 }; /* the longest hash of a key exchange: SHA-512 */

static const struct ab_refusal unbound = {
	"ssh-bind",
	"the client does not say to which server it logs in: only OpenSSH 8.9 and later "
	"binds its connection to the agent"
};
static const struct ab_refusal unknown_host = {
	"ssh-known-hosts",
	"the server's key is not one that known_hosts has for a host of ssh.hosts"
};
static const struct ab_refusal other_host = { "ssh.hosts", "the host is not in ssh.hosts" };
static const struct ab_refusal certified = {
	"ssh-certificate", "the server shows a certificate, and only keys in known_hosts count"
};
static const struct ab_refusal revoked = { "ssh-revoked",
					   "known_hosts has the server's key as @revoked" };
static const struct ab_refusal forged = { "ssh-bind",
					  "the server's signature of the connection is not valid" };
static const struct ab_refusal forwarded = {
	"ssh-forward", "the agent was forwarded to another machine, which asks"
};
static const struct ab_refusal detour = {
	"ssh.route", "the connection to the server did not pass the box's proxy"
};
static const struct ab_refusal hidden_key = { "ssh.keys", "the key is not in ssh.keys" };
static const struct ab_refusal other_user = { "ssh.users", "the user name is not in ssh.users" };
static const struct ab_refusal other_session = {
	"ssh-data", "the data belongs to another connection than the one that was announced"
};
static const struct ab_refusal other_key = { "ssh-data", "the data names another key" };
static const struct ab_refusal strange_flags = { "ssh-data", "the request has unknown flags" };
static const struct ab_refusal strange_data = {
	"ssh-data", "the data is neither a login nor a signature of git"
};
static const struct ab_refusal no_documents = { "ssh.sign",
						"ssh.sign does not have this kind of signature" };
static const struct ab_refusal too_many = { "ssh.maxSignatures",
					    "the run has had all its signatures" };
static const struct ab_refusal too_late = { "ssh.maxTime", "the time for signatures is over" };

const struct ab_refusal ab_agent_refuses_other = { "ssh-agent",
						   "keys can only be listed and used to sign" };
const struct ab_refusal ab_agent_refuses_malformed = {
	"ssh-agent", "the request does not follow the agent protocol"
};
const struct ab_refusal ab_agent_refuses_unasked = { "ssh.ask", "it needs your approval" };
const struct ab_refusal ab_agent_refuses_crowd = { "ssh-agent",
						   "too many connections to the agent are open" };

struct ab_agent_terms *ab_agent_terms_new(const struct ab_policy *policy)
{
	struct ab_agent_terms *terms = ab_alloc(sizeof(*terms));
	size_t n = policy->ssh.hosts.len;

	n = n < AB_AGENT_HOSTS_MAX ? n : AB_AGENT_HOSTS_MAX;
	terms->policy = policy;
	terms->hosts = ab_alloc((n + 1) * sizeof(terms->hosts[0]));
	for (size_t i = 0; i < n; i++) {
		const char *text = policy->ssh.hosts.v[i];
		struct ab_host_entry e;

		if (ab_host_entry_parse(text, strlen(text), &e, NULL) == 0)
			terms->hosts[terms->nhosts++] =
				(struct ab_agent_host){ .host = e.host, .port = e.port };
	}
	return terms;
}

void ab_agent_terms_free(struct ab_agent_terms *terms)
{
	if (!terms)
		return;
	for (size_t i = 0; i < terms->nknown; i++)
		ab_buf_fini(&terms->known[i].key);
	ab_free_all(terms->known, terms->hosts);
	ab_strv_fini(&terms->grants);
	free(terms);
}

struct learning {
	struct ab_agent_terms *terms;
	size_t host;
};

static void learn_key(void *arg, struct ab_ssh_text key, bool is_revoked)
{
	enum { KNOWN_MAX = 4096 };
	struct learning *l = arg;
	struct ab_agent_terms *t = l->terms;
	struct ab_agent_known *known;

	if (t->nknown == KNOWN_MAX)
		return;
	known = ab_append(t->known, t->nknown);
	*known = (struct ab_agent_known){ .host = l->host, .revoked = is_revoked };
	ab_buf_add(&known->key, key.at, key.len);
	t->hosts[l->host].nkeys += !is_revoked;
}

void ab_agent_terms_learn(struct ab_agent_terms *terms, const char *text, size_t len)
{
	for (size_t i = 0; i < terms->nhosts; i++) {
		struct learning l = { terms, i };
		struct ab_known_hosts known = { .hash = ab_ssh_name_hash,
						.found = learn_key,
						.arg = &l };

		ab_known_hosts_find(&known, text, len, terms->hosts[i].host.text,
				    terms->hosts[i].port);
		terms->hosts[i].authorities += known.authorities;
	}
}

void ab_agent_terms_saw(struct ab_agent_terms *terms, const char *host, uint16_t port,
			struct ab_ssh_text host_key, struct ab_ssh_text signature)
{
	struct ab_agent_seen *seen = &terms->seen[terms->nseen++ % AB_AGENT_SEEN];

	snprintf(seen->host, sizeof(seen->host), "%s", host);
	seen->port = port;
	ab_sha256(host_key.at, host_key.len, seen->key);
	ab_sha256(signature.at, signature.len, seen->signature);
}

static const struct ab_agent_seen *find_seen(const struct ab_agent_terms *terms,
					     const struct ab_agent_request *bind)
{
	size_t n = terms->nseen < AB_AGENT_SEEN ? terms->nseen : AB_AGENT_SEEN;
	char key[65], signature[65];

	ab_sha256(bind->host_key.at, bind->host_key.len, key);
	ab_sha256(bind->signature.at, bind->signature.len, signature);
	for (size_t i = 0; i < n; i++)
		if (strcmp(terms->seen[i].key, key) == 0 &&
		    strcmp(terms->seen[i].signature, signature) == 0)
			return &terms->seen[i];
	return NULL;
}

static bool is_host(const struct ab_agent_host *h, const struct ab_agent_seen *seen)
{
	return h->port == seen->port && strcmp(h->host.text, seen->host) == 0;
}

/* The allowed host whose key this is: the one that was connected to, if that is known. */
static const struct ab_agent_host *find_host(const struct ab_agent_terms *terms,
					     struct ab_ssh_text key,
					     const struct ab_agent_seen *seen, bool *ret_revoked)
{
	const struct ab_agent_host *found = NULL;

	*ret_revoked = false;
	for (size_t i = 0; i < terms->nknown; i++) {
		const struct ab_agent_known *k = &terms->known[i];
		const struct ab_agent_host *h = &terms->hosts[k->host];

		if (!ab_ssh_same(ab_ssh_view(&k->key), key) || (seen && !is_host(h, seen)))
			continue;
		*ret_revoked |= k->revoked;
		if (!found && !k->revoked)
			found = h;
	}
	return found;
}

static bool is_listed(const struct ab_agent_terms *terms, const struct ab_agent_seen *seen)
{
	for (size_t i = 0; i < terms->nhosts; i++)
		if (is_host(&terms->hosts[i], seen))
			return true;
	return false;
}

/* Why no login may be signed on this connection; NULL: it may. */
static const struct ab_refusal *judge_bind(const struct ab_agent_terms *terms,
					   const struct ab_agent_request *bind,
					   struct ab_agent_binding *b)
{
	const struct ab_agent_seen *seen = find_seen(terms, bind);
	const struct ab_agent_host *host;
	bool is_revoked;

	if (seen) {
		b->proxied = true;
		b->port = seen->port;
		memcpy(b->host, seen->host, sizeof(b->host));
	}
	if (bind->forwards)
		return &forwarded;
	if (bind->session.len > SESSION_MAX || !bind->session.len ||
	    !ab_ssh_key_is_plain(bind->host_key))
		return ab_ssh_key_is_plain(bind->host_key) ? &forged : &certified;
	if (!ab_ssh_key_verify(bind->host_key, bind->session, bind->signature))
		return &forged;
	host = find_host(terms, bind->host_key, seen, &is_revoked);
	if (is_revoked)
		return &revoked;
	if (!host)
		return seen && !is_listed(terms, seen) ? &other_host : &unknown_host;
	if (!seen) {
		b->port = host->port;
		memcpy(b->host, host->host.text, sizeof(b->host));
	}
	if (!seen && terms->policy->ssh.proxied && terms->policy->net.mode != AB_NET_ALLOWED)
		return &detour;
	return NULL;
}

void ab_agent_bind(const struct ab_agent_terms *terms, const struct ab_agent_request *bind,
		   struct ab_agent_binding *b)
{
	/* A second one comes from another machine, or from nobody honest. */
	if (b->bound) {
		b->bad = &forwarded;
		return;
	}
	b->bound = true;
	b->bad = judge_bind(terms, bind, b);
	if (b->bad)
		return;
	ab_buf_add(&b->session, bind->session.at, bind->session.len);
	ab_buf_add(&b->host_key, bind->host_key.at, bind->host_key.len);
	ab_buf_add(&b->signature, bind->signature.at, bind->signature.len);
}

void ab_agent_binding_fini(struct ab_agent_binding *b)
{
	ab_buf_fini_all(&b->session, &b->host_key, &b->signature);
}

bool ab_agent_shows(const struct ab_agent_terms *terms, struct ab_ssh_text key)
{
	char fingerprint[AB_SSH_FINGERPRINT];

	if (!ab_ssh_key_is_plain(key))
		return false;
	ab_ssh_key_fingerprint(key, fingerprint);
	return terms->policy->ssh.all_keys || ab_strv_has(&terms->policy->ssh.keys, fingerprint);
}

static bool is_user(const struct ab_policy *policy, struct ab_ssh_text user)
{
	if (policy->ssh.all_users)
		return true;
	for (size_t i = 0; i < policy->ssh.users.len; i++)
		if (ab_ssh_is(user, policy->ssh.users.v[i]))
			return true;
	return false;
}

static const struct ab_refusal *judge_login(const struct ab_agent_terms *terms,
					    const struct ab_agent_binding *b,
					    const struct ab_agent_request *sign,
					    const struct ab_signed *what)
{
	if (!b->bound)
		return &unbound;
	if (b->bad)
		return b->bad;
	if (!ab_ssh_same(what->session, ab_ssh_view(&b->session)) ||
	    (what->bound && !ab_ssh_same(what->host_key, ab_ssh_view(&b->host_key))))
		return &other_session;
	if (!ab_ssh_same(what->key, sign->key))
		return &other_key;
	return is_user(terms->policy, what->user) ? NULL : &other_user;
}

const struct ab_refusal *ab_agent_judge(const struct ab_agent_terms *terms,
					const struct ab_agent_binding *binding,
					const struct ab_agent_request *sign,
					const struct ab_signed *what, uint64_t ms)
{
	enum { RSA_SHA2_256 = 2, RSA_SHA2_512 = 4 };
	const struct ab_policy *policy = terms->policy;
	const struct ab_refusal *refusal = NULL;

	if (sign->flags & ~(uint32_t)(RSA_SHA2_256 | RSA_SHA2_512))
		return &strange_flags;
	switch (what->kind) {
	case AB_SIGNED_LOGIN:
		refusal = judge_login(terms, binding, sign, what);
		break;
	case AB_SIGNED_DOCUMENT:
		/* A machine to which the agent was forwarded. */
		if (binding->bad == &forwarded)
			refusal = &forwarded;
		else if (!policy->ssh.git || !ab_ssh_is(what->name_space, "git"))
			refusal = &no_documents;
		break;
	case AB_SIGNED_UNKNOWN:
		refusal = &strange_data;
		break;
	}
	if (refusal)
		return refusal;
	if (!ab_agent_shows(terms, sign->key))
		return &hidden_key;
	if (policy->ssh.max_ms && ms > policy->ssh.max_ms)
		return &too_late;
	if (policy->ssh.max_signatures && terms->signatures >= policy->ssh.max_signatures)
		return &too_many;
	return NULL;
}
