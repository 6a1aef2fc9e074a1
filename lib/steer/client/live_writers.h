#ifndef AB_STEER_CLIENT_LIVE_WRITERS_H
#define AB_STEER_CLIENT_LIVE_WRITERS_H
/*
 * Which active run can write to a place of the host? Its programs could change a file between a
 * check and its use.
 */
#include <stdbool.h>

struct ab_state;

/* `whole`: also a run that can write to a folder in the place. ret_run is its id. */
bool ab_find_live_writer(const struct ab_state *state, const char *path, bool whole,
			 char ret_run[8]);

#endif
