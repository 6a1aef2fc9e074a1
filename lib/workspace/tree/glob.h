#pragma once
/*
 * Expand denyRead entries to the existing objects, for masks.
 *
 * Entries are clean absolute paths. "*", "?" and "[...]" match within one component,
 * including a leading dot: a rule that hides must not miss anything. "**" at the
 * end means the folder itself; once before it ("DIR/<two stars>/NAME"), any folder below DIR, and DIR,
 * without following links. "!entry" cancels the matches of earlier entries, and everything below them.
 *
 * Objects of other users that the caller cannot open are skipped, because the box cannot
 * open them either; except in folders of the caller, where their owner may open
 * them while the box runs.
 *
 * A rule that cannot be enforced is an error, never a silent gap: more matches or
 * larger folders than the budget (one million entries below "**", 128 levels), "**" below "/" or in an
 * exception, or an exception inside a folder that is denied as a whole.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

/* Returns settled real paths (workspace/tree/guard.h). Follows links, so the kind is never
 * LINK. */
int ab_expand_deny(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
		   struct ab_error *err);
/* The same without what is found below "**": quick enough to be repeated during a run. */
int ab_expand_deny_shallow(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
			   struct ab_error *err);
/*
 * The same, and for each entry without "*" before it that does not exist: the first name on the way
 * to it that is missing, as a path whose folder is real. Nothing for entries that "!" takes back.
 */
int ab_expand_deny_missing(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
			   struct ab_strv *ret_missing, struct ab_error *err);

/*
 * Its result, with what was looked at on the way. Looking at that again is much faster than expanding
 * the entries again, and enough if nothing of it has changed. Where that cannot be told (a link that leads
 * nowhere, a file system whose times tell little, a change a moment ago) it is not `told`.
 */
struct ab_looked;
struct ab_hidden_names {
	struct ab_guard *v;
	size_t n;
	struct ab_strv missing;
	struct ab_looked *looked;
	size_t nlooked;
	bool told;
};
int ab_hidden_names_find(const struct ab_strv *patterns, struct ab_hidden_names *ret,
			 struct ab_error *err);
/* Would it be the same now? */
bool ab_hidden_names_stand(const struct ab_hidden_names *names, const struct ab_strv *patterns);
void ab_hidden_names_fini(struct ab_hidden_names *names);
