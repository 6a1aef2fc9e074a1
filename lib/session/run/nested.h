#pragma once
/*
 * `agentbox run` inside a box: new namespaces are neither available there nor needed. It adds
 * Landlock and seccomp layers and executes the command in its own process, so it can only tighten.
 */
#include "base/base.h"

struct ab_holds;
struct ab_prepared;
struct ab_request;

/* Returns only on failure. */
int ab_nested_run(const struct ab_request *request, struct ab_prepared *prepared,
		  void (*proved)(void *arg, const struct ab_holds *holds), void *arg,
		  struct ab_error *err);
