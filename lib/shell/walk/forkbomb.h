#ifndef AB_SHELL_WALK_FORKBOMB_H
#define AB_SHELL_WALK_FORKBOMB_H
/*
 * Code that multiplies itself: a function that calls itself in a pipeline with
 * itself or in the background, a script that does so with $0. A function that
 * recurses otherwise is none.
 */
#include <stdbool.h>

struct ab_shell_node;

bool ab_forkbomb_function(const struct ab_shell_node *function);
bool ab_forkbomb_pipeline(const struct ab_shell_node *pipeline);

#endif
