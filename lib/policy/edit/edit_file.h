#pragma once
/*
 * policy/edit/json_edit.h for a file on disk. The file is replaced atomically with text
 * that was checked to be valid settings, or not at all; a change by another
 * program at the same time is not lost. A symbolic link stays: its target is
 * replaced; but a link in place of a project's file (.agentbox.json) is refused. The mode is kept; a new file has 0600, a new folder 0700.
 *
 * A file of another user, or one that others may write, is refused.
 */
#include "base/base.h"

struct ab_policy_input;

/* Add an element to a list, or remove one. */
struct ab_list_change {
	const char *key; /* "network.allow" */
	const char *value;
	bool remove;
};
/* ret_diff gets the change as lines "-old" and "+new", safe to print; none: there was nothing to
 * change. `in` resolves paths in the file. */
int ab_edit_file_change(const struct ab_policy_input *in, const char *path,
			const struct ab_list_change *change, struct ab_strv *ret_diff,
			struct ab_error *err);

/* Replace the whole text, unless it is not `seen` any more ("": there is no file). */
int ab_edit_file_replace(const struct ab_policy_input *in, const char *path, const char *seen,
			 const char *text, struct ab_strv *ret_diff, struct ab_error *err);
