#pragma once
/*
 * What is left of the detached command of a box (run -d) after its end: the output that was kept, and
 * its status. The box may have ended with it, or may have stayed.
 */
#include "base/base.h"

struct ab_request;
struct ab_state;

/*
 * Print the output, and say how the command ended. On a terminal it is the last output, and filtered;
 * else all of it, as the box wrote it. The calling process is confined before it reads a byte of it,
 * as a supervisor is. *ret_status: the command's, as of ab_run().
 *
 * 1: `box`, a name or an id, had no such command, or the command still runs; nothing was printed.
 */
int ab_ended_show(const struct ab_request *request, const struct ab_state *state, const char *box,
		  int *ret_status, struct ab_error *err);
