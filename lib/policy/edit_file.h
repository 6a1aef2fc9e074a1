#ifndef AB_POLICY_EDIT_FILE_H
#define AB_POLICY_EDIT_FILE_H
/*
 * The same as policy/edit.h for a file on the disk. It is replaced in one step,
 * by one that the program will read, or it stays as it is; what somebody else
 * writes meanwhile is not lost. A symbolic link stays one: what it leads to is
 * replaced. Its mode stays; a new file is 0600, in a folder that is 0700.
 *
 * Refused: a file of somebody else's, or one that others may write.
 */
#include <stddef.h>

struct ab_error;
struct ab_policy_input;
struct ab_strv;

/* ret_diff: the change, as lines "-old" and "+new", safe to print; none: there
 * was nothing to change. `in` says what paths in the file mean. */
int ab_edit_file_add(const struct ab_policy_input *in, const char *path,
		     const char *const *keys, size_t nkeys, const char *value,
		     struct ab_strv *ret_diff, struct ab_error *err);
/* The same; where there is no such list yet, `first` goes into it in front:
 * what the new one takes the place of (policy/below.h). */
int ab_edit_file_begin(const struct ab_policy_input *in, const char *path,
		       const char *const *keys, size_t nkeys,
		       const struct ab_strv *first, const char *value,
		       struct ab_strv *ret_diff, struct ab_error *err);

#endif
