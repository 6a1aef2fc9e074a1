#ifndef AB_WORKSPACE_TREE_GLOB_H
#define AB_WORKSPACE_TREE_GLOB_H
/*
 * denyRead entries to the objects that exist, for masks.
 *
 * Entries are clean absolute paths. "*", "?" and "[...]" match within one
 * component, a leading dot included: a rule that hides must not miss. "**"
 * may stand at the end only and means the folder itself.
 * "!entry" takes back what entries before it matched, and what is below it.
 *
 * What belongs to others and the caller cannot open is left out: the box
 * cannot open it either.
 *
 * A rule that cannot be kept is an error, never a silent gap: more matches
 * or larger folders than the budget, "**" in the middle, or an exception
 * inside a folder that is denied as a whole.
 */
#include <stddef.h>

#include "workspace/tree/guard.h"

struct ab_error;
struct ab_strv;

/* Real paths, settled (workspace/tree/guard.h); links are followed, so the kind
 * is never LINK. */
int ab_expand_deny(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
		   struct ab_error *err);

#endif
