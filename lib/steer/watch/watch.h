#pragma once
/*
 * `agentbox watch`: a full-screen live view of a run, where one key answers a
 * question. Reads the run's log and uses its control socket.
 */
#include "base/base.h"

struct ab_policy_input;

/* Returns when the user quits. `run` is an id or a name; NULL: the only live run,
 * the one that the user picks from several, or the next to start. */
int ab_watch(const struct ab_policy_input *input, const char *run, bool colour,
	     struct ab_error *err);
