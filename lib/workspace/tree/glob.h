#ifndef AB_WORKSPACE_TREE_GLOB_H
#define AB_WORKSPACE_TREE_GLOB_H
/*
 * Expand denyRead entries to the existing objects, for masks.
 *
 * Entries are clean absolute paths. "*", "?" and "[...]" match within one component,
 * including a leading dot: a rule that hides must not miss anything. "**" is
 * allowed only at the end and means the folder itself. "!entry" cancels the
 * matches of earlier entries, and everything below them.
 *
 * Objects of other users that the caller cannot open are skipped, because the box cannot
 * open them either; except in folders of the caller, where their owner may open
 * them while the box runs.
 *
 * A rule that cannot be enforced is an error, never a silent gap: more matches or
 * larger folders than the budget, "**" in the middle, or an exception inside a
 * folder that is denied as a whole.
 */
#include <stddef.h>

#include "workspace/tree/guard.h"

struct ab_error;
struct ab_strv;

/* Returns settled real paths (workspace/tree/guard.h). Follows links, so the kind is never
 * LINK. */
int ab_expand_deny(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
		   struct ab_error *err);
/*
 * The same, and for each entry without "*" before it that does not exist: the first name on the way
 * to it that is missing, as a path whose folder is real. Nothing for entries that "!" takes back.
 */
int ab_expand_deny_missing(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
			   struct ab_strv *ret_missing, struct ab_error *err);

#endif
