#pragma once
/* What the box of a run with tools has: a command for each of them, first on PATH, and a socket. */
#include "base/base.h"

struct ab_policy;
struct ab_spec;

/*
 * Add the tools of the policy to the specification, whose plan and environment are complete.
 * `nested`: inside a box, which has those of the outer run. `layered`: the box writes to a layer above
 * the workspace, which a tool would not see.
 */
int ab_tool_box_fill(const struct ab_policy *policy, bool nested, bool layered,
		     struct ab_spec *spec, struct ab_strv *notes, struct ab_error *err);
