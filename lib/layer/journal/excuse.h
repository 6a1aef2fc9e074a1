#pragma once
/*
 * Several applies are taken back one after the other. Each undo changes files and folders that an
 * earlier apply may have left, at least their ctime, and that must not look like a change of somebody
 * else to the next undo. So it leaves a list in each earlier journal, `excused`, of the files and
 * folders that are again as that apply left them.
 */
#include "base/base.h"

struct ab_site;
struct ab_step_now;

/* All steps of `site` have been taken back. -1 with errno. */
int ab_site_excuse(struct ab_site *site, const struct ab_step_now *now);
