#pragma once
/* Blocks of SHA-256 with the instructions of aarch64 (FEAT_SHA256) and x86_64 (SHA-NI). */
#include "base/base.h"

extern const uint32_t ab_sha256_constants[64];

/* Does this processor have them? Else ab_sha256_hardware() must not be called. No system call. */
bool ab_sha256_has_hardware(void);
void ab_sha256_hardware(uint32_t h[8], const unsigned char *p, size_t blocks);
