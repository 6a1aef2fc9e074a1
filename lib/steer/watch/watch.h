#ifndef AB_STEER_WATCH_WATCH_H
#define AB_STEER_WATCH_WATCH_H
/*
 * `agentbox watch`: a full-screen live view of a run, whose questions are
 * answered with a key. Reads the run's log and talks to its control socket.
 */
#include <stdbool.h>

struct ab_error;
struct ab_policy_input;

/* Returns when the person leaves. `run` is an id or a name; NULL: the only
 * live run, the one that the person picks from several, or the next to start. */
int ab_watch(const struct ab_policy_input *input, const char *run, bool colour,
	     struct ab_error *err);

#endif
