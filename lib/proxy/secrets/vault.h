#ifndef AB_PROXY_SECRETS_VAULT_H
#define AB_PROXY_SECRETS_VAULT_H
/*
 * The values of a run's secrets and what stands for them inside. The values
 * live in pages of their own: locked, not in core files, not in children, and
 * wiped. Used by one thread at a time.
 *
 * A placeholder is drawn when the value is first set: the provider's prefix,
 * then letters and digits, 128 bits of chance or more, as long as the value
 * (longer where that is too short for it). A stable one is derived from the
 * user's own key (`seed`) and the secret's name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/model/secrets.h"
#include "policy/values/host.h"

struct ab_error;
struct ab_vault;

enum {
	AB_VAULT_SEED = 32,
	AB_VAULT_FORMER = 3, /* values of one secret that are remembered */
};

struct ab_vault_entry {
	const struct ab_secret *secret;
	const char *placeholder; /* NUL-terminated; drawn once; NULL: there
					 * never was a value */
	size_t placeholder_len;
	const char *value; /* NULL: there is none */
	size_t value_len;
};

/* The policy lives longer. `seed` may be NULL where nothing is stable. */
int ab_vault_new(const struct ab_secrets *secrets, const uint8_t seed[AB_VAULT_SEED],
		 struct ab_vault **ret, struct ab_error *err);
void ab_vault_free(struct ab_vault *vault); /* wipes */

/*
 * Set or change a value; blanks and line ends around it are not part of it.
 * Refused: too short, too long, control characters, bytes over 126, and what
 * has a placeholder in it. The text of an error never has a byte of it. The
 * caller wipes its own copy. NULL: there is no value any more; the placeholder
 * stays, and so do the last values, to be found in answers.
 */
int ab_vault_set(struct ab_vault *vault, size_t i, const char *value, size_t len,
		 struct ab_error *err);

/* What it was before it changed, the latest first; NULL: no (more) such. A
 * server may know it yet, and it may be good yet. */
const char *ab_vault_former(const struct ab_vault *vault, size_t i, size_t k, size_t *ret_len);

/* Are all pages locked? RLIMIT_MEMLOCK may not permit it. */
bool ab_vault_locked(const struct ab_vault *vault);

size_t ab_vault_len(const struct ab_vault *vault);
const struct ab_vault_entry *ab_vault_at(const struct ab_vault *vault, size_t i);
/* Is secret i bound to this host and port? */
bool ab_vault_bound(const struct ab_vault *vault, size_t i, const struct ab_host *host,
		    uint16_t port);

/* Which placeholder is in these bytes, plain, percent-encoded or in base64
 * (any alignment)? Its index, or -1. */
int ab_vault_seen(const struct ab_vault *vault, const void *data, size_t len);

/* The same in a host name: any case, dots left out. */
int ab_vault_seen_name(const struct ab_vault *vault, const char *name);

/* A copy of the text in which each value is its placeholder (also in base64,
 * which is written anew around it); NULL: none was in it. The copy has no
 * secrets, and a NUL behind it. */
char *ab_vault_cover(const struct ab_vault *vault, const char *text, size_t len, size_t *ret_len);

/* Stars over each value in the text, which stays as long as it is; was there
 * any? */
bool ab_vault_blank(const struct ab_vault *vault, char *text, size_t len);

#endif
