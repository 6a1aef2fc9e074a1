#ifndef AB_PROXY_IO_TLS_JAVA_KEYSTORE_H
#define AB_PROXY_IO_TLS_JAVA_KEYSTORE_H
/* Java's keystores of trusted certificates, as far as adding one needs; and
 * the PEM text that they are made from. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One certificate in PEM text. */
struct ab_pem {
	const char *block; /* with its BEGIN and END lines, and the end of
				 * the last one where it is there */
	size_t block_len;
	const char *base64; /* between them; any blanks */
	size_t base64_len;
	bool trusted; /* OpenSSL's TRUSTED CERTIFICATE: the DER has
				 * more behind it */
};

/* Pure: the next certificate of `*text`, which is moved behind it; false:
 * there is none left. Everything else (keys, too) is passed over. */
bool ab_pem_next(const char **text, const char *end, struct ab_pem *ret);

/* A Java keystore (JKS) with one certificate more; NULL: `data` is none. Pure
 * but for the digest. */
uint8_t *ab_keystore_add(const uint8_t *data, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len);
/* A new one with these certificates (PEM) and the extra one. */
uint8_t *ab_keystore_new(const char *pem, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len);

#endif
