#pragma once
/* Certificates that this machine trusts: where distributions keep them, and the box's view of them,
 * with one certificate more. */
#include "base/base.h"

struct ab_policy;
struct ab_spec;

/* In the box only, next to the marker: files that our variables name. */
#define AB_TRUSTED_DIR "/dev/agentbox-certs"

/* The roots for checking servers: SSL_CERT_FILE of the caller, else the first bundle that the
 * machine has; then network.roots. PEM. */
int ab_ca_store_roots(const struct ab_policy *policy, char *const *env, char **ret_pem,
		      size_t *ret_len, struct ab_error *err);

/*
 * Add the authority to every bundle of the machine (PEM and Java keystores, behind any symbolic
 * links), as files of the box's own, and set the variables that clients read (SSL_CERT_FILE ...) to
 * the merged one. Plan and environment must exist.
 */
int ab_ca_store_fill(const char *pem, const uint8_t *der, size_t der_len, char *const *env,
		     struct ab_spec *spec, struct ab_strv *ret_notes, struct ab_error *err);

/* Read one file of them, 16 MiB at most. 1: read; 0: not readable; -1: reading failed. */
int ab_ca_store_read(const char *path, char **ret, size_t *ret_len, struct ab_error *err);

/* Is it one of the variables that ab_ca_store_fill() sets? */
bool ab_ca_store_variable(const char *name);

/* The tables, for tests. */
extern const char *const ab_ca_store_bundles[]; /* ends with NULL */
extern const char *const ab_ca_store_keystores[];
