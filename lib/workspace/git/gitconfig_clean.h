#pragma once
/*
 * A git configuration with the settings of the table only (gitkeys.h), and with names of remotes
 * that have an address in it. They are written anew from what was parsed, so git reads exactly
 * what was judged; comments are lost.
 *
 * Bounded; pure as far as the functions of the terms are.
 */
#include "base/base.h"

struct ab_gitkeys_terms;

/* Must the file be replaced? True if a setting was left out, or if git might read the
 * file in another way than we do (then everything from there on is left out).
 * *ret: the new file; *ret_keys: what was left out, for people. */
bool ab_gitconfig_clean(const char *data, size_t len, const struct ab_gitkeys_terms *terms,
			struct ab_buf *ret, struct ab_buf *ret_keys);
