#ifndef AB_BASE_TEXT_SHA256_H
#define AB_BASE_TEXT_SHA256_H
/* SHA-256 (FIPS 180-4), as lower-case hexadecimal text. Pure. */
#include <stddef.h>

/* With the instructions that the processor has for it, if any. */
void ab_sha256(const void *data, size_t len, char ret_hex[65]);
/* Without them; to compare. */
void ab_sha256_portable(const void *data, size_t len, char ret_hex[65]);

#endif
