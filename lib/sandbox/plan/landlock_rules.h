#pragma once
/*
 * The Landlock rules for a mount plan. Pure. Paths are those of the finished box.
 */
#include "base/base.h"

struct ab_spec;

/* Fill spec->rules from spec->plan; `sockets` are host sockets that the policy
 * makes reachable. */
void ab_landlock_rules_make(struct ab_spec *spec, const struct ab_strv *sockets);
