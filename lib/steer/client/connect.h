#pragma once
#include "base/base.h"

struct ab_policy_input;

/*
 * Inside a box: connect standard input and output to a host, through the box's proxy,
 * until both directions have ended. Then standard output is closed. After a
 * failure a thread may still be waiting for input: exit the process.
 */
int ab_connect(const struct ab_policy_input *input, const char *host, uint16_t port,
	       struct ab_error *err);
