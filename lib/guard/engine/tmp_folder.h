#pragma once
/*
 * The folder for temporary files of a box whose /tmp is the machine's. Nothing next to it can be
 * written. It is removed when the box is gone.
 */
#include "base/base.h"

struct ab_spec;

/* Real, in /tmp or where there is room for one; NULL: failed. */
char *ab_tmp_folder_make(struct ab_error *err);
/* Point the variables of the command to it: TMPDIR and others, and what ab_home_look() has set. */
void ab_tmp_folder_name(const char *folder, struct ab_strv *env);
/* Before the box can write to it: certificates that variables name (host/ca_store.h) become files there.
 * The machine's own bundles stay as they are, so a program that reads only these does not trust the
 * run's authority. */
int ab_tmp_folder_certificates(const char *folder, struct ab_spec *spec, struct ab_error *err);
/* Every process that could write to it must be gone. NULL: there is none. */
void ab_tmp_folder_remove(const char *folder);
