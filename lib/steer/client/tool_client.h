#pragma once
/*
 * A command of the box that stands for a program of the host: it hands its words, its folder, its
 * streams and a few variables to the broker of the tools, passes signals on, and ends as the program
 * does (hosttools/tool_wire.h).
 */
#include "base/base.h"

/* Is this the name of a tool of the box that we are in? */
bool ab_tool_client_is(const char *name);
/* Returns the exit status; *ret_signal is the signal that killed the program, or 0. */
int ab_tool_client_run(const char *name, const char *const *words, size_t n, int *ret_signal,
		       struct ab_error *err);
