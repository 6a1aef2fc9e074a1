#pragma once
/* Internal to this folder: discard.c, for apply --ours. */
#include "base/base.h"

struct ab_apply;

/* Remove the changes that were taken from the layer, or with `ours` those that are dropped. Their picks are
 * done afterwards, and meta.json says how many changes are left. */
int ab_drop_changes(struct ab_apply *apply, bool ours, struct ab_error *err);
