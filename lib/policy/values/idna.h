#pragma once
/*
 * Host names in other scripts, as a person writes them, in the ASCII form that is
 * looked up: "Bücher.example" is "xn--bcher-kva.example" (RFC 3492, RFC 5891).
 *
 * Only letters whose form is beyond doubt are folded: those of a table, composed, in
 * lower case or with one lower-case letter of the same script. The full mapping
 * (UTS 46) needs tables of all of Unicode; a name that needs them is refused and can
 * still be written in its ASCII form. So are letters about which programs disagree,
 * and labels that mix scripts.
 *
 * For names from settings and options. Names that come from a box or from a server
 * are never folded: ab_host_parse() refuses them.
 *
 * Pure: no I/O, no allocation.
 */
#include "base/base.h"

/* Longest result: 254 bytes, which is a name with its trailing dot. */
enum { AB_IDNA_TEXT = 256 };

/* Is there a byte that is not ASCII? */
bool ab_idna_needed(const char *s, size_t len);

/* Fold the labels of a name that are not ASCII; the others stay as they are. On
 * failure *ret_why says what is wrong with it. */
int ab_idna_fold(const char *s, size_t len, char ret_name[AB_IDNA_TEXT], const char **ret_why);
