#pragma once
/*
 * Files that an agent's own tools are about to read or write, outside of any box:
 * would the policy let a box do it on the host? Looks at the host, changes nothing.
 */
#include "base/base.h"

struct ab_policy;
struct ab_policy_input;

enum ab_file_place {
	AB_FILE_OPEN,
	AB_FILE_OUTSIDE,   /* no writable folder contains it */
	AB_FILE_PROTECTED, /* filesystem.denyWrite */
	AB_FILE_DANGLING,  /* a link that leads nowhere: the target is not known */
	AB_FILE_ABOVE,	   /* to be read: a folder with hidden files below it */
	AB_FILE_HIDDEN,	   /* filesystem.denyRead, or agentbox's own state */
};

/* `path` is relative to input->cwd. *ret_real: where it leads; free it. */
int ab_file_find_place(const struct ab_policy *policy, const struct ab_policy_input *input,
		       const char *path, bool write, enum ab_file_place *ret, char **ret_real,
		       struct ab_error *err);
