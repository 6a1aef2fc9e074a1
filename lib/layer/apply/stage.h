#pragma once
/*
 * Turns the picked changes into the steps of a journal, and stages them: new files and
 * folders are written beside their target under a temporary name. Nothing of the host is
 * changed. Every file of the layer is opened beneath it, and is the one that was looked
 * at, before and after it was read.
 */
#include "base/base.h"

struct ab_apply;
struct ab_site;

/* Pure: fill site->steps from the picks. */
void ab_stage_plan(const struct ab_apply *apply, struct ab_site *site);

/* Write them. Call it after the plan was saved. */
int ab_stage_write(const struct ab_apply *apply, struct ab_site *site, struct ab_error *err);
