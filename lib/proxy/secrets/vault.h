#pragma once
/*
 * The values of a run's secrets, and their placeholders. Values are stored in
 * their own pages: locked, not in core files, not in children, and wiped. Used
 * by one thread at a time.
 *
 * A placeholder is made when the value is first set: the provider's prefix,
 * then letters and digits with at least 128 bits that nobody can guess, as long
 * as the value (or longer if that is too short). They are derived from the user's
 * own key (`seed`), the secret's name, its scope and how often the user replaced
 * it, so programs that store a placeholder find it valid in the next run; or they
 * are random. Those that were replaced are tripwires, for every host.
 */
#include "policy/model/secrets.h"
#include "policy/values/host.h"
#include "proxy/secrets/search.h"

struct ab_rsa;
struct ab_signatures;
struct ab_vault;

enum {
	AB_VAULT_SEED = 32,
	AB_VAULT_FORMER =
		71, /* former values kept per secret: those of 36 hours (secrets/renew.c) */
	AB_VAULT_HIDDEN = 1 + AB_VAULT_FORMER,
	AB_VAULT_RETIRED = 3, /* replaced placeholders that are found, per secret */
};

struct ab_vault_entry {
	const struct ab_secret *secret;
	const char *placeholder; /* NUL-terminated; NULL: never had a value */
	size_t placeholder_len;
	const char *value; /* or NULL */
	size_t value_len;
	/* The box has its private half, in place of the key of a service account;
	 * or NULL. */
	const struct ab_rsa *key;
};

/* `secrets` must outlive it. `seed` may be NULL if all placeholders are random. */
int ab_vault_new(const struct ab_secrets *secrets, const uint8_t seed[AB_VAULT_SEED],
		 struct ab_vault **ret, struct ab_error *err);
void ab_vault_free(struct ab_vault *vault); /* wipes */
/* The user replaced its placeholder so often; call it before there is one. */
void ab_vault_rotated(struct ab_vault *vault, size_t i, unsigned times);
unsigned ab_vault_times(const struct ab_vault *vault, size_t i);

/*
 * Set or change a value; blanks and line ends around it are removed. Fails if it
 * is too short or too long, has control characters or bytes over 126, or
 * contains a placeholder. An error never contains a byte of it. The caller wipes
 * its own copy. NULL removes the value; the placeholder stays, and so do the
 * former values, to be found in responses. The value of a key that signs is set
 * with its first entry, all words at once.
 */
int ab_vault_set(struct ab_vault *vault, size_t i, const char *value, size_t len,
		 struct ab_error *err);

/* Make the placeholder of a secret whose value comes later. */
int ab_vault_reserve(struct ab_vault *vault, size_t i, struct ab_error *err);
/* Keep this key for it; the vault owns it afterwards. */
void ab_vault_keep_key(struct ab_vault *vault, size_t i, struct ab_rsa *key);

/* What no response may have: the signatures that were made with any secret; */
struct ab_signatures *ab_vault_signatures(const struct ab_vault *vault);
/* and the value of secret i and its former values, because a server may still know one and it may still be
 * valid. Returns their number. */
size_t ab_vault_hidden(const struct ab_vault *vault, size_t i,
		       struct ab_find_text ret[AB_VAULT_HIDDEN]);

size_t ab_vault_len(const struct ab_vault *vault);
const struct ab_vault_entry *ab_vault_at(const struct ab_vault *vault, size_t i);
/* Is secret i bound to this host and port? */
bool ab_vault_bound(const struct ab_vault *vault, size_t i, const struct ab_host *host,
		    uint16_t port);
/* The secrets that are: a bit for each. */
uint64_t ab_vault_bound_all(const struct ab_vault *vault, const struct ab_host *host,
			    uint16_t port);
/* Is this number of the finder that of a secret in the set? A replaced placeholder of secret i has the number
 * i + AB_SECRETS_MAX. */
static inline bool ab_vault_in(uint64_t set, size_t owner)
{
	return owner < AB_SECRETS_MAX && set >> owner & 1;
}

/* Is it bound to some port of this host? */
bool ab_vault_has_host(const struct ab_vault *vault, size_t i, const struct ab_host *host);

/* Its placeholders that were replaced, latest first, without their prefix; NULL: no more. */
const char *ab_vault_retired(const struct ab_vault *vault, size_t i, size_t k);

/* The secret whose placeholder, even a replaced one, is in these bytes, in any form
 * of search.h; or -1. */
int ab_vault_find(const struct ab_vault *vault, const void *data, size_t len);

/* The same in a host name: any case, ignoring dots. */
int ab_vault_find_in_name(const struct ab_vault *vault, const char *name);

/* A copy of the text with placeholders for values (also in base64, which is
 * encoded again around them); NULL: it contains no value. NUL-terminated. */
char *ab_vault_cover(const struct ab_vault *vault, const char *text, size_t len, size_t *ret_len);

/* Overwrite each value in the text with stars. True: there was any. */
bool ab_vault_blank(const struct ab_vault *vault, char *text, size_t len);
