#pragma once
/* SHA-256 (FIPS 180-4), and HMAC with it (RFC 2104). Pure. */
#include "base/base.h"

enum { AB_SHA256_SIZE = 32 };

/* As lower-case hexadecimal text; with the instructions that the processor has for it, if any. */
void ab_sha256(const void *data, size_t len, char ret_hex[65]);
/* Without them; to compare. */
void ab_sha256_portable(const void *data, size_t len, char ret_hex[65]);
void ab_sha256_bytes(const void *data, size_t len, uint8_t ret[AB_SHA256_SIZE]);
/* Leaves no copy of the key behind. `ret` may be the key itself. */
void ab_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
		    uint8_t ret[AB_SHA256_SIZE]);
void ab_sha256_hex(const uint8_t digest[AB_SHA256_SIZE], char ret_hex[65]);
