#ifndef AB_LAYER_GIVEBACK_SHARE_H
#define AB_LAYER_GIVEBACK_SHARE_H
/*
 * What a box with a layered home has in common with the host: folders of filesystem.share, which
 * are the host's own, and files of filesystem.return (giveback.h).
 */
#include "base/data/strv.h"

struct ab_policy;

/* Create the shared folders that do not exist, for the owner only: beneath home, and through no
 * link. Before the survey, for which they are writable roots. *ret_created: the paths that did not exist,
 * a folder before what is in it. Notes are sentences for the user. */
void ab_share_create(const struct ab_policy *policy, struct ab_strv *ret_created,
		     struct ab_strv *notes);

/*
 * The files to return, with the real path of each: the user's own links on the way are followed, a
 * link that a box could have made is not. `home` is the real path of the home folder.
 * *ret_entries has as many names: the one that credentials.h needs, which is the policy's own.
 * A file of a built-in profile without a rule there is not returned.
 */
void ab_share_returns(const struct ab_policy *policy, const char *home, struct ab_strv *ret_paths,
		      struct ab_strv *ret_entries, struct ab_strv *notes);

#endif
