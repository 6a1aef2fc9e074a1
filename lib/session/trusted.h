#ifndef AB_SESSION_TRUSTED_H
#define AB_SESSION_TRUSTED_H
/*
 * Certificates that this machine trusts: where distributions keep them, and
 * the same with one more in the box's view of them.
 */
#include <stddef.h>
#include <stdint.h>

struct ab_error;
struct ab_policy;
struct ab_spec;
struct ab_strv;

/* The roots that servers are checked against: SSL_CERT_FILE of the caller,
 * else the first bundle that the machine has; then network.roots. PEM. */
int ab_trusted_roots(const struct ab_policy *policy, char *const *environ,
		     char **ret_pem, size_t *ret_len, struct ab_error *err);

/*
 * Add the authority to every bundle of the machine's (PEM and Java keystores,
 * behind any symbolic links), as files of the box's own, and to the variables
 * that clients look at (SSL_CERT_FILE ...), which then name the merged one.
 */
int ab_trusted_fill(const char *pem, const uint8_t *der, size_t der_len,
		    char *const *environ, struct ab_spec *spec,
		    struct ab_strv *ret_notes, struct ab_error *err);

#endif
