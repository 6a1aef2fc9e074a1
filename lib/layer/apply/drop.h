#pragma once
/* Internal to this folder: discard.c, for apply --ours. */
#include "base/base.h"

struct ab_apply;
struct ab_pick;

/* Remove the changes that `chosen` says from the layer. Their picks are done afterwards, and meta.json says
 * how many changes are left. */
int ab_drop_changes(struct ab_apply *apply, bool (*chosen)(const struct ab_pick *pick),
		    struct ab_error *err);
