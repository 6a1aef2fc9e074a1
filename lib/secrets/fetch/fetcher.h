#pragma once
/*
 * A process that talks to a server for us, forked from one that can do more. In this order: leave
 * the caller, set up the client (http_client.h), confine, send.
 */
#include "base/base.h"

/* Wipes the variables, which are this process's own since the fork and may hold secrets; then Landlock
 * and the filter (host/lock/lockdown.h). */
int ab_fetcher_confine(char *const *variables, struct ab_error *err);
