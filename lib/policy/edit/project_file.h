#pragma once
/*
 * Changes one element of a list in the project's own settings, .agentbox.json in the workspace. The
 * file must be trusted, or new: what is trusted afterwards is what was trusted before, and this one
 * change.
 */
#include "policy/edit/edit_file.h"
#include "policy/layers/layers.h"

struct ab_project_file {
	struct ab_policy_input in;
	char *path;
	char *text; /* what it contains; NULL: it does not exist */
	size_t len;
};

/* AB_EREFUSED: it is not trusted. `workspace` must outlive it. */
int ab_project_file_open(const struct ab_policy_input *in, const char *workspace,
			 struct ab_project_file *ret, struct ab_error *err);
void ab_project_file_fini(struct ab_project_file *file);

/* 1: the file has changed, and is trusted; 0: there was nothing to change. *ret_diff: lines "-old"
 * and "+new", safe to print. */
int ab_project_file_change(struct ab_project_file *file, const struct ab_list_change *change,
			   struct ab_strv *ret_diff, struct ab_error *err);
