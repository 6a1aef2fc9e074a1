#ifndef AB_POLICY_DIGEST_H
#define AB_POLICY_DIGEST_H
/* SHA-256 (FIPS 180-4), as lower-case hexadecimal text. Pure. */
#include <stddef.h>

void ab_sha256(const void *data, size_t len, char ret_hex[65]);

#endif
