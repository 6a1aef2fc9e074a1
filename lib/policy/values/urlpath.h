#ifndef AB_POLICY_VALUES_URLPATH_H
#define AB_POLICY_VALUES_URLPATH_H
/*
 * The path of a URL in the one form that is judged and sent on, so that no
 * two readers can take it for two things: dot segments are gone (also encoded
 * ones), escapes of unreserved characters are decoded, others have upper case
 * digits, "//" is "/". Refused: what is not "/...", bad escapes, an escaped
 * slash, backslash or NUL, escapes that no text in UTF-8 has (%C0, %C1), raw
 * control bytes, blanks and bytes over 126, a raw backslash, "#" or "?", a dot
 * segment above the root, or with a parameter ("..;x").
 *
 * Pure, linear, in place of nothing: `ret` has room for `len` bytes + 1.
 */
#include <stdbool.h>
#include <stddef.h>

/* `s` without query. false: it has no normal form; *ret_why is a clause. */
bool ab_urlpath_normal(const char *s, size_t len, char *ret, size_t *ret_len, const char **ret_why);

#endif
