#pragma once
/*
 * What a full copy of the workspace leaves out because the box may not read it. The copy has
 * placeholders there: a box can rename the folders of its copy, and would find the files under
 * another name where nothing masks them.
 *
 * The list is kept beside the copy, where no box can write, and goes away with it.
 */
#include "base/base.h"

struct ab_layer_set;

/* Both -1 with errno. ENOENT: there is no list. The list is sorted, relative to the workspace. */
int ab_withheld_load(struct ab_strv *ret, const struct ab_layer_set *set);
int ab_withheld_save(const struct ab_strv *list, const struct ab_layer_set *set);
