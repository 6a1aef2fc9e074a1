#include "base/sign/ed25519.h"

#include <assert.h>
#include <sodium.h>

static_assert(AB_ED25519_SEED == crypto_sign_ed25519_SEEDBYTES, "a seed");
static_assert(AB_ED25519_KEY == crypto_sign_ed25519_PUBLICKEYBYTES, "a public key");
static_assert(AB_ED25519_SIGNATURE == crypto_sign_ed25519_BYTES, "a signature");

/* The library asks for it before its first use; again it does nothing. */
static void start_library(void)
{
	if (sodium_init() < 0)
		abort();
}

void ab_ed25519_public(const uint8_t seed[AB_ED25519_SEED], uint8_t ret[AB_ED25519_KEY])
{
	uint8_t secret[crypto_sign_ed25519_SECRETKEYBYTES];

	start_library();
	crypto_sign_ed25519_seed_keypair(ret, secret, seed);
	explicit_bzero(secret, sizeof(secret));
}

void ab_ed25519_sign(const uint8_t seed[AB_ED25519_SEED], const uint8_t key[AB_ED25519_KEY],
		     const void *data, size_t len, uint8_t ret[AB_ED25519_SIGNATURE])
{
	/* What the library calls the secret key is the seed and the public key. */
	uint8_t secret[crypto_sign_ed25519_SECRETKEYBYTES];

	start_library();
	memcpy(secret, seed, AB_ED25519_SEED);
	memcpy(secret + AB_ED25519_SEED, key, AB_ED25519_KEY);
	crypto_sign_ed25519_detached(ret, NULL, data, len, secret);
	explicit_bzero(secret, sizeof(secret));
}

bool ab_ed25519_verify(const uint8_t key[AB_ED25519_KEY], const void *data, size_t len,
		       const uint8_t signature[AB_ED25519_SIGNATURE])
{
	start_library();
	return crypto_sign_ed25519_verify_detached(signature, data, len, key) == 0;
}
