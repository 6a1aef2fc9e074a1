#pragma once
/*
 * Ed25519 signatures (RFC 8032, without context or prehash), by libsodium.
 *
 * The TLS library has them as well, but to initialize it for one signature at
 * the end of a run takes about as long as a third of the run: see
 * docs/decisions/record-signature.md. Signing takes the same time and touches
 * the same memory whatever the key is.
 */
#include "base/base.h"

enum {
	AB_ED25519_SEED = 32, /* the private key */
	AB_ED25519_KEY = 32,  /* the public key */
	AB_ED25519_SIGNATURE = 64,
};

void ab_ed25519_public(const uint8_t seed[AB_ED25519_SEED], uint8_t ret[AB_ED25519_KEY]);
/* `key` must be the public key of this seed. */
void ab_ed25519_sign(const uint8_t seed[AB_ED25519_SEED], const uint8_t key[AB_ED25519_KEY],
		     const void *data, size_t len, uint8_t ret[AB_ED25519_SIGNATURE]);

/* False also for what others might accept: a key or a signature that is not in its only form, and a
 * key of small order. */
bool ab_ed25519_verify(const uint8_t key[AB_ED25519_KEY], const void *data, size_t len,
		       const uint8_t signature[AB_ED25519_SIGNATURE]);
