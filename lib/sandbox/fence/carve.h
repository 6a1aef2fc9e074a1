#pragma once
/*
 * What a box without mounts may read: everything that the plan shows, around what it hides.
 *
 * A Landlock rule counts for everything below its folder, and no rule takes a right away. So a
 * folder with something hidden in it gets no rule, but each of its other entries does, as they are
 * at the start: one that is created or replaced later cannot be read. The folder itself can be
 * listed, and so can everything below it, what is hidden as well: only the content is.
 *
 * A writable folder is never carved, because new entries could neither be created in it nor read.
 * What is hidden in one stays readable; the proof sees that.
 */
#include "base/base.h"

struct ab_spec;

int ab_carve(const struct ab_spec *spec, int ruleset, struct ab_error *err);
