#pragma once
/*
 * What a box with a layered home has in common with the host: folders of filesystem.share, which
 * are the host's own, and files of filesystem.return (giveback.h).
 */
#include "base/base.h"

struct ab_policy;

/* Which folder it is: a number alone is used again when the folder has been removed. */
struct ab_folder_id {
	dev_t dev;
	uint64_t ino;
	int64_t born_ns; /* 0: not known */
};

struct ab_shares {
	struct ab_share {
		char *path;
		struct ab_folder_id id;
		bool created; /* it did not exist */
	} * v;
	size_t len;
};

/* Create the shared folders that do not exist, for the owner only: beneath home, and through no
 * link. Before the survey, for which they are writable roots. *ret: all of them, and the folders
 * that were created on the way, each before what is in it. Notes are sentences for the user. */
void ab_share_create(const struct ab_policy *policy, struct ab_shares *ret, struct ab_strv *notes);
/* Fail if one is gone or has been replaced: the end of the run that created an empty folder removes
 * it. After the start record, which keeps other runs from removing it later. */
int ab_share_check(const struct ab_shares *shares, struct ab_error *err);
/* A mount that was not there may be a shared folder that another run has removed: then say so. */
void ab_share_explain(const struct ab_shares *shares, struct ab_error *err);
/* Is `name` in the folder `at` this one? No link is followed. */
bool ab_share_is(const struct ab_share *share, int at, const char *name);
void ab_shares_fini(struct ab_shares *shares);

/*
 * The files to return, with the real path of each: the user's own links on the way are followed, a
 * link that a box could have made is not. `home` is the real path of the home folder.
 * *ret_entries has as many names: the one that credentials.h needs, which is the policy's own.
 * A file of a built-in profile without a rule there is not returned.
 */
void ab_share_returns(const struct ab_policy *policy, const char *home, struct ab_strv *ret_paths,
		      struct ab_strv *ret_entries, struct ab_strv *notes);
