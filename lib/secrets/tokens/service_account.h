#pragma once
/*
 * The key file of a Google service account (JSON). The host signs assertions with
 * its key; the box gets a copy of the file with another key, which proves nothing
 * to anybody but the proxy.
 */
#include "base/base.h"

struct ab_oauth;
struct ab_rsa;

/* NULL: the file can be used; else what is wrong with it, without a byte of it. */
const char *ab_service_account_check(const char *text, size_t len);

/* The file for the box: with this key, its id, and the token URL. The text has passed the check. */
void ab_service_account_cover(const char *text, size_t len, const struct ab_oauth *oauth,
			      const struct ab_rsa *key, const char *key_id, struct ab_buf *ret);

/* A signed assertion (RFC 7523) for the token URL and scopes; valid for an hour. NULL, or what
 * failed. `ret` should wipe. */
const char *ab_service_account_assert(const char *text, size_t len, const struct ab_oauth *oauth,
				      int64_t now, struct ab_buf *ret);
