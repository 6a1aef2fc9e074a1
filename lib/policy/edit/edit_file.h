#ifndef AB_POLICY_EDIT_EDIT_FILE_H
#define AB_POLICY_EDIT_EDIT_FILE_H
/*
 * policy/edit/json_edit.h for a file on disk. The file is replaced in one step, by one
 * that was checked to be valid settings, or stays as it is; what somebody else
 * writes at the same time is not lost. A symbolic link stays a link: its target
 * is replaced. The mode is kept; a new file is 0600, in a folder that is 0700.
 *
 * Refused: a file that belongs to somebody else or that others may write.
 */
#include <stddef.h>

struct ab_error;
struct ab_policy_input;
struct ab_strv;

/* Adds `value` to the list. If there is no such list yet, the new one begins
 * with `first` (or NULL): what it replaces (policy/edit/inherited_lists.h). ret_diff: the
 * change as lines "-old" and "+new", safe to print; empty: there was nothing to
 * change. `in` says what paths in the file mean. */
int ab_edit_file_add(const struct ab_policy_input *in, const char *path, const char *const *keys,
		     size_t nkeys, const struct ab_strv *first, const char *value,
		     struct ab_strv *ret_diff, struct ab_error *err);

#endif
