#pragma once
/*
 * Capabilities of the box's init: kept across the re-execution, then dropped
 * permanently, before any other process of the box exists.
 */
#include "base/base.h"

/* In the first child, after its maps: make the few that init needs inheritable
 * and ambient. With a uid mapped to itself a plain execve clears all others.
 * Raw: 0 or -errno. */
int ab_caps_carry(void);

/* Empty all sets and the bounding set, take root's privileges away, set
 * no_new_privs. Without a user namespace of its own (`owned`) only root can empty the
 * bounding set; no_new_privs makes it meaningless. */
int ab_caps_drop(bool owned, struct ab_error *err);
