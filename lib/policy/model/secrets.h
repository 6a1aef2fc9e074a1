#pragma once
/*
 * Secrets in a policy (`secrets`, `--secret`): where a value comes from, which
 * hosts may receive it, and how. Never the value itself.
 *
 *	"secrets": { "OPENAI_API_KEY": {
 *		"from": "env" | "file" | "command",
 *		"env": "OTHER_NAME", "file": "~/.key", "key": "a.b",
 *		"command": ["pass", "show", "x"], "expires": "50m",
 *		"hosts": ["api.openai.com"],	TLS only; :port optional, 443
 *		"as": "bearer" or a list of carriers, or "any",
 *		"also": ["path", "body"],
 *		"mode": "swap" | "inject", "format": "Bearer {}",
 *		"require": false,
 *		"placeholder": "workspace" | "run" | "stable",
 *		"via": "tls" | "gateway" | "both",
 *		"names": ["OPENAI_KEY"],	variables besides its own
 *		"files": ["~/.netrc"],
 *		"onTripwire": "refuse" | "stop" } }
 *	"secrets": { "AWS": {
 *		"sign": "aws-sigv4",	requests are signed, not the value sent
 *		"from": as above; a file has profiles ("profile": "dev")
 *		"services": ["s3"], "regions": ["eu-west-1"] } }
 *	"secrets": { "API_TOKEN": {
 *		"oauth": { "grant": "refresh_token" | "client_credentials" |
 *			   "service_account", "url": "https://x.y/token",
 *			   "client": "id", "clientSecret": { "from": ... },
 *			   "scopes": ["read"], "body": "form" | "json",
 *			   "login": "body" | "basic" },
 *		"from": as above; the source of what is exchanged for tokens
 *		"hosts": ["api.x.y"], ... } }
 *
 * Missing hosts and carriers come from the provider of the name, if it has one.
 * A value is injected as its first carrier.
 */
#include "policy/values/host.h"
#include "policy/values/providers.h"

enum ab_secret_from { AB_FROM_ENV, AB_FROM_FILE, AB_FROM_COMMAND };
enum ab_secret_via { AB_VIA_TLS, AB_VIA_GATEWAY, AB_VIA_BOTH };

enum {
	AB_SECRETS_MAX = 64,
	AB_SECRET_MIN = 8, /* bytes; a shorter value would match by chance */
	AB_SECRET_MAX = 16 * 1024,
};

/* How long a placeholder is the same. */
enum ab_secret_life { AB_LIFE_WORKSPACE, AB_LIFE_RUN, AB_LIFE_STABLE, AB_LIFE_COUNT };
extern const char *const ab_secret_lives[AB_LIFE_COUNT];

/*
 * A key that signs is three entries of ab_secrets, one after the other, because
 * each has its own placeholder. The first one has the source; its value is the
 * words of all three, separated by a blank.
 */
enum ab_secret_part { AB_PART_ID, AB_PART_KEY, AB_PART_TOKEN, AB_PARTS };
extern const char *const ab_secret_part_names[AB_PARTS]; /* variables */

/*
 * A secret that is exchanged for access tokens is two entries of ab_secrets: the
 * access token (part 0), which is injected, and what is exchanged for it (part
 * 1), which leaves the host only in requests of our own to the token URL.
 */
enum ab_oauth_grant { AB_OAUTH_REFRESH, AB_OAUTH_CLIENT, AB_OAUTH_ACCOUNT, AB_OAUTH_GRANTS };
extern const char *const ab_oauth_grants[AB_OAUTH_GRANTS];

struct ab_oauth {
	enum ab_oauth_grant grant;
	const char *url; /* canonical */
	struct ab_host host;
	uint16_t port;
	const char *path;
	const char *client;		       /* id, or NULL */
	const struct ab_secret *client_secret; /* only its source counts; or NULL */
	struct ab_strv scopes;
	bool json;  /* the request's body; else a form */
	bool basic; /* client id and secret are in Authorization; else in the body */
};

struct ab_secret {
	const char *name;
	const char *origin; /* where it was requested, for messages */
	/* By --secret: it must exist. Otherwise an unset variable drops it. */
	bool wanted;
	const struct ab_provider *provider; /* or NULL */
	enum ab_secret_from from;
	const char *env;	/* AB_FROM_ENV: the caller's variable */
	const char *file;	/* AB_FROM_FILE: clean, absolute */
	const char *key;	/* of the file's JSON, "a.b"; or NULL */
	struct ab_strv command; /* AB_FROM_COMMAND: argv */
	/* Run the command again after this time; 0: only when a host refuses
	 * the value. */
	uint64_t expires_ms;
	struct ab_strv hosts;		   /* canonical entries, each with a port */
	const struct ab_carrier *carriers; /* none: any place */
	size_t ncarriers;
	bool in_path, in_body;
	bool inject;
	bool sign;		      /* AWS Signature Version 4 */
	const struct ab_oauth *oauth; /* or NULL */
	enum ab_secret_part part;
	const char *profile;		  /* of the file; or NULL */
	struct ab_strv services, regions; /* that it signs for; none: any */
	const char *format;		  /* of an injected value, with one "{}"; or NULL */
	bool require;
	enum ab_secret_life life;
	bool stop; /* onTripwire */
	enum ab_secret_via via;
	struct ab_strv names; /* exported variables, its own first */
	struct ab_strv files; /* clean, absolute */
	/* Roots that the box can write: it could change a source in them. */
	struct ab_strv writable;
};

struct ab_secrets {
	const struct ab_secret *v;
	size_t len;
	/* What AB_LIFE_WORKSPACE is the same for: the workspace, or "@PROFILE" of an
	 * agent, whose home layer all its workspaces share. NULL: nothing. */
	const char *scope;
};

/* Does one of them export this variable? */
bool ab_secrets_export(const struct ab_secrets *secrets, const char *variable);
/* How many entries of ab_secrets it is. */
size_t ab_secret_parts(const struct ab_secret *secret);
/* Is its value never sent to a host? It signs, or is exchanged for a token. */
static inline bool ab_secret_kept(const struct ab_secret *secret)
{
	return secret->sign || (secret->oauth && secret->part);
}
