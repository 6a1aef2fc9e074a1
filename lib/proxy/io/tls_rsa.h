#pragma once
/*
 * RSA keys and their signatures with SHA-256 (RS256 of RFC 7518), for tokens of
 * service accounts.
 */
#include "base/base.h"

struct ab_rsa;

enum { AB_RSA_SIGNATURE_MAX = 1024 }; /* bytes */

/* A new key of 2048 bits. Takes about a tenth of a second. */
int ab_rsa_new(struct ab_rsa **ret, struct ab_error *err);
/* A private key in PEM, without a password. NULL: it is not one, or is shorter
 * than 2048 bits. */
struct ab_rsa *ab_rsa_read(const char *pem, size_t len);
void ab_rsa_free(struct ab_rsa *key); /* wipes */

/* The private key in PEM (PKCS #8); the caller wipes and frees it. */
char *ab_rsa_pem(const struct ab_rsa *key);
/* The length of the signature; 0: it failed. */
size_t ab_rsa_sign(const struct ab_rsa *key, const void *data, size_t len,
		   uint8_t ret[AB_RSA_SIGNATURE_MAX]);
bool ab_rsa_verify(const struct ab_rsa *key, const void *data, size_t len, const uint8_t *signature,
		   size_t signature_len);
