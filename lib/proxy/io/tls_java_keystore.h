#pragma once
/* Adds a certificate to Java keystores, and parses the PEM text that they are
 * made from. */
#include "base/base.h"

/* One certificate in PEM text. */
struct ab_pem {
	/* With its BEGIN and END lines, and the final newline if it has one. */
	const char *block;
	size_t block_len;
	const char *base64; /* between them; may contain blanks */
	size_t base64_len;
	bool trusted; /* OpenSSL's TRUSTED CERTIFICATE: more follows the DER */
};

/* Pure: the next certificate in `*text`, which is advanced past it; false: none
 * left. Everything else (also keys) is skipped. */
bool ab_pem_next(const char **text, const char *end, struct ab_pem *ret);

/* A copy of a Java keystore (JKS) with one more certificate; NULL: `data` is not
 * one. Pure except for the digest. */
uint8_t *ab_keystore_add(const uint8_t *data, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len);
/* A new one with these certificates (PEM) and the extra one. */
uint8_t *ab_keystore_new(const char *pem, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len);
