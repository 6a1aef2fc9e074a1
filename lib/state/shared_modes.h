#pragma once
/*
 * The permissions that folders of filesystem.share had before any active run. The box of another run
 * may have changed them by now, and that run puts them back when it ends, which may be before our end.
 */
#include "base/base.h"

struct ab_state;
struct ab_survey;

/* Corrects survey->modes. Before the run's own record is written, which other runs read. */
void ab_shared_modes_settle(const struct ab_state *state, struct ab_survey *survey);
