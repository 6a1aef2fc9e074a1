#ifndef AB_STEER_WATCH_H
#define AB_STEER_WATCH_H
/*
 * `agentbox watch`: a run on the whole screen as it happens, and its questions
 * answered by a key. Reads the run's log and talks to its control socket.
 */
#include <stdbool.h>

struct ab_error;
struct ab_policy_input;

/* Until the person leaves. `run` is an id or a name; NULL: the only one, one
 * that is chosen, or the next one to come. */
int ab_watch(const struct ab_policy_input *input, const char *run, bool colour,
	     struct ab_error *err);

#endif
