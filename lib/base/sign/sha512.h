#ifndef AB_BASE_SIGN_SHA512_H
#define AB_BASE_SIGN_SHA512_H
/* SHA-512 (FIPS 180-4) of several parts, one after the other. Pure. */
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

void ab_sha512(const struct iovec *parts, size_t n, unsigned char ret[64]);

#endif
