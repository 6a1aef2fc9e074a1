#pragma once
/*
 * Inside lib/policy: the section "secrets". A secret is an item; its text is
 * "NAME={...}", the canonical object with everything that the provider fills
 * in, and its `secret` is the same as a struct.
 */
#include "policy/model/list_element.h"
#include "policy/model/secrets.h"

enum {
	AB_SECRET_LIST = 32,   /* elements of one of its lists */
	AB_SECRET_TEXT = 1024, /* bytes of one of its texts */
};

/* --secret NAME[@HOST[,HOST...]] */
ab_put_fn ab_secret_put;

/* Merge --secret flags: a secret of that name from a file becomes required, for
 * the hosts that the flag names, if any. */
void ab_secrets_add(struct ab_arena *a, struct ab_value *base, const struct ab_value *flags);

/* Check what concerns several secrets: too many, or one variable twice. */
int ab_secrets_check(const struct ab_value *v, const struct ab_origin **ret_from,
		     struct ab_complaint *why);
/* The same for all layers together; adds their hosts to network.allow. */
int ab_secrets_finish(struct ab_arena *a, struct ab_config *c, const struct ab_origin **ret_from,
		      struct ab_complaint *why);
struct ab_secrets ab_secrets_fill(struct ab_arena *a, const struct ab_value *v,
				  const struct ab_strv *writable);

/* To build a secret. Add a host: a name or "*.name", with its port. */
int ab_secret_host(struct ab_arena *a, struct ab_strv *hosts, const char *s, size_t len,
		   struct ab_complaint *why);
/* "bearer", "header:x-api-key" */
int ab_carrier_parse(const char *text, struct ab_carrier *ret, struct ab_complaint *why);
/* A secret with its name and what its provider knows, except the hosts. */
struct ab_secret ab_secret_new(struct ab_arena *a, const char *name);
/* Make it a key that signs. */
void ab_secret_signs(struct ab_arena *a, struct ab_secret *s);
/* Take the token URL of an access token apart. */
int ab_oauth_url(struct ab_arena *a, struct ab_oauth *oauth, const char *text,
		 struct ab_complaint *why);
/* Add the endpoints of its services and regions as hosts. */
int ab_secret_endpoints(struct ab_arena *a, struct ab_secret *s, struct ab_complaint *why);
void ab_secret_known_hosts(struct ab_arena *a, struct ab_secret *s);
struct ab_item ab_secret_item(struct ab_arena *a, struct ab_secret secret,
			      const struct ab_origin *from);
