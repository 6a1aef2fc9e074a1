#pragma once
/*
 * The path of a URL in normal form. The proxy judges this form and sends it on,
 * so that no server can read the path differently: dot segments are removed
 * (encoded ones too), escapes of unreserved characters are decoded, other
 * escapes have upper-case digits, "//" becomes "/". Refused: a path that does
 * not start with "/", bad escapes, an escaped slash, backslash or control
 * character, a dot, slash, backslash or NUL that is escaped more than once
 * (%252e), escapes that are not the UTF-8 of a character (%C0%AF, %E0%80%AF),
 * raw control bytes, blanks and bytes over 126, a raw backslash, "#" or "?", a
 * dot segment above the root, with a parameter ("..;x") or with a blank ("..%20").
 *
 * With `slashes`, escaped slashes stay (%2F), unless what is between them and the real ones is a dot
 * segment or has a parameter: then the path with slashes in their place would need another look. The path
 * does not begin with one: "//host/token" may be read as a URL with a host.
 *
 * Pure and linear. `ret` must hold `len` + 1 bytes.
 */
#include "base/base.h"

/* `s` has no query. false: there is no normal form; *ret_why is a clause ("it
 * has ..."). */
bool ab_urlpath_normal(const char *s, size_t len, bool slashes, char *ret, size_t *ret_len,
		       const char **ret_why);

/*
 * May a server take this path, in normal form, for the other one, or for one below it? Letters of both
 * cases are the same, parameters (;a=b), empty segments and a slash at the end do not count, an escaped
 * slash is one, another escape may be any text, and a name may have an ending (.json). So it may say yes for a path that is another one.
 */
bool ab_urlpath_may_mean(const char *path, const char *other);
