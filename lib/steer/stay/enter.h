#pragma once
/*
 * Run a further command in a box that stays. The calling process becomes the command's client for
 * the rest of its life: if it relays bytes of the box, it is confined as a supervisor is.
 *
 * The box decides: its policy judges the command and builds its environment. Of the request only
 * the command, `yes`, `session`, `verbose` and `say` count.
 */
#include "base/base.h"

struct ab_policy_input;
struct ab_request;

/* `box`: its name or id. `approved`: how the command was approved before, or NULL. *ret_status as
 * for ab_run(). */
int ab_enter(const struct ab_request *request, const char *box, const char *approved,
	     int *ret_status, struct ab_error *err);

/* Connect the terminal to the detached command of a box, until it ends or Ctrl-] is typed. Without
 * a terminal its output is copied to standard output. If it has ended already: print what was kept
 * of its output, and how it ended. *ret_status: the command's; 0: detached. */
int ab_attach(const struct ab_request *request, const char *box, int *ret_status,
	      struct ab_error *err);

/* Names, or ids, of the boxes that stay. */
int ab_kept_boxes(const struct ab_policy_input *input, struct ab_strv *ret, struct ab_error *err);
