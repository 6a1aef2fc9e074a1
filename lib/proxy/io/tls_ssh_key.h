#pragma once
/*
 * Signatures of SSH servers: ssh-ed25519, ecdsa-sha2-nistp256, -nistp384 and
 * -nistp521, rsa-sha2-256 and rsa-sha2-512. Certificates, DSA and signatures with
 * SHA-1 are not accepted.
 */
#include "proxy/io/ssh_text.h"

enum { AB_SSH_FINGERPRINT = 64 }; /* "SHA256:..." and its NUL */

/* Before there are threads, and before the process locks itself in. */
int ab_ssh_key_prepare(struct ab_error *err);
/* Has the owner of this key signed the data? */
bool ab_ssh_key_verify(struct ab_ssh_text key, struct ab_ssh_text data,
		       struct ab_ssh_text signature);
void ab_ssh_key_fingerprint(struct ab_ssh_text key, char ret[AB_SSH_FINGERPRINT]);
/* HMAC-SHA1, for the hashed names of known_hosts. */
void ab_ssh_name_hash(const uint8_t *key, size_t len, const char *text, uint8_t ret[20]);
