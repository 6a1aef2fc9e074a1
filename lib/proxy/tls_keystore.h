#ifndef AB_PROXY_TLS_KEYSTORE_H
#define AB_PROXY_TLS_KEYSTORE_H
/* Java's keystores of trusted certificates, as far as adding one needs. */
#include <stddef.h>
#include <stdint.h>

/* A Java keystore (JKS) with one certificate more; NULL: `data` is none. Pure
 * but for the digest. */
uint8_t *ab_keystore_add(const uint8_t *data, size_t len, const char *alias,
			 const uint8_t *der, size_t der_len, size_t *ret_len);
/* A new one with these certificates (PEM) and the extra one. */
uint8_t *ab_keystore_new(const char *pem, size_t len, const char *alias,
			 const uint8_t *der, size_t der_len, size_t *ret_len);

#endif
