#pragma once
/*
 * The folder for temporary files of a box whose /tmp is the machine's. Nothing next to it can be
 * written. It is removed when the box is gone.
 */
#include "base/base.h"

/* Real, in /tmp or where there is room for one; NULL: failed. */
char *ab_tmp_folder_make(struct ab_error *err);
/* Variables whose value is the folder `from`, or in it, are pointed to the same place in `to`. */
void ab_move_variables(struct ab_strv *env, const char *from, const char *to);
/* Point the variables of the command to it: TMPDIR and others, and what ab_home_look() has set. */
void ab_tmp_folder_name(const char *folder, struct ab_strv *env);
/* Every process that could write to it must be gone. NULL: there is none. */
void ab_tmp_folder_remove(const char *folder);
