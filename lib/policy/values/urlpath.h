#ifndef AB_POLICY_VALUES_URLPATH_H
#define AB_POLICY_VALUES_URLPATH_H
/*
 * The path of a URL in normal form. The proxy judges this form and sends it on,
 * so that no server can read the path differently: dot segments are removed
 * (encoded ones too), escapes of unreserved characters are decoded, other
 * escapes have upper-case digits, "//" becomes "/". Refused: a path that does
 * not start with "/", bad escapes, an escaped slash, backslash or NUL, a dot,
 * slash, backslash or NUL that is escaped more than once (%252e), escapes that
 * cannot occur in UTF-8 (%C0, %C1), raw control bytes, blanks and bytes over
 * 126, a raw backslash, "#" or "?", a dot segment above the root or with a
 * parameter ("..;x").
 *
 * Pure and linear. `ret` must hold `len` + 1 bytes.
 */
#include <stdbool.h>
#include <stddef.h>

/* `s` has no query. false: there is no normal form; *ret_why is a clause ("it
 * has ..."). */
bool ab_urlpath_normal(const char *s, size_t len, char *ret, size_t *ret_len, const char **ret_why);

#endif
