#ifndef AB_SESSION_HOST_CA_STORE_H
#define AB_SESSION_HOST_CA_STORE_H
/*
 * Certificates that this machine trusts: where distributions keep them, and
 * the same with one more in the box's view of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;
struct ab_policy;
struct ab_spec;
struct ab_strv;

/* In the box only, beside the marker: files that our variables name. */
#define AB_TRUSTED_DIR "/dev/agentbox-certs"

/* The roots that servers are checked against: SSL_CERT_FILE of the caller,
 * else the first bundle that the machine has; then network.roots. PEM. */
int ab_ca_store_roots(const struct ab_policy *policy, char *const *env, char **ret_pem,
		      size_t *ret_len, struct ab_error *err);

/*
 * Add the authority to every bundle of the machine's (PEM and Java keystores,
 * behind any symbolic links), as files of the box's own, and to the variables
 * that clients look at (SSL_CERT_FILE ...), which then name the merged one.
 * The plan must be made, and the environment.
 */
int ab_ca_store_fill(const char *pem, const uint8_t *der, size_t der_len, char *const *env,
		     struct ab_spec *spec, struct ab_strv *ret_notes, struct ab_error *err);

/* One file of them, 16 MiB at most. 1: read; 0: there is none that we can read;
 * -1: there is, and it failed. */
int ab_ca_store_read(const char *path, char **ret, size_t *ret_len, struct ab_error *err);

/* Is it one of the variables that fill sets? */
bool ab_ca_store_variable(const char *name);

/* The tables, for tests. */
extern const char *const ab_ca_store_bundles[]; /* ends with NULL */
extern const char *const ab_ca_store_keystores[];

#endif
