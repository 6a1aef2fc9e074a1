#pragma once
/*
 * Detect code that multiplies itself: a function that calls itself twice in a
 * pipeline or in the background, or a script that pipes $0 to itself. Ordinary
 * recursion does not count.
 */
#include "base/base.h"

struct ab_shell_node;

bool ab_forkbomb_function(const struct ab_shell_node *function);
bool ab_forkbomb_pipeline(const struct ab_shell_node *pipeline);
